// Package clean makes text that somebody else wrote fit to be compared and shown: one spelling of every
// character, nothing that cannot be seen, no control tokens of chat templates.
//
// It is pure and has rank 0, because it imports nothing of this module; packages prompt and read use it.
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutMark ends text that Line has cut.
const cutMark = " [...]"

// Line returns s as one line of at most max bytes that is fit to be shown to a model or on a terminal:
//   - every character has one spelling, and invisible characters are removed (see Fold);
//   - every run of white space, newlines included, becomes one space, so that the text cannot begin a line
//     of its own;
//   - every string that a known chat template uses as a control token is broken by a space, so that no
//     tokeniser reads it as one: <…>, [WORD] and [|…|], with or without a bar or slash, and the pairs << >>
//     that fences use;
//   - longer text is cut between two characters and marked with " [...]".
//
// It is deterministic and idempotent.
func Line(s string, max int) string { return Text(s, max, How{}) }

// How says what Text leaves as it is.
type How struct {
	Lines  bool // line breaks
	Tokens bool // control tokens of chat templates
}

// Text is Line but for what is left as it is. Texts that are not to be trusted need the zero How.
func Text(s string, max int, how How) string {
	cut := false
	if limit := 4*max + 4096; len(s) > limit { // bounds the work: invisible text may be long
		s, cut = Head(s, limit), true
	}
	if !IsPlain(s) {
		s = Fold(s)
	}
	if !how.Lines {
		s = Collapse(s)
	}
	if s = strings.TrimSpace(s); !how.Tokens {
		s = breakTokens(s)
	}
	if len(s) <= max && !cut {
		return s
	}
	if max <= len(cutMark) {
		return strings.TrimRight(Head(s, max), " ")
	}
	return strings.TrimLeft(strings.TrimRight(Head(s, max-len(cutMark)), " ")+cutMark, " ")
}

// Passage is Line for text of several lines: newlines and runs of spaces stay.
func Passage(s string, max int) string {
	if len(s) > max {
		s = Head(s, max-len(cutMark)) + cutMark
	}
	return strings.Trim(breakTokens(Fold(s)), "\n")
}

// Head returns the longest prefix of s of at most max bytes that splits no character.
func Head(s string, max int) string {
	if len(s) <= max {
		return s
	}
	if max < 0 {
		max = 0
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// Tail returns the longest suffix of s of at most max bytes that splits no character.
func Tail(s string, max int) string {
	if len(s) <= max {
		return s
	}
	i := len(s) - max
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// Collapse replaces every run of white space by one space and trims the ends.
func Collapse(s string) string {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "  ") && !strings.ContainsFunc(s, func(r rune) bool {
		return r != ' ' &&
			unicode.IsSpace(r)
	}) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// breakTokens inserts a space into everything that may be a control token.
func breakTokens(s string) string {
	if !strings.ContainsAny(s, "<>[]|") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := range len(s) {
		b.WriteByte(s[i])
		if i+1 < len(s) && breaks(s, i) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// breaks reports whether a space belongs between s[i] and s[i+1].
func breaks(s string, i int) bool {
	next := s[i+1]
	switch s[i] {
	case '<':
		return next != ' ' && next != '=' // <s>, <|im_end|>, </s>, <<SYS>>, <0x0A>
	case '>':
		return next == '>'
	case '|':
		return next == '>' || next == ']'
	case ']':
		return next == '~' // ]~b] and its like
	case '[':
		return next == '|' || bracketed(s[i+1:])
	}
	return false
}

// bracketed reports whether s begins with text that makes a control word after an opening bracket: [INST],
// [/INST], [TOOL_CALLS], [gMASK], [UNUSED_TOKEN_1], [e~[.
func bracketed(s string) bool {
	letters := 0
	for i := range min(len(s), 40) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		case c == ']':
			return letters >= 2
		case c == '[' || c == '~':
			return letters >= 1
		case c >= '0' && c <= '9', c == '_', c == '/', c == '-':
		default:
			return false
		}
	}
	return false
}
