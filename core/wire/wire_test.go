package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/core/wire"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.Byte().Draw(t, "version")
		number := rapid.Uint64().Draw(t, "number")
		text := rapid.String().Draw(t, "text")
		rest := rapid.SliceOf(rapid.Byte()).Draw(t, "rest")

		body := binary.BigEndian.AppendUint64([]byte{version}, number)
		body = append(wire.AppendBytes(body, text), rest...)

		r := wire.NewReader(body, len(body))
		r.Version(version)
		if got := r.Uint(8); got != number {
			t.Errorf("number %d came back as %d", number, got)
		}
		if got := r.Bytes(len(text)); string(got) != text {
			t.Errorf("text %q came back as %q", text, got)
		}
		if got := r.Rest(); !bytes.Equal(got, rest) {
			t.Errorf("rest %x came back as %x", rest, got)
		}
		if err := r.End(); err != nil {
			t.Error(err)
		}
		if cut := rapid.IntRange(0, len(body)-len(rest)-1).Draw(t, "cut"); true {
			short := wire.NewReader(body[:cut], cut)
			short.Version(version)
			short.Uint(8)
			short.Bytes(len(text))
			if !errors.Is(short.End(), wire.ErrMalformed) {
				t.Errorf("a body cut to %d of %d bytes is read", cut, len(body))
			}
		}
	})
}

func TestMalformed(t *testing.T) {
	for name, read := range map[string]func(*wire.Reader){
		"another version":  func(r *wire.Reader) { r.Version(2); r.Rest() },
		"bytes are left":   func(r *wire.Reader) { r.Version(1) },
		"a length too far": func(r *wire.Reader) { r.Bytes(1 << 30) },
		"a requirement":    func(r *wire.Reader) { r.Require(false); r.Rest() },
	} {
		r := wire.NewReader([]byte{1, 0xff, 0xff, 0xff, 0xff}, 5)
		if read(r); !errors.Is(r.End(), wire.ErrMalformed) {
			t.Errorf("%s: read without an error", name)
		}
	}
	long := wire.NewReader(wire.AppendBytes(nil, "seven"), 9)
	if long.Bytes(4); long.End() == nil {
		t.Error("a string longer than its bound is read")
	}
	if r := wire.NewReader(make([]byte, 6), 5); !r.Bad() {
		t.Error("a body longer than its bound is read")
	}
}
