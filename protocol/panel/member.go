package panel

import (
	"encoding/json"
	"errors"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/wire"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/grade"
)

// member is the protocol at one seat.
type member struct {
	*answer.Member
	p      *Panel
	me     *script.Agent
	texts  []synod.Answer // by seat, as this member heard them; None: silence
	held   answer.Held
	silent []synod.NodeID
	record Record
}

// play is the protocol.
func (p *Panel) play(me *script.Agent) synod.Answer {
	m := &member{p: p, me: me,
		Member: answer.New(me, answer.Settings{Templates: "panel", Exact: p.Exact, Caution: p.Caution})}
	m.held = m.Answer()
	m.Note(0, m.held, synod.Opinion{})
	m.hear()
	m.grade()
	marks := m.share()
	m.note(1)
	if p.Claims {
		m.discuss(marks)
	}
	return m.held.Answer
}

// slots of the messages.
const (
	gradesSlot = "grades"
	marksSlot  = "marks"
	againSlot  = "again"
)

// phase returns the end of the k-th exchange: each follows at most two calls that wait for one another.
// An exchange ends early when every neighbour has sent. That is safe, because what follows is a function of
// the first message of each neighbour in the slot, as in answer.Member.Exchange.
func (m *member) phase(k int) script.Until {
	pace := m.me.Seat().Pace
	return script.Until{At: synod.Tick(k+1) * (2*pace.Think + pace.Within), Early: true}
}

// hear exchanges the answers.
func (m *member) hear() {
	seat := m.me.Seat()
	m.texts = make([]synod.Answer, len(seat.Peers)+1)
	m.texts[seat.Self] = m.held.Answer
	heard, silent := m.Exchange(0, &m.held, 1)
	for _, h := range heard {
		m.texts[h.From] = h.Value.Answer
	}
	m.silent = silent
	m.record.Given = sumOf(m.held.Answer)
}

// grade asks for the grades of all answers of others, one in a call, so that no text can comment on another.
func (m *member) grade() {
	var prompts []synod.Prompt
	for _, id := range m.me.Seat().Peers {
		if a := m.texts[id]; a != synod.None {
			q := m.Prompt(grade.One)
			q.Candidate, q.Detail = a, grade.Detail{}
			prompts = append(prompts, q)
			m.record.Marks = append(m.record.Marks, Mark{Of: id, Text: sumOf(a)})
		}
	}
	for i, r := range m.me.Ask(prompts...) {
		mark := &m.record.Marks[i]
		g, err := grade.Read(r)
		if err == nil {
			mark.Grades = &g
			continue
		}
		mark.Why = err.Error()
		m.count(r)
	}
}

// count counts a reply without what was asked for.
func (m *member) count(r *synod.Reply) {
	if r.Status == synod.OK {
		m.Unreadable++
	} else {
		m.Failed++
	}
}

// share exchanges the grades and returns those of all seats.
func (m *member) share() [][]Mark {
	all := make([][]Mark, len(m.texts))
	all[m.me.Seat().Self] = m.record.Marks
	sent := parcel[[]Mark]{Value: m.record.Marks}
	for _, h := range script.Exchange[parcel[[]Mark]](m.me, gradesSlot, 1, sent, m.phase(1)) {
		all[h.From] = h.Value.Value
	}
	return all
}

// note records what the member holds after a round.
func (m *member) note(round int) {
	if round > 0 && m.held.Source != synod.New && m.held.Answer != synod.None {
		m.held.Source = synod.Kept
	}
	r := m.record
	m.Note(round, m.held, synod.Opinion{Silent: m.silent, Record: &r})
}

// parcel is a value as the body of a message: a version byte, a text, and the value as JSON.
type parcel[T any] struct {
	Text  string
	Value T
}

// AppendBinary implements encoding.BinaryAppender.
func (p parcel[T]) AppendBinary(b []byte) ([]byte, error) {
	value, err := json.Marshal(p.Value)
	return wire.AppendBytes(wire.AppendBytes(append(b, 1), p.Text), string(value)), err
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (p *parcel[T]) UnmarshalBinary(b []byte) error {
	in := wire.NewReader(b, synod.MaxLongBody)
	in.Version(1)
	text, value := in.Bytes(synod.MaxLong), in.Bytes(synod.MaxBody)
	if err := in.End(); err != nil {
		return err
	}
	p.Text = string(text)
	var v T
	if json.Unmarshal(value, &v) != nil {
		return errors.New("panel: a message is not JSON of its kind")
	}
	p.Value = v
	return nil
}
