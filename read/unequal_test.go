package read

import (
	"testing"

	"synod.dev/synod"
)

// Different answers must not be one vote: what recorded replies have shown to be
// run together once.
func TestDifferentStayDifferent(t *testing.T) {
	math := &synod.Question{Form: synod.Math}
	for _, pair := range [][2]string{{"100, 200", "100200"}, {"(3,5)", "35"}, {"3, 5", "35"}, {`2\pi`, "2"}, {"x^12", "x^{1}2x"}, {"x^{12}", "x^{1}2"}} {
		a, okA := Canonical(math, pair[0])
		b, okB := Canonical(math, pair[1])
		if !okA || okB && a == b {
			t.Errorf("%q and %q are both %q", pair[0], pair[1], a)
		}
	}
	if a, ok := Canonical(math, `11,\! 111,\! 100`); a != "11111100" || !ok {
		t.Errorf("a number in groups is read as %q", a)
	}
	keys := &synod.Question{Form: synod.Choice, Options: []synod.Option{
		{Label: "A", Text: "E"}, {Label: "B", Text: "G"}, {Label: "C", Text: "A"}, {Label: "E", Text: "D"},
	}}
	for got, want := range map[string]synod.Answer{"(E)": "E", "E.": "E", "G": "B", "A, B.": "", "B, B": "B", "A) E": "A"} {
		if a, ok := Canonical(keys, got); a != want || ok != (want != "") {
			t.Errorf("%q is read as %q, want %q", got, a, want)
		}
	}
}
