package leader

import "synod.dev/synod/protocol/check"

// TryCost checks the largest number of calls of n members, in which they are asked in so many rounds: each for its
// answer, for grades of it, of each proposal and of what was accepted, and each of some leaders for grades of all
// answers, if it ranks them.
func TryCost(t *check.Tried, p *Params, n, rounds, leaders, got int) {
	p.Propose = check.Among(t, Own, Best, Quorum)
	if p.Propose != Own {
		got = p.Cost(n, rounds, leaders)
	}
	most := 0
	for member := range n {
		most += 1 + 1 + rounds + 1
		if p.Propose != Own && member < leaders {
			most += n
		}
	}
	t.Check(got == most, "%d members with %d leaders and %d rounds, which propose %s: at most %d calls, and by the "+
		"formula %d", n, leaders, rounds, p.Propose, got, most)
}
