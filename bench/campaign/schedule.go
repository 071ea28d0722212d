package campaign

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// drawEvents draws the schedule: the wanted kinds, one charged fault for each Byzantine seat without an adversary, and
// others, up to mostFaults.
func (s *subject) drawEvents(c chance, x *Execution, want Want) {
	most := 1 + c.IntN(mostFaults)
	for _, name := range []string{want.Kind, want.Other} {
		if k, ok := byName[name]; ok {
			s.drawEvent(c, x, k, -1)
		}
	}
	for _, id := range x.Byzantine {
		seated := slices.ContainsFunc(x.Seats, func(a Seated) bool { return a.Seat == id })
		if !seated && !slices.ContainsFunc(x.Events, func(e ScheduledFault) bool { return x.blames(&e, id) }) &&
			len(x.Events) < mostFaults {
			s.drawEvent(c, x, s.chargedKind(c, x), id)
		}
	}
	all, first := s.kinds()
	for len(x.Events) < most {
		s.drawEvent(c, x, first+c.IntN(len(all)), -1)
		most-- // some kinds do not fit: the number of tries is what is drawn
	}
}

// chargedKind draws a kind of fault that makes its member Byzantine.
func (s *subject) chargedKind(c chance, x *Execution) int {
	all, _ := s.kinds()
	for {
		k := c.IntN(len(all))
		switch all[k].Charge {
		case Byzantine:
		case Omission:
			if x.Regime == Asynchronous {
				continue
			}
		default:
			continue
		}
		if s.suits(k, x) {
			return k
		}
	}
}

// suits reports whether a kind of fault means something in an execution.
func (s *subject) suits(k int, x *Execution) bool {
	kind := &kinds[k]
	if s.bare || (kind.Group == Storage) != (s.disk != nil) || kind.only != "" && kind.only != s.Name {
		return false
	}
	if s.sweep > 0 || kind.signed && !s.Signs || kind.Charge == Late && x.Regime != Asynchronous {
		return false
	}
	return kind.Group != Provider || s.Name != broadcastName // which asks no model
}

// drawEvent adds an event of a kind at a seat, or at one that it chooses (-1). It adds nothing if the kind does not
// fit.
func (s *subject) drawEvent(c chance, x *Execution, k int, at synod.NodeID) {
	if !s.suits(k, x) {
		return
	}
	node, ok := s.victim(c, x, k, at)
	if !ok {
		return
	}
	horizon := int(s.horizon(x))
	e := ScheduledFault{Kind: kinds[k].Name, Node: node, kind: k}
	e.From = synod.Tick(c.IntN(horizon))
	if c.IntN(3) == 0 {
		e.From = 0
	}
	e.To = e.From + 1 + synod.Tick(c.IntN(horizon))
	s.detail(c, x, &e, horizon)
	x.Events = append(x.Events, e)
}

// victim chooses whom a fault hits: a Byzantine seat, if it is charged.
func (s *subject) victim(c chance, x *Execution, k int, at synod.NodeID) (synod.NodeID, bool) {
	kind := &kinds[k]
	taken := func(id synod.NodeID) bool { // by an adversary, or by another fault of the same kind of process
		hosted := kind.Group == Process || kind.Group == Clock || kind.Group == Membership && kind.Charge != Free ||
			kind.signed && kind.Charge == Byzantine && kind.Name[:6] == "replay"
		return hosted && (slices.ContainsFunc(x.Seats, func(a Seated) bool { return a.Seat == id }) ||
			slices.ContainsFunc(x.Events, func(e ScheduledFault) bool { return e.Node == id && onHost(e.kind) }))
	}
	blamed := kind.Charge == Byzantine || kind.Charge == Omission && x.Regime == Synchronous
	switch {
	case at >= 0:
		return at, true
	case !blamed:
		id := synod.NodeID(c.IntN(x.Total()))
		return id, !taken(id)
	}
	var free []synod.NodeID
	for _, id := range x.Byzantine {
		if !taken(id) {
			free = append(free, id)
		}
	}
	if len(free) == 0 {
		return 0, false
	}
	return free[c.IntN(len(free))], true
}

// detail draws the other ends of the links that an event is about, and its argument.
func (s *subject) detail(c chance, x *Execution, e *ScheduledFault, horizon int) {
	others := func() []synod.NodeID { return e.others(c, x) }
	if e.parts() {
		s.part(c, x, e)
		return
	}
	if kinds[e.kind].Group == Storage {
		e.calls(c, x)
		return
	}
	switch e.Kind {
	case "delay":
		e.Peers, e.Arg = others(), 1+c.IntN(slack)
	case "delay-long":
		e.Peers, e.Arg = others(), int(check.Pace.Within)+c.IntN(2*int(check.Pace.Within))
	case "drop", "selective-silence", "duplicate":
		e.Peers, e.Arg = others(), c.IntN(3)
	case "reorder":
		e.Peers, e.Arg = others(), slack
	case "late-reveal":
		e.Peers, e.Arg = others()[:1], c.IntN(int(check.Pace.Within))
	case "flood":
		e.Arg = 1 + c.IntN(8)
	case "twins", "duplicate-identity":
		e.From, e.To, e.Peers = 0, synod.Tick(horizon), others()
	case "clock-skew":
		e.Arg = c.IntN(2) // ahead or behind by one tick
	case "clock-jump", "clock-backwards":
		e.Arg = 1 + c.IntN(3*int(check.Pace.Within))
	case "late-joiner":
		e.From, e.To = 0, 1+synod.Tick(c.IntN(horizon))
	case "sybil", "removed-member", "replay-run", "replay-committee":
		e.From, e.To = 0, synod.Tick(horizon)
	default:
		e.Arg = c.IntN(1 << 16)
	}
	if kinds[e.kind].Group == Provider {
		e.Arg = c.IntN(4)                                             // how many calls of the member it does not hit
		if h := check.Mix(x.Seed ^ uint64(len(x.Events))); h%2 == 0 { // no draw, so that the others stay what they were
			e.Calls = 1 + int(h>>8%3)
		}
	}
}

// others draws one seat or more that are not the event's.
func (e *ScheduledFault) others(c chance, x *Execution) (ids []synod.NodeID) {
	for i := range x.Total() {
		if id := synod.NodeID(i); id != e.Node && c.IntN(2) == 0 {
			ids = append(ids, id)
		}
	}
	if ids == nil {
		ids = []synod.NodeID{synod.NodeID((int(e.Node) + 1) % x.Total())}
	}
	return ids
}

// parts reports whether an event cuts its Peers off from the others. Peers of other events are ends of links.
func (e *ScheduledFault) parts() bool {
	switch e.Kind {
	case "partition", "partition-one-way", "partition-flapping", "partition-bridge", "swizzle-clog":
		return true
	}
	return false
}

// part draws a part of the council that is cut off: under synchrony Byzantine seats only.
func (s *subject) part(c chance, x *Execution, e *ScheduledFault) {
	e.Arg = 1 + c.IntN(4)
	e.Peers = []synod.NodeID{e.Node}
	for i := range x.Total() {
		id := synod.NodeID(i)
		if id != e.Node && (x.Regime == Asynchronous || x.bad(id)) && c.IntN(2) == 0 {
			e.Peers = append(e.Peers, id)
		}
	}
	slices.Sort(e.Peers)
	if e.Kind == "partition-bridge" { // the member itself links the two parts
		e.Peers = slices.DeleteFunc(e.Peers, func(id synod.NodeID) bool { return id == e.Node })
	}
}

// kinds returns the kinds of faults that a subject draws from, and the index of the first of them.
func (s *subject) kinds() (all []FaultKind, first int) {
	if s.bare {
		return nil, 0
	}
	if s.disk != nil {
		return kinds[firstStorage:firstInsider], firstStorage
	}
	return kinds[:firstStorage], 0
}
