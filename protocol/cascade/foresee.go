package cascade

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod/core/reliability"
)

// forecast is what the weights say about the answers that have not been asked for, by the one-coin model of package
// reliability: a member is right with probability p, where its weight is ln(p/((1−p)c)), and a wrong answer equals a
// given other wrong one with probability c.
type forecast struct {
	*tally
	all     []candidate
	right   []float64 // by answer in all: the probability that it is right; the last: that another one is
	ability []float64 // p by member that was not asked
	heavy   []int64   // their weights, the heaviest first
}

// foresee returns the forecast for the answers so far. Members that were asked and gave none will not give one.
func (t *tally) foresee(all []candidate) *forecast {
	f := &forecast{tally: t, all: all}
	for _, id := range t.order[len(t.asked):] {
		odds := reliability.Collision * math.Exp(float64(t.weights[id])/reliability.Unit)
		f.ability = append(f.ability, odds/(1+odds))
		f.heavy = append(f.heavy, t.weights[id])
	}
	slices.SortFunc(f.heavy, func(a, b int64) int { return cmp.Compare(b, a) })
	sum, top := 0.0, 0.0
	if len(all) > 0 {
		top = float64(all[0].weight) / reliability.Unit
	}
	for _, c := range all {
		f.right = append(f.right, math.Exp(float64(c.weight)/reliability.Unit-top))
	}
	f.right = append(f.right, unseen(len(all))*math.Exp(-top))
	for _, x := range f.right {
		sum += x
	}
	for i := range f.right {
		f.right[i] /= sum
	}
	return f
}

// reach returns the probability that at least k of the members that were not asked give an answer.
func (f *forecast) reach(k int, right bool) float64 {
	switch {
	case k <= 0:
		return 1
	case k > len(f.ability):
		return 0
	}
	count := make([]float64, k+1) // by number of members that give it; the last: k or more
	count[0] = 1
	for _, p := range f.ability {
		if !right {
			p = (1 - p) * reliability.Collision
		}
		count[k] += count[k-1] * p
		for j := k - 1; j > 0; j-- {
			count[j] += (count[j-1] - count[j]) * p
		}
		count[0] -= count[0] * p
	}
	return count[k]
}

// overtaken bounds the probability that another answer than lead gets more than F supporters and as much weight as lead
// has now: the sum over the other answers.
func (f *forecast) overtaken(lead candidate) (risk float64) {
	for truth, p := range f.right {
		sum := 0.0
		for x, c := range f.all {
			if c.answer != lead.answer {
				sum += f.reach(max(f.f+1-c.voices, f.votes(lead.weight-c.weight)), x == truth)
			}
		}
		if truth == len(f.all) {
			sum += f.reach(max(f.f+1, f.votes(lead.weight)), true)
		}
		risk += p * min(1, sum)
	}
	return risk
}

// votes returns how many of the heaviest members that were not asked it takes for a weight.
func (f *forecast) votes(weight int64) (n int) {
	for ; weight > 0 && n < len(f.heavy); n++ {
		weight -= f.heavy[n]
	}
	if weight > 0 {
		return n + 1
	}
	return n
}

// needed returns how many of the members that were not asked another answer than lead needs at least, for more than F
// supporters and as much weight as lead has now.
func (f *forecast) needed(lead candidate) (n int) {
	n = max(f.f+1, f.votes(lead.weight))
	for _, c := range f.all {
		if c.answer != lead.answer {
			n = min(n, max(f.f+1-c.voices, f.votes(lead.weight-c.weight)))
		}
	}
	return n
}

// foreseen reports whether an answer has more than F supporters, and the members that were not asked change that it
// leads with probability Doubt at most.
func (t *tally) foreseen(all []candidate) bool {
	if t.Doubt == 0 {
		return false
	}
	k := slices.IndexFunc(all, func(c candidate) bool { return c.voices > t.f })
	return k >= 0 && t.foresee(all).overtaken(all[k]) <= t.Doubt
}
