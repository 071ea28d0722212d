package engine

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	openRepeat = 64   // how often a part of a pattern without an upper limit is repeated at most
	maxRepeat  = 1000 // repetitions inside one another, multiplied: llama.cpp writes them out
)

// anyText is what may stand before and after a pattern without anchors.
const anyText = `[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029]{0,64}`

// patternRule returns a GBNF expression for the JSON text, between the quotes, of strings that match a pattern in the
// syntax of Go's regexp. Repetitions are limited, and no control characters are written. Anchors may stand at the ends
// only; word boundaries are an error.
func patternRule(pattern string) (string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", fmt.Errorf("pattern %q: %w", pattern, err)
	}
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	before, after := anyText+" ", " "+anyText
	if len(parts) > 0 && parts[0].Op == syntax.OpBeginText {
		parts, before = parts[1:], ""
	}
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		parts, after = parts[:n-1], ""
	}
	body, err := patternParts(parts, 1)
	if err != nil {
		return "", fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return before + body + after, nil
}

func patternParts(all []*syntax.Regexp, times int) (string, error) {
	texts := []string{}
	for _, re := range all {
		text, err := patternPart(re, times)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return `""`, nil
	}
	return "(" + strings.Join(texts, " ") + ")", nil
}

// patternPart returns the expression of a part of a pattern, which is written times times.
func patternPart(re *syntax.Regexp, times int) (string, error) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return `""`, nil
	case syntax.OpConcat, syntax.OpCapture:
		return patternParts(re.Sub, times)
	case syntax.OpAlternate:
		alts := []string{}
		for _, sub := range re.Sub {
			text, err := patternPart(sub, times)
			if err != nil {
				return "", err
			}
			alts = append(alts, text)
		}
		return "(" + strings.Join(alts, " | ") + ")", nil
	case syntax.OpStar:
		return repeated(re.Sub[0], 0, -1, times)
	case syntax.OpPlus:
		return repeated(re.Sub[0], 1, -1, times)
	case syntax.OpQuest:
		return repeated(re.Sub[0], 0, 1, times)
	case syntax.OpRepeat:
		return repeated(re.Sub[0], re.Min, re.Max, times)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return charClass([]rune{0, 0x10ffff})
	case syntax.OpCharClass:
		return charClass(re.Rune)
	case syntax.OpLiteral:
		return characters(re)
	}
	return "", errors.New("only characters, classes, groups, alternatives and repetitions can be followed, with " +
		"anchors at the ends")
}

// characters returns the expression of a literal, in both cases with the flag i.
func characters(re *syntax.Regexp) (string, error) {
	var texts []string
	for _, r := range re.Rune {
		pair := []rune{r, r}
		if lower, upper := []rune(strings.ToLower(string(r)))[0], []rune(strings.ToUpper(string(r)))[0]; re.Flags&
			syntax.FoldCase != 0 && lower != upper {
			pair = []rune{lower, lower, upper, upper}
		}
		text, err := charClass(pair)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return "(" + strings.Join(texts, " ") + ")", nil
}

func repeated(re *syntax.Regexp, least, most, times int) (string, error) {
	if most < 0 {
		most = max(openRepeat, least)
	}
	if times*most > maxRepeat {
		return "", fmt.Errorf("it repeats a part more than %d times", maxRepeat)
	}
	text, err := patternPart(re, times*max(most, 1))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("(%s){%d,%d}", text, least, most), nil
}

// steering are the characters that no reply may contain, as pairs of first and last; the two that JSON escapes in a
// string follow in escaped.
var steering = []rune{0, 0x1f, '"', '"', '\\', '\\', 0x7f, 0x9f, 0x2028, 0x2029, 0xd800, 0xdfff}

var escaped = []rune{'"', '\\'}

// charClass returns the expression of one character of a class, given as pairs of first and last.
func charClass(pairs []rune) (string, error) {
	var class strings.Builder
	var alts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		for _, part := range without(pairs[i], pairs[i+1], steering) {
			fmt.Fprintf(&class, "%s-%s", code(part[0]), code(part[1]))
		}
		for _, r := range escaped {
			if pairs[i] <= r && r <= pairs[i+1] {
				alts = append(alts, literal(`\`+string(r)))
			}
		}
	}
	if class.Len() > 0 {
		alts = append(alts, "["+class.String()+"]")
	}
	if len(alts) == 0 {
		return "", errors.New("it needs control characters, which replies do not contain")
	}
	return "(" + strings.Join(slices.Compact(alts), " | ") + ")", nil
}

// without returns the ranges that are left of one after others, ascending, are cut out.
func without(low, high rune, cut []rune) (left [][2]rune) {
	for i := 0; i < len(cut); i += 2 {
		if low < cut[i] && low <= high {
			left = append(left, [2]rune{low, min(high, cut[i]-1)})
		}
		low = max(low, cut[i+1]+1)
	}
	if low <= high {
		left = append(left, [2]rune{low, high})
	}
	return left
}

// code writes a character of a class. Letters and digits stand for themselves.
func code(r rune) string {
	switch {
	case r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
		return string(r)
	case r <= 0xff:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
