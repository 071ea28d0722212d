package canonical

import (
	"bytes"
	"strings"
	"testing"
)

type part struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Data []byte
}

type whole struct {
	_     struct{} `cbor:",toarray"`
	N     uint64
	Parts []part
}

func TestOneEncoding(t *testing.T) {
	b := Encode(whole{N: 300, Parts: []part{{Name: "a", Data: []byte{1}}, {Name: "", Data: nil}}})
	var w whole
	if err := Decode(b, 100, &w); err != nil || w.N != 300 || w.Parts[0].Name != "a" {
		t.Fatalf("%+v, %v", w, err)
	}
	for name, bad := range map[string][]byte{
		"a longer form of a number": {0x82, 0x1b, 0, 0, 0, 0, 0, 0, 1, 44, 0x80},
		"bytes after the value":     append(bytes.Clone(b), 0),
		"truncated":                 b[:len(b)-1],
		"another number of fields":  {0x81, 1},
		"an indefinite array":       {0x9f, 1, 0x80, 0xff},
		"a tag":                     {0xc1, 0x82, 1, 0x80},
		"null for an empty list":    {0x82, 1, 0xf6},
		"a huge list":               {0x82, 1, 0x9a, 0xff, 0xff, 0xff, 0xff},
	} {
		if err := Decode(bad, 100, new(whole)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := Decode(b, len(b)-1, new(whole)); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a value that is too long: %v", err)
	}
}

// No flipped bit gives another encoding of the same value.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(whole{N: 1, Parts: []part{{Name: "x", Data: []byte("y")}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var w whole
		if Decode(b, 1<<10, &w) == nil && !bytes.Equal(Encode(w), b) {
			t.Errorf("%x is one of two encodings of %+v", b, w)
		}
	})
}
