package campaign

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// readerSubject writes values and answers in many ways, and reads them again.
func readerSubject() *subject {
	return pieceSubject(readerName, .1, []string{"a number", "an amount", "a choice", "yes or no", "two answers",
		"a score", "percent"}, playReader, claimMeant, claimUnsaid)
}

// reading is an execution of the readers.
type reading struct{ *piece }

func playReader(all *piece) {
	p := reading{all}
	switch p.rand.IntN(7) {
	case 0:
		p.amounts()
	case 1:
		p.choices()
	case 2:
		p.truths()
	case 3:
		p.twoAnswers()
	case 4:
		p.scores()
	case 5:
		p.percents()
	default:
		p.numbers()
	}
}

// number draws a number that is not negative, and a way to write it.
func (p reading) number() (v *big.Rat, text string) {
	whole := int64(p.rand.IntN(20_000))
	v = big.NewRat(whole, 1)
	switch p.rand.IntN(7) {
	case 0: // a decimal
		v = big.NewRat(whole, 100)
		return v, v.FloatString(2 + p.rand.IntN(3))
	case 1:
		return v, thousands(whole)
	case 2: // a power of ten
		e := p.rand.IntN(9) - 4
		scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil))
		if e < 0 {
			scale.Inv(scale)
		}
		form := among(p.piece, "%de%d", "%d×10^%d", "%d x 10^{%d}", "%d*10^%d")
		return v.Mul(v, scale), fmt.Sprintf(form, whole, e)
	case 3:
		below := int64(1 + p.rand.IntN(40))
		form := among(p.piece, "%d/%d", `\frac{%d}{%d}`, "%d / %d")
		return big.NewRat(whole, below), fmt.Sprintf(form, whole, below)
	case 4: // a mixed number
		below := int64(2 + p.rand.IntN(9))
		above := 1 + int64(p.rand.IntN(int(below-1)))
		return v.Add(v, big.NewRat(above, below)), fmt.Sprintf("%d %d/%d", whole, above, below)
	case 5:
		word := among(p.piece, "thousand", "million", "hundred", "dozen", "billion")
		by := map[string]int64{"thousand": 1e3, "million": 1e6, "hundred": 100, "dozen": 12, "billion": 1e9}[word]
		return v.Mul(v, big.NewRat(by, 1)), fmt.Sprintf("%d %s", whole, word)
	}
	return v, fmt.Sprint(whole)
}

func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// exact is a number as answers have it: a decimal if it has an end, else a fraction.
func exact(v *big.Rat) string {
	below := new(big.Int).Set(v.Denom())
	places := 0
	for _, prime := range []int64{2, 5} {
		n := 0
		for new(big.Int).Mod(below, big.NewInt(prime)).Sign() == 0 {
			below.Div(below, big.NewInt(prime))
			n++
		}
		places = max(places, n)
	}
	if below.Cmp(big.NewInt(1)) != 0 {
		return v.RatString()
	}
	return v.FloatString(places)
}

func (p reading) numbers() {
	p.State("a number", true)
	v, text := p.number()
	if p.one(3) {
		v.Neg(v)
		text = among(p.piece, "-", "- ", "–") + text
	}
	text = strings.Replace(among(p.piece, "?", "$?$", "**?**", "x = ?", " ?. ", `\boxed{?}`), "?", text, 1)
	q := &synod.Question{Text: "How many?", Form: synod.Number}
	a, ok := read.Canonical(q, text)
	p.Claim(claimMeant, ok && string(a) == exact(v), "%q is read as %q, and means %s", text, a, exact(v))
}

// measures are units by what they measure, in the first of them.
var measures = [][]struct {
	unit  string
	scale *big.Rat
}{
	{{"m", big.NewRat(1, 1)}, {"cm", big.NewRat(1, 100)}, {"km", big.NewRat(1000, 1)}, {"mm", big.NewRat(1, 1000)}},
	{{"seconds", big.NewRat(1, 1)}, {"minutes", big.NewRat(60, 1)}, {"hours", big.NewRat(3600, 1)}},
	{{"mph", big.NewRat(1, 1)}, {"miles per hour", big.NewRat(1, 1)}},
	{{"km per hour", big.NewRat(1, 1)}, {"kph", big.NewRat(1, 1)}},
	{{"g", big.NewRat(1, 1)}, {"kg", big.NewRat(1000, 1)}},
	{{"m^2 per hour", big.NewRat(1, 1)}, {"m^2 per minute", big.NewRat(60, 1)},
		{"cm^2 per hour", big.NewRat(1, 10000)}},
}

// amounts compares two amounts with units, or two times of day.
func (p reading) amounts() {
	p.State("an amount", true)
	if p.one(3) {
		minutes := p.rand.IntN(24 * 60)
		half, hour := "am", minutes/60%12
		if minutes >= 12*60 {
			half = "pm"
		}
		if hour == 0 {
			hour = 12
		}
		twelve := fmt.Sprintf("%d:%02d %s", hour, minutes%60, half)
		other := minutes
		if p.one(2) {
			other = (minutes + 12*60) % (24 * 60)
		}
		if other >= 60 && other < 13*60 {
			return // it may be before or after noon
		}
		p.alike(twelve, fmt.Sprintf("%d:%02d", other/60, other%60), minutes == other)
		return
	}
	one, two := among(p.piece, measures...), among(p.piece, measures...)
	a, b := among(p.piece, one...), among(p.piece, two...)
	v := big.NewRat(int64(1+p.rand.IntN(500)), 1)
	w := new(big.Rat).Set(v)
	if p.one(2) && &one[0] == &two[0] { // the same amount
		w.Quo(w.Mul(w, a.scale), b.scale)
	}
	same := &one[0] == &two[0] && new(big.Rat).Mul(v, a.scale).Cmp(new(big.Rat).Mul(w, b.scale)) == 0
	p.alike(exact(v)+" "+a.unit, exact(w)+" "+b.unit, same)
}

// alike compares whether two amounts are the same.
func (p reading) alike(a, b string, want bool) {
	same, decided := read.AmountOf(a).Same(read.AmountOf(b))
	p.Claim(claimMeant, same == want && (decided || !want), "%q and %q are the same: %v, decided %v", a, b, same,
		decided)
}

// chosen is a question whose options have names that do not occur in one another.
var chosen = &synod.Question{Text: "Which?", Form: synod.Choice, Options: []synod.Option{{Label: "A", Text: "iron"},
	{Label: "B", Text: "copper"}, {Label: "C", Text: "tin"}, {Label: "D", Text: "lead"}}}

func (p reading) choices() {
	p.State("a choice", true)
	i, k := p.rand.IntN(4), p.rand.IntN(4)
	one, two := chosen.Options[i], chosen.Options[k]
	form := among(p.piece, "%[1]s) %[2]s", "(%[1]s) %[2]s", "%[1]s: %[2]s", "option %[1]s: %[2]s", "%[1]s. %[2]s")
	text := fmt.Sprintf(form, one.Label, two.Text)
	a, ok := read.Canonical(chosen, text)
	p.Claim(claimUnsaid, ok == (i == k), "%q is read as %q, %v", text, a, ok)
	text = fmt.Sprintf(among(p.piece, "%[1]s", "(%[1]s)", "%[2]s", "%[1]s.", "%[1]s)", "**%[2]s**"), one.Label,
		one.Text)
	a, ok = read.Canonical(chosen, text)
	p.Claim(claimMeant, ok && string(a) == one.Label, "%q is read as %q, %v", text, a, ok)
	text = fmt.Sprintf(among(p.piece, "%s, %s", "%s or %s", "%s and %s", "%s (not %s)"), one.Label, two.Label)
	for _, reader := range []func(*synod.Question, string) (synod.Answer, bool){read.Canonical, read.Bare} {
		a, ok = reader(chosen, text)
		p.Claim(claimUnsaid, !ok || i == k, "%q is read as %q", text, a)
	}
}

func (p reading) truths() {
	p.State("yes or no", true)
	words := []string{"yes", "true", "no", "false"}
	i, k := p.rand.IntN(4), p.rand.IntN(4)
	text := fmt.Sprintf(among(p.piece, "%s, %s", "%s. %s.", "%s; %s", "%s: %s!"), words[i], words[k])
	q := &synod.Question{Text: "Is it?", Form: synod.Bool}
	a, ok := read.Canonical(q, text)
	want := fmt.Sprint(i < 2)
	p.Claim(claimUnsaid, ok == (i/2 == k/2) && (!ok || string(a) == want), "%q is read as %q, %v", text, a, ok)
}

// twoAnswers writes two answers in one reply, or more: it has an answer only if they are the same.
func (p reading) twoAnswers() {
	p.State("two answers", true)
	q := &synod.Question{Text: "How many?", Form: synod.Number}
	one, two := p.rand.IntN(3), p.rand.IntN(3)
	form := among(p.piece, "{\"answer\": %d}\n{\"answer\": %d}", "{\"answer\": %d} and {\"answer\": \"%d\"}",
		"{\"answer\": %d}\nAnswer: %d", "<think>{\"answer\": %d}</think>{\"answer\": %d}")
	text := fmt.Sprintf(form, one, two)
	same := one == two
	if p.one(3) {
		more := p.rand.IntN(3)
		text, same = fmt.Sprintf("{\"answer\": %d}\n", more)+text, same && more == two
	}
	same = same || strings.Contains(text, "</think>") // what comes before it is thought, and no answer
	r := &synod.Reply{Status: among(p.piece, synod.OK, synod.OK, synod.Dropped), Text: text, Reader: read.Version}
	a, _, ok := read.Answer(q, r, false)
	want := r.Status == synod.OK && same
	p.Claim(claimUnsaid, ok == want && (!ok || string(a) == fmt.Sprint(two)), "%s reply %q is read as %q, %v", r.Status,
		text, a, ok)
	cut := &synod.Reply{Text: fmt.Sprintf("Answer: %d\n{\"reasoning\": \"It is", one), Cut: true, Status: synod.OK,
		Reader: read.Version} // the line may be about a step
	a, _, ok = read.Answer(q, cut, false)
	p.Claim(claimUnsaid, !ok, "the reply %q, of which the end is missing, is read as %q", cut.Text, a)
}

// percents compares a number with the same number of percent: they are one answer only if percent are asked for.
func (p reading) percents() {
	p.State("percent", true)
	asked := p.one(2)
	text := among(p.piece, "A large percentage of the apples is bad. How many are good?",
		"As a percentage, prices rose a little. How old is she?")
	if asked {
		text = among(p.piece, "What percentage of the apples is good?", "There are 9 apples. What percent is good?",
			"How much is that as a percentage?")
	}
	q, n := &synod.Question{Text: text, Form: synod.Number}, p.rand.IntN(100)
	a, _ := read.Canonical(q, fmt.Sprint(n))
	b, _ := read.Canonical(q, fmt.Sprintf(among(p.piece, "%d%%", "%d percent", "%d %%"), n))
	p.Claim(claimMeant, a != synod.None && (a == b) == asked, "to %q %d is read as %q, and %d percent as %q", text, n,
		a, n, b)
	q.Text = "One rope is 3 m long, and the other 4. How long are both?"
	if asked = p.one(2); !asked { // of two units none is the one that is meant
		q.Text = "One rope is 3 m long, and a bag of 2 kg hangs on it. How long is the other?"
	}
	b, _ = read.Canonical(q, fmt.Sprintf("%d m", n))
	p.Claim(claimMeant, (a == b) == asked, "to %q %d is read as %q, and %d m as %q", q.Text, n, a, n, b)
	q.Text = among(p.piece, "How far is 5 miles in km?", "How many km is 5 miles?")
	b, _ = read.Canonical(q, fmt.Sprintf("%d km", n))
	c, _ := read.Canonical(q, fmt.Sprintf("%d miles", n))
	p.Claim(claimMeant, a == b && b != c, "to %q %d is read as %q, %d km as %q and %d miles as %q", q.Text, n, a, n,
		b, n, c)
}

// scores reads scores that members typed.
func (p reading) scores() {
	p.State("a score", true)
	v := among(p.piece, p.rand.Float64(), 0, 1, -p.rand.Float64()-1e-9, 1+p.rand.Float64()+1e-9, math.NaN(),
		math.Inf(1), math.Inf(-1))
	r := &synod.Reply{Status: among(p.piece, synod.OK, synod.OK, synod.Dropped), Typed: true, Value: v}
	got, ok := read.Score(r, false)
	want := r.Status == synod.OK && v >= 0 && v <= 1
	p.Claim(claimUnsaid, ok == want && (!ok || got == synod.Score(v)), "%s reply with the score %v is read as %v, %v",
		r.Status, v, got, ok)
	r = &synod.Reply{Status: synod.OK, Text: `{"answer": 1, "confidence": 0.8}`, Confidence: &v, Reader: read.Version}
	c, ok := read.ConfidentAnswer(&synod.Question{Form: synod.Number}, r, synod.StatedConfidence, false)
	want = v >= 0 && v <= 1
	p.Claim(claimUnsaid, ok && (c.Confidence != nil) == want && (!want || *c.Confidence == v),
		"the confidence %v is read as %v", v, c.Confidence)
	n, sure := p.rand.IntN(50), float64(p.rand.IntN(11))/10
	text := fmt.Sprintf(among(p.piece, "%d\nConfidence: %v", "%d\nConfidence:\n%v", "%d\n**Confidence:**\n%v\n",
		"Answer: %d\nConfidence:\n%v"), n, sure)
	r = &synod.Reply{Status: synod.OK, Text: text, Reader: read.Version}
	c, ok = read.ConfidentAnswer(&synod.Question{Form: synod.Number}, r, synod.StatedConfidence, false)
	p.Claim(claimMeant, ok && string(c.Answer) == fmt.Sprint(n) && c.Confidence != nil && *c.Confidence == sure,
		"%q is read as %q with the confidence %v", text, c.Answer, c.Confidence)
}
