package script

import (
	"encoding"
	"reflect"
	"slices"

	"synod.dev/synod"
)

// Until says when a round of collecting ends: at tick At, counted from the start of the
// instance, or with Early as soon as every neighbour has sent. Early needs a comment
// that says why the protocol's proof allows it.
type Until struct {
	At     synod.Tick
	Early  bool
	AllBut int // with Early: the round ends when all neighbours but this many have sent
	// Of are the members that are waited for, with Early; nil: all neighbours. Messages of others are
	// received until then.
	Of []synod.NodeID
}

// Heard is the message of one neighbour for a slot.
type Heard[T any] struct {
	From  synod.NodeID
	Value T
}

// maxPending is how many messages of one neighbour are kept for slots that have not been
// collected yet. Further ones are dropped, so that a flood takes no memory.
const maxPending = 64

// Exchange sends value to all neighbours and collects theirs for the same slot.
func Exchange[T encoding.BinaryAppender, P interface {
	*T
	encoding.BinaryUnmarshaler
}](me *Agent, name string, round int, value T, until Until) []Heard[T] {
	Tell(me, name, round, value)
	return Collect[T, P](me, name, round, until)
}

// Tell sends value to all neighbours of the round.
func Tell[T encoding.BinaryAppender](me *Agent, name string, round int, value T) {
	TellTo(me, me.seat.Neighbours(round), name, round, value)
}

// TellTo sends value to some neighbours. It keeps the list, which must not be changed.
func TellTo[T encoding.BinaryAppender](me *Agent, to []synod.NodeID, name string, round int, value T) {
	if len(to) == 0 {
		return
	}
	me.learn(name, reflect.TypeFor[T]())
	k := min(me.sends, maxKept)
	me.sends++
	if k == len(me.sent) || k == maxKept {
		me.sent = append(me.sent[:k], synod.Send{To: to, Message: new(synod.Message)})
	}
	send := me.sent[k].(synod.Send)
	m := send.Message
	body, err := value.AppendBinary(m.Body[:0])
	if err != nil {
		panic("script: a message cannot be encoded: " + err.Error())
	}
	*m = synod.Message{From: me.seat.Self, Slot: synod.Slot{Name: name, Round: round}, Body: body}
	if !slices.Equal(send.To, to) { // of an earlier run
		me.sent[k] = synod.Send{To: to, Message: m}
	}
	me.effects = append(me.effects, me.sent[k])
}

// typed is the Go type of the messages in the slots of a name.
type typed struct {
	name string
	of   reflect.Type
}

// learn notes the type of what is sent in the slots of a name.
func (me *Agent) learn(name string, t reflect.Type) {
	for i := range me.types {
		if me.types[i].name == name {
			return
		}
	}
	me.types = append(me.types, typed{name, t})
}

// MessageType returns the Go type of the messages that a machine of New has sent in slots of a name, in this run or
// one before; nil if it has sent none. Adversaries in tests change messages part by part with it.
func MessageType(m synod.Resetter, name string) reflect.Type {
	own, ok := m.(*machine)
	if !ok {
		return nil
	}
	for _, t := range own.agent.types {
		if t.name == name {
			return t.of
		}
	}
	return nil
}

// Collect waits for the end of the slot's round and returns the neighbours' messages for
// it, ascending by neighbour. The first message of a neighbour counts. A message that
// cannot be read, or that comes after the end, counts as silence. The result is a sorted
// slice and not a map, so that nothing can depend on the order of a map.
func Collect[T any, P interface {
	*T
	encoding.BinaryUnmarshaler
}](me *Agent, name string, round int, until Until) []Heard[T] {
	return CollectInto[T, P](nil, me, name, round, until)
}

// CollectInto is Collect with the result in the storage of buffer, which it overwrites. T
// must unmarshal over an earlier value.
func CollectInto[T any, P interface {
	*T
	encoding.BinaryUnmarshaler
}](buffer []Heard[T], me *Agent, name string, round int, until Until) []Heard[T] {
	me.Expect(name, round, until)
	me.Wait()
	return Received[T, P](buffer, me, name, round)
}

// Expect begins the round of a slot: Wait waits for its end.
func (me *Agent) Expect(name string, round int, until Until) {
	slot := synod.Slot{Name: name, Round: round}
	me.awaited = until.Of
	need := 0
	for _, id := range me.seat.Neighbours(round) {
		if me.awaits(id) {
			need++
		}
	}
	need = max(0, need-until.AllBut)
	me.begin(slot)
	me.waits = condition{forRound, me.alarm(until.At), until.Early, need}
}

// begin moves the messages in the inbox for a slot to the row, in the place of those of the
// slot whose round was begun before.
func (me *Agent) begin(slot synod.Slot) {
	if me.open && me.slot == slot {
		return
	}
	me.makeRoom()
	for from, m := range me.row {
		if m != nil {
			me.inbox, me.row[from] = append(me.inbox, m), nil
		}
	}
	me.slot, me.open, me.arrived = slot, !slices.Contains(me.closed, slot), 0
	rest := 0
	for _, m := range me.inbox {
		if m.Slot != slot {
			me.inbox[rest] = m
			rest++
			continue
		}
		me.row[me.neighbour(m.From)] = m // there is at most one of each
		me.arrive(m.From)
	}
	clear(me.inbox[rest:])
	me.inbox = me.inbox[:rest]
}

// awaits reports whether the round waits for a member.
func (me *Agent) awaits(id synod.NodeID) bool {
	return me.awaited == nil || slices.Contains(me.awaited, id)
}

// arrive counts the message of a member that the round waits for.
func (me *Agent) arrive(from synod.NodeID) {
	if me.awaits(from) {
		me.arrived++
	}
}

// makeRoom allocates what messages of neighbours are kept in.
func (me *Agent) makeRoom() {
	if me.counts == nil {
		me.counts, me.row = make([]int, len(me.seat.Peers)), make([]*synod.Message, len(me.seat.Peers))
	}
}

// Received returns what CollectInto returns, after the end of the slot's round.
func Received[T any, P interface {
	*T
	encoding.BinaryUnmarshaler
}](buffer []Heard[T], me *Agent, name string, round int) []Heard[T] {
	messages := Messages(me, name, round)
	heard := slices.Grow(buffer[:0], len(messages))
	for _, m := range messages {
		heard = heard[:len(heard)+1]
		h := &heard[len(heard)-1]
		h.From = m.From
		if P(&h.Value).UnmarshalBinary(m.Body) != nil {
			heard = heard[:len(heard)-1]
		}
	}
	return heard
}

// Messages returns the messages that Received decodes, for protocols that decode them
// themselves. The list is valid until the next call.
func Messages(me *Agent, name string, round int) []*synod.Message {
	slot := synod.Slot{Name: name, Round: round}
	me.begin(slot)
	me.closed, me.open, me.collected = append(me.closed, slot), false, me.collected[:0]
	for from, m := range me.row {
		if m != nil {
			me.collected, me.row[from] = append(me.collected, m), nil
			me.counts[from]--
		}
	}
	return me.collected
}

// alarm sets an alarm for a tick and returns its id. Alarms of one machine expire in the
// order in which they were set, because rounds follow one another; so it is enough to
// keep the id of the last one that has expired.
func (me *Agent) alarm(at synod.Tick) int64 {
	me.alarms++
	if at <= me.now {
		me.expired = max(me.expired, me.alarms)
		return me.alarms
	}
	k := min(int(me.alarms), maxKept)
	for k >= len(me.set) {
		me.set = append(me.set, synod.Alarm{})
	}
	if alarm := (synod.Alarm{ID: synod.AlarmID(me.alarms), At: at}); me.set[k] != synod.Effect(alarm) {
		me.set[k] = alarm
	}
	me.effects = append(me.effects, me.set[k])
	return me.alarms
}

// neighbour returns the index of a node in Seat.Peers, -1 if it is not a neighbour.
func (me *Agent) neighbour(id synod.NodeID) int {
	guess := int(id) // in a complete graph
	if id > me.seat.Self {
		guess--
	}
	if uint(guess) < uint(len(me.seat.Peers)) && me.seat.Peers[guess] == id {
		return guess
	}
	at, ok := slices.BinarySearch(me.seat.Peers, id)
	if !ok {
		return -1
	}
	return at
}

// linked reports whether the sender of a message is a neighbour in the round of its slot.
func (me *Agent) linked(m *synod.Message) bool {
	_, ok := slices.BinarySearch(me.seat.Neighbours(m.Slot.Round), m.From)
	return ok
}

// receive keeps a message until its slot is collected.
func (me *Agent) receive(m *synod.Message) {
	from := me.neighbour(m.From)
	if from < 0 || me.seat.ByRound != nil && !me.linked(m) {
		return // only neighbours may send to this member
	}
	me.makeRoom()
	expected := me.open && m.Slot == me.slot
	switch {
	case !expected && slices.Contains(me.closed, m.Slot):
		me.keepLate(m)
	case me.counts[from] >= maxPending:
	case expected && me.row[from] == nil: // the first message counts
		me.row[from] = m
		me.counts[from]++
		me.arrive(m.From)
	case !expected && !me.has(m):
		me.counts[from]++
		me.inbox = append(me.inbox, m)
	}
}

// has reports whether the inbox has a message of the same neighbour for the same slot.
func (me *Agent) has(m *synod.Message) bool {
	for _, old := range me.inbox {
		if old.From == m.From && old.Slot == m.Slot {
			return true
		}
	}
	return false
}

// keepLate keeps a message that came after its slot was collected.
func (me *Agent) keepLate(m *synod.Message) {
	n := 0
	for _, old := range me.late {
		if old.From == m.From {
			n++
		}
	}
	if n < maxPending {
		me.late = append(me.late, m)
	}
}

// Late removes and returns the messages for slots of one name that came after their slot
// was collected, in the order of arrival, at most maxPending of each neighbour. For the
// protocol they are silence; one whose proof needs bounded delays learns from them that
// the bound was broken.
func Late(me *Agent, name string) (late []*synod.Message) {
	rest := me.late[:0]
	for _, m := range me.late {
		if m.Slot.Name == name {
			late = append(late, m)
		} else {
			rest = append(rest, m)
		}
	}
	clear(me.late[len(rest):])
	me.late = rest
	return late
}
