package campaign

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
)

// insider plays one Byzantine member that knows the protocol. The machine of the member does what the protocol says,
// and believes every signature; events of the schedule change what it hears and what leaves it.
type insider struct {
	synod.Machine
	k       *knowledge
	id      synod.NodeID
	happens func(kind int)
	events  []*ScheduledFault
	now     synod.Tick
	alarms  []synod.Tick // of the machine, ascending
	held    []heldMessage
	passed  map[synod.Slot]bool
	broken  bool // the machine has panicked
	out     []synod.Effect
}

// heldMessage is a message that leaves later.
type heldMessage struct {
	at   synod.Tick
	send synod.Send
}

// insider returns the machine of a seat with events of the group Insider; nil if it has none.
func (p *ExecutionPlayer) insider(seat synod.Seat) synod.Machine {
	m := &insider{k: p.known, id: seat.Self, happens: p.happens, passed: map[synod.Slot]bool{}}
	for i := range p.x.Events {
		if e := &p.x.Events[i]; e.Node == seat.Self && kinds[e.kind].Group == Insider {
			m.events = append(m.events, e)
		}
	}
	if m.events == nil {
		return nil
	}
	m.Machine = p.join(seat, 0)
	return m
}

// insiders reports whether an execution has insiders.
func (x *Execution) insiders() bool {
	return slices.ContainsFunc(x.Events, func(e ScheduledFault) bool { return kinds[e.kind].Group == Insider })
}

// messageType returns the type of the messages that machines send in the slots of a name; nil: none has sent any.
func (p *ExecutionPlayer) messageType(slot string) reflect.Type {
	for _, m := range p.joined {
		if t := script.MessageType(m, slot); t != nil {
			return t
		}
	}
	return nil
}

// earlierRun plays a run with other replies before the execution, with the keys of its members: in it everybody is
// honest. Its signatures are for another run, or for a larger committee.
func (p *ExecutionPlayer) earlierRun(s *subject, x *Execution, into *knowledge) {
	has := func(e ScheduledFault) bool { return e.Kind == "earlier-run" }
	if !slices.ContainsFunc(x.Events, has) {
		return
	}
	e := Execution{Case: x.Case, Regime: Synchronous}
	e.Seed++
	v := variant{run: otherRun}
	if x.Seed>>9%2 == 0 {
		v.run, v.more = thisRun, 3
	}
	v.known = into
	v.changed = func(_ synod.NodeID, m *synod.Message) *synod.Message {
		if !into.heard[m] {
			into.heard[m] = true
			into.earlier.add(into, parsed(into.typeOf(m.Slot.Name), m.Body))
		}
		return m
	}
	p.play(s, &e, v)
	clear(into.heard)
}

// Step implements synod.Machine.
func (m *insider) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.now, m.out = now, m.out[:0]
	switch x := e.(type) {
	case synod.Heard:
		m.k.hear(x.Message)
		m.passOn(x.Message)
		if e = m.misheard(x.Message); e == nil {
			return m.out
		}
	case synod.Expired:
		if x.ID == wakeAlarm {
			m.release()
			return m.out
		}
	}
	m.take(m.step(now, e))
	return m.out
}

// step gives an event to the machine. It may panic, because it believes what no honest member would; then it is silent.
func (m *insider) step(now synod.Tick, e synod.Event) (effects []synod.Effect) {
	if m.broken {
		return nil
	}
	defer func() {
		if recover() != nil {
			m.broken, effects = true, []synod.Effect{synod.Decide{}}
		}
	}()
	return m.Machine.Step(now, e)
}

// take takes what the machine does. Its alarms, which tell when the round ends, come before its messages.
func (m *insider) take(effects []synod.Effect) {
	for _, x := range effects {
		switch x := x.(type) {
		case synod.Alarm:
			m.alarms = append(m.alarms, x.At)
			m.k.ends = append(m.k.ends, x.At)
			m.out = append(m.out, x)
		case synod.Note:
			m.out = append(m.out, m.noted(x))
		case synod.Send:
		default:
			m.out = append(m.out, x)
		}
	}
	for _, x := range effects {
		if x, send := x.(synod.Send); send {
			m.k.hear(x.Message)
			m.send(x.To, x.Message, false)
		}
	}
}

// noted returns what a member notes: with an event that forges its notes, something else than its machine.
func (m *insider) noted(x synod.Note) synod.Note {
	for _, e := range m.events {
		if e.Kind == "forged-note" && m.now >= e.From {
			m.happens(e.kind)
			c := &recombiner{knowledge: m.k, r: rand.New(rand.NewPCG(uint64(e.Arg), uint64(x.Round)))}
			return synod.Note{Opinion: c.forged(x.Opinion)}
		}
	}
	return x
}

// active returns the events that are about messages to or from another member now, as a set of bits.
func (m *insider) active(other synod.NodeID) (set uint64) {
	for i, e := range m.events {
		if m.now >= e.From && m.now < e.To && slices.Contains(e.Peers, other) {
			set |= 1 << i
		}
	}
	return set
}

// event returns the first event of a kind in a set; nil if there is none.
func (m *insider) event(set uint64, kind string) *ScheduledFault {
	for i, e := range m.events {
		if set>>i&1 == 1 && e.Kind == kind {
			return e
		}
	}
	return nil
}

// passOn sends what was heard at once, changed, in place of the member's own message.
func (m *insider) passOn(heard *synod.Message) {
	for _, e := range m.events {
		if e.Kind == "passed-on" && m.now >= e.From && m.now < e.To && !m.passed[heard.Slot] &&
			(e.Arg%3 > 0 || e.Arg/3%m.k.x.Total() == int(heard.From)) {
			m.passed[heard.Slot] = true
			m.send(e.Peers, heard, true)
		}
	}
}

// misheard returns what the machine hears in place of a message; nil: nothing.
func (m *insider) misheard(heard *synod.Message) synod.Event {
	set := m.active(heard.From)
	if e := m.event(set, "deaf"); e != nil {
		m.happens(e.kind)
		return nil
	}
	if e := m.event(set, "misheard"); e != nil {
		m.happens(e.kind)
		return synod.Heard{Message: m.changed(set, heard)}
	}
	return synod.Heard{Message: heard}
}

// send sends a message, each receiver what the events make of it for that receiver.
func (m *insider) send(to []synod.NodeID, message *synod.Message, passed bool) {
	var sets []uint64
	by := map[uint64][]synod.NodeID{}
	for _, id := range to {
		set := m.active(id)
		if by[set] == nil {
			sets = append(sets, set)
		}
		by[set] = append(by[set], id)
	}
	for _, set := range sets {
		if !m.silent(set, passed) {
			own := *m.changed(set, message)
			own.From = m.id
			m.leave(set, synod.Send{To: by[set], Message: &own})
		}
	}
}

// silent reports whether a message is not sent: it is withheld, or others are passed on in its place.
func (m *insider) silent(set uint64, passed bool) bool {
	on, withheld := m.event(set, "passed-on"), m.event(set, "withheld")
	for _, e := range []*ScheduledFault{on, withheld} {
		if e != nil {
			m.happens(e.kind)
		}
	}
	return withheld != nil || on != nil && !passed
}

// leave sends a message now, or at the end of its round.
func (m *insider) leave(set uint64, x synod.Send) {
	e := m.event(set, "last-moment")
	m.alarms = slices.DeleteFunc(m.alarms, func(at synod.Tick) bool { return at <= m.now })
	if e == nil || len(m.alarms) == 0 {
		m.out = append(m.out, x)
		return
	}
	m.happens(e.kind)
	at := max(m.now+1, slices.Min(m.alarms)-1+synod.Tick(e.Arg%2))
	m.held = append(m.held, heldMessage{at, x})
	m.out = append(m.out, synod.Alarm{ID: wakeAlarm, At: at})
}

// release sends the messages whose time has come.
func (m *insider) release() {
	for _, h := range m.held {
		if h.at <= m.now {
			m.out = append(m.out, h.send)
		}
	}
	m.held = slices.DeleteFunc(m.held, func(h heldMessage) bool { return h.at <= m.now })
}

// mostRetries is how often a message is changed until members can read it.
const mostRetries = 4

// changed returns what the events of a set make of a message.
func (m *insider) changed(set uint64, message *synod.Message) *synod.Message {
	if set == 0 {
		return message
	}
	out := *message
	for try := range uint64(mostRetries) {
		c := recombiner{knowledge: m.k, v: parsed(m.k.typeOf(message.Slot.Name), message.Body)}
		if !m.apply(set, &c, try, message.Slot) {
			break
		}
		body, readable := written(c.v)
		if out.Body = body; readable {
			break
		}
	}
	if e := m.event(set, "wrong-round"); e != nil {
		m.happens(e.kind)
		out.Slot.Round = max(0, out.Slot.Round+[]int{-1, 1, -2, 2}[e.Arg%4])
	}
	return &out
}

// apply makes the changes of a set of events, and reports whether there were any. All receivers of an event get the
// same: what is drawn follows from the event and the slot.
func (m *insider) apply(set uint64, c *recombiner, try uint64, slot synod.Slot) (any bool) {
	for i, e := range m.events {
		change := changes[e.Kind]
		if set>>i&1 == 0 || change == nil {
			continue
		}
		c.r = rand.New(rand.NewPCG(uint64(e.Arg)+try<<32, hashText(uint64(slot.Round), slot.Name)))
		if c.r.IntN(2) == 0 && c.inside(change) || change(c) {
			any = true
			m.happens(e.kind)
		}
	}
	if any {
		c.sign()
	}
	return any
}
