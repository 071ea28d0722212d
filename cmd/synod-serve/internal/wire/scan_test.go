package wire

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
		if valid(b) != good {
			t.Fatalf("%q: %v; encoding/json says %v", b, !good, good)
		}
		var want string
		text := bytes.Trim(b, " \n\t\r")
		if !good || text[0] != '"' || json.Unmarshal(b, &want) != nil {
			return
		}
		var got string
		written := appendText(nil, text[1:len(text)-1])
		if err := json.Unmarshal(written, &got); err != nil || got != want || !utf8.Valid(written) {
			t.Fatalf("%q is written as %q, %v", b, written, err)
		}
		if read := strings.ToValidUTF8(unquote(text), "\ufffd"); read != want && utf8.Valid(b) {
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
		if all, _, got := splitTo(nested(n), maxDepth); got != deep || (all == nil) != deep {
			t.Errorf("%d levels: %v, %v", n, all != nil, got)
		}
	}
	if valid(nested(mostLevels+1)) || !valid(nested(mostLevels)) || !json.Valid(nested(mostLevels)) ||
		json.Valid(nested(mostLevels+1)) {
		t.Error("not as deep as encoding/json")
	}
}

// A key that stands twice in an object is refused, however it is written and however many keys there are; the same
// key in another object is not.
func TestTwice(t *testing.T) {
	var many strings.Builder
	for i := range 1000 {
		many.WriteString(`"k` + strings.Repeat("x", i) + `":0,`)
	}
	for text, twice := range map[string]bool{
		`{"a":1,"\u0061":2}`: true, `{"a":{"a":1},"b":{"a":1}}`: false, `{"a":[{"b":1},{"b":1}],"b":1}`: false,
		`{"x":{` + many.String() + `"k":1}}`: true, `{` + many.String() + `"b":{"k":1}}`: false,
		`{` + many.String() + `"kxx":1}`: true, `{` + many.String() + `"a":{"b":1,"c":{"b":2},"b":3}}`: true,
	} {
		if _, err := Rewrite([]byte(text)); (err != nil) != twice {
			t.Errorf("%.40s…: %v", text, err)
		}
	}
}

func TestElements(t *testing.T) {
	all := Elements([]byte(`[ 1 , "a,]" ,{"b":[2]}, [] ]`))
	if len(all) != 4 || string(all[1]) != `"a,]"` || string(all[2]) != `{"b":[2]}` || string(all[3]) != `[]` {
		t.Errorf("%s", all)
	}
	if Elements([]byte(`{}`)) != nil || len(Elements([]byte(`[ ]`))) != 0 || Elements(nil) != nil {
		t.Error("elements of no list")
	}
}

// BenchmarkForward reads a body and writes it anew, as each request of solo: does.
func BenchmarkForward(b *testing.B) {
	body := []byte(`{"model": "solo:one", "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "` +
		strings.Repeat("word ", 100) + `\n"}], "temperature": 0.2, "max_tokens": 100}`)
	b.ReportAllocs()
	for b.Loop() {
		h, e := ReadHead(body)
		if e != nil {
			b.Fatal(e)
		}
		if _, e = h.Forward(Forwarding{Model: "stub", Longest: 100}); e != nil {
			b.Fatal(e)
		}
	}
}
