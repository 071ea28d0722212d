package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod"
)

// twinsName is the subject of Twins: all schedules of a small council (Bano et al., "Twins: BFT Systems Made Robust").
const twinsName = "twins"

// The council of Twins: three honest members, and two copies of a fourth one, unmodified and with one key. In each of
// four periods, a view of rotating-leader each, the five of them are in one of two parts.
const (
	twinMembers = 4
	twin        = synod.NodeID(twinMembers - 1)
	twinPeriods = 4
	twinParts   = 1 << (twinMembers + 1) // ways to put five into two parts
)

// twinSchedules is the number of all schedules, 32 to the power of 4.
const twinSchedules = 1 << (5 * twinPeriods)

var twinsSubject = func() *subject {
	s := leaders("rotating-leader", 1, nil, nil, func(t *trace) { t.sameDecisions("I-LB-1") })
	s.name, s.sweep = twinsName, twinSchedules
	s.claims = slices.Concat(rotatingSubject.claims[:1], s.claims)
	s.claims = slices.DeleteFunc(s.claims, func(c Claim) bool { return c.ID == claimReplay || c.ID == claimCall })
	s.states = []string{"decided", "undecided", "later than the first view"}
	s.setup = func(_ chance, x *Execution) {
		x.N, x.F, x.Regime = twinMembers, 1, Asynchronous
		x.Byzantine, x.AtBound = []synod.NodeID{twin}, true
		x.Params = fmt.Sprintf("{views: %d, rationale: 0, propose: own}", twinPeriods)
	}
	s.horizon = func(*Execution) synod.Tick { return twinPeriods * twinPeriod }
	return s
}()

// The length of a view of rotating-leader in ticks, and when the first one begins.
const twinPeriod, twinStart = 32, 2

// schedule sets schedule number i of all. Neighbours in number differ in all periods, so that a part of a sweep is a
// sample. Every schedule has replies of its own.
func (x *Execution) schedule(seed, i uint64) {
	x.Seed = mix(seed + i)
	k := i * 0x9e375 % twinSchedules // the factor is odd, so this is a permutation
	x.Twins = make([]int, twinPeriods)
	for p := range x.Twins {
		x.Twins[p] = int(k % twinParts)
		k /= twinParts
	}
}

// lenient reports whether members grade all answers alike, so that they vote for every proposal: three of four
// schedules
// of Twins, because a decision is what can go wrong.
func (x *Execution) lenient() bool { return len(x.Twins) > 0 && x.Seed>>20%4 > 0 }

// part returns the part in which a member, or a copy of the twin, is at a tick.
func (x *Execution) part(now synod.Tick, bit int) int {
	period := min(max(int((now-twinStart)/twinPeriod), 0), len(x.Twins)-1)
	return x.Twins[period] >> bit & 1
}

// apart reports whether two members that are no twins are in different parts.
func (x *Execution) apart(now synod.Tick, a, b synod.NodeID) bool {
	if len(x.Twins) == 0 || a == twin || b == twin {
		return false // the host of the twins knows which copy it is
	}
	return x.part(now, int(a)) != x.part(now, int(b))
}

// apartOf reports whether a copy of the twin and another member are in different parts.
func (x *Execution) apartOf(now synod.Tick, copy int, other synod.NodeID) bool {
	return len(x.Twins) > 0 && x.part(now, int(twin)+copy) != x.part(now, int(other))
}
