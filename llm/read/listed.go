package read

import (
	"regexp"
	"strings"
	"unicode"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
)

// Choices finds the choices that a text lists, with labels that count up from A, a or 1. ask is the text without
// them, or the whole text if there are none or if the rest is incomplete without them.
func Choices(text string) (ask string, options []synod.Option) {
	if ask, options = findOptions(text); options != nil {
		return ask, options
	}
	return text, nil
}

// listed match the ways in which people list choices, the clearest first. The only group of each is the label.
var listed = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^[ \t*\-]*\(([A-Za-z]|[0-9]{1,2})\)[ \t]*`),
	regexp.MustCompile(`(?m)^[ \t*\-]*([A-Z]|[a-z]|[0-9]{1,2})[).:][ \t]+`),
	regexp.MustCompile(`(?:^|[\s,;:?])\(([A-Za-z]|[0-9]{1,2})\)[ \t]*`),
	regexp.MustCompile(`(?:^|[\s,;:?])([A-Z]|[a-z]|[0-9]{1,2})\)[ \t]*`),
	regexp.MustCompile(`(?:^|[\s,;])((?:(?i)option|answer|solution|ending|choice) ?[0-9]{1,2}):[ \t]*`),
}

// findOptions finds choices whose labels count up from A, a or 1, and the text around them.
func findOptions(text string) (string, []synod.Option) {
	read := clean.Head(text, maxRead)
	for _, re := range listed {
		marks := re.FindAllStringSubmatchIndex(read, -1)
		if len(marks) > 200 {
			marks = marks[:200]
		}
		for i := range marks {
			if o, end := run(read, marks[i:]); o != nil {
				return around(text, marks[i][2], end), o
			}
		}
	}
	return "", nil
}

// around returns text without the list between start and end. A list inside a sentence stays, because the rest
// would be incomplete.
func around(text string, start, end int) string {
	before := strings.TrimRight(text[:start], " \t*-(")
	ownLine := strings.HasSuffix(before, "\n")
	before = strings.TrimRight(before, " \t\r\n,;")
	if before == "" || !ownLine && !strings.HasSuffix(before, "?") && !strings.HasSuffix(before, ":") &&
		!strings.HasSuffix(before, ".") {
		return text
	}
	if after := strings.TrimSpace(text[end:]); after != "" {
		return before + "\n\n" + after
	}
	return before
}

// run reads options from the first mark on, as long as the labels count up. end is where the last one ends.
func run(text string, marks [][]int) (options []synod.Option, end int) {
	label := func(i int) string { return text[marks[i][2]:marks[i][3]] }
	if !firstLabel(label(0)) {
		return nil, 0
	}
	n := 1
	for n < len(marks) && follows(label(n-1), label(n)) {
		n++
	}
	if n < 2 {
		return nil, 0
	}
	options = make([]synod.Option, n)
	for i := range options {
		end = len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		words := text[marks[i][1]:end]
		if i == n-1 { // the last one ends with its line
			lead := len(words) - len(strings.TrimLeftFunc(words, unicode.IsSpace))
			words, _, _ = strings.Cut(words[lead:], "\n")
			end = marks[i][1] + lead + len(words)
		}
		words = strings.TrimRight(clean.Collapse(words), " ,;")
		words = strings.TrimRight(strings.TrimSuffix(words, " or"), " ,;")
		if words == "" {
			return nil, 0
		}
		options[i] = synod.Option{Label: strings.ToUpper(label(i)), Text: words}
		if len(label(i)) > 2 {
			options[i].Label = squeeze(strings.ToLower(label(i)))
		}
	}
	return options, end
}

func firstLabel(l string) bool {
	l = strings.ToUpper(l)
	return l == "A" || strings.TrimLeft(l, "OPTINASWERLUDGCH ") == "1"
}

// follows reports whether label b follows label a directly: B after A, 10 after 9.
func follows(a, b string) bool {
	word := strings.TrimRight(a, "0123456789")
	if word == a {
		return len(a) == 1 && len(b) == 1 && b[0] == a[0]+1
	}
	rest, same := strings.CutPrefix(b, word)
	return same && number(rest) == number(a[len(word):])+1
}

func number(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if !notation.IsDigit(c) {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}
