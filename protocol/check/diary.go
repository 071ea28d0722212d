package check

import (
	"slices"

	"synod.dev/synod"
)

// Diary is what an honest machine was given, up to each of its notes.
type Diary struct {
	Heard []Arrival // in the order in which they came
	Asked []Asked   // calls that were answered, in that order
	Noted []Mark    // by note
	Rang  []Mark    // by alarm: when it came
	Sent  []Sent    // what it sent, in that order
}

// Sent is a message that a machine sent, and to whom.
type Sent struct {
	Mark
	To []synod.NodeID
	*synod.Message
}

// Arrival is a message and when it came.
type Arrival struct {
	At synod.Tick
	*synod.Message
}

// Asked is a model call with its reply, and how many messages the machine had heard when it called.
type Asked struct {
	Prompt synod.Prompt
	Reply  synod.Reply
	Heard  int
}

// Mark is how much a machine had been given at some time.
type Mark struct {
	At           synod.Tick
	Heard, Asked int
}

// KeepDiary is a Subject.Watch that keeps a diary of each honest machine in Trace.Diaries.
func KeepDiary(t *Trace, self synod.NodeID, m synod.Machine) synod.Machine {
	if t.Diaries == nil {
		t.Diaries = make([]Diary, t.Case.Total())
	}
	return &diarist{Machine: m, into: &t.Diaries[self]}
}

type diarist struct {
	synod.Machine
	into *Diary
	open []call
}

// call is a call without a reply yet.
type call struct {
	id     synod.ConsultID
	prompt synod.Prompt
	heard  int
}

// Step implements synod.Machine.
func (m *diarist) Step(now synod.Tick, e synod.Event) []synod.Effect {
	switch e := e.(type) {
	case synod.Heard:
		m.into.Heard = append(m.into.Heard, Arrival{now, e.Message})
	case synod.Answered:
		if k := slices.IndexFunc(m.open, func(c call) bool { return c.id == e.ID }); k >= 0 {
			m.into.Asked = append(m.into.Asked, Asked{m.open[k].prompt, *e.Reply, m.open[k].heard})
		}
	case synod.Expired:
		m.into.Rang = append(m.into.Rang, m.mark(now))
	}
	effects := m.Machine.Step(now, e)
	for _, x := range effects {
		switch x := x.(type) {
		case synod.Consult:
			q := *x.Prompt
			q.Peers = slices.Clone(q.Peers) // the machine uses them again
			m.open = append(m.open, call{x.ID, q, len(m.into.Heard)})
		case synod.Note:
			m.into.Noted = append(m.into.Noted, m.mark(now))
		case synod.Send:
			m.into.Sent = append(m.into.Sent, Sent{m.mark(now), slices.Clone(x.To), x.Message})
		}
	}
	return effects
}

func (m *diarist) mark(now synod.Tick) Mark { return Mark{now, len(m.into.Heard), len(m.into.Asked)} }

// At returns how much a seat had been given when its alarm for a tick came: what came later in that tick was too late
// for a round that ends with it. It is not ok if there was no such alarm.
func (t *Trace) At(seat int, tick synod.Tick) (m Mark, ok bool) {
	all := t.Diaries[seat].Rang
	i := slices.IndexFunc(all, func(m Mark) bool { return m.At == tick })
	if i < 0 {
		return Mark{}, false
	}
	return all[i], true
}

// First returns the first message of each neighbour in a slot, of so many first messages that a seat heard. They are
// ascending by sender.
func (t *Trace) First(seat int, slot synod.Slot, heard int) (all []*synod.Message) {
	for _, id := range t.Peers[seat] {
		for _, m := range t.Diaries[seat].Heard[:heard] {
			if m.From == id && m.Slot == slot {
				all = append(all, m.Message)
				break
			}
		}
	}
	return all
}

// SentIn returns what a seat sent in a slot; nil: nothing.
func (t *Trace) SentIn(seat int, slot synod.Slot) *Sent {
	all := t.Diaries[seat].Sent
	i := slices.IndexFunc(all, func(s Sent) bool { return s.Slot == slot })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// mostWaiting is how many messages of one neighbour a machine keeps for slots that have not come.
const mostWaiting = 64

// Flooded reports whether some neighbour sent a seat more than it keeps, so that what it has is not known.
func (t *Trace) Flooded(seat int) bool {
	from := map[synod.NodeID]int{}
	for _, m := range t.Diaries[seat].Heard {
		if from[m.From]++; from[m.From] > mostWaiting {
			return true
		}
	}
	return false
}

// Responses returns the responses of the neighbours of a seat in a round that are among so many first messages that it
// heard: the first one of each neighbour, if that can be read. They are ascending by sender.
func (t *Trace) Responses(seat, round, heard int) (from []synod.NodeID, all []synod.Response) {
	for _, id := range t.Peers[seat] {
		for _, m := range t.Diaries[seat].Heard[:heard] {
			if m.From != id || m.Slot != (synod.Slot{Name: synod.Respond, Round: round}) {
				continue
			}
			var r synod.Response
			if r.UnmarshalBinary(m.Body) == nil {
				from, all = append(from, id), append(all, r)
			}
			break
		}
	}
	return from, all
}

// AskedFor returns the calls of a purpose that a seat made for its note number k.
func (t *Trace) AskedFor(seat, k int, purpose synod.Purpose) (all []Asked) {
	d, from := &t.Diaries[seat], 0
	if k > 0 {
		from = d.Noted[k-1].Asked
	}
	for _, c := range d.Asked[from:d.Noted[k].Asked] {
		if c.Prompt.Purpose == purpose {
			all = append(all, c)
		}
	}
	return all
}
