package reference

import (
	"math"
	"slices"

	"synod.dev/synod"
)

// unlikely reports whether there is a candidate, and the seats that were not asked change that it leads with
// probability Doubt at most, by the one-coin model: a seat is right with probability p, its weight is ln(p/((1-p)c)),
// and a wrong answer equals a given other wrong one with probability c. The probability of a change is bounded by the
// sum over the other answers.
func (s *standing) unlikely(left []synod.NodeID) bool {
	some := s.candidates()
	if s.Doubt == 0 || len(some) == 0 {
		return false
	}
	lead, all := some[0], distinct(s.votes)
	total := prior(len(all))
	for _, x := range all {
		total += math.Exp(nats(s.weight(x)))
	}
	risk := 0.0
	for _, truth := range append(slices.Clone(all), synod.None) { // None: an answer that nobody has given
		chance := prior(len(all)) / total
		if truth != synod.None {
			chance = math.Exp(nats(s.weight(truth))) / total
		}
		sum := 0.0
		for _, x := range all {
			if x != lead {
				sum += s.gains(left, s.needs(left, x, lead), x == truth)
			}
		}
		if truth == synod.None {
			sum += s.gains(left, s.needs(left, synod.None, lead), true)
		}
		risk += chance * math.Min(1, sum)
	}
	return s.atLeast(s.Doubt, risk)
}

// needs returns how many of the seats that were not asked an answer needs: for more than F supporters, and, if they are
// the heaviest ones, for as much weight as the leader has. It is more than there are if all are not enough.
func (s *standing) needs(left []synod.NodeID, x, lead synod.Answer) int {
	var heavy []int64
	for _, id := range left {
		heavy = append(heavy, s.weights[id])
	}
	slices.Sort(heavy)
	slices.Reverse(heavy)
	has, k := s.weight(x), 0
	for has < s.weight(lead) && k < len(heavy) {
		has += heavy[k]
		k++
	}
	if has < s.weight(lead) {
		k = len(heavy) + 1
	}
	return max(k, s.F+1-s.supporters(x))
}

// gains returns the probability that at least so many of the seats give an answer, right or wrong: the sum over all
// sets of seats that may give it.
func (s *standing) gains(left []synod.NodeID, need int, right bool) (sum float64) {
	for set := range 1 << len(left) {
		size, chance := 0, 1.0
		for i, id := range left {
			odds := collision * math.Exp(nats(s.weights[id]))
			p := odds / (1 + odds)
			if !right {
				p = (1 - p) * collision
			}
			if set>>i&1 == 1 {
				size++
				chance *= p
			} else {
				chance *= 1 - p
			}
		}
		if size >= need {
			sum += chance
		}
	}
	return sum
}

// Limits of a weight, in millionths.
const (
	leastWeight = 50_000
	mostWeight  = 1_000_000_000
)

// CapWeights returns weights in millionths, limited to the largest c for which the F heaviest min(w, c) together weigh
// less than the rest, and, with F ≥ 1, to the median weight at most, the lower one of two. Without such a c all have
// the least weight.
func CapWeights(weights []float64, f int) []int64 {
	whole := make([]int64, len(weights))
	for i, w := range weights {
		whole[i] = leastWeight
		if w > 0.05 {
			whole[i] = int64(math.Round(math.Min(w, 1000) * 1e6))
		}
	}
	sorted := slices.Sorted(slices.Values(whole))
	limit := sorted[len(sorted)-1]
	if f > 0 {
		limit = sorted[(len(sorted)-1)/2]
	}
	for limit >= sorted[0] && !lighter(whole, limit, f) {
		limit = lower(sorted, limit, f)
	}
	if limit < sorted[0] {
		limit = leastWeight
	}
	for i, w := range whole {
		whole[i] = min(w, limit)
	}
	return whole
}

// lighter reports whether the F heaviest limited weights are less than the rest.
func lighter(whole []int64, limit int64, f int) bool {
	var limited []int64
	for _, w := range whole {
		limited = append(limited, min(w, limit))
	}
	slices.Sort(limited)
	var heavy, rest int64
	for i, w := range limited {
		if i >= len(limited)-f {
			heavy += w
		} else {
			rest += w
		}
	}
	return heavy < rest
}

// lower returns the next smaller limit to try. Between two neighbouring weights the F heaviest minus the rest is a line
// in the limit: a·limit + b, which must be below 0.
func lower(sorted []int64, limit int64, f int) int64 {
	below, a, b := int64(0), int64(0), int64(0)
	for i, w := range sorted {
		part := int64(-1)
		if i >= len(sorted)-f {
			part = 1
		}
		if w < limit {
			below, b = w, b+part*w
		} else {
			a += part
		}
	}
	if a > 0 && b < 0 {
		return max(below, min(limit-1, (-b-1)/a))
	}
	return below
}
