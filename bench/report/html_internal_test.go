package report

import (
	"html/template"
	"strings"
	"testing"
)

// The rounds of a question are escaped as a template escapes them.
func TestEscapes(t *testing.T) {
	var b strings.Builder
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
	}
	text := string(all) + "é\u2028\ufffe𝄞</span><script>"
	if err := template.Must(template.New("").Parse("<b>{{.}}</b>")).Execute(&b, text); err != nil {
		t.Fatal(err)
	}
	if got := escapes.Replace(text); b.String() != "<b>"+got+"</b>" {
		t.Errorf("%q, want %q", got, b.String())
	}
}
