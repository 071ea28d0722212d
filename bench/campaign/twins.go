package campaign

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// The council of Twins: three honest members, and two copies of a fourth one, unmodified and with one key. In each of
// four periods, a view of the protocol each, the five of them are in one of two parts.
const (
	twinMembers = 4
	twin        = synod.NodeID(twinMembers - 1)
	twinPeriods = check.TwinViews
	twinParts   = 1 << (twinMembers + 1) // ways to put five into two parts
)

// twinSchedules is the number of all schedules, 32 to the power of 4.
const twinSchedules = 1 << (5 * twinPeriods)

// twinStart is when the first view begins.
const twinStart = 2

// schedule sets schedule number i of all. Neighbours in number differ in all periods, so that a part of a sweep is a
// sample. Every schedule has replies of its own.
func (x *Execution) schedule(seed, i uint64) {
	x.Seed = check.Mix(seed + i)
	k := i * 0x9e375 % twinSchedules // the factor is odd, so this is a permutation
	x.Twins = make([]int, twinPeriods)
	for p := range x.Twins {
		x.Twins[p] = int(k % twinParts)
		k /= twinParts
	}
}

// lenient reports whether members grade all answers alike, so that they vote for every proposal: three of four
// schedules of Twins, because a decision is what can go wrong.
func (x *Execution) lenient() bool { return len(x.Twins) > 0 && x.Seed>>20%4 > 0 }

// part returns the part in which a member, or a copy of the twin, is at a tick.
func (x *Execution) part(now synod.Tick, bit int) int {
	period := min(max(int((now-twinStart)/check.TwinView), 0), len(x.Twins)-1)
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
