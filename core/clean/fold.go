package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxMarks is how many combining marks one character may have: enough for every writing system, too few to
// draw over other lines.
const maxMarks = 4

// Fold brings text to one spelling: NFKC, ASCII digits, an ASCII minus, plain spaces, and no invisible
// characters (control, format, tag, zero-width and bidirectional characters, variation selectors, private and
// unassigned code points). Newlines stay.
//
// NFKC alone would change the meaning: 10² would become 102, 101₂ would become 1012 and 3½ would become 31/2.
// So superscripts and subscripts first become ^… and _…, and a space is put before a vulgar fraction.
func Fold(s string) string {
	if IsPlain(s) {
		return s
	}
	return visible(norm.NFKC.String(visible(s)))
}

// IsPlain reports whether s is printable ASCII, which Fold returns unchanged.
func IsPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// visible does all of Fold except NFKC.
func visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if n := script(&b, s[i:]); n > 0 {
			i += n
			continue
		}
		i += size
		if unicode.Is(unicode.M, r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		if r = foldRune(r); r >= 0 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// foldRune returns the rune that replaces r, or -1 if r is removed.
func foldRune(r rune) rune {
	switch {
	case r >= ' ' && r <= '~' || r == '\n':
		return r
	case r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029':
		return '\n'
	case unicode.IsSpace(r):
		return ' '
	case hidden(r):
		return -1
	case unicode.Is(unicode.Nd, r):
		return digit(r)
	}
	switch r {
	case '\u2212', '\ufe63', '\uff0d', '\u2010', '\u2011':
		return '-'
	case '\u2044', '\u2215': // fraction slash, division slash
		return '/'
	case '\u066b': // Arabic decimal separator
		return '.'
	case '\u066c', '\u060c': // Arabic thousands separator, comma
		return ','
	case '\u00ba', '\u02da': // ordinal o, ring: both used as the degree sign
		return '\u00b0'
	}
	return r
}

// hidden reports whether readers cannot see or identify r.
func hidden(r rune) bool {
	return !unicode.IsGraphic(r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// digit returns the ASCII digit for a decimal digit of any script. Each range of the Unicode category consists
// of runs of ten that begin with zero.
func digit(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}

// script writes a run of superscripts or subscripts, or a vulgar fraction, from the start of s and returns how
// many bytes it read.
func script(b *strings.Builder, s string) (took int) {
	first, size := utf8.DecodeRuneInString(s)
	if first < 0xaa {
		return 0
	}
	if vulgar(first) {
		if last := b.String(); last != "" && last[len(last)-1] >= '0' && last[len(last)-1] <= '9' {
			b.WriteByte(' ')
		}
		b.WriteString(strings.ReplaceAll(norm.NFKC.String(s[:size]), "\u2044", "/"))
		return size
	}
	mark := shift(first)
	if mark == 0 {
		return 0
	}
	for took < len(s) {
		r, n := utf8.DecodeRuneInString(s[took:])
		if shift(r) != mark {
			break
		}
		took += n
	}
	run := strings.Map(foldRune, norm.NFKC.String(s[:took]))
	b.WriteByte(mark)
	if len(run) > 1 {
		run = "{" + run + "}"
	}
	b.WriteString(run)
	return took
}

// vulgar reports whether r is a fraction in one character.
func vulgar(r rune) bool {
	return r >= 0xbc && r <= 0xbe || r >= 0x2150 && r <= 0x215f || r == 0x2189
}

// FractionsToTeX replaces fractions in one character by \frac{…}{…}, so that following text does not become a
// part of the denominator.
func FractionsToTeX(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !vulgar(r) {
			b.WriteRune(r)
		} else if above, below, _ := strings.Cut(norm.NFKC.String(string(r)), "\u2044"); below != "" {
			b.WriteString(`\frac{` + above + `}{` + below + `}`)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shift returns '^' for a superscript character, '_' for a subscript one, otherwise 0.
func shift(r rune) byte {
	switch {
	case norm.NFKC.PropertiesString(string(r)).Decomposition() == nil: // some superscript letters have no plain form
		return 0
	case r == 0xb2, r == 0xb3, r == 0xb9, r >= 0x2070 && r <= 0x207f, r >= 0x02b0 && r <= 0x02b8,
		r >= 0x02e0 && r <= 0x02e4, r >= 0x1d2c && r <= 0x1d61, r >= 0x1d9b && r <= 0x1dbf:
		return '^'
	case r >= 0x2080 && r <= 0x208e, r >= 0x2090 && r <= 0x209c, r >= 0x1d62 && r <= 0x1d6a, r == 0x2c7c:
		return '_'
	}
	return 0
}
