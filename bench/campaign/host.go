package campaign

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// host plays one member in a process that fails, or with a clock that is wrong, or as two copies with one key. The
// member's machine is unmodified.
type host struct {
	p      *ExecutionPlayer
	x      *Execution
	seat   synod.Seat
	e      ScheduledFault // the fault
	copies []synod.Machine
	log    []logged // with restart: all events of the machine so far
	held   []synod.Event
	open   bool // the time of the fault has begun
	over   bool // and is over
	ended  bool // after a crash: it has decided nothing, once
	out    []synod.Effect
	seen   map[synod.ConsultID]bool // calls that were answered
}

// logged is an event that a machine was given, with a digest of what it did.
type logged struct {
	now synod.Tick
	e   synod.Event
	did uint64
}

// The numbers of alarms and calls of a second copy, and of the host's own alarm.
const (
	second    = 1 << 29
	wakeAlarm = synod.AlarmID(1<<32 - 1)
)

func (p *ExecutionPlayer) host(seat synod.Seat, e *ScheduledFault) synod.Machine {
	h := &host{p: p, x: p.x, seat: seat, e: *e}
	switch e.Kind {
	case "replay-run":
		h.seat.Signer = p.keys(p.x.Total()).Signer(seat.Self, otherRun)
	case "replay-committee":
		h.seat.Signer = otherKeys(p.x.Total()).Signer(seat.Self, thisRun)
	}
	h.copies = append(h.copies, p.join(h.seat, 0))
	if e.Kind == "twins" || e.Kind == "duplicate-identity" {
		h.copies = append(h.copies, p.join(h.seat, 1))
	}
	return h
}

// Step implements synod.Machine.
func (h *host) Step(now synod.Tick, e synod.Event) []synod.Effect {
	h.out = h.out[:0]
	switch x := e.(type) {
	case synod.Halt:
		for _, m := range h.copies {
			m.Step(now, e)
		}
		return nil
	case synod.Begin:
		if h.stops() {
			h.out = append(h.out, synod.Alarm{ID: wakeAlarm, At: max(h.e.From, 1)},
				synod.Alarm{ID: wakeAlarm, At: h.e.To})
		}
	case synod.Expired:
		if x.ID == wakeAlarm {
			e = nil
		}
	}
	if h.stops() && now >= h.e.From && !h.over {
		if now < h.e.To || h.e.Kind == "crash" {
			h.down(e)
			return h.out
		}
		h.over = true
		h.recover(now)
	}
	if e != nil {
		h.give(now, e)
	}
	return h.out
}

// stops reports whether the member does nothing while the fault lasts.
func (h *host) stops() bool {
	switch h.e.Kind {
	case "crash", "restart", "restart-stale", "pause", "late-joiner":
		return true
	}
	return false
}

// down takes an event of a member that is down.
func (h *host) down(e synod.Event) {
	if !h.open {
		h.open = true
		h.p.happens(h.e.kind)
	}
	switch h.e.Kind {
	case "crash":
		if !h.ended {
			h.ended = true
			h.out = append(h.out, synod.Decide{})
		}
	case "pause":
		if e != nil {
			h.held = append(h.held, e)
		}
	case "late-joiner", "restart", "restart-stale":
		if _, begin := e.(synod.Begin); begin {
			h.held = append(h.held, e)
		}
	}
}

// recover ends the time in which the member is down.
func (h *host) recover(now synod.Tick) {
	if len(h.log) > 0 {
		h.replay(now)
	}
	for _, e := range h.held {
		h.give(now, e)
	}
	h.held = nil
}

// replay makes a new machine and gives it the events of its journal. What the journal left open is asked again.
func (h *host) replay(now synod.Tick) {
	h.copies[0].Step(now, synod.Halt{})
	h.copies[0] = h.p.join(h.seat, 0)
	known := h.log
	if h.e.Kind == "restart-stale" {
		known = known[:(len(known)+1)/2]
	}
	h.seen = map[synod.ConsultID]bool{} // a machine with an old journal asks again
	alarms, calls := map[synod.AlarmID]synod.Alarm{}, map[synod.ConsultID]synod.Consult{}
	for _, l := range known {
		switch e := l.e.(type) {
		case synod.Expired:
			delete(alarms, e.ID)
		case synod.Answered:
			h.seen[e.ID] = true
			delete(calls, e.ID)
		}
		effects := h.copies[0].Step(l.now, l.e)
		if did := digestOf(effects); did != l.did {
			h.p.trace.Fail(check.Replay, "n%d: a machine that is given the events of its journal does something else "+
				"at "+
				"tick %d", h.seat.Self, l.now)
		}
		for _, x := range effects {
			switch x := x.(type) {
			case synod.Alarm:
				alarms[x.ID] = x
			case synod.Consult:
				calls[x.ID] = x
			}
		}
	}
	h.p.trace.Applies(check.Replay)
	h.log = slices.Clone(known)
	for _, x := range alarms {
		h.out = append(h.out, x)
	}
	for _, x := range calls {
		h.out = append(h.out, x)
	}
	slices.SortFunc(h.out, func(a, b synod.Effect) int { return int(rankOf(a) - rankOf(b)) })
}

// rankOf puts the effects that a restart repeats in an order that is not that of a map.
func rankOf(x synod.Effect) int64 {
	switch x := x.(type) {
	case synod.Alarm:
		return int64(x.ID)
	case synod.Consult:
		return 1<<33 + int64(x.ID)
	}
	return -1
}

// give hands an event to the copies that it is for.
func (h *host) give(now synod.Tick, e synod.Event) {
	switch x := e.(type) {
	case synod.Expired:
		h.step(int(x.ID/second), now, synod.Expired{ID: x.ID % second})
	case synod.Answered:
		if h.seen == nil {
			h.seen = map[synod.ConsultID]bool{}
		}
		if !h.seen[x.ID] { // a call that was asked again is answered twice
			h.seen[x.ID] = true
			h.step(int(x.ID/second), now, synod.Answered{ID: x.ID % second, Reply: x.Reply})
		}
	case synod.Heard:
		for k := range h.copies {
			if h.x.apartOf(now-1, k, x.From) { // it was sent a tick ago
				continue
			}
			h.step(k, now, e)
		}
	default:
		for k := range h.copies {
			h.step(k, now, e)
		}
	}
}

// step gives an event to one copy, by its own clock, and takes what it does.
func (h *host) step(k int, now synod.Tick, e synod.Event) {
	if k >= len(h.copies) {
		return
	}
	effects := h.copies[k].Step(now+h.skew(now), e)
	if h.e.Kind == "restart" || h.e.Kind == "restart-stale" {
		h.log = append(h.log, logged{now, e, digestOf(effects)})
	}
	for _, x := range effects {
		switch x := x.(type) {
		case synod.Alarm:
			h.out = append(h.out, synod.Alarm{ID: x.ID + synod.AlarmID(k*second), At: x.At - h.skew(now)})
		case synod.Consult:
			h.out = append(h.out, synod.Consult{ID: x.ID + synod.ConsultID(k*second), Prompt: x.Prompt})
		case synod.Send:
			if x = h.routed(now, k, x); len(x.To) > 0 {
				h.out = append(h.out, x)
			}
		case synod.Note, synod.Decide:
			if k == 0 {
				h.out = append(h.out, x)
			}
		}
	}
}

// routed returns what a copy sends to whom: of twins, each is heard by a part of the neighbours.
func (h *host) routed(now synod.Tick, k int, x synod.Send) synod.Send {
	switch h.e.Kind {
	case "twins":
		var to []synod.NodeID
		for _, id := range x.To {
			if heard := slices.Contains(h.e.Peers, id) == (k == 1); len(h.x.Twins) == 0 && heard ||
				len(h.x.Twins) > 0 && !h.x.apartOf(now, k, id) {
				to = append(to, id)
			}
		}
		h.p.happens(h.e.kind)
		return synod.Send{To: to, Message: x.Message}
	case "duplicate-identity", "replay-run", "replay-committee":
		h.p.happens(h.e.kind)
	}
	return x
}

// skew is how far the member's clock is ahead.
func (h *host) skew(now synod.Tick) (by synod.Tick) {
	switch h.e.Kind {
	case "clock-skew":
		by = synod.Tick(2*h.e.Arg - 1)
	case "clock-jump":
		by = synod.Tick(h.e.Arg)
	case "clock-backwards":
		by = -synod.Tick(h.e.Arg)
	default:
		return 0
	}
	if now < h.e.From && h.e.Kind != "clock-skew" {
		return 0
	}
	h.p.happens(h.e.kind)
	return max(by, -now)
}

// digestOf returns a hash of effects. Opinions count with their answer and round: the rest follows from the events.
func digestOf(effects []synod.Effect) uint64 {
	f := fnv.New64a()
	var b []byte
	for _, x := range effects {
		b = b[:0]
		switch x := x.(type) {
		case synod.Send:
			b = append(append(b, 's'), x.Slot.Name...)
			b = append(binary.BigEndian.AppendUint32(b, uint32(x.Slot.Round)), x.Body...)
		case synod.Consult:
			b = append(binary.BigEndian.AppendUint32(append(b, 'c'), uint32(x.ID)), x.Prompt.Purpose...)
			b = append(append(b, x.Prompt.Candidate...), x.Prompt.Own...)
		case synod.Alarm:
			b = binary.BigEndian.AppendUint64(append(b, 'a', byte(x.ID)), uint64(x.At))
		case synod.Note:
			b = append(append(b, 'n', byte(x.Round)), x.Opinion.Answer...)
		case synod.Decide:
			b = append(append(b, 'd'), x.Answer...)
		}
		f.Write(b)
	}
	return f.Sum64()
}
