package llm

import (
	"bytes"
	"fmt"
)

// mostEscapes is how many backslashes may stand before a byte of a secret: JSON in a string of JSON in another.
const mostEscapes = 4

// widest is how many bytes may write one byte of a secret: the backslashes and "u0073".
const widest = mostEscapes + 5

// find returns where a secret stands whole in a text for the first time, and how many bytes spell it; 0 if it does not.
func find(text, secret []byte) (at, n int) {
	first := string(secret[0]) + `\%`
	for ; ; at++ {
		next := bytes.IndexAny(text[at:], first)
		if next < 0 {
			return 0, 0
		}
		at += next
		if n, _ := spelled(text[at:], secret); n > 0 {
			return at, n
		}
	}
}

// spelled returns how many bytes at the beginning of a text spell a secret, 0 if they do not, and whether the text ends
// before that can be said.
func spelled(text, secret []byte) (n int, begun bool) {
	for _, c := range secret {
		w, begun := spells(text[n:], c)
		if w == 0 {
			return 0, begun
		}
		n += w
	}
	return n, false
}

// spells returns how many bytes at the beginning of a text spell one byte of a secret: itself, or its escape in JSON or
// in a URL.
func spells(text []byte, c byte) (n int, begun bool) {
	for n < min(mostEscapes, len(text)) && text[n] == '\\' {
		n++
	}
	rest := text[n:]
	if len(rest) > 0 && (rest[0] == '%' || rest[0] == 'u' && n > 0) {
		code := fmt.Appendf(nil, "%%%02x", c)
		if rest[0] == 'u' {
			code = fmt.Appendf(nil, "u%04x", c)
		}
		known := min(len(rest), len(code))
		switch {
		case !bytes.EqualFold(rest[:known], code[:known]):
		case known == len(code):
			return n + known, false
		case rest[0] != c || n > 0: // else it is the byte itself
			return 0, true
		}
	}
	switch {
	case c == '\\' && n > 0:
		return min(n, 2), false
	case len(rest) == 0:
		return 0, true
	case rest[0] == c:
		return n + 1, false
	}
	return 0, false
}
