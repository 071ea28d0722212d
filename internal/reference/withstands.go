package reference

import (
	"slices"

	"synod.dev/synod"
)

// Withstands returns on how few votes a decision by a rule depends (docs/use/ask.md): ignored is the largest k such
// that the answer also wins without any k of the seats, and changed the largest k such that it wins whatever any k
// seats say instead. All ways are tried, so it is for small councils. votes are those of the seats that vote.
func Withstands(r Rule, votes []synod.Answer, winner synod.Answer) (ignored, changed int) {
	others := append(distinct(votes), "an answer that nobody gave", synod.None)
	for ignored < len(votes) && withoutAny(r, votes, winner, ignored+1) {
		ignored++
	}
	for changed < len(votes) && whateverAny(r, slices.Clone(votes), winner, 0, changed+1, others) {
		changed++
	}
	return ignored, changed
}

// withoutAny reports whether the answer wins without any k of the seats.
func withoutAny(r Rule, votes []synod.Answer, winner synod.Answer, k int) bool {
	if k == 0 {
		return r.Wins(votes, winner)
	}
	for i := range votes {
		if !withoutAny(r, slices.Delete(slices.Clone(votes), i, i+1), winner, k-1) {
			return false
		}
	}
	return true
}

// whateverAny reports whether the answer wins whatever at most k of the seats from a place on say instead.
func whateverAny(r Rule, votes []synod.Answer, winner synod.Answer, from, k int, others []synod.Answer) bool {
	if !r.Wins(votes, winner) {
		return false
	}
	for i := from; i < len(votes) && k > 0; i++ {
		was := votes[i]
		for _, a := range others {
			votes[i] = a
			if !whateverAny(r, votes, winner, i+1, k-1, others) {
				return false
			}
		}
		votes[i] = was
	}
	return true
}

// Wins reports whether an answer wins among seats: with plurality more of them than any other one, else more than half
// or two thirds of all; and as many as the rule wants as supporters.
func (r Rule) Wins(votes []synod.Answer, a synod.Answer) bool {
	n := len(holders(votes, a))
	switch {
	case n == 0 || n < r.Support:
		return false
	case r.Name == "majority":
		return 2*n > len(votes)
	case r.Name == "supermajority":
		return 3*n >= 2*len(votes)
	}
	for _, x := range distinct(votes) {
		if x != a && len(holders(votes, x)) >= n {
			return false
		}
	}
	return true
}
