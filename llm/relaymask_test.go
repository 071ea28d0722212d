package llm

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// A body that is passed on has no secret, however its bytes come, and keeps its length and all other bytes.
func TestMaskedBody(t *testing.T) {
	m := &httpClient{key: NewSecret("sk-abcabcabd"), hidden: []Secret{NewSecret("qrqrqrqrs"), NewSecret("short"),
		NewSecret("lm-studio")}}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"sk-abcabcabd", "qrqrqrqrs", "qr", "abc", "sk-",
			"short", "lm-studio", "é", "x"})).Draw(t, "parts"), "")
		want := strings.ReplaceAll(text, "sk-abcabcabd", strings.Repeat("*", 12))
		want = strings.ReplaceAll(want, "qrqrqrqrs", strings.Repeat("*", 9))
		var in io.Reader = strings.NewReader(text)
		for i, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader,
			iotest.DataErrReader} {
			if rapid.Bool().Draw(t, string(rune('a'+i))) {
				in = wrap(in)
			}
		}
		got, err := io.ReadAll(m.masking(io.NopCloser(in)))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, want %q, %v", text, got, want, err)
		}
	})
}

// A secret is found as well where JSON's escapes write some of its bytes, once or twice, or those of a URL, however the
// bytes come.
func TestMaskedBodyEscaped(t *testing.T) {
	const secret = `sk/ab+u0\=`
	m := &httpClient{key: NewSecret(secret)}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for _, c := range secret {
			text.WriteString(rapid.SampledFrom([]string{strings.Trim(strconv.Quote(string(c)), `"`),
				fmt.Sprintf(`\u%04x`, c), fmt.Sprintf(`\u%04X`, c), fmt.Sprintf(`\\u%04x`, c),
				fmt.Sprintf("%%%02x", c), fmt.Sprintf("%%%02X", c)}).Draw(t, "byte"))
		}
		in := `{"a": "` + text.String() + `\n\u0073k%2", "b": "sk/ab+u%"}`
		want := strings.Replace(in, text.String(), strings.Repeat("*", text.Len()), 1)
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			if got, err := io.ReadAll(m.masking(io.NopCloser(r))); err != nil || string(got) != want {
				t.Errorf("%s: %s, want %s, %v", in, got, want, err)
			}
		}
	})
}

// What cannot begin a secret is not held back.
func TestMaskedBodyWaitsForNothing(t *testing.T) {
	m := &httpClient{key: NewSecret("sk-abcabcabd")}
	r, w := io.Pipe()
	go w.Write([]byte("data: 4\n\nsk"))
	b := m.masking(r)
	buf := make([]byte, 100)
	n, err := b.Read(buf)
	if !bytes.Equal(buf[:n], []byte("data: 4\n\n")) || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
	b.Close()
}
