package campaign

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// network is what the links between members do in one execution.
type network struct {
	x       *Execution
	events  []*ScheduledFault // of the groups Network and Content
	seed    uint64
	count   uint64 // messages so far, so that equal ones can meet different fates
	last    map[lastKey]*synod.Message
	odd     map[int]bool // by index of an event of reorder: the next message waits
	happens func(kind int)
	changed func(to synod.NodeID, m *synod.Message) *synod.Message // what metamorphic checks change; nil: nothing
	double  bool                                                   // every message to an honest member arrives twice
}

// lastKey is a kind of message of a sender.
type lastKey struct {
	from synod.NodeID
	name string
}

func (w *network) reset(x *Execution) {
	w.x, w.seed, w.count, w.changed = x, x.Seed, 0, nil
	w.events = w.events[:0]
	clear(w.last)
	clear(w.odd)
	for i := range x.Events {
		if g := kinds[x.Events[i].kind].Group; (g == Network || g == Content) && !onHost(x.Events[i].kind) {
			w.events = append(w.events, &x.Events[i])
		}
	}
}

// fate is what becomes of one message to one receiver.
type fate struct {
	after synod.Tick
	m     *synod.Message
	lost  bool
	again synod.Tick // when it comes once more; 0: it does not
	more  int        // messages in slots that nobody asked for
}

// carry implements sim.Carry.
func (w *network) carry(now synod.Tick, to synod.NodeID, m *synod.Message,
	deliver func(synod.Tick, *synod.Message)) {
	f := fate{after: 1, m: m, lost: w.x.apart(now, m.From, to)}
	if w.x.Delay > 0 {
		w.count++
		f.after += synod.Tick(check.Mix(w.seed^w.count) % uint64(w.x.Delay+1))
	}
	for i, e := range w.events {
		if now >= e.From && now < e.To && !f.lost {
			w.apply(i, e, now, to, &f)
		}
	}
	w.remember(m)
	if w.changed != nil && !f.lost {
		f.m = w.changed(to, f.m)
	}
	if f.lost {
		return
	}
	deliver(f.after, f.m)
	if w.double && !w.x.bad(to) { // what Byzantine members do may depend on how often they hear something
		deliver(f.after, f.m)
	}
	if f.again > 0 {
		deliver(f.after+f.again-1, f.m)
	}
	for i := range f.more {
		extra := *f.m
		extra.Slot.Round += 1000 + i
		deliver(f.after, &extra)
	}
}

// remember keeps the last message of each kind and sender, where a fault of the schedule sends it again.
func (w *network) remember(m *synod.Message) {
	if len(w.events) == 0 {
		return
	}
	key := lastKey{m.From, m.Slot.Name}
	if old := w.last[key]; old == nil || old.Slot.Round != m.Slot.Round {
		w.last[key] = m
	}
}

// apply applies one event to a message.
func (w *network) apply(i int, e *ScheduledFault, now synod.Tick, to synod.NodeID, f *fate) {
	if kinds[e.kind].Group == Content {
		if f.m.From == e.Node && w.spoil(e, to, f) {
			w.happens(e.kind)
		}
		return
	}
	if w.link(i, e, now, to, f) {
		w.happens(e.kind)
	}
}

// link applies an event of the group Network, and reports whether it changed anything.
func (w *network) link(i int, e *ScheduledFault, now synod.Tick, to synod.NodeID, f *fate) bool {
	from := f.m.From
	between := from == e.Node && slices.Contains(e.Peers, to)
	switch e.Kind {
	case "delay", "delay-long":
		if between {
			f.after = max(f.after, 1+synod.Tick(e.Arg))
		}
		return between
	case "reorder":
		if !between {
			return false
		}
		if w.odd[i] = !w.odd[i]; w.odd[i] {
			f.after = max(f.after, 1+synod.Tick(e.Arg))
		}
		return w.odd[i]
	case "duplicate":
		if between {
			f.again = 1 + synod.Tick(e.Arg)
		}
		return between
	case "drop":
		f.lost = between || to == e.Node && slices.Contains(e.Peers, from)
	case "selective-silence":
		f.lost = between
	case "late-reveal":
		if from != e.Node {
			return false
		}
		if f.lost = !slices.Contains(e.Peers, to); !f.lost {
			f.after = max(f.after, synod.Tick(e.Arg))
		}
		return true
	default:
		f.lost = w.cut(e, now, from, to)
	}
	return f.lost
}

// cut reports whether a partition stops a message.
func (w *network) cut(e *ScheduledFault, now synod.Tick, from, to synod.NodeID) bool {
	inside, also := slices.Contains(e.Peers, from), slices.Contains(e.Peers, to)
	switch e.Kind {
	case "partition":
		return inside != also
	case "partition-one-way":
		return also && !inside
	case "partition-bridge":
		return inside != also && from != e.Node && to != e.Node
	case "partition-flapping":
		return inside != also && (now-e.From)/synod.Tick(max(e.Arg, 1))%2 == 0
	}
	return w.clogged(e, now, from) || w.clogged(e, now, to)
}

// clogged reports whether swizzle-clog has cut a member off: they go one after another, and come back by a hash.
func (w *network) clogged(e *ScheduledFault, now synod.Tick, id synod.NodeID) bool {
	at := slices.Index(e.Peers, id)
	if at < 0 {
		return false
	}
	back := e.To - synod.Tick(check.Mix(w.seed^uint64(id))%uint64(len(e.Peers)))*synod.Tick(max(e.Arg, 1))
	return now >= e.From+synod.Tick(at*max(e.Arg, 1)) && now < back
}

// spoil changes the content of a message, and reports whether it did.
func (w *network) spoil(e *ScheduledFault, to synod.NodeID, f *fate) bool {
	bad := *f.m
	switch e.Kind {
	case "flood":
		f.more = e.Arg
		return true
	case "replay-round":
		old := w.last[lastKey{f.m.From, f.m.Slot.Name}]
		if old == nil || old.Slot.Round == f.m.Slot.Round {
			return false
		}
		bad.Body = old.Body
	case "replay-other":
		old := w.last[lastKey{to, f.m.Slot.Name}]
		if old == nil {
			return false
		}
		bad.Body = old.Body
	case "swapped-signature":
		old := w.last[lastKey{to, f.m.Slot.Name}]
		if old == nil || len(old.Body) < tail || len(bad.Body) < tail {
			return false
		}
		bad.Body = append(slices.Clone(bad.Body[:len(bad.Body)-tail]), old.Body[len(old.Body)-tail:]...)
	default:
		bad.Body = damaged(e, bad.Body)
	}
	f.m = &bad
	return true
}

// tail is the length of a symbolic signature, with which signed messages end.
const tail = 16

// damaged returns a body that a fault has changed.
func damaged(e *ScheduledFault, body []byte) []byte {
	switch e.Kind {
	case "empty":
		return nil
	case "oversize":
		return oversize
	case "deep-nesting":
		return nested
	case "garbage":
		random := make([]byte, 1+e.Arg%200)
		for i := range random {
			random[i] = byte(check.Mix(uint64(e.Arg + i)))
		}
		return random
	case "stripped-signature":
		return body[:max(0, len(body)-1-e.Arg%tail)]
	}
	if len(body) == 0 {
		return body
	}
	flipped := slices.Clone(body)
	at := e.Arg / 8 % len(body)
	if e.Kind == "forged-signature" {
		at = len(body) - 1 - at%min(tail, len(body))
	}
	flipped[at] ^= 1 << (e.Arg % 8)
	return flipped
}

var (
	oversize = slices.Repeat([]byte{1}, synod.MaxLongBody+1)
	nested   = slices.Repeat([]byte("["), 20_000)
)
