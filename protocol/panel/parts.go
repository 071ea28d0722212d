package panel

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// The limits of what is judged of a text. What lies beyond them is shown as unchecked.
const (
	MaxClaims = 60   // parts of a text
	maxPart   = 1000 // bytes of a part; a fence in a prompt has room for twice as many
)

// part is a sentence of a text, or what stands in its place: a heading, an item of a list, a block of code.
type part struct {
	start, end int // bytes of the text: from start to before end
}

// partsOf takes a text apart: at the ends of lines and of sentences. A block of code is one part. Every letter and
// every digit of the text is in just one part, whoever wrote the text, so nothing of it can be kept from the judges.
func partsOf(text synod.Answer) (parts []part) {
	s, code := string(text), -1
	for at := 0; at < len(s); {
		end := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch fenced := strings.HasPrefix(strings.TrimSpace(s[at:end]), "```"); {
		case fenced && code < 0:
			code = at
		case fenced:
			parts, code = add(parts, s, code, end), -1
		case code < 0:
			parts = sentences(parts, s, at, end)
		}
		at = end
	}
	if code >= 0 { // the block has no end
		parts = add(parts, s, code, len(s))
	}
	return parts
}

// sentences adds the sentences of a line.
func sentences(parts []part, s string, from, to int) []part {
	start := from
	for i, r := range s[from:to] {
		after := from + i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			after = from + i + 1
		}
		if !strings.ContainsRune(".!?…。！？", r) {
			continue
		}
		for after < to { // closing marks belong to the sentence
			mark, size := utf8.DecodeRuneInString(s[after:to])
			if !strings.ContainsRune(`.!?"')]*_”’»`, mark) {
				break
			}
			after += size
		}
		next, _ := utf8.DecodeRuneInString(s[after:to])
		ends := after == to || unicode.IsSpace(next) || strings.ContainsRune("。！？", r)
		if ends && after > start && !abbreviates(s[start:from+i]) {
			parts, start = add(parts, s, start, after), after
		}
	}
	return add(parts, s, start, to)
}

// abbreviates reports that a dot after these words does not end a sentence: after the number of a list's item, or after
// a single letter, as in "e.g.".
func abbreviates(words string) bool {
	last, size := utf8.DecodeLastRuneInString(words)
	before, _ := utf8.DecodeLastRuneInString(words[:len(words)-size])
	return !strings.ContainsFunc(words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsSymbol(r) }) ||
		unicode.IsLetter(last) && last < utf8.RuneSelf && !unicode.IsLetter(before)
}

// add adds a part without the white space around it, if it has a letter, a digit or a symbol.
func add(parts []part, s string, start, end int) []part {
	if !strings.ContainsFunc(s[start:end], states) {
		return parts
	}
	start += len(s[start:end]) - len(strings.TrimLeftFunc(s[start:end], unicode.IsSpace))
	return append(parts, part{start, start + len(strings.TrimRightFunc(s[start:end], unicode.IsSpace))})
}

// states reports that a character may be a part of a statement.
func states(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) }

// judged returns the parts of a text that members judge: the first MaxClaims that are not too long.
func judged(text synod.Answer) (all []part) {
	for _, p := range partsOf(text) {
		s := string(text[p.start:p.end])
		if len(all) < MaxClaims && len(s) <= maxPart && len(clean.Fold(s)) <= maxPart {
			all = append(all, p)
		}
	}
	return all
}
