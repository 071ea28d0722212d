package script

import (
	"encoding"
	"slices"

	"synod.dev/synod"
)

// Until says when a collecting round ends: at tick At, counted from the start of
// the instance, or with Early as soon as every peer has spoken. Early needs a
// comment that says why the protocol's proof allows it.
type Until struct {
	At    synod.Tick
	Early bool
}

// Heard is one peer's word for a slot.
type Heard[T any] struct {
	From synod.NodeID
	Word T
}

// maxPending is how many messages of one peer are kept for slots that the text
// has not come to yet; more is a flood and is dropped.
const maxPending = 64

// Exchange tells value to all peers and collects theirs for the same slot.
func Exchange[T encoding.BinaryAppender, P interface {
	*T
	encoding.BinaryUnmarshaler
}](me *Agent, name string, round int, value T, until Until) []Heard[T] {
	Tell(me, name, round, value)
	return Collect[T, P](me, name, round, until)
}

// Tell sends value to all peers.
func Tell[T encoding.BinaryAppender](me *Agent, name string, round int, value T) {
	TellTo(me, me.seat.Peers, name, round, value)
}

// TellTo sends value to some peers. It keeps the list.
func TellTo[T encoding.BinaryAppender](me *Agent, to []synod.NodeID, name string, round int, value T) {
	if len(to) == 0 {
		return
	}
	body, err := value.AppendBinary(nil)
	if err != nil {
		panic("script: a word of ours cannot be encoded: " + err.Error())
	}
	me.effects = append(me.effects, synod.Send{
		To:      to,
		Message: &synod.Message{From: me.seat.Self, Slot: synod.Slot{Name: name, Round: round}, Body: body},
	})
}

// Collect waits for the slot's round to end and returns what peers said in it,
// ascending by peer. A peer's first word counts; a word that cannot be read is
// unsaid; a word that comes later than its slot is silence. It returns a sorted
// slice and not a map, so that nothing can depend on map order.
func Collect[T any, P interface {
	*T
	encoding.BinaryUnmarshaler
}](me *Agent, name string, round int, until Until) []Heard[T] {
	slot := synod.Slot{Name: name, Round: round}
	me.wait(pending{alarm: me.alarm(until.At), early: until.Early, slot: slot})
	heard := make([]Heard[T], 0, len(me.inbox))
	rest := me.inbox[:0]
	for _, m := range me.inbox {
		if m.Slot != slot {
			rest = append(rest, m)
			continue
		}
		me.kept(m.From, -1)
		heard = append(heard, Heard[T]{From: m.From})
		if P(&heard[len(heard)-1].Word).UnmarshalBinary(m.Body) != nil {
			heard = heard[:len(heard)-1]
		}
	}
	clear(me.inbox[len(rest):])
	me.inbox = rest
	me.closed = append(me.closed, slot)
	slices.SortFunc(heard, func(a, b Heard[T]) int { return int(a.From) - int(b.From) })
	return heard
}

// alarm asks to be woken at a tick. Alarms of one text expire in the order in
// which they were set, because rounds follow one another; so one number, the
// last that has expired, says it all.
func (me *Agent) alarm(at synod.Tick) int64 {
	me.alarms++
	if at <= me.now {
		me.expired = max(me.expired, me.alarms)
		return me.alarms
	}
	me.effects = append(me.effects, synod.Alarm{ID: synod.AlarmID(me.alarms), At: at})
	return me.alarms
}

// keep files a message until its slot is collected.
func (me *Agent) keep(m *synod.Message) {
	if _, peer := slices.BinarySearch(me.seat.Peers, m.From); !peer {
		return // not a neighbour: whoever delivers it is wrong, and we do not listen
	}
	if slices.Contains(me.closed, m.Slot) {
		me.miss(m)
		return
	}
	for _, old := range me.inbox {
		if old.From == m.From && old.Slot == m.Slot {
			return // the first word counts
		}
	}
	if me.kept(m.From, 0) >= maxPending {
		return
	}
	me.kept(m.From, 1)
	me.inbox = append(me.inbox, m)
}

// miss files a message that comes after its slot was collected.
func (me *Agent) miss(m *synod.Message) {
	n := 0
	for _, old := range me.missed {
		if old.From == m.From {
			n++
		}
	}
	if n < maxPending {
		me.missed = append(me.missed, m)
	}
}

// Late takes the messages for slots of that name that have come after their slot
// was collected, in the order of their coming, at most maxPending of a peer. For
// the protocol they are silence; one whose proof needs bounded delays learns from
// them that the bound was broken.
func Late(me *Agent, name string) (late []*synod.Message) {
	rest := me.missed[:0]
	for _, m := range me.missed {
		if m.Slot.Name == name {
			late = append(late, m)
		} else {
			rest = append(rest, m)
		}
	}
	clear(me.missed[len(rest):])
	me.missed = rest
	return late
}

// kept counts the words of a peer that wait for their slot, and adds to the count.
func (me *Agent) kept(peer synod.NodeID, add int) int {
	if me.waiting == nil {
		me.waiting, me.inbox = make([]int, len(me.seat.Peers)), make([]*synod.Message, 0, len(me.seat.Peers))
	}
	at, _ := slices.BinarySearch(me.seat.Peers, peer)
	me.waiting[at] += add
	return me.waiting[at]
}

func (me *Agent) spoken(slot synod.Slot) (n int) {
	for _, m := range me.inbox {
		if m.Slot == slot {
			n++
		}
	}
	return n
}
