package panel

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/protocol/check"
)

// tryTerms checks which bounds a council accepts, what it guarantees, its number of calls, and the parts of a text.
func tryTerms(t *check.Tried) {
	tryParts(t)
	p, f, n := New(), t.Rand.IntN(5)-1, 1+t.Rand.IntN(9)
	p.Aggregate = check.Among(t, robust.Catalogue.Names()...)
	p.Lenient, p.Claims, p.Drop = t.Rand.IntN(2) == 0, t.Rand.IntN(2) == 0, t.Rand.IntN(2) == 0
	t.Check((p.Validate() == nil) == (p.Claims || !p.Drop), "claims %v, drop-disputed %v: %v", p.Claims, p.Drop,
		p.Validate())
	calls := n + n*(n-1)
	if p.Claims {
		calls += n - 1
	}
	if p.Drop {
		calls += 1 + n - 1
	}
	t.Check(p.Calls(make([]int, n)) == calls, "%d members, claims %v, drop-disputed %v: at most %d calls, and by the "+
		"formula %d", n, p.Claims, p.Drop, p.Calls(make([]int, n)), calls)

	rule, err := robust.Catalogue.Find(p.Aggregate)
	if !t.Need(err) {
		return
	}
	most := rule.Bound(n - 1) // members that grade an answer
	err = p.CheckCast(make([]synod.Role, n), f)
	if alone := n == 1 && f == 0 && p.Lenient; alone {
		t.Check(err == nil, "one member alone: %v", err)
	} else {
		t.Tolerates(err, f, most, most >= 0)
	}
	name, note := p.Guarantee(f, 0, true)
	if inRange := p.Aggregate == "trimmed-mean" || p.Aggregate == "median-total"; inRange && f != 0 {
		t.Says(name, note, "best-of", fmt.Sprintf("F=%d ", f))
	} else {
		t.Says(name, note, "", "no guarantee")
	}
}
