package reference

import (
	"math"
	"slices"

	"synod.dev/synod"
)

// Heaviest returns the answer with the most weight of the first answers; None: none has any and more than all others.
// Weights count to nine decimals.
func (b *Poll) Heaviest() synod.Answer {
	sums := map[synod.Answer]int64{}
	for i, a := range b.First {
		if a != synod.None {
			sums[a] += int64(math.Round(b.Sure[i] * 1e9))
		}
	}
	for _, a := range distinct(b.First) {
		rival := func(x synod.Answer) bool { return x != a && sums[x] >= sums[a] }
		if sums[a] > 0 && !slices.ContainsFunc(distinct(b.First), rival) {
			return a
		}
	}
	return synod.None
}

// ByWeight returns what a council decides in which each member takes over the answer with the most confidence of all
// first ones, and a rule counts: those who held the decision hold it as long as it has the most confidence.
func (b *Poll) ByWeight(r Rule) synod.Answer {
	if d := Judge(r, b); d.Answer == b.Heaviest() {
		return d.Answer
	}
	return synod.None
}

// ByMean returns the first answer with the highest mean confidence, if no other one has the same, and more than half of
// the seats have an answer, refused ones among them.
func (b *Poll) ByMean() synod.Answer {
	var all []Confident
	for i, a := range b.First {
		all = append(all, Confident{a, b.Sure[i]})
	}
	if a, tie := HighestMean(all, false); !tie && 2*(given(b.Last)+b.refused()) > len(b.Last) {
		return a
	}
	return synod.None
}

// Supported returns the heaviest answer, if as many voices gave it as a rule wants.
func (b *Poll) Supported(r Rule) synod.Answer {
	if a := b.Heaviest(); b.voices(b.First, a) >= r.Support {
		return a
	}
	return synod.None
}

// Staged returns what Supported does, if more than f voices of those that were asked gave it: those with a weight.
func (b *Poll) Staged(r Rule, f int) synod.Answer {
	asked := slices.Clone(b.First)
	for i := range asked {
		if b.Sure[i] == 0 {
			asked[i] = synod.None
		}
	}
	if a := b.Supported(r); b.voices(asked, a) > f {
		return a
	}
	return synod.None
}

// Odds say how likely an answer is right, from who gave it (docs/research/cascade.md, Tiers): a conditional logit over
// the answers and "none is right".
type Odds struct {
	Labels  int         // questions that they were learned from
	LogOdds []float64   // by member
	Same    [][]float64 // by pair of members: how often they were wrong alike
	Own     []float64   // by member: what its vote adds

	Ability, Votes, Together, None, Different, Replied float64 // coefficients
}

// chance is the probability of an answer; 0 if nobody gave it.
func (o *Odds) chance(votes []synod.Answer, of synod.Answer) float64 {
	all := distinct(votes)
	if !slices.Contains(all, of) {
		return 0
	}
	sum := math.Exp(o.None + o.Different*float64(len(all)-1) + o.Replied*float64(given(votes))/float64(len(votes)))
	for _, a := range all {
		sum += math.Exp(o.utility(votes, a))
	}
	return math.Exp(o.utility(votes, of)) / sum
}

func (o *Odds) utility(votes []synod.Answer, a synod.Answer) (u float64) {
	by := holders(votes, a)
	for k, i := range by {
		u += o.Ability*o.LogOdds[i] + o.Votes + o.Own[i]
		for _, j := range by[:k] {
			u -= o.Together * o.Same[i][j]
		}
	}
	return u
}

// Trimmed is the probability of an answer without the F votes for it on which it rests most and without the F votes
// that speak most against it.
func (o *Odds) Trimmed(votes []synod.Answer, of synod.Answer, f int) float64 {
	least := 1.0
	some := func(k int, which func(a synod.Answer) bool, do func(left []synod.Answer)) func([]synod.Answer) {
		return func(votes []synod.Answer) {
			candidates := make([]bool, len(votes))
			n := 0
			for i, a := range votes {
				if candidates[i] = which(a); candidates[i] {
					n++
				}
			}
			allSets(make([]bool, len(votes)), 0, min(k, n), func(out []bool) bool {
				for i := range out {
					if out[i] && !candidates[i] {
						return true
					}
				}
				do(say(votes, out, synod.None))
				return true
			})
		}
	}
	some(f, func(a synod.Answer) bool { return a == of }, func(left []synod.Answer) {
		most := 0.0
		some(f, func(a synod.Answer) bool { return a != of && a != synod.None }, func(left []synod.Answer) {
			most = max(most, o.chance(left, of))
		})(left)
		least = min(least, most)
	})(votes)
	return least
}

// Stated is what is stated of a probability: 1 is (n+1)/(n+2) after n questions (Laplace's rule of succession).
func (o *Odds) Stated(p float64) float64 { return p / (1 + p/float64(o.Labels+1)) }
