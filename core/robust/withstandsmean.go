package robust

import (
	"slices"

	"synod.dev/synod"
)

// WithstandsMean returns what the win of an answer withstands where the answer with the highest mean weight of its
// voices wins (CP-WBFT, Eq. 4), and false if another answer has as high a mean. Equal means are a tie.
//
// Weights are what seats say of themselves, so Changed is 0: one seat that gives another answer with the largest weight
// that can be claimed reaches the highest mean there is. Any k seats can be ignored if the mean stays above that of
// every other answer without the i heaviest voices for the winner and the j lightest for the other, for all i + j ≤ k.
func WithstandsMean(voices []Voice, winner synod.Answer) (w Withstood, wins bool) {
	weights := map[synod.Answer][]int64{}
	for _, v := range voices {
		if v.Answer != synod.None {
			weights[v.Answer] = append(weights[v.Answer], v.Weight)
		}
	}
	for _, of := range weights {
		slices.Sort(of)
	}
	own := weights[winner]
	delete(weights, winner)
	if winner == synod.None || len(own) == 0 || !leadsByMean(own, weights, 0) {
		return w, false
	}
	for w.Ignored < len(own)-1 && leadsByMean(own, weights, w.Ignored+1) {
		w.Ignored++
	}
	return w, true
}

// leadsByMean reports whether ascending weights have a higher mean than all others, whichever k are left out.
func leadsByMean(own []int64, others map[synod.Answer][]int64, k int) bool {
	for i := range min(k, len(own)-1) + 1 {
		left := own[:len(own)-i]
		for _, of := range others {
			for j := range min(k-i, len(of)-1) + 1 {
				if !higherMean(left, of[j:]) {
					return false
				}
			}
		}
	}
	return k < len(own)
}

// higherMean reports whether the mean of a is above that of b. The sums must be below 2^60 divided by the numbers of
// weights.
func higherMean(a, b []int64) bool {
	return heaviest(a, len(a))*int64(len(b)) > heaviest(b, len(b))*int64(len(a))
}
