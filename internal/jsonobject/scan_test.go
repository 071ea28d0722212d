package jsonobject

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

var texts = []string{`{}`, ` [ 1 , -0.5e+3, 0, 1E9,true ,false,null,"" ]`, `{"a":"\u00e9\ud83d\ude00\ud800x\n\/"}`, `01`, `1.`, `-`,
	`.5`, `1e`, `"\x"`, `"\u12g4"`, "\"\x01\"", "\"\xff\"", `{"a":1,}`, `[1,]`, `{"a"}`, `{"a":}`, `{1:2}`, `tru`, `nulls`,
	`"a`, `{"a":1}x`, ``, ` `, `[[[[]]]]`, `{"a":{"b":[{}]}}`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, "\"\u2028\u007f\"",
	`{"a":1 "b":2}`, `[1 2]`, "\ufeff{}", `+1`, `1e400`, `"\`, `"\u00`}

// The pass over a text takes what encoding/json takes, finds the same members, and reads strings as it does.
func FuzzScan(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		good := json.Valid(b)
		if Valid(b) != good {
			t.Fatalf("%q: %v; encoding/json says %v", b, !good, good)
		}
		var want string
		text := bytes.Trim(b, " \n\t\r")
		if !good || text[0] != '"' || json.Unmarshal(b, &want) != nil {
			if s, ok := String(b); ok {
				t.Fatalf("%q is a string: %q", b, s)
			}
			return
		}
		var got string
		written := AppendText(nil, text[1:len(text)-1])
		if err := json.Unmarshal(written, &got); err != nil || got != want || !utf8.Valid(written) {
			t.Fatalf("%q is written as %q, %v", b, written, err)
		}
		if read, ok := String(text); !ok || read != want {
			t.Fatalf("%q is read as %q", b, read)
		}
		quoted := AppendQuoted(nil, want)
		if err := json.Unmarshal(quoted, &got); err != nil || got != want {
			t.Fatalf("%q is quoted as %q, %v", want, quoted, err)
		}
	})
}

// Levels are counted as they are nested, and a text that is nested too deep is told from one that is no JSON.
func TestLevels(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(`{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`)
	}
	for n, deep := range map[int]bool{2: false, 64: false, 65: true, 100_000: true} {
		if ok, got := Each(nested(n), 64, func(_, _ []byte) {}); got != deep || ok == deep {
			t.Errorf("%d levels: %v, %v", n, ok, got)
		}
	}
	if Valid(nested(MostLevels+1)) || !Valid(nested(MostLevels)) || !json.Valid(nested(MostLevels)) ||
		json.Valid(nested(MostLevels+1)) {
		t.Error("not as deep as encoding/json")
	}
}
