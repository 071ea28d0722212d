package rotatingleader

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/leader"
)

// tryTerms checks which bounds a council accepts: any f seats must be less than a third of all, and have less than a
// third of the weight.
func tryTerms(t *check.Tried) {
	p, n := New(), check.Among(t, 1, 2, 3, 4, 5, 6, 7, leader.MaxMembers, leader.MaxMembers+1)
	f := t.Rand.IntN(5) - 1
	p.Views = 1 + t.Rand.IntN(5)
	leader.TryCost(t, &p.Params, n, p.Views, p.Views, p.Calls(make([]int, n)))
	if t.Rand.IntN(2) == 0 {
		for range n {
			p.Weights = append(p.Weights, check.Among(t, 1, 1, 1, 2, 3, 1000))
		}
		if t.Rand.IntN(8) == 0 {
			p.Weights[t.Rand.IntN(n)] = check.Among(t, -1, 0, 1001)
			t.Check(p.Validate() != nil, "the weights %v are accepted", p.Weights)
			return
		}
		t.Check(p.Validate() == nil, "the weights %v are refused", p.Weights)
	}
	weights := p.Weights
	if weights == nil {
		for range n {
			weights = append(weights, 1)
		}
	}
	most := 0
	for 3*(most+1) < n && 3*heaviest(weights, most+1) < heaviest(weights, n) {
		most++
	}
	if len(p.Weights) > 1 && t.Rand.IntN(8) == 0 {
		p.Weights = p.Weights[1:]
	}
	t.Tolerates(p.CheckCast(make([]synod.Role, n), f), f, most,
		n <= leader.MaxMembers && (len(p.Weights) == 0 || len(p.Weights) == n) && (f > most || p.Views > f))
}

// heaviest returns the largest sum of k of the weights.
func heaviest(weights []int, k int) (sum int) {
	left := append([]int(nil), weights...)
	for range k {
		at := 0
		for i := range left {
			if left[i] > left[at] {
				at = i
			}
		}
		sum += left[at]
		left = append(left[:at:at], left[at+1:]...)
	}
	return sum
}
