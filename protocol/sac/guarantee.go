package sac

import "fmt"

// The guarantees that a graph earns for a bound F (§4.2, finding F2).
const (
	Strong = "4.3-strong" // r ≥ 2F+1: reliable members alone stay linked
	Weak   = "4.3"        // r ≥ F+1: Properties 4.2 (at reliable members) and 4.3
)

// Guarantee is what holds on an r-robust graph for the bound f.
func (p *SAC) Guarantee(f, r int, exact bool) (name, note string) {
	atLeast := ""
	if !exact {
		atLeast = "at least "
	}
	switch {
	case r >= 2*f+1:
		return Strong, fmt.Sprintf("r is %s%d: with at most F=%d Byzantine neighbours each, reliable members stay linked by reliable members", atLeast, r, f)
	case r >= f+1:
		return Weak, fmt.Sprintf("r is %s%d: with at most F=%d Byzantine neighbours each, what reliable members retain is no worse than a reliable answer (4.2) and everyone stays linked (4.3)", atLeast, r, f)
	}
	return "", fmt.Sprintf("no guarantee: F=%d needs r of at least %d, and this graph has r %s%d, which is good for F=%d at most", f, f+1, atLeast, r, max(0, r-1))
}

// ClaimsEachRound reports that the properties are about each round by itself.
func (p *SAC) ClaimsEachRound() bool { return true }
