package read

import (
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// maxSentence is the longest sentence, in bytes, in which an answer is looked for.
const maxSentence = 400

// asWritten finds the value in an answer that has more than the value: in a box, after "Answer:", or at the end
// of a sentence. It returns "" if there is none, or if the sentence may say something else than the value.
func (m manner) asWritten(q *synod.Question, s string) string {
	s = clean.Collapse(clean.Fold(s))
	if len(s) > maxSentence {
		return ""
	}
	if t := strings.TrimRight(s, " \u3002"); t != s && m.value(q, t) {
		return t
	}
	if strings.Count(s, `\boxed`) == 1 {
		box, _ := lastBox(s)
		return box
	}
	if at := answerMark.FindStringIndex(s); at != nil && at[0] == 0 {
		if rest := strings.Trim(s[at[1]:], " *_"); m.value(q, rest) {
			return rest
		}
	}
	switch q.Form {
	case synod.Number, synod.Math:
		if t := plainNumber(s); t != s && m.value(q, t) {
			return t
		}
		return m.sentence(q, s)
	case synod.Choice:
		if named := calledRight.FindStringSubmatch(s); named != nil && !hedged.MatchString(s) {
			return named[1]
		}
		return m.sentence(q, s)
	case synod.Bool:
		if len(anyTruth.FindAllString(s, 2)) == 1 {
			return m.sentence(q, s)
		}
	}
	return ""
}

// value reports whether s as a whole is an answer.
func (m manner) value(q *synod.Question, s string) bool {
	_, ok := m.canonical(q, s)
	return ok
}

var (
	// verb matches what stands before the value of a sentence.
	verb = regexp.MustCompile(`(?i)(?:\b(?:is|are|was|were|equals|equal to)\b:?|=|:)(?:\s|$)\s*|=`)
	// hedged matches words with which a sentence does not say that the value is the answer.
	hedged = regexp.MustCompile(`(?i)\b(?:not|never|no|neither|nor|none|unless|if|or|either|cannot|unlikely|wrong|` +
		`incorrect|between|about|approximately|roughly|around|least|most|almost|nearly|maybe|perhaps|possibly|might|` +
		`could|would|unknown|what|assum\w*|instead)\b|n't\b|\?`)
	// calledRight matches "Option B is correct".
	calledRight = regexp.MustCompile(`(?i)^(?:the )?(?:(?:option|choice|answer) )?\(?([a-z0-9]{1,2})\)? is (?:the )?` +
		`(?:correct|right|best)(?: answer| option| choice)?\.?$`)
)

// sentence returns the value at the end of a sentence, after "is", "=" or ":". A sentence with another number is
// not read.
func (m manner) sentence(q *synod.Question, s string) string {
	marks := verb.FindAllStringIndex(s, -1)
	if marks == nil {
		return ""
	}
	last := marks[len(marks)-1]
	before, rest := s[:last[0]], strings.TrimSpace(s[last[1]:])
	if hedged.MatchString(s) {
		return ""
	}
	rest = plainNumber(rest)
	a, ok := m.canonical(q, rest)
	if !ok {
		return ""
	}
	if q.Form == synod.Number || q.Form == synod.Math {
		for _, other := range anyNumber.FindAllString(before, -1) {
			if b, ok := Bare(q, other); !ok || b != a {
				return ""
			}
		}
	}
	return rest
}

var (
	// dotted matches a number with dots between thousands and a decimal comma, or with several dots.
	dotted   = regexp.MustCompile(`(^|[^0-9.,])([1-9][0-9]{0,2}(?:\.[0-9]{3})+),([0-9]+)($|[^0-9.,])`)
	grouped  = regexp.MustCompile(`(^|[^0-9.,])([1-9][0-9]{0,2}(?:\.[0-9]{3}){2,})($|[^0-9.,])`)
	apart    = regexp.MustCompile(`([0-9])['\x{2019}]([0-9]{3})`)
	euroCent = regexp.MustCompile(`([0-9]),([0-9]{2}) ?(€|(?i:euros?|eur)\b)`)
	sparse   = regexp.MustCompile(`^([1-9][0-9]{0,2}(?: [0-9]{3})+),([0-9]+)$`)
	dollars  = regexp.MustCompile(`^USD ?([0-9])`)
	euros    = regexp.MustCompile(`^EUR ?([0-9])`)
	perUnit  = regexp.MustCompile(`([0-9]) ?/ ?(\pL)`)
)

// plainNumber writes the numbers of other countries, and rates, as canonNumber reads them, where only one meaning is
// possible: 1.234,56 and 12,50 € but not 1.234 or 12,5.
func plainNumber(s string) string {
	without := func(re *regexp.Regexp, mark, text, by string) string {
		return re.ReplaceAllStringFunc(text, func(n string) string { return strings.ReplaceAll(n, mark, by) })
	}
	if dotted.MatchString(s) {
		s = without(dotted, ",", without(dotted, ".", s, ""), ".")
		s = strings.ReplaceAll(s, ",", ".")
	}
	s = without(grouped, ".", s, "")
	s = apart.ReplaceAllString(s, "$1$2")
	s = sparse.ReplaceAllString(s, "$1.$2")
	s = euros.ReplaceAllString(dollars.ReplaceAllString(s, "$$$1"), "€$1")
	s = euroCent.ReplaceAllString(s, "$1.$2 $3")
	return perUnit.ReplaceAllString(s, "$1 per $2")
}

var anyNumber = regexp.MustCompile(`-?\$?(?:[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:/[0-9]+)?|\.[0-9]+)`)

var anyTruth = regexp.MustCompile(`(?i)\b(?:true|false|yes|no)\b`)
