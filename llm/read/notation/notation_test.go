package notation

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNumeral(t *testing.T) {
	for _, c := range []struct {
		in             string
		commas, spaces bool
		digits, rest   string
	}{
		{"42 km", true, true, "42", " km"},
		{"1,234,567.50 €", true, false, "1234567.50", " €"},
		{"1,234", false, false, "1", ",234"},
		{"1,23", true, true, "1", ",23"},
		{"1,2345", true, true, "1", ",2345"},
		{"12,345,67", true, true, "12345", ",67"},
		{"0,123", true, true, "0", ",123"},
		{"1234,567", true, true, "1234", ",567"},
		{`1{,}234`, false, false, "1234", ""},
		{`11,\! 111,\! 100`, false, false, "11111100", ""},
		{"12 345", true, true, "12345", ""},
		{"12 345", true, false, "12", " 345"},
		{`12\,345`, false, true, "12345", ""},
		{"1 234/500", true, true, "1", " 234/500"},
		{".5", true, true, ".5", ""},
		{"5.", true, true, "5", "."},
		{"5.a", true, true, "5", ".a"},
		{"x", true, true, "", "x"},
		{"", true, true, "", ""},
	} {
		if digits, rest := Numeral(c.in, c.commas, c.spaces); digits != c.digits || rest != c.rest {
			t.Errorf("Numeral(%q, %v, %v) = %q, %q", c.in, c.commas, c.spaces, digits, rest)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]string{
		"**42**.": "42", "$$x$$": "x", `\(\boxed{\text{cat}}\)`: "cat", `"it's"`: "it's", "`a`": "a", "a...": "a...",
		"*a* and *b*": "*a* and *b*", `\mathbb{R}`: `\mathbb{R}`, `\boxed{1}+\boxed{2}`: `\boxed{1}+\boxed{2}`,
		"": "", "$": "$",
	} {
		if got := Unwrap(in); got != want {
			t.Errorf("Unwrap(%q) = %q, want %q", in, got, want)
		}
	}
}

// Synonyms lead to commands that have no synonym themselves, and short units that are known have a size.
func TestTables(t *testing.T) {
	for from, to := range Synonyms {
		if again, has := Synonyms[to]; has {
			t.Errorf("%s is %s, which is %s", from, to, again)
		}
	}
	for r, name := range Characters {
		if Synonyms[name] != "" || r < utf8.RuneSelf || strings.Trim(name, Letters) != "" {
			t.Errorf("%q is %s", r, name)
		}
	}
	for name, m := range Units {
		if m.Scale == nil || m.Scale.Sign() <= 0 || name != strings.ToLower(name) {
			t.Errorf("%q: %+v", name, m)
		}
	}
}

// Cutting loses nothing: what is cut and the rest are the text.
func FuzzNumeral(f *testing.F) {
	f.Add(`1{,}234,567 890.5e3`, true, true)
	f.Fuzz(func(t *testing.T, s string, commas, spaces bool) {
		digits, rest := Numeral(s, commas, spaces)
		if !strings.HasSuffix(s, rest) || strings.Trim(digits, "0123456789.") != "" || strings.Count(digits, ".") > 1 {
			t.Fatalf("%q is %q and %q", s, digits, rest)
		}
		if Unwrap(Unwrap(s)) != Unwrap(s) {
			t.Fatalf("%q is unwrapped twice", s)
		}
	})
}
