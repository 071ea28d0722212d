package sac

import (
	"fmt"

	"synod.dev/synod/protocol/check"
)

// tryTerms checks the guarantee and the number of calls of a council.
func tryTerms(t *check.Tried) {
	p, f, r, exact := New(), t.Rand.IntN(5), t.Rand.IntN(16), t.Rand.IntN(2) == 0
	p.Rounds, p.Asynchronous = t.Rand.IntN(5), t.Rand.IntN(2) == 0
	degrees, links := make([]int, 2+t.Rand.IntN(6)), 0
	for i := range degrees {
		degrees[i] = t.Rand.IntN(len(degrees))
		links += degrees[i]
	}
	n := len(degrees)
	t.Check(p.Calls(degrees) == n+p.Rounds*links+2*p.Rounds*n, "%d rounds of degrees %v: at most %d calls", p.Rounds,
		degrees, p.Calls(degrees))
	most := 0 // calls of a contest: the answers are known, and members without a candidate score all candidates
	for candidates := range n + 1 {
		most = max(most, candidates*(n-candidates))
	}
	for range p.Rounds {
		most += n*(n-1) + 2*n
	}
	t.Check(p.MaxContest(n) == most, "a contest of %d members: at most %d calls, and by the formula %d", n,
		p.MaxContest(n), most)

	left := r // of the robustness, in the worst round
	if p.Asynchronous {
		left = r - f
	}
	name, note := p.Guarantee(f, r, exact)
	size := fmt.Sprint("r is ", r)
	if !exact {
		size = fmt.Sprint("r is at least ", r)
	}
	switch {
	case left >= 2*f+1:
		t.Says(name, note, Strong, size, fmt.Sprintf("F=%d", f))
	case left >= f+1:
		t.Says(name, note, Weak, size, fmt.Sprintf("F=%d", f))
	default:
		t.Says(name, note, "", fmt.Sprintf("F=%d need", f),
			fmt.Sprintf("r of at least %d,", needed(p.Asynchronous, f)),
			fmt.Sprintf("good for F=%d at most", goodFor(p.Asynchronous, r)))
	}
}

// needed returns the least r with a guarantee for f.
func needed(late bool, f int) (r int) {
	for lost := 0; r-lost < f+1; r++ {
		if late {
			lost = f
		}
	}
	return r
}

// goodFor returns the largest F with a guarantee for r; 0 if there is none.
func goodFor(late bool, r int) (f int) {
	for needed(late, f+1) <= r {
		f++
	}
	return f
}
