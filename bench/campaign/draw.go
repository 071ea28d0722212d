package campaign

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/protocol/check"
)

// newChance returns the chance of a seed, a stream of its own for each subject.
func newChance(name string, seed uint64) chance {
	return chance{Rand: rand.New(rand.NewPCG(seed, hashText(0x5eed, name)))}
}

// Want restricts what Draw draws, so that a campaign reaches its minima. The zero value restricts nothing.
type Want struct {
	Kind      string // a kind of fault that the schedule must have
	Other     string // another one
	Adversary string // an adversary that must be seated
}

// The shares of executions with as many Byzantine members as the bound allows, with more, and without a bound on
// delays; and of those with real signatures, which take a hundred times as long.
const (
	shareAtBound = 0.5
	shareAbove   = 0.1
	shareAsync   = 0.25
	shareReal    = 0.0005
	mostFaults   = 6
)

// slack is the most ticks by which a message may be late and still be within the bound, beside the skew of clocks.
const slack = 2

func isLate(name string) bool { i, ok := byName[name]; return ok && kinds[i].Charge == Late }

// drawByzantine draws which seats may be Byzantine: as many as the bound allows, more, or fewer.
func (s *subject) drawByzantine(c chance, x *Execution, want Want) {
	at := c.Float64()
	need := want.Adversary != "" || charged(want.Kind) || charged(want.Other)
	if need && x.F == 0 && x.N > 2 {
		x.F = 1
	}
	peers := x.peers()
	order := c.Perm(x.N)
	for _, i := range order {
		if id := synod.NodeID(i); s.allows(x, peers, id) {
			x.add(id)
		}
	}
	if n := len(x.Byzantine); at >= shareAtBound+shareAbove && n > 0 { // below the bound
		least := 0
		if need {
			least = 1
		}
		for k := max(c.IntN(n), least); len(x.Byzantine) > k; {
			at := c.IntN(len(x.Byzantine))
			x.Byzantine = slices.Delete(x.Byzantine, at, at+1)
		}
	}
	x.AtBound = !slices.ContainsFunc(order, func(i int) bool {
		return !x.bad(synod.NodeID(i)) && s.allows(x, peers, synod.NodeID(i))
	})
	if at < shareAbove || need && len(x.Byzantine) == 0 {
		for _, i := range order {
			if id := synod.NodeID(i); !x.bad(id) && len(x.Byzantine) < x.N-1 {
				x.add(id)
				x.Above, x.AtBound = true, false
				break
			}
		}
	}
	for i := range x.Outside { // senders outside of a group are not counted by F
		if c.IntN(3) > 0 {
			x.add(synod.NodeID(x.N + i))
		}
	}
}

func charged(name string) bool {
	i, ok := byName[name]
	return ok && (kinds[i].Charge == Byzantine || kinds[i].Charge == Omission)
}

func (x *Execution) add(id synod.NodeID) {
	at, _ := slices.BinarySearch(x.Byzantine, id)
	x.Byzantine = slices.Insert(x.Byzantine, at, id)
}

// allows reports whether one more Byzantine seat is within the bound: F in the neighbourhood of each honest member,
// or, where everybody hears everybody, F in the group that F counts.
func (s *subject) allows(x *Execution, peers [][]synod.NodeID, id synod.NodeID) bool {
	if x.bad(id) {
		return false
	}
	if x.Edges == nil {
		return s.counted(x, id) < x.F
	}
	for i := range peers {
		if own := synod.NodeID(i); own == id || x.bad(own) {
			continue
		}
		bad := 0
		for _, j := range peers[i] {
			if j == id || x.bad(j) {
				bad++
			}
		}
		if bad > x.F {
			return false
		}
	}
	return true
}

// counted returns how many Byzantine seats F counts together with this one: those whose role it
// counts.
func (s *subject) counted(x *Execution, id synod.NodeID) (n int) {
	if x.Cast == nil {
		return len(x.Byzantine)
	}
	if s.uncounted(x, id) {
		return -1
	}
	for _, b := range x.Byzantine {
		if !s.uncounted(x, b) {
			n++
		}
	}
	return n
}

// uncounted reports whether F does not count a seat, because of its role.
func (s *subject) uncounted(x *Execution, id synod.NodeID) bool {
	return x.Cast != nil && x.Cast[id] == s.Uncounted
}

// adversaries returns the names of the adversaries that apply to a subject, without other names of the same one.
func (s *subject) adversaries() []string {
	s.once.Do(func() { s.seats = s.findAdversaries() })
	return s.seats
}

func (s *subject) findAdversaries() (names []string) {
	if s.sweep > 0 || s.disk != nil {
		return nil
	}
	for _, e := range adversary.Seated(false) { // an execution has no earlier questions to learn from
		if (e.Where.Admits(s.traits) && s.Name != broadcastName || slices.Contains(s.Also, e.Name)) && !outer(&e) {
			names = append(names, e.Name)
		}
	}
	return names
}

// outer reports whether an adversary attacks commitments to first answers: the machines of a campaign tell theirs at
// once, and package protocol/reveal has executions of its own.
func outer(e *adversary.Entry) bool {
	a, err := e.New(nil)
	_, is := a.(adversary.Outer)
	return err == nil && is
}

// seatAdversaries puts adversaries at some of the Byzantine seats. The others are for faults.
func (s *subject) seatAdversaries(c chance, x *Execution, want Want) {
	names := s.adversaries()
	if len(names) == 0 || len(x.Byzantine) == 0 {
		return
	}
	keep := len(x.Byzantine)
	if charged(want.Kind) || charged(want.Other) {
		keep-- // at least one seat stays for the fault
	}
	same := c.IntN(2) == 0
	name := names[c.IntN(len(names))]
	for k, i := range c.Perm(len(x.Byzantine)) {
		id := x.Byzantine[i]
		switch {
		case int(id) >= x.N: // outside of a group
			continue
		case want.Adversary != "" && len(x.Seats) == 0:
			name = want.Adversary
		case k >= keep || c.IntN(3) == 0:
			continue
		case !same:
			name = names[c.IntN(len(names))]
		}
		x.Seats = append(x.Seats, Seated{Seat: id, Name: name, Params: paramsFor(name, c, x)})
	}
	slices.SortFunc(x.Seats, func(a, b Seated) int { return int(a.Seat - b.Seat) })
}

// paramsFor returns the parameters that an adversary needs.
func paramsFor(name string, c chance, x *Execution) map[string]any {
	seat := func() string { return strconv.Itoa(c.IntN(x.N)) }
	switch name {
	case "copier":
		return map[string]any{"copies": seat()}
	case "cartel", "little-is-enough", "division-of-labour":
		return map[string]any{"favours": seat()}
	case "late-revealer":
		if c.IntN(2) == 0 {
			return map[string]any{"shows": seat(), "late": c.IntN(int(check.Pace.Within))}
		}
	}
	return nil
}

// chargeNobody takes seats without an adversary and without a charged fault out of Byzantine: they are honest. A seat
// that becomes honest may hear more Byzantine members than the bound allows, although no honest one did before.
func (x *Execution) chargeNobody() {
	defer func() {
		if x.exceeds() {
			x.Above, x.AtBound = true, false
		}
	}()
	if len(x.Twins) > 0 {
		return // the member with two copies is Byzantine
	}
	x.Byzantine = slices.DeleteFunc(x.Byzantine, func(id synod.NodeID) bool {
		seated := slices.ContainsFunc(x.Seats, func(a Seated) bool { return a.Seat == id })
		return !seated && !slices.ContainsFunc(x.Events, func(e ScheduledFault) bool { return x.blames(&e, id) })
	})
}

// exceeds reports whether an honest member of a graph hears more than F Byzantine ones.
func (x *Execution) exceeds() bool {
	if x.Edges == nil {
		return false
	}
	for i, heard := range x.peers() {
		bad := 0
		for _, j := range heard {
			if x.bad(j) {
				bad++
			}
		}
		if bad > x.F && !x.bad(synod.NodeID(i)) {
			return true
		}
	}
	return false
}

// blames reports whether an event is charged to a seat.
func (x *Execution) blames(e *ScheduledFault, id synod.NodeID) bool {
	switch kinds[e.kind].Charge {
	case Byzantine:
		return e.Node == id
	case Omission:
		return x.Regime == Synchronous && (e.Node == id || (e.Node < 0 || e.parts()) && slices.Contains(e.Peers, id))
	}
	return false
}
