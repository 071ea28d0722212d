package formula

import (
	"math/rand/v2"
	"slices"
)

const (
	points = 6  // at which two formulas must agree
	tries  = 40 // until so many are found at which both have a value
)

// everywhere compares f(a) and f(b) at seeded random points. Points at which a
// formula of real numbers has no real value are passed over; ok is false if too few
// are left to say anything.
func everywhere(a, b *node, agree func(x, y value) bool) (same, ok bool) {
	seen := map[string]bool{}
	a.variables(seen)
	b.variables(seen)
	var names []string
	for v := range seen {
		names = append(names, v)
	}
	slices.Sort(names)
	isI := func(n *node) bool { return n.op == opName && n.name == "i" }
	whole := a.any(isI) || b.any(isI) || len(names) == 0
	chance := rand.New(rand.NewPCG(11, 7))
	found := 0
	for try := range tries {
		at := map[string]value{}
		for _, v := range names {
			x := 0.3 + 3*chance.Float64()
			if try%2 == 1 && chance.IntN(2) == 0 && (len(v) < 5 || v[:5] != "unit ") {
				x = -x
			}
			at[v] = realValue(float(x))
		}
		x, err := a.eval(at)
		y, other := b.eval(at)
		if err == nil && other == nil && (whole || x.almostReal() && y.almostReal()) {
			if !agree(x, y) {
				return false, true
			}
			found++
		}
		if found == points || len(names) == 0 {
			break
		}
	}
	return found > 0, found >= min(3, points) || len(names) == 0 && found > 0
}
