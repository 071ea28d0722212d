package read

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"synod.dev/synod"
	"synod.dev/synod/llm/read/notation"
)

// merge is one row of the table of what may stand beside a bare answer without making it
// another answer. docs/measure/grading.md shows the table.
type merge struct {
	form     synod.Form
	beside   string       // what stands beside the bare answer
	merged   bool         // with it, the answer is the same as the bare one
	question string       // an example: a question,
	written  string       // an answer with it,
	answer   synod.Answer // and how that is read; None: it is no answer
}

// mark is a row of the table.
type mark int

const (
	thousands mark = iota
	currency
	otherCurrency
	askedUnit
	otherUnit
	askedPercent
	percent
	scaleWord
	qualifier
	optionText
	optionWords
	echo
	remark
	mathUnit
	mathOther
	textCase
	textWords
)

// merges is the table. Whoever writes an answer chooses its spelling, so two spellings are
// merged only if they cannot mean different things.
var merges = [...]merge{
	thousands: {synod.Number, "separators between thousands", true,
		"How many?", "1,234", "1234"},
	currency: {synod.Number, "a currency, unless the question names another", true,
		"How much is it?", "$18", "18"},
	otherCurrency: {synod.Number, "another currency than that of the question", false,
		"How many dollars is it?", "€18", "18 euros"},
	askedUnit: {synod.Number, "the unit that the question asks for", true,
		"How many km is it?", "18 kilometres", "18"},
	otherUnit: {synod.Number, "another unit", false,
		"How many metres is it?", "18 km", "18 km"},
	askedPercent: {synod.Number, "a percent sign, if the question asks for a percentage", true,
		"What percentage is it?", "18%", "18"},
	percent: {synod.Number, "a percent sign otherwise", false,
		"What is the rate?", "0.5%", "0.5%"},
	scaleWord: {synod.Number, "a scale word; it is multiplied in", false,
		"How many are there?", "5 million", "5000000"},
	qualifier: {synod.Number, "a qualifier, such as each, extra, except", false,
		"How many cents is it?", "5 cents each year", "5 cents each year"},
	optionText: {synod.Choice, "the text of the same option", true,
		"Which?", "A) Paris", "A"},
	optionWords: {synod.Choice, "other words after the label", false,
		"Which?", "A: all of the above, and B", synod.None},
	echo: {synod.Bool, "words that only repeat it", true,
		"Is it open?", "Yes, it is.", "true"},
	remark: {synod.Bool, "other words", false,
		"Is it open?", "Yes: except on Sundays", synod.None},
	mathUnit: {synod.Math, "a currency or the unit that the question asks for, after a number", true,
		"How many cm is it?", `18\text{ cm}`, "18"},
	mathOther: {synod.Math, "anything else, a percent sign for example", false,
		"How many cm is it?", `18\%`, "18%"},
	textCase: {synod.Text, "letter case, outer punctuation, a leading article", true,
		"Which tower?", "The Eiffel Tower.", "eiffel tower"},
	textWords: {synod.Text, "other words", false,
		"Which tower?", "Eiffel Tower, or not", "eiffel tower, or not"},
}

// suffix is what stands beside a number: a sign, and words in lower case.
type suffix struct {
	sign  string // %, ° or ¢; ""
	money string // the currency, such as dollars; "" if none
	words []string
}

// String returns the suffix as it follows the number in a canonical answer.
func (x suffix) String() string {
	words := x.words
	if x.money != "" {
		words = append([]string{x.money}, words...)
	}
	if len(words) == 0 {
		return x.sign
	}
	return x.sign + " " + strings.Join(words, " ")
}

// merged reports whether a number with this suffix is the same answer to q as the number.
func (x suffix) merged(q *synod.Question) bool {
	if x.sign == "" && x.money == "" && len(x.words) == 0 {
		return true
	}
	a := askedBy(q)
	marks := a.words(x.words)
	if x.money != "" {
		marks = append(marks, a.currency(x.money))
	}
	switch x.sign {
	case "%":
		marks = append(marks, a.percent())
	case "\u00b0":
		marks = append(marks, a.unit("degrees"))
	case "\u00a2":
		marks = append(marks, a.unit("cents"))
	}
	return !slices.ContainsFunc(marks, func(m mark) bool { return !merges[m].merged })
}

// monies maps signs and words of currencies to the word of canonical answers.
var monies = map[string]string{
	"$": "dollars", "US$": "dollars", "dollar": "dollars", "dollars": "dollars", "usd": "dollars", "bucks": "dollars",
	"\u20ac": "euros", "euro": "euros", "euros": "euros", "eur": "euros",
	"\u00a3": "gbp", "gbp": "gbp", "\u00a5": "yen", "yen": "yen",
	"\u20b9": "rupees", "rupee": "rupees", "rupees": "rupees",
}

// readSuffix reads the text after a number that isUnit accepts. money is the sign before the
// number, or "".
func readSuffix(money, rest string) (x suffix, ok bool) {
	x.money = monies[money]
	rest = strings.TrimSpace(rest)
	for _, sign := range unitSigns {
		if after, found := strings.CutPrefix(rest, sign); found {
			rest = strings.TrimSpace(after)
			if m := monies[sign]; m == "" {
				x.sign = sign
			} else if x.money != "" && x.money != m {
				return suffix{}, false
			} else {
				x.money = m
			}
			break
		}
	}
	for raw := range strings.FieldsSeq(strings.ReplaceAll(rest, "/", " per ")) {
		raw = strings.Trim(raw, ".,")
		if raw == "M" || raw == "K" || raw == "B" { // a scale as likely as a unit
			return suffix{}, false
		}
		x.words = append(x.words, unitWord(raw))
	}
	if len(x.words) > 0 && x.sign == "" && (x.words[0] == "percent" || x.words[0] == "percentage") {
		x.sign, x.words = "%", x.words[1:]
	}
	if len(x.words) > 0 {
		if m := monies[x.words[0]]; m != "" && (x.money == "" || x.money == m) {
			x.money, x.words = m, x.words[1:]
		}
	}
	return x, true
}

// unitWord writes a word of a unit in lower case, and its power as ^2 or ^3.
func unitWord(w string) string {
	w = strings.ToLower(w)
	base := withoutPower(w)
	if base == w {
		return w
	}
	return base + "^" + strings.Trim(w[len(base):], "^{}")
}

// asked is what a question asks for.
type asked struct {
	ask, all []string          // the words of its last sentence, and of the whole question
	text     string            // the last sentence, in lower case
	whole    string            // the question, in lower case
	measure  *notation.Measure // the unit of known size that it asks for; nil if it names none, or several
}

func askedBy(q *synod.Question) asked {
	whole := lower(q.Text)
	a := asked{text: asking(whole), whole: whole, all: wordsOf(whole)}
	a.ask = wordsOf(a.text)
	a.measure = a.findMeasure()
	return a
}

// wordsOf splits a text into words in lower case and numbers.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// findMeasure returns the first unit of known size after "how", "what" or "which" in the last
// sentence that follows no number; or else the only one of the question.
func (a *asked) findMeasure() *notation.Measure {
	start := 0
	for i, w := range a.ask {
		if w == "how" || w == "what" || w == "which" {
			start = i + 1
		}
	}
	for i := start; i < len(a.ask); i++ {
		if m, known := measureOf(a.ask[i]); known && (i == 0 || !notation.IsDigit(a.ask[i-1][0])) {
			return &m
		}
	}
	var only *notation.Measure
	for _, w := range a.all {
		if m, known := measureOf(w); known && only == nil {
			only = &m
		} else if known && !sameMeasure(*only, m) {
			return nil
		}
	}
	return only
}

// measureOf returns the unit of known size that a word names. "in" is a preposition.
func measureOf(w string) (notation.Measure, bool) {
	m, known := notation.Units[w]
	return m, known && w != "in" && m.Scale != nil
}

func sameMeasure(a, b notation.Measure) bool {
	return a.Base == b.Base && a.Pi == b.Pi && a.Scale.Cmp(b.Scale) == 0
}

// currency says whether a currency is one of those that the question names, if it names any.
func (a *asked) currency(money string) mark {
	named := false
	for sign, m := range monies {
		if strings.ContainsAny(sign, "$\u20ac\u00a3\u00a5\u20b9") {
			if !strings.Contains(a.whole, strings.ToLower(sign)) {
				continue
			}
		} else if !slices.Contains(a.all, sign) {
			continue
		}
		if m == money {
			return currency
		}
		named = true
	}
	if named {
		return otherCurrency
	}
	return currency
}

var percentAsked = regexp.MustCompile(`\b(?:what|which|how many|as a|as|in) (?:\w+ )?percent\b|\bpercentage\b`)

func (a *asked) percent() mark {
	if percentAsked.MatchString(a.text) {
		return askedPercent
	}
	return percent
}

// unit says whether a word is the unit that the question asks for.
func (a *asked) unit(w string) mark {
	base := withoutPower(w)
	if m, known := measureOf(base); known {
		if a.measure == nil || !sameMeasure(*a.measure, m) || !a.sameDimension(w[len(base):]) {
			return otherUnit
		}
		return askedUnit
	}
	if hasWord(a.ask, w) {
		return askedUnit
	}
	switch {
	case qualifiers[w]:
		return qualifier
	case hasWord(a.all, w), w == "square" && a.sameDimension("^2"), w == "cubic" && a.sameDimension("^3"):
		return askedUnit
	}
	return otherUnit
}

// sameDimension reports whether the question asks for lengths, areas (^2) or volumes (^3).
func (a *asked) sameDimension(power string) bool {
	switch power {
	case "^2":
		return hasWord(a.all, "area") || hasWord(a.all, "square") || strings.Contains(a.whole, "^2")
	case "^3":
		return hasWord(a.all, "volume") || hasWord(a.all, "cubic") || strings.Contains(a.whole, "^3")
	}
	return true
}

// words says what each word of a unit is. "each" is always a qualifier; "per day" belongs to
// the unit if the question asks for something per day.
func (a *asked) words(words []string) (marks []mark) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case fillers[w]:
		case (w == "per" || w == "a" || w == "an" || w == "every") && i+1 < len(words):
			i++
			if a.rate(words[i]) {
				marks = append(marks, askedUnit)
			} else {
				marks = append(marks, qualifier)
			}
		case w == "each" || w == "per" || w == "every":
			marks = append(marks, qualifier)
		default:
			marks = append(marks, a.unit(w))
		}
	}
	return marks
}

// rate reports whether the question asks for something per w.
func (a *asked) rate(w string) bool {
	for i, x := range a.ask {
		if i > 0 && stem(x) == stem(w) && rates[a.ask[i-1]] || x == adverbs[stem(w)] {
			return true
		}
	}
	return false
}

var (
	rates   = notation.Set("per a an each every")
	adverbs = map[string]string{"hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly",
		"year": "yearly"}
	fillers    = notation.Set("of the in total altogether overall")
	qualifiers = notation.Set(`apiece extra more less fewer only except excluding including half double twice triple
		remaining additional left other another tenth tenths hundredth hundredths thousandth thousandths tens dozens hundreds
		thousands millions billions trillions million billion trillion thousand hundred dozen percent percentage`)
)

// hasWord reports whether a word is in a list, in the singular or plural.
func hasWord(words []string, w string) bool {
	return slices.ContainsFunc(words, func(x string) bool { return stem(x) == stem(w) })
}

// hissing matches plurals in es: boxes, inches.
var hissing = regexp.MustCompile(`(?:ch|sh|x|ss)es$`)

// stem returns a word without the ending of a plural.
func stem(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && hissing.MatchString(w):
		return w[:len(w)-2]
	case len(w) > 2 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}
