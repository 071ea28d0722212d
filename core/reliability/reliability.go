// Package reliability estimates how reliable the members of a council are from answers alone, without
// knowing which ones are right: the one-coin model of Dawid and Skene ("Maximum likelihood estimation of
// observer error-rates using the EM algorithm", Applied Statistics 28, 1979), fitted by EM for each kind
// of question. A member is right with one probability, its reliability; two wrong answers are equal with
// another one, the collision rate, which all members share.
//
// Five changes keep a minority from gaining weight that it should not have:
//
//   - in the E-step weights are capped, so that no F members outweigh the others (Cap);
//   - members that deviate from the others together share one voice (Pair, MemberReliability.Share): copies of a
//     member, and colluders, have the weight of little more than one of them;
//   - reliability is the lower of that of all answers and that of the last Recent answers, so it is lost
//     within a few dozen answers, and gained only as fast as the whole record improves;
//   - a member with few answers is pulled toward 1/2;
//   - a member whose answers differ from its record (drift.go) has the least weight until it has a new one.
//
// What EM cannot do: if colluders that answer alike outweigh the honest members under these rules, they
// define what is right. Labels of graded questions (Observation.Label) help there.
//
// The package is pure: the same observations give the same estimates.
package reliability

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod/internal/order"
)

// Observation is one independent answer of a member to a question, given before it heard others.
type Observation struct {
	Question string `json:"question"`  // its id; the answers to one question are compared
	Kind     string `json:"task_kind"` // of question; each has estimates of its own
	Member   string `json:"model"`
	Answer   string `json:"answer"`          // canonical; "": the member replied, and no answer could be read
	Label    Label  `json:"label,omitempty"` // what is known from a key
	// Sure is how likely the member's model said that its answer is, in (0, 1]; 0: it did not say.
	Sure float64 `json:"sure,omitempty"`
}

// Label is what a key says about an answer.
type Label string

// The labels.
const (
	Unknown Label = "" // no key is known
	Right   Label = "right"
	Wrong   Label = "wrong"
)

// Estimates are what the observations of one kind of question say.
type Estimates struct {
	Kind      string
	Questions int
	Collision float64             // probability that two wrong answers to a question are equal
	Members   []MemberReliability // ascending by name
	Pairs     []Pair              // of members that answered common questions; ascending by names
}

// MemberReliability is what is known of one member.
type MemberReliability struct {
	Name        string
	Answers     int     // observed, unreadable ones included
	Labelled    int     // of them with a label
	Reliability float64 // probability that its next answer is right: the lower of Overall and Latest
	Overall     float64 // over all answers
	Latest      float64 // over the last Recent answers
	Changed     bool    // its answers differ from its record, and since then there are fewer than Recent: see drift
	Share       float64 // in (0,1]: what is left of its voice because others err as it does
	LogOdds     float64 // weight of its answer, before Cap: at least MinWeight
}

// Pair says how often two members err together.
type Pair struct {
	A, B string
	// CoError is how often both gave the same answer to the questions on which they did not both follow the plurality
	// of the other members. It counts three more such questions and one more common answer, so that a few questions
	// give a rate near 1/3.
	CoError float64
	// Agreement is the same rate for the contested questions: those to which not all members gave the same answer. It
	// finds copies that are too many for a plurality of others.
	Agreement float64
	Questions int  // of CoError
	Together  bool // CoError or Agreement is so far above the usual one that they count as one voice
}

const (
	// Recent is the number of answers over which trust is lost.
	Recent = 30
	// MinQuestions is the least number of questions of a kind for estimates; with fewer, all members weigh the same.
	MinQuestions = 10
	// MinWeight is the least weight, in nats of log-odds.
	MinWeight = 0.05
	// Collision is the probability that two wrong answers are equal where nothing else is known.
	Collision = 0.3

	iterations = 30
	start      = 0.6  // reliability before the first step
	maxCollide = 0.5  // largest collision rate: above it, two equal answers would say nothing
	noneRight  = 0.1  // prior weight of "none of the given answers is right", that of each answer being 1
	together   = 0.81 // excess of co-error, squared, from which two members count as one voice
)

// question is the answers to one question, by member.
type question struct {
	answers []string // "": none
	asked   []bool
	label   []Label
}

// sample is the observations of one kind.
type sample struct {
	names     []string
	questions []question
}

// Kinds returns the kinds of the observations, ascending.
func Kinds(all []Observation) (kinds []string) {
	for _, o := range all {
		kinds = append(kinds, o.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Estimate fits the observations of one kind, in the order in which they were made, for a bound of f
// Byzantine members. It returns nil with fewer than MinQuestions questions that two members have answered.
func Estimate(all []Observation, kind string, f int) *Estimates {
	s := newSample(all, kind)
	if len(s.questions) < MinQuestions {
		return nil
	}
	m := &model{sample: s, f: f, collision: Collision, reliability: slices.Repeat([]float64{start}, len(s.names))}
	m.pairs()
	for range iterations {
		m.step()
	}
	return m.estimates(kind)
}

// newSample groups observations of a kind by question. The first answer of a member to a question counts.
func newSample(all []Observation, kind string) *sample {
	s := &sample{}
	for _, o := range all {
		if o.Kind == kind {
			s.names = append(s.names, o.Member)
		}
	}
	slices.Sort(s.names)
	s.names = slices.Compact(s.names)
	n, at := len(s.names), map[string]int{}
	for _, o := range all {
		if o.Kind != kind {
			continue
		}
		k, known := at[o.Question]
		if !known {
			k, at[o.Question] = len(s.questions), len(s.questions)
			s.questions = append(s.questions, question{make([]string, n), make([]bool, n), make([]Label, n)})
		}
		i, _ := slices.BinarySearch(s.names, o.Member)
		if q := &s.questions[k]; !q.asked[i] {
			q.answers[i], q.asked[i], q.label[i] = o.Answer, true, o.Label
		}
	}
	s.questions = slices.DeleteFunc(s.questions, func(q question) bool {
		asked := 0
		for i := range q.asked {
			if q.asked[i] {
				asked++
			}
		}
		return asked < 2
	})
	return s
}

// model is the state of EM.
type model struct {
	*sample
	f           int
	reliability []float64
	collision   float64
	share       []float64
	pair        []Pair
}

// weights returns the log-odds by member that an equal answer of another one is right, before Cap.
func (m *model) weights() []float64 {
	w := make([]float64, len(m.names))
	for i, p := range m.reliability {
		w[i] = Weight(p, m.collision, m.share[i])
	}
	return w
}

// Weight returns the weight of the answer of a member: the share of its voice of the log-odds that it is right
// rather than wrong with an answer that others gave too.
func Weight(reliability, collision, share float64) float64 {
	p := min(max(reliability, 0.001), 0.999)
	return max(MinWeight, share*math.Log(p/(1-p)/collision))
}

// step is one E-step and one M-step.
func (m *model) step() {
	w, _ := Cap(m.weights(), m.f)
	n := len(m.names)
	right, answers := slices.Repeat([]float64{1}, n), slices.Repeat([]float64{2}, n)
	equal, both := 2*Collision, 2.0 // expected pairs of wrong answers; two prior ones
	for k := range m.questions {
		q := &m.questions[k]
		p := posterior(q, w)
		for i := range n {
			if !q.asked[i] {
				continue
			}
			answers[i]++
			right[i] += p[i]
			for j := range i {
				if q.answers[i] == "" || q.answers[j] == "" {
					continue
				}
				pairs := m.share[i] * m.share[j]
				if q.answers[i] == q.answers[j] {
					equal, both = equal+pairs*(1-p[i]), both+pairs*(1-p[i])
				} else {
					both += pairs * max(0, 1-p[i]-p[j])
				}
			}
		}
	}
	for i := range n {
		m.reliability[i] = right[i] / answers[i]
	}
	m.collision = min(equal/both, maxCollide)
}

// posterior returns the probability that each member's answer is right; 0 without an answer.
func posterior(q *question, w []float64) []float64 {
	p := make([]float64, len(w))
	if labelled(q, p) {
		return p
	}
	sum, top := 0.0, 0.0
	for i := range q.answers { // first the weight of each answer
		p[i] = q.support(i, w)
		top = max(top, p[i])
	}
	for i, a := range q.answers {
		if p[i] == 0 {
			continue
		}
		p[i] = math.Exp(p[i] - top)
		again := false
		for j, b := range q.answers[:i] {
			again = again || b == a && p[j] > 0
		}
		if !again {
			sum += p[i]
		}
	}
	sum += noneRight * math.Exp(-top)
	for i := range p {
		p[i] /= sum
	}
	return p
}

// support returns the weight of all who gave the answer of member i; 0 if it has none, or one that is known to
// be wrong.
func (q *question) support(i int, w []float64) (sum float64) {
	if q.answers[i] == "" || q.label[i] == Wrong {
		return 0
	}
	for j, b := range q.answers {
		if b == q.answers[i] && q.label[j] != Wrong {
			sum += w[j]
		}
	}
	return sum
}

// labelled sets the posterior of a question whose right answer a label tells, and reports whether there is one.
func labelled(q *question, p []float64) bool {
	at := slices.Index(q.label, Right)
	if at < 0 {
		return false
	}
	for i, a := range q.answers {
		if a == q.answers[at] {
			p[i] = 1
		}
	}
	return true
}

// estimates returns the result of the last step.
func (m *model) estimates(kind string) *Estimates {
	e := &Estimates{Kind: kind, Questions: len(m.questions), Collision: m.collision, Pairs: m.pair}
	w, _ := Cap(m.weights(), m.f)
	credits := make([][]float64, len(m.names))
	for i, name := range m.names {
		e.Members = append(e.Members, MemberReliability{Name: name, Overall: m.reliability[i], Share: m.share[i]})
	}
	for k := range m.questions {
		q := &m.questions[k]
		for i, p := range posterior(q, w) {
			if !q.asked[i] {
				continue
			}
			e.Members[i].Answers++
			if q.label[i] != Unknown {
				e.Members[i].Labelled++
			}
			credits[i] = append(credits[i], p)
		}
	}
	for i := range e.Members {
		one := &e.Members[i]
		since := drift(credits[i])
		if since > 0 {
			credits[i] = credits[i][since:]
			one.Overall = share(credits[i])
		}
		one.Changed = since > 0 && len(credits[i]) < Recent
		one.Latest = share(credits[i][max(0, len(credits[i])-Recent):])
		one.Reliability = min(one.Overall, one.Latest)
		if one.LogOdds = Weight(one.Reliability, m.collision, one.Share); one.Changed {
			one.LogOdds = MinWeight
		}
	}
	return e
}

// share is the reliability over some answers, with two prior ones.
func share(credits []float64) float64 {
	right := 1.0
	for _, c := range credits {
		right += c
	}
	return right / float64(len(credits)+2)
}

// pairs finds which members err together, and what share of a voice each has.
func (m *model) pairs() {
	n := len(m.names)
	var errors, agreements []float64
	for i := range n {
		for j := range i {
			if p, ok := m.compare(j, i); ok {
				m.pair = append(m.pair, p)
				errors, agreements = append(errors, p.CoError), append(agreements, p.Agreement)
			}
		}
	}
	voices := slices.Repeat([]float64{1}, n)
	for k := range m.pair {
		p := &m.pair[k]
		x := excess(p.CoError, errors)
		// Able members agree often, without being copies; only an agreement that leaves no doubt counts.
		if same := excess(p.Agreement, agreements); same*same >= together {
			x = max(x, same)
		}
		a, _ := slices.BinarySearch(m.names, p.A)
		b, _ := slices.BinarySearch(m.names, p.B)
		voices[a], voices[b] = voices[a]+x*x, voices[b]+x*x
		p.Together = x*x >= together
	}
	m.share = make([]float64, n)
	for i := range m.share {
		m.share[i] = 1 / voices[i]
	}
	order.Sort(m.pair, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
}

// excess returns how far a rate is above the median of all, as a share of how far it could be.
func excess(rate float64, all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	usual := sorted[(len(sorted)-1)/2]
	return max(0, rate-usual) / max(1-usual, 0.01)
}

// compare compares the answers of two members; false: they have no question in common.
func (m *model) compare(i, j int) (p Pair, common bool) {
	same, alike, contested := 0, 0, 0
	p = Pair{A: m.names[i], B: m.names[j]}
	for k := range m.questions {
		q := &m.questions[k]
		a, b := q.answers[i], q.answers[j]
		if a == "" || b == "" {
			continue
		}
		common = true
		if slices.ContainsFunc(q.answers, func(c string) bool { return c != "" && c != a }) {
			contested++
			if a == b {
				alike++
			}
		}
		top := leaders(q, i, j)
		if len(top) == 0 || a == b && slices.Contains(top, a) {
			continue
		}
		p.Questions++
		if a == b {
			same++
		}
	}
	p.CoError, p.Agreement = rate(same, p.Questions), rate(alike, contested)
	return p, common
}

// rate returns a share with a prior of one in three.
func rate(n, of int) float64 { return (float64(n) + 1) / (float64(of) + 3) }

// leaders returns the most frequent answers of the members other than two.
func leaders(q *question, i, j int) (top []string) {
	most := 0
	for k, a := range q.answers {
		if a == "" || k == i || k == j || slices.Contains(q.answers[:k], a) && counted(q, a, k, i, j) {
			continue
		}
		votes := 0
		for l, b := range q.answers {
			if b == a && l != i && l != j {
				votes++
			}
		}
		switch {
		case votes > most:
			most, top = votes, append(top[:0], a)
		case votes == most:
			top = append(top, a)
		}
	}
	return top
}

// counted reports whether a member before k, other than i and j, gave the answer.
func counted(q *question, a string, k, i, j int) bool {
	for l := range k {
		if q.answers[l] == a && l != i && l != j {
			return true
		}
	}
	return false
}
