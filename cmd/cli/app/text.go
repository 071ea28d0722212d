package app

import (
	"fmt"
	"regexp"
	"strings"

	"synod.dev/synod/core/clean"
)

// Printable makes untrusted text safe for a terminal: control, format and
// bidirectional characters, tags and escapes are printed as \u codes (SC-37).
func Printable(s string) string { return clean.Escape(s) }

// OneLine is Printable with white space, including line breaks, collapsed to single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(Printable(s)), " ") }

// Many returns a number and a noun, of which more is the plural, such as "2 replies".
func Many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Count is Many with a regular plural, such as "1 edge" or "2 edges".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Brief is the beginning of a text, of at most n characters.
func Brief(text string, n int) string {
	r := []rune(OneLine(text))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// ShellWord quotes a text as one word of a shell command, if it needs quotes.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./][\w@%+=:,./-]*$`)
