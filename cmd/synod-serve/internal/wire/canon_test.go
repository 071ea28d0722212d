package wire

import (
	"strings"
	"testing"
)

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
