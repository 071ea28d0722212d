package wmsr

import (
	"cmp"
	"math/big"
	"slices"

	"synod.dev/synod"
)

// value is a neighbour's number.
type value struct {
	from synod.NodeID
	x    *big.Int
}

// moved is what a member makes of a round's numbers.
type moved struct {
	next              *big.Int
	retained, dropped []synod.NodeID // ascending
}

// step is one round of W-MSR at a member that holds own: of the numbers above it
// the f largest are dropped, of those below the f smallest; then the mean of the
// rest and own. Equal numbers are cut by the neighbour's id, which changes who is
// dropped and nothing else.
func step(own *big.Int, heard []value, f int) moved {
	sorted := slices.Clone(heard)
	slices.SortFunc(sorted, func(a, b value) int { return cmp.Or(a.x.Cmp(b.x), cmp.Compare(a.from, b.from)) })
	below, above := 0, 0
	for _, v := range sorted {
		switch v.x.Cmp(own) {
		case -1:
			below++
		case 1:
			above++
		}
	}
	low, high := min(f, below), len(sorted)-min(f, above)
	var m moved
	sum := new(big.Int).Set(own)
	for i, v := range sorted {
		if i < low || i >= high {
			m.dropped = append(m.dropped, v.from)
			continue
		}
		m.retained = append(m.retained, v.from)
		sum.Add(sum, v.x)
	}
	slices.Sort(m.retained)
	slices.Sort(m.dropped)
	m.next = divide(sum, big.NewInt(int64(len(m.retained)+1)))
	return m
}
