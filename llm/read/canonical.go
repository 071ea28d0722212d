package read

import (
	"regexp"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
	"synod.dev/synod/llm/read/refusal"
)

// Canonical reads raw as a whole as an answer to q and returns the one spelling that stands for all its
// spellings. It is idempotent. It returns false if raw is no answer of that form. The members of a
// council vote with canonical answers; which spellings become one is in the table merges.
//   - Number: an exact rational, written as an integer or finite decimal if it is one, otherwise as p/q in
//     lowest terms. Thousands separators, a currency and the unit that the question asks for are dropped. With
//     another unit, a percent sign or a qualifier it is another answer: "5 cents each year", "0.5%". What is
//     only near a number (≈ 3, 0.333…, 3 or 4) is none. A time of day, and a power, a root or a multiple of π
//     that has no rational value, is written as for Math.
//   - Choice: the option's label as the question writes it; the option's text is accepted too, alone or after
//     its label. With other words it is no answer.
//   - Bool: "true" or "false"; yes and no are accepted too. With words that say more it is no answer.
//   - Math: LaTeX without spacing and sizing; numbers as for Number, except that a percent sign, a degree sign
//     and other units stay. Only spellings with the same meaning become equal; whether two expressions have
//     the same value is for a grader to decide.
//   - Text: without letter case, outer punctuation, leading article and repeated white space. Empty values of
//     programming languages ([], {}, "") are texts too.
//   - Stance: "complies", "refuses" or "partial"; raw is such a label or a whole reply, which is classified.
//   - Prose: the text itself, without white space around it.
//   - JSON: the value with sorted keys and without white space.
//   - Action: {"arguments": {…}, "name": …} of one of the question's tools, written like JSON.
//
// An answer that fails a check of the question is none.
func Canonical(q *synod.Question, raw string) (synod.Answer, bool) {
	a, ok := manner{}.canonical(q, raw)
	if ok && len(q.Checks) > 0 && Failed(q, a) != nil {
		return synod.None, false
	}
	return a, ok
}

// Bare is Canonical for graders and for the papers' readers, which do not vote: it drops what stands beside
// a value, whatever it says. 45% is 45, "5 km" is 5, "A: Paris, in France" is A, and "Yes, because …" is true.
func Bare(q *synod.Question, raw string) (synod.Answer, bool) {
	return manner{bare: true}.canonical(q, raw)
}

func (m manner) canonical(q *synod.Question, raw string) (synod.Answer, bool) {
	if q.Form.Long() {
		return canonicalLong(q, raw)
	}
	if raw == "" || len(raw) > maxRaw {
		return synod.None, false
	}
	if isCanonical(q, raw) {
		return synod.Answer(raw), true
	}
	s, ok := m.reduce(q, raw)
	// Characters may combine after others were removed, and a quantity may read otherwise without them. An answer
	// that is not the same when it is read again is none.
	amount := q.Form == synod.Number || q.Form == synod.Math
	for tries := 0; ok && !isCanonical(q, s) && (amount || !clean.IsPlain(s)); tries++ {
		next, fine := m.reduce(q, s)
		if next == s {
			break
		}
		if s, ok = next, fine; tries == 4 {
			return synod.None, false
		}
	}
	if !ok || s == "" || len(s) > maxCanon {
		return synod.None, false
	}
	return synod.Answer(s), true
}

// reduce applies the reader of the question's form once.
func (m manner) reduce(q *synod.Question, raw string) (string, bool) {
	if q.Form == synod.Stance {
		return m.canonicalStance(raw) // before its lines are joined
	}
	if q.Form == synod.Math && !clean.IsPlain(raw) {
		raw = clean.FractionsToTeX(raw)
	}
	switch s := clean.Collapse(clean.Fold(raw)); q.Form {
	case synod.Number:
		if number, ok := canonNumber(q, s, m.bare); ok || m.strict {
			return number, ok
		}
		return canonValue(notation.Unwrap(s))
	case synod.Choice:
		label, ok := canonChoice(q.Options, s, m.bare)
		if m.strict {
			return label, ok
		} else if !ok {
			label, ok = labelled(q.Options, notation.Unwrap(s))
		}
		return label, ok && !otherLabel(q.Options, s, label)
	case synod.Bool:
		return canonBool(s, m.bare)
	case synod.Math:
		if number, ok := mathQuantity(q, s); ok {
			return number, true
		}
		return canonMath(s)
	case synod.Text:
		if text, ok := canonText(s); ok || m.strict {
			return text, ok
		}
		return empty(s)
	}
	return "", false
}

// empty reads text that has neither letters nor digits as an empty list, set or string of a programming language,
// or several of them.
func empty(s string) (string, bool) {
	s = strings.Trim(s, " .`$")
	if inner := strings.Trim(s, `"'`); inner != "" {
		s = strings.TrimSpace(inner)
	} else if len(s) == 2 && s[0] == s[1] {
		s = `""`
	}
	return s, s == `""` || s != "" && strings.Trim(s, "[](){}, ") == "" && !strings.HasPrefix(s, ",")
}

// mathQuantity reads a number with a currency or unit beside it that is merged with the number.
func mathQuantity(q *synod.Question, s string) (string, bool) {
	s = notation.Unwrap(s)
	if strings.Contains(s, "=") {
		return "", false
	}
	v, x, ok := quantityOf(s)
	if !ok || x.String() == "" || !x.merged(q) {
		return "", false
	}
	return writeRat(v)
}

// isCanonical reports, without allocating, that raw is certainly canonical. False says nothing.
func isCanonical(q *synod.Question, raw string) bool {
	switch q.Form {
	case synod.Number, synod.Math:
		return isCanonicalNumber(raw)
	case synod.Choice:
		for i := range q.Options {
			if q.Options[i].Label == raw {
				return true
			}
		}
	case synod.Bool:
		return raw == "true" || raw == "false"
	case synod.Text:
		return isCanonicalText(raw)
	case synod.Stance:
		return slices.Contains(synod.Stances(), synod.Answer(raw))
	}
	return false
}

// isCanonicalText accepts lower-case ASCII words with single spaces between them, the first of which is no
// article.
func isCanonicalText(s string) bool {
	if len(s) > maxCanon || strings.HasPrefix(s, "a ") || strings.HasPrefix(s, "an ") || strings.HasPrefix(s, "the ") {
		return false
	}
	gap := true
	for _, c := range []byte(s) {
		if c == ' ' && gap || c != ' ' && (c < 'a' || c > 'z') && !notation.IsDigit(c) {
			return false
		}
		gap = c == ' '
	}
	return !gap
}

// isCanonicalNumber accepts 0, -7, 1234.5 and refuses 007, -0, 1.50, .5.
func isCanonicalNumber(s string) bool {
	if len(s) > maxDigits {
		return false
	}
	digits := s
	if s[0] == '-' {
		digits = s[1:]
	}
	i := 0
	for i < len(digits) && digits[i]-'0' < 10 {
		i++
	}
	if i == 0 || digits[0] == '0' && i > 1 {
		return false
	}
	if i == len(digits) {
		return s != "-0"
	}
	if digits[i] != '.' || i+1 == len(digits) || digits[len(digits)-1] == '0' {
		return false
	}
	for _, c := range []byte(digits[i+1:]) {
		if c-'0' >= 10 {
			return false
		}
	}
	return true
}

// canonBool reads true, false, yes or no. Words after it may only repeat it; with bare set, they may be any
// that do not say the opposite.
func canonBool(s string, bare bool) (string, bool) {
	s = strings.ToLower(notation.Unwrap(s))
	s = strings.TrimRight(s, ".!")
	word := strings.TrimRight(s, " ,.:;!-")
	rest := ""
	if i := strings.IndexAny(s, ",.:;!"); i >= 0 {
		word, rest = s[:i], strings.Trim(s[i+1:], " ,.;!")
	}
	value, ok := boolWords[notation.Unwrap(word)]
	switch {
	case !ok:
		return "", false
	case rest == "" || boolWords[rest] == value:
		return value, true
	case !bare:
		return value, echoes[value].MatchString(rest)
	}
	for w := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if other, is := boolWords[w]; is && other != value {
			return "", false
		}
	}
	return value, true
}

var boolWords = map[string]string{"true": "true", "yes": "true", "false": "false", "no": "false"}

// echoes match what repeats a yes or a no and says nothing more.
var echoes = map[string]*regexp.Regexp{
	"true": regexp.MustCompile(`^` + pronoun + auxiliary + right + `$|` +
		`^(?:that's|it's|indeed|of course|correct|right)` + right + `$`),
	"false": regexp.MustCompile(`^` + pronoun + `(?:` + auxiliary + `(?:n't| not)|cannot|can't|won't)` + right + `$|` +
		`^(?:` + pronoun + auxiliary + `|that's |it's ) ?(?:false|incorrect|wrong|not true|not correct|not right)$`),
}

const (
	pronoun   = `(?:it|they|he|she|we|you|i|there|that|this) `
	auxiliary = `(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|has|have|had|may|might|must)`
	right     = `(?: (?:so|true|correct|right))?`
)

// canonicalStance reads the name of a stance, or else classifies the reply that raw is.
func (m manner) canonicalStance(raw string) (string, bool) {
	s := strings.TrimSpace(clean.Fold(raw))
	name := strings.TrimRight(notation.Unwrap(s), ".!")
	if stance, ok := refusal.Label(name); ok {
		return stance, true
	}
	if stance, ok := stanceWords[strings.ToLower(name)]; ok && !m.strict {
		return stance, true
	}
	if !strings.ContainsFunc(s, meaningful) {
		return "", false
	}
	return refusal.Classify(s), true
}

// stanceWords are other words for stances than those of package refusal.
var stanceWords = map[string]string{"refused": refusal.Refuses, "complied": refusal.Complies,
	"partially": refusal.Partial,
	"partly":    refusal.Partial, "partial compliance": refusal.Partial, "partially complies": refusal.Partial,
	"partially refuses": refusal.Partial}
