package task

import (
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/llm/read/formula"
	"synod.dev/synod/llm/read/refusal"
)

// JSON is the form of a JSON value, which graders compare by value. They need no schema.
const JSON = synod.JSON

// Forms lists every form that can be graded. There is no right answer to compare a text of the form
// synod.Prose with.
func Forms() []synod.Form { return append(synod.ShortForms(), JSON, synod.Action) }

// Verdict is the judgement of a grader.
type Verdict string

// The verdicts. An answer that cannot be read is counted separately from wrong ones.
const (
	Right      Verdict = "right"
	Wrong      Verdict = "wrong"
	Unreadable Verdict = "unreadable"
)

// Grade is a verdict and the readings that it is based on.
type Grade struct {
	Verdict Verdict `json:"verdict"` // Strict
	Strict  Verdict `json:"strict"`  // of the answer that the reply commits to
	// of that answer or, if there is none, of the last thing that could be one
	Flexible Verdict `json:"flexible"`
	Want     string  `json:"want_read"`         // the key as it was read; "" if it could not be
	Got      string  `json:"got_read"`          // the answer as the strict reader read it
	Loose    string  `json:"loose_read"`        // the answer as the flexible reader read it
	Basis    string  `json:"decided,omitempty"` // how two formulas were compared: exact, numeric, spelling
	Problem  string  `json:"problem,omitempty"` // why the key cannot be read
}

// GradeAnswer grades an answer that is canonical already, as councils give it. The form and options of q
// decide how the answer and the key want are read.
func GradeAnswer(q *synod.Question, want string, got synod.Answer) Grade {
	return gradeWith(q, want, func(g *grader) (reading, bool) { return g.read(string(got)) }, nil)
}

// GradeReply grades the text of a model: a whole reply or only an answer.
func GradeReply(q *synod.Question, want, reply string) Grade {
	return gradeWith(q, want,
		func(g *grader) (reading, bool) { return g.strict(reply) },
		func(g *grader) (reading, bool) { return g.loose(reply) })
}

func gradeWith(q *synod.Question, want string, strict, loose func(*grader) (reading, bool)) Grade {
	out := Grade{Verdict: Unreadable, Strict: Unreadable, Flexible: Unreadable}
	g := &grader{q: withOptions(q, want)}
	key, ok := g.read(want)
	if !ok {
		out.Problem = "the wanted answer cannot be read as " + phrase(q)
		return out
	}
	g.key = key
	out.Want = key.shown
	got, ok := strict(g)
	if ok {
		out.Got, out.Loose = got.shown, got.shown
		out.Strict, out.Basis = g.compare(got)
		out.Flexible = out.Strict
	} else if loose != nil {
		if got, ok = loose(g); ok {
			out.Loose = got.shown
			out.Flexible, out.Basis = g.compare(got)
		}
	}
	out.Verdict = out.Strict
	return out
}

// readable reports whether a key can be read.
func readable(q *synod.Question, key string) bool {
	_, ok := (&grader{q: q}).read(key)
	return ok
}

// reading is an answer as it was read.
type reading struct {
	shown  string // for people
	answer synod.Answer
	value  any // the value that is compared where canonical spelling does not decide
}

// grader reads and compares the answers to one question.
type grader struct {
	q   *synod.Question
	key reading
}

// read reads s as a whole as an answer.
func (g *grader) read(s string) (reading, bool) {
	if shaped(g.q) {
		return readShaped(g.q, s)
	}
	switch g.q.Form {
	case JSON:
		return readJSON(s)
	case synod.Stance: // a key or the decision of a council, never a reply
		stance, ok := refusal.Label(s)
		return reading{shown: stance, answer: synod.Answer(stance)}, ok
	case synod.Math:
		return readMath(s)
	}
	a, ok := read.Bare(g.q, s)
	return g.reading(a, s), ok
}

// reading returns an answer and what surface, the text that it was read from, adds to a number.
func (g *grader) reading(a synod.Answer, surface string) reading {
	out := reading{shown: string(a), answer: a}
	if g.q.Form == synod.Number {
		amount := read.AmountOf(surface)
		out.value = measured{percent: percentage(surface), Amount: amount}
		if unit := amount.Unit(); !strings.HasSuffix(out.shown, unit) {
			out.shown += unit
		}
	}
	return out
}

// strict reads the answer that a reply commits to.
func (g *grader) strict(reply string) (reading, bool) {
	if shaped(g.q) {
		a, _, ok := read.AnswerIn(g.q, reply)
		return reading{shown: string(a), answer: a}, ok
	}
	switch g.q.Form {
	case JSON:
		return readJSON(outerJSON(reply))
	case synod.Math:
		return strictMath(g.q, g.key, reply)
	}
	a, surface, ok := read.BareAnswerIn(g.q, reply)
	if !ok && g.q.Form == synod.Text { // a reply that is the key word for word is an answer
		if same, whole := read.Bare(g.q, reply); whole && same == g.key.answer {
			return g.key, true
		}
	}
	return g.reading(a, surface), ok
}

// loose reads the last part of a reply that could be its answer.
func (g *grader) loose(reply string) (reading, bool) {
	if shaped(g.q) { // a value outside the answer is none
		return reading{}, false
	}
	switch g.q.Form {
	case JSON:
		return lastJSON(reply)
	case synod.Math:
		return looseMath(g.q, g.key, reply)
	}
	a, surface, ok := read.PaperAnswer(g.q, reply)
	return g.reading(a, surface), ok
}

// compare decides whether a reading answers the question, and returns how that was decided.
func (g *grader) compare(got reading) (Verdict, string) {
	same, basis := false, ""
	switch g.q.Form {
	case JSON, synod.Action:
		if shaped(g.q) {
			same = sameShaped(g.q, g.key.answer, got.answer)
			break
		}
		same = reflect.DeepEqual(g.key.value, got.value)
	case synod.Math:
		same, basis = sameMath(g.key, got)
	case synod.Number:
		same = sameNumber(g.key, got)
	default:
		same = g.key.answer == got.answer
	}
	if same {
		return Right, basis
	}
	return Wrong, basis
}

// measured is what stands beside a number.
type measured struct {
	percent bool
	read.Amount
}

// percentage reports whether a number was written as a percentage.
func percentage(s string) bool {
	return strings.HasSuffix(strings.TrimRight(s, " .$*}"), "%") || strings.HasSuffix(strings.TrimSpace(s), "percent")
}

// sameNumber compares numbers with their units where both have some, and otherwise without: a missing unit is
// forgiven.
func sameNumber(want, got reading) bool {
	a, b := want.value.(measured), got.value.(measured)
	if same, decided := a.Same(b.Amount); decided {
		return same
	}
	if a.percent && b.Known() || b.percent && a.Known() {
		return false
	}
	return want.answer == got.answer || samePercent(want, got) || sameValue(want, got)
}

// withOptions gives a choice question without options the labels that the key suggests: the letters, or the
// key's word with the numbers up to 26.
func withOptions(q *synod.Question, want string) *synod.Question {
	if q.Form != synod.Choice || len(q.Options) > 0 {
		return q
	}
	key := strings.Trim(want, " ()[].")
	word := strings.ToLower(strings.TrimRight(key, "0123456789"))
	c := *q
	for i := range 26 {
		label := string(rune('A' + i))
		if word != strings.ToLower(key) {
			label = word + itoa(i+1)
		}
		c.Options = append(c.Options, synod.Option{Label: label})
	}
	if len(key) > 1 && word == strings.ToLower(key) {
		c.Options = append(c.Options, synod.Option{Label: key})
	}
	return &c
}

// samePercent reports that two numbers are equal although only one was written as a percentage: 45% equals
// 0.45, and equals 45 if a percentage was asked for.
func samePercent(want, got reading) bool {
	a, b := want.value.(measured).percent, got.value.(measured).percent
	if a == b {
		return false
	}
	x, ok := new(big.Rat).SetString(string(want.answer))
	y, fine := new(big.Rat).SetString(string(got.answer))
	if !ok || !fine {
		return false
	}
	if a {
		x.Quo(x, hundred)
	} else {
		y.Quo(y, hundred)
	}
	return x.Cmp(y) == 0
}

// sameValue reports that two numbers, of which one is no rational number as it is written, are equal as formulas.
func sameValue(want, got reading) bool {
	_, rational := new(big.Rat).SetString(string(want.answer))
	if _, too := new(big.Rat).SetString(string(got.answer)); rational && too {
		return false
	}
	x, err := formula.Parse(string(want.answer))
	if err != nil {
		return false
	}
	y, err := formula.Parse(string(got.answer))
	if err != nil {
		return false
	}
	same, _ := formula.Same(x, y)
	return same
}

var hundred = big.NewRat(100, 1)

func itoa(n int) string { return strconv.Itoa(n) }
