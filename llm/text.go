package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine returns untrusted text as one line of printable characters.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shorten cuts a line to maxExcerpt runes. It is called after redacting, which
// would not find half a key.
func shorten(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxExcerpt {
			return s[:i] + "…"
		}
	}
	return s
}
