package read

import (
	"regexp"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// PaperAnswer reads an answer as leniently as the papers' code (SAC B.2, "a dataset-specific parser"); it is
// for reproductions (exact: paper) only. It reads the text after the last "Answer:" on its line, as a whole or
// else the last part of it that has the wanted form; without "Answer:", the last such part of the reply. So it
// may read a number that was not meant as an answer.
func PaperAnswer(q *synod.Question, text string) (answer synod.Answer, surface string, ok bool) {
	if q.Form == synod.Stance {
		return AnswerIn(q, text)
	}
	s := clean.Tail(text, maxRead)
	if i := lastFold(s, "answer:"); i >= 0 {
		line := strings.TrimLeft(s[i+len("answer:"):], " \t\r\n*_")
		line, _, _ = strings.Cut(line, "\n")
		line = clean.Head(line, maxRaw)
		if a, shown, ok := lenient.withSurface(q, line); ok {
			return a, shown, true
		}
		if a, shown, ok := lastOf(q, line); ok {
			return a, shown, true
		}
	}
	return lastOf(q, s)
}

// lenient is how the papers' readers read a value.
var lenient = manner{bare: true, strict: true}

// lastFold does what strings.LastIndex does for a lower-case ASCII needle, ignoring letter case.
func lastFold(s, needle string) int {
	for i := len(s) - len(needle); i >= 0; i-- {
		if strings.EqualFold(s[i:i+len(needle)], needle) {
			return i
		}
	}
	return -1
}

var anyLabel = regexp.MustCompile(`[\pL\pN]+`)

// lastOf finds the last part of s that has the form of an answer.
func lastOf(q *synod.Question, s string) (synod.Answer, string, bool) {
	switch q.Form {
	case synod.Number, synod.Math:
		if box, ok := lastBox(s); ok {
			if a, shown, ok := lenient.withSurface(q, box); ok {
				return a, shown, true
			}
		}
		return lastMatch(q, anyNumber, s)
	case synod.Bool:
		return lastMatch(q, anyTruth, s)
	case synod.Choice:
		return lastMatch(&synod.Question{Form: synod.Choice, Options: labelsOf(q.Options)}, anyLabel, s)
	}
	s = strings.TrimSpace(s)
	line := s[strings.LastIndexByte(s, '\n')+1:]
	return lenient.withSurface(q, line)
}

// labelsOf returns the options without their texts, so that a word of a text is not read as a choice.
func labelsOf(options []synod.Option) []synod.Option {
	out := make([]synod.Option, len(options))
	for i, o := range options {
		out[i].Label = o.Label
	}
	return out
}

// lastMatch returns the last match that can be read. It tries the last hundred.
func lastMatch(q *synod.Question, re *regexp.Regexp, s string) (synod.Answer, string, bool) {
	matches := re.FindAllStringIndex(s, -1)
	for i, tries := len(matches)-1, 100; i >= 0 && tries > 0; i, tries = i-1, tries-1 {
		word := s[matches[i][0]:matches[i][1]]
		if q.Form == synod.Choice && len(word) == 1 && strings.ToUpper(word) != word {
			continue // "a" is more often an article than a label
		}
		if a, shown, ok := lenient.withSurface(q, word); ok {
			return a, shown, true
		}
	}
	return synod.None, "", false
}

var firstNumber = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)`)

// PaperScore reads a score as the paper's code does (SAC B.1): the first number in the text, clipped to [0,1],
// or 0.5 if there is none. It reads the "1" of "Step 1" as full confidence (finding F4), so it is for
// reproductions only.
func PaperScore(text string) synod.Score {
	n := firstNumber.FindString(clean.Head(text, maxRead))
	if n == "" {
		return 0.5
	}
	v, _ := strconv.ParseFloat(n, 64) // out of range gives +Inf, which is clipped
	return synod.Score(min(v, 1))
}
