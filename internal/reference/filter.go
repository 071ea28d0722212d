package reference

import (
	"math"
	"math/big"
	"slices"

	"synod.dev/synod"
)

// SACRound is what one member scored in a round of SAC.
type SACRound struct {
	F      int
	Strict bool           // drop the F lowest, whatever one's own score (SAC-7)
	Silent int            // neighbours without an answer, which use up F (SAC-4)
	Self   synod.Score    // of one's own answer
	Scores []synod.Judged // of the neighbours
}

// Filter is Eq. 3 and 4 of SAC: of the neighbours with a score strictly below one's own, the F lowest are dropped, all
// if there are fewer; of equal scores the first by seat. A member that cannot score its own answer has no anchor, and
// drops the lowest. Both lists are ascending.
func (r *SACRound) Filter() (retained, dropped []synod.NodeID) {
	anchor := r.Self
	if r.Strict || anchor == synod.Untrusted {
		anchor = synod.Score(math.Inf(1))
	}
	left := slices.Clone(r.Scores)
	for range max(0, r.F-r.Silent) {
		lowest := -1
		for i, s := range left {
			if s.Score < anchor && (lowest < 0 || s.Score < left[lowest].Score ||
				s.Score == left[lowest].Score && s.Of < left[lowest].Of) {
				lowest = i
			}
		}
		if lowest >= 0 {
			dropped = append(dropped, left[lowest].Of)
			left = slices.Delete(left, lowest, lowest+1)
		}
	}
	for _, s := range left {
		retained = append(retained, s.Of)
	}
	slices.Sort(retained)
	slices.Sort(dropped)
	return retained, dropped
}

// WMSR is a member of W-MSR (LeBlanc et al. 2013) with numbers of so many decimals, and six more in between.
type WMSR struct {
	F, Decimals int
	x           *big.Rat // what it holds
	low, high   *big.Rat // of the numbers that it has averaged
}

// NewWMSR returns a member that begins with a number.
func NewWMSR(f, decimals int, x *big.Rat) *WMSR { return &WMSR{f, decimals, x, x, x} }

// Step is one round: of the numbers above its own the F largest are dropped, of those below the F smallest. It holds
// the mean of the rest and its own, and shows it with the decimals that are asked for, or with so many more that it
// stays between the numbers that it has averaged.
func (w *WMSR) Step(heard []*big.Rat) (shown *big.Rat, dropped int) {
	kept := []*big.Rat{w.x}
	for i, x := range heard {
		beyond := 0 // numbers that are further out on the same side
		for k, y := range heard {
			further := y.Cmp(x)*x.Cmp(w.x) > 0
			beyond += count1(x.Cmp(w.x) != 0 && (further || y.Cmp(x) == 0 && k < i))
		}
		if x.Cmp(w.x) != 0 && beyond < w.F {
			dropped++
			continue
		}
		kept = append(kept, x)
	}
	sum, low, high := new(big.Rat), w.x, w.x
	for _, x := range kept {
		sum.Add(sum, x)
		low, high = least(low, x), most(high, x)
	}
	mean := decimals(sum.Quo(sum, big.NewRat(int64(len(kept)), 1)), w.Decimals+6)
	w.x = least(most(mean, low), high)
	w.low, w.high = least(w.low, low), most(w.high, high)
	for places := w.Decimals; places <= w.Decimals+6; places++ {
		if r := decimals(w.x, places); r.Cmp(w.low) >= 0 && r.Cmp(w.high) <= 0 {
			return r, dropped
		}
	}
	return w.x, dropped
}

func count1(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// decimals rounds a number, halves away from zero.
func decimals(x *big.Rat, places int) *big.Rat {
	ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
	scaled := new(big.Rat).Mul(new(big.Rat).Abs(x), ten)
	scaled.Add(scaled, big.NewRat(1, 2))
	whole := new(big.Rat).SetInt(new(big.Int).Div(scaled.Num(), scaled.Denom()))
	whole.Quo(whole, ten)
	if x.Sign() < 0 {
		whole.Neg(whole)
	}
	return whole
}

func least(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) <= 0 {
		return x
	}
	return y
}

func most(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}
