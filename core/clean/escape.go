package clean

import (
	"fmt"
	"strings"
	"unicode"
)

// Escape returns s with a code such as \u202e in place of every character that a terminal may obey, or that
// cannot be seen: control, format and bidirectional characters, tags, variation selectors and unassigned code
// points. Newlines and tabs stay.
func Escape(s string) string {
	if Plain(s) || !strings.ContainsFunc(s, Hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !Hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Plain reports whether a text has only visible ASCII, spaces, newlines and tabs, so that Escape changes nothing of it.
func Plain[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Hidden reports whether a terminal may obey a character, or show nothing for it.
func Hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && r != '\n' && r != '\t'
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		return true
	}
	return r == unicode.ReplacementChar || unicode.In(r, unicode.C, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point)
}
