package reference

import (
	"maps"
	"math"
	"slices"
)

// Reply is one independent answer of a member to a question. The answer "" could not be read.
type Reply struct {
	Question, Member, Answer string
	Right, Wrong             bool // what a key says
}

// Reliable is what replies say of a member.
type Reliable struct {
	Name                   string
	Answers, Labelled      int
	Overall, Latest, Share float64
	Lower                  float64 // of Overall and Latest
	Weight                 float64
	Changed                bool
}

// Erring says how often two members err together.
type Erring struct {
	A, B               string
	CoError, Agreement float64
	Together           bool
}

// Trust is what replies say of all members.
type Trust struct {
	Collision float64
	Members   []Reliable
	Pairs     []Erring
	Near      bool // the last bits of a number say who errs together or has changed
}

// The constants of the estimates.
const (
	voiceFrom  = 0.81
	alarmFrom  = 1000.0
	recentOnes = 30
	recordFrom = 10
	lightest   = 0.05
)

// inquiry is one question: by member whether it replied, its answer, and what a key says.
type inquiry struct {
	replied, right, wrong []bool
	answers               []string
}

// believed is what the steps of the estimate change.
type believed struct {
	names  []string
	all    []inquiry
	f      int
	p      []float64 // reliability by member
	shares []float64 // of a voice, by member
	c      float64   // how often two wrong answers are equal
}

// Reliability estimates how reliable members are (docs/research/cascade.md, Trust): by EM in the one-coin model of
// Dawid and Skene, with the five rules against minorities. It returns nil for less than ten questions that two members
// replied to. The first reply of a member to a question counts.
func Reliability(all []Reply, f int) *Trust {
	b := &believed{f: f, c: .3}
	b.read(all)
	if len(b.all) < recordFrom {
		return nil
	}
	t := &Trust{}
	b.voices(t)
	for range b.names {
		b.p = append(b.p, .6)
	}
	for range 30 {
		b.step()
	}
	t.Collision = b.c
	weights := b.weights()
	for i, name := range b.names {
		t.Members = append(t.Members, b.member(t, i, name, weights))
	}
	return t
}

// read groups replies by question.
func (b *believed) read(all []Reply) {
	for _, r := range all {
		if !slices.Contains(b.names, r.Member) {
			b.names = append(b.names, r.Member)
		}
	}
	slices.Sort(b.names)
	n, ids, questions := len(b.names), []string{}, []inquiry{}
	for _, r := range all {
		k := slices.Index(ids, r.Question)
		if k < 0 {
			k, ids = len(ids), append(ids, r.Question)
			questions = append(questions, inquiry{make([]bool, n), make([]bool, n), make([]bool, n), make([]string, n)})
		}
		q, i := questions[k], slices.Index(b.names, r.Member)
		if !q.replied[i] {
			q.replied[i], q.answers[i], q.right[i], q.wrong[i] = true, r.Answer, r.Right, r.Wrong
		}
	}
	for _, q := range questions {
		count := 0
		for _, yes := range q.replied {
			if yes {
				count++
			}
		}
		if count > 1 {
			b.all = append(b.all, q)
		}
	}
}

// weights returns the limited weights in nats.
func (b *believed) weights() (w []float64) {
	for i, p := range b.p {
		w = append(w, b.weight(p, b.shares[i]))
	}
	for i, whole := range CapWeights(w, b.f) {
		w[i] = float64(whole) / 1e6
	}
	return w
}

func (b *believed) weight(p, share float64) float64 {
	p = math.Min(math.Max(p, .001), .999)
	return math.Max(lightest, share*math.Log(p/((1-p)*b.c)))
}

// chances returns how likely the answer of each member is right: each answer has the odds of all who gave it, and that
// none is right has those of 0.1.
func (q *inquiry) chances(w []float64) []float64 {
	result := make([]float64, len(w))
	known := slices.Index(q.right, true)
	odds := map[string]float64{}
	for i, a := range q.answers {
		if a != "" && !q.wrong[i] {
			odds[a] += w[i]
		}
	}
	sum := .1
	for _, a := range slices.Sorted(maps.Keys(odds)) {
		sum += math.Exp(odds[a])
	}
	for i, a := range q.answers {
		switch {
		case known >= 0 && a == q.answers[known]:
			result[i] = 1
		case known < 0 && a != "" && !q.wrong[i]:
			result[i] = math.Exp(odds[a]) / sum
		}
	}
	return result
}

// step estimates reliabilities and collisions anew.
func (b *believed) step() {
	w, n := b.weights(), len(b.names)
	right, replies := make([]float64, n), make([]float64, n)
	equal, pairs := 2*.3, 2.0
	for _, q := range b.all {
		p := q.chances(w)
		for i := range n {
			if q.replied[i] {
				right[i], replies[i] = right[i]+p[i], replies[i]+1
			}
			for j := i + 1; j < n; j++ {
				x, y, both := q.answers[i], q.answers[j], b.shares[i]*b.shares[j]
				if x != "" && x == y { // a key may be known of one of them only, and the later one counts
					equal, pairs = equal+both*(1-p[j]), pairs+both*(1-p[j])
				} else if x != "" && y != "" {
					pairs += both * math.Max(0, 1-p[i]-p[j])
				}
			}
		}
	}
	for i := range n {
		b.p[i] = (1 + right[i]) / (2 + replies[i])
	}
	b.c = math.Min(equal/pairs, .5)
}

// voices finds who errs together, and what share of a voice each has.
func (b *believed) voices(t *Trust) {
	for i := range b.names {
		for j := i + 1; j < len(b.names); j++ {
			if e, met := b.compared(i, j); met {
				t.Pairs = append(t.Pairs, e)
			}
		}
	}
	var errors, agreements []float64
	for _, e := range t.Pairs {
		errors, agreements = append(errors, e.CoError), append(agreements, e.Agreement)
	}
	sums := make([]float64, len(b.names))
	for k := range t.Pairs {
		e := &t.Pairs[k]
		x, y := above(e.CoError, errors), above(e.Agreement, agreements)
		for _, z := range []float64{x * x, y * y} {
			t.Near = t.Near || math.Abs(z-voiceFrom) < 1e-9
		}
		if y*y >= voiceFrom && y > x {
			x = y
		}
		e.Together = x*x >= voiceFrom
		sums[slices.Index(b.names, e.A)] += x * x
		sums[slices.Index(b.names, e.B)] += x * x
	}
	for _, sum := range sums {
		b.shares = append(b.shares, 1/(1+sum))
	}
}

// above is by how much a rate is above the median of all, the lower one of two, as a share of what it could be.
func above(rate float64, all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	median := sorted[(len(sorted)-1)/2]
	return math.Max(0, rate-median) / math.Max(.01, 1-median)
}

// compared counts on how many questions two members erred alike, and agreed. Both counts have one in three before.
func (b *believed) compared(i, j int) (e Erring, met bool) {
	errors, alike, contested, agreed := 3, 1, 3, 1
	for _, q := range b.all {
		x, y := q.answers[i], q.answers[j]
		if x == "" || y == "" {
			continue
		}
		met = true
		different, votes, most := false, map[string]int{}, 0
		for k, a := range q.answers {
			if a != "" && a != x {
				different = true
			}
			if a != "" && k != i && k != j {
				votes[a]++
				most = max(most, votes[a])
			}
		}
		if different {
			contested++
		}
		if different && x == y {
			agreed++
		}
		if most == 0 || x == y && votes[x] == most {
			continue
		}
		if errors++; x == y {
			alike++
		}
	}
	return Erring{A: b.names[i], B: b.names[j], CoError: float64(alike) / float64(errors),
		Agreement: float64(agreed) / float64(contested)}, met
}

// member is what all replies say of a member at the end.
func (b *believed) member(t *Trust, i int, name string, w []float64) Reliable {
	m := Reliable{Name: name, Overall: b.p[i], Share: b.shares[i]}
	var credits []float64
	for _, q := range b.all {
		if q.replied[i] {
			m.Answers++
			credits = append(credits, q.chances(w)[i])
		}
		if q.right[i] || q.wrong[i] {
			m.Labelled++
		}
	}
	from, near := lastChange(credits)
	t.Near = t.Near || near
	record := credits[from:]
	m.Changed = from > 0 && len(record) < recentOnes
	if from > 0 {
		m.Overall = smoothed(record)
	}
	for len(record) > recentOnes {
		record = record[1:]
	}
	m.Latest, m.Weight = smoothed(record), lightest
	m.Lower = math.Min(m.Overall, m.Latest)
	if !m.Changed {
		m.Weight = b.weight(m.Lower, m.Share)
	}
	return m
}

// smoothed is the mean of credits, to which it adds those of two earlier replies, 1 and 0.
func smoothed(credits []float64) (mean float64) {
	mean = 0.5
	for k, c := range credits {
		mean += (c - mean) / float64(k+3)
	}
	return mean
}

// lastChange returns from which reply on a member is another one by the test of Shiryaev and Roberts; 0: it is the
// same all the time. For each reply from which on it may have changed, a bet is kept that is multiplied at each reply
// since by 1 + r − x. Here x is the reply's credit, and r the mean of the record before it without its standard error.
// All bets together raise the alarm.
func lastChange(credits []float64) (from int, near bool) {
	var bets []float64
	for i := range credits {
		if i-from < recordFrom {
			continue
		}
		mean := smoothed(credits[from:i])
		r := math.Max(0, mean-math.Sqrt(mean*(1-mean)/float64(i-from+2)))
		bets = append(bets, 1)
		sum := 0.0
		for k := range bets {
			bets[k] *= 1 + r - credits[i]
			sum += bets[k]
		}
		near = near || math.Abs(sum-alarmFrom) < 1e-3*alarmFrom
		if sum >= alarmFrom {
			from, bets = i+1, nil
		}
	}
	return from, near
}

// Weights returns the weights of members by name. One of whom nothing is known has the least weight of the others.
func (t *Trust) Weights(names []string) (all []float64) {
	for _, name := range names {
		w, least := 0.0, math.Inf(1)
		for _, m := range t.Members {
			least = math.Min(least, m.Weight)
			if m.Name == name {
				w = m.Weight
			}
		}
		if w == 0 {
			w = math.Max(least, lightest)
		}
		all = append(all, w)
	}
	return all
}
