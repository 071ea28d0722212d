package robust

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Ballot is one voter's choice and what it weighs, in [0, Limit].
type Ballot struct {
	Choice string
	Weight float64
}

// Tally is the outcome of a vote.
type Tally struct {
	Choice string  // the heaviest; of equally heavy ones the first in byte order
	Weight float64 // what it weighs
	Total  float64 // what all weigh
	Tied   bool    // another choice weighs exactly as much
}

// Vote adds up the ballots of each choice. It is a function of the multiset of
// ballots, bit for bit. The honest choice wins as long as what is hostile weighs
// less than what is honest and of one mind; at equal weight it is a tie.
func Vote(ballots []Ballot) (Tally, error) {
	all := slices.Clone(ballots)
	for _, b := range all {
		if !(b.Weight >= 0 && b.Weight <= Limit) { // NaN too
			return Tally{}, fmt.Errorf("%w: a ballot weighs %v; it must be within [0, %g]", ErrInput, b.Weight, float64(Limit))
		}
	}
	if len(all) == 0 {
		return Tally{}, fmt.Errorf("%w: no ballots", ErrInput)
	}
	slices.SortFunc(all, func(a, b Ballot) int {
		return cmp.Or(strings.Compare(a.Choice, b.Choice), cmp.Compare(a.Weight, b.Weight))
	})
	var t Tally
	for first := 0; first < len(all); {
		weight, i := 0.0, first
		for ; i < len(all) && all[i].Choice == all[first].Choice; i++ {
			weight += all[i].Weight
		}
		switch {
		case first == 0 || weight > t.Weight:
			t.Choice, t.Weight, t.Tied = all[first].Choice, weight, false
		case weight == t.Weight:
			t.Tied = true
		}
		t.Total += weight
		first = i
	}
	return t, nil
}
