package campaign

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// Draws hands out consecutive executions of a subject in a campaign with a seed. Every second one is that of DrawAt.
// The others have insiders: half of these are drawn anew, and half are earlier ones with a change. Those are changed
// that reached a state which no execution of the same Draws had reached before. So the executions are a function of the
// subject, the seed, the number of the first one, and what the program does with them.
type Draws struct {
	s    *subject
	seed uint64
	next uint64
	seen map[uint64]int // how many executions reached a state
	kept []keptExecution
	ends []synod.Tick // the first tick, and when rounds end; ascending
}

// keptExecution is an execution that was the first to reach some states.
type keptExecution struct {
	Execution
	marks []uint64 // of these states
}

// NewDraws returns the executions of a subject from a number on. It panics if no subject has the name.
func NewDraws(name string, seed, from uint64) *Draws {
	s, err := subjectOf(name)
	if err != nil {
		panic(err)
	}
	return &Draws{s: s, seed: seed, next: from, seen: map[uint64]int{}, ends: []synod.Tick{0}}
}

// mostKept bounds how many executions are kept to be changed, and mostEnds how many ends of rounds.
const (
	mostKept = 512
	mostEnds = 64
)

// Next returns the next execution.
func (d *Draws) Next() Execution {
	i := d.next
	d.next++
	switch {
	case !d.s.hasInsiders():
		return DrawAt(d.s.Name, d.seed, i)
	case i%2 == 0:
		return DrawAt(d.s.Name, d.seed, i/2)
	}
	c := newChance(d.s.Name+" insiders", d.seed+i)
	if len(d.kept) == 0 || c.IntN(4) > 0 {
		return d.drawInsiders(c)
	}
	return d.vary(c, d.rare(c), &d.kept[c.IntN(len(d.kept))].Execution)
}

// rare returns the one of a few kept executions that reached the rarest state.
func (d *Draws) rare(c chance) (x *Execution) {
	least := 0
	for range 8 {
		k := &d.kept[c.IntN(len(d.kept))]
		for _, m := range k.marks {
			if n := d.seen[m]; x == nil || n < least {
				x, least = &k.Execution, n
			}
		}
	}
	return x
}

// Learn keeps an execution that reached a new state. It must be called after each execution, before Next.
func (d *Draws) Learn(x *Execution, r *ExecutionResult) {
	k := keptExecution{Execution: *x}
	for _, m := range r.marks {
		if d.seen[m]++; d.seen[m] == 1 {
			k.marks = append(k.marks, m)
		}
	}
	for _, at := range r.ends {
		if i, known := slices.BinarySearch(d.ends, at); !known && len(d.ends) < mostEnds {
			d.ends = slices.Insert(d.ends, i, at)
		}
	}
	if len(k.marks) > 0 {
		d.kept = append(d.kept[max(0, len(d.kept)+1-mostKept):], k)
	}
}

// hasInsiders reports whether executions of a subject can have insiders.
func (s *subject) hasInsiders() bool { return s.disk == nil && s.sweep == 0 }

// drawInsiders draws an execution in which every Byzantine member is an insider.
func (d *Draws) drawInsiders(c chance) Execution {
	x := Execution{Case: check.Case{Protocol: d.s.Name, Seed: c.Uint64()}, Regime: Synchronous}
	d.s.setup(c, &x)
	if c.Float64() < shareAsync {
		x.Regime = Asynchronous
	}
	x.Delay = synod.Tick(c.IntN(slack + 1))
	x.RealKeys = d.s.Signs && c.Float64() < shareReal
	want := Want{Kind: kinds[firstInsider].Name}
	if x.Outside > 0 { // senders outside may be the only Byzantine ones
		want.Kind = ""
	}
	d.s.drawByzantine(c, &x, want)
	for _, id := range x.Byzantine {
		for range 1 + c.IntN(4) {
			d.drawInsider(c, &x, id)
		}
	}
	most := 1
	if x.Regime == Asynchronous {
		most = 4
	}
	for range c.IntN(3) * most / 2 {
		d.s.drawEvent(c, &x, linkKinds[c.IntN(len(linkKinds))], -1)
	}
	x.chargeNobody()
	return x
}

// linkKinds are the kinds of faults beside insiders: those of links.
var linkKinds = []int{byName["delay"], byName["delay-long"], byName["reorder"], byName["drop"], byName["partition"],
	byName["selective-silence"]}

// mostInsiderFaults is the longest schedule of an execution with insiders.
const mostInsiderFaults = 10

// drawInsider adds an event of an insider.
func (d *Draws) drawInsider(c chance, x *Execution, at synod.NodeID) {
	k := firstInsider + c.IntN(len(kinds)-firstInsider)
	if !d.s.suits(k, x) || len(x.Events) >= mostInsiderFaults {
		return
	}
	e := ScheduledFault{Kind: kinds[k].Name, Node: at, kind: k, Arg: c.IntN(1 << 16)}
	i := slices.IndexFunc(x.Events, func(o ScheduledFault) bool { return o.Node == at })
	if i >= 0 && c.IntN(2) == 0 { // two changes of one message
		e.From, e.To, e.Peers = x.Events[i].From, x.Events[i].To, slices.Clone(x.Events[i].Peers)
	} else {
		d.window(c, x, &e)
		e.Peers = e.others(c, x)
	}
	if c.IntN(4) == 0 {
		e.Peers = x.peers()[at]
	}
	x.Events = append(x.Events, e)
}

// window draws when an event begins and ends: most often with a round.
func (d *Draws) window(c chance, x *Execution, e *ScheduledFault) {
	if n := len(d.ends); n > 1 && c.IntN(3) > 0 {
		i := c.IntN(n - 1)
		e.From, e.To = d.ends[i], d.ends[i+1]
		if c.IntN(2) == 0 {
			e.To = d.ends[i+1+c.IntN(n-i-1)]
		}
		return
	}
	horizon := int(d.s.horizon(x))
	e.From = synod.Tick(c.IntN(horizon))
	e.To = e.From + 1 + synod.Tick(c.IntN(2*int(check.Pace.Within)))
	if c.IntN(2) == 0 {
		e.To = e.From + 1 + synod.Tick(c.IntN(horizon))
	}
	if c.IntN(3) == 0 {
		e.From = 0
	}
}

// vary returns an execution that is like another one but for one to three changes. Some events come from a third one.
func (d *Draws) vary(c chance, like, other *Execution) Execution {
	x := *like
	x.Events = nil
	for _, e := range like.Events {
		e.Peers = slices.Clone(e.Peers)
		x.Events = append(x.Events, e)
	}
	for range 1 + c.IntN(3) {
		d.varyOnce(c, &x, other)
	}
	x.Byzantine = slices.Clone(x.Byzantine)
	x.chargeNobody()
	return x
}

// varyOnce changes one thing: the replies of models, or an event of an insider.
func (d *Draws) varyOnce(c chance, x *Execution, other *Execution) {
	if len(x.Byzantine) == 0 {
		x.Seed = c.Uint64()
		return
	}
	at := x.Byzantine[c.IntN(len(x.Byzantine))]
	i := c.IntN(len(x.Events) + 1)
	if i == len(x.Events) || kinds[x.Events[i].kind].Group != Insider {
		d.drawInsider(c, x, at)
		return
	}
	switch e := &x.Events[i]; c.IntN(7) {
	case 0:
		x.Seed = c.Uint64()
	case 1:
		d.drawInsider(c, x, at)
	case 2:
		x.Events = slices.Delete(x.Events, i, i+1)
	case 3:
		d.window(c, x, e)
	case 4:
		e.Peers = e.others(c, x)
	case 5:
		e.Arg = c.IntN(1 << 16)
	default:
		x.borrow(c, other, at)
	}
}

// borrow adds an event of another execution, of an insider, at a member.
func (x *Execution) borrow(c chance, other *Execution, at synod.NodeID) {
	if len(other.Events) == 0 || other.N != x.N || other.Total() != x.Total() || len(x.Events) >= mostInsiderFaults {
		return
	}
	e := other.Events[c.IntN(len(other.Events))]
	if kinds[e.kind].Group == Insider {
		e.Node, e.Peers = at, slices.Clone(e.Peers)
		x.Events = append(x.Events, e)
	}
}
