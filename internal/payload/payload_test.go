package payload

import (
	"strings"
	"testing"

	"synod.dev/synod/core/clean"
)

// Every text has a source and its own words, names its answer, and is recognised after it was cleaned
// as a prompt shows it; honest reasoning is not.
func TestFamilies(t *testing.T) {
	if n := len(Judges()); n != 20 {
		t.Errorf("%d families are directed at judges, want 20", n)
	}
	names := map[string]bool{}
	for _, f := range All() {
		if names[f.Name] || f.Source == "" || f.Raw == "" || f.Effect == "" {
			t.Errorf("%q is incomplete or there are two", f.Name)
		}
		names[f.Name] = true
		text := f.Text("52")
		if !strings.Contains(text, "52") && f.Name != "master-key" && f.Name != "null-model" {
			t.Errorf("%s does not name its answer: %q", f.Name, text)
		}
		got, ok := Of(clean.Line(text, 4000))
		if known := f.Marker != "" || f.Effect == Long; ok != known || known && got.Name != f.Name {
			t.Errorf("%s is recognised as %q, %v", f.Name, got.Name, ok)
		}
		if f.Judge && (f.Effect != Raise || len(text) > 400) {
			t.Errorf("%s: effect %s, %d bytes", f.Name, f.Effect, len(text))
		}
	}
	for _, honest := range []string{"", "17 and 25 are 42.", "Adding the tens gives 30, the ones 12. So 42."} {
		if f, ok := Of(honest); ok {
			t.Errorf("honest reasoning %q is taken for %s", honest, f.Name)
		}
	}
	if _, err := Find("none"); err == nil {
		t.Error("an unknown family is found")
	}
}
