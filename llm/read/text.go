package read

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
)

// canonText brings short text, already folded and on one line, to one spelling. Only outer punctuation is
// removed; signs that may have a meaning (-5, C++, 5!, 3%) stay.
func canonText(s string) (string, bool) {
	s = lower(s)
	for range 8 {
		t := trimText(s)
		if t == s {
			return s, strings.ContainsFunc(s, meaningful)
		}
		s = t
	}
	return "", false
}

func meaningful(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.S, r)
}

// lower folds letter case so that all case variants of a letter meet, and composes characters again.
func lower(s string) string {
	if clean.IsPlain(s) {
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, s)
	return clean.Collapse(clean.Fold(norm.NFKC.String(s)))
}

func trimText(s string) string {
	s = notation.Unwrap(s)
	s = strings.TrimLeft(s, " ,;:\u00bf\u00a1\u201c\u201d\u2018\u2019\"'*_`")
	s = strings.TrimRight(s, " ,;:?.\u3002\u201c\u201d\u2018\u2019\"'*_`")
	if t := strings.TrimRight(s, "!"); t != s {
		if last, _ := utf8.DecodeLastRuneInString(t); !unicode.IsNumber(last) && last != ')' {
			s = t
		}
	}
	if len(s) > 2 && s[0] == '(' && s[len(s)-1] == ')' && !strings.ContainsAny(s[1:len(s)-1], "(),") {
		s = s[1 : len(s)-1]
	}
	for _, article := range []string{"the ", "an ", "a "} {
		if after, found := strings.CutPrefix(s, article); found && utf8.RuneCountInString(after) > 1 {
			s = after
			break
		}
	}
	return clean.Collapse(s)
}

func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }
