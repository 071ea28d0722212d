package fixedleader

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/leader"
)

// tryTerms checks which bounds a council accepts: honest members must be a majority, and one leader must be honest.
func tryTerms(t *check.Tried) {
	p, n := New(), check.Among(t, 1, 2, 3, 4, 5, 6, 7, leader.MaxMembers, leader.MaxMembers+1)
	f := t.Rand.IntN(5) - 1
	p.Leaders, p.Rounds = 1+t.Rand.IntN(5), 1+t.Rand.IntN(3)
	leader.TryCost(t, &p.Params, n, p.Leaders*p.Rounds, p.Leaders,
		p.Calls(make([]int, n))-p.Leaders*(p.Rounds-1)) // what a leader answers anew
	most := 0
	for n-(most+1) > most+1 {
		most++
	}
	t.Tolerates(p.CheckCast(make([]synod.Role, n), f), f, most, n <= leader.MaxMembers && (f > most || p.Leaders > f))
}
