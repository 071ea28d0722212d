package adversary

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/read"
)

// Rejoining is implemented by an adversary that plays its seat with honest machines
// of its own making. Two of them with the seat's one key are how a member comes to
// sign two things in one slot, in any protocol and without knowing its words.
type Rejoining interface {
	Rejoin(seat synod.Seat, join func(synod.Seat) synod.Machine) synod.Machine
}

// Seat puts an adversary into a seat; join makes the protocol's honest machine.
func Seat(a Adversary, seat synod.Seat, join func(synod.Seat) synod.Machine) synod.Machine {
	if r, ok := a.(Rejoining); ok {
		return r.Rejoin(seat, join)
	}
	return a.Corrupt(seat, join(seat))
}

// twins is two machines in one seat (Bano et al., "Twins: BFT Systems Made
// Robust"). Both hear everything; the first speaks to those who are told the truth,
// the second to those who are deceived. They share the seat's model: what both ask
// is asked once. The first alone notes and decides.
type twins struct {
	seat    synod.Seat
	faces   [2]synod.Machine
	asked   []shared
	out     []synod.Effect
	pending []faced // scratch of Step
}

// shared is one call of the model, and the consult of each face that waits for it.
type shared struct {
	prompt *synod.Prompt
	reply  *synod.Reply
	id     [2]synod.ConsultID
	by     [2]bool
}

// faced is an event for one of the faces.
type faced struct {
	face int
	synod.Event
}

func (t *twins) Step(now synod.Tick, e synod.Event) []synod.Effect {
	t.out, t.pending = t.out[:0], t.pending[:0]
	switch e := e.(type) {
	case synod.Answered:
		c := &t.asked[e.ID]
		c.reply = e.Reply
		for f, waits := range c.by {
			if waits {
				t.pending = append(t.pending, faced{f, synod.Answered{ID: c.id[f], Reply: c.reply}})
			}
		}
	case synod.Expired:
		t.pending = append(t.pending, faced{int(e.ID % 2), synod.Expired{ID: e.ID / 2}})
	default:
		t.pending = append(t.pending, faced{0, e}, faced{1, e})
	}
	for i := 0; i < len(t.pending); i++ {
		p := t.pending[i]
		for _, x := range t.faces[p.face].Step(now, p.Event) {
			t.effect(p.face, x)
		}
	}
	return t.out
}

func (t *twins) effect(face int, x synod.Effect) {
	switch x := x.(type) {
	case synod.Send:
		told, deceived := split(t.seat, x.To)
		if to := [2][]synod.NodeID{told, deceived}[face]; len(to) > 0 {
			t.out = append(t.out, synod.Send{To: to, Message: x.Message})
		}
	case synod.Consult:
		t.consult(face, x)
	case synod.Alarm:
		t.out = append(t.out, synod.Alarm{ID: 2*x.ID + synod.AlarmID(face), At: x.At})
	default:
		if face == 0 {
			t.out = append(t.out, x)
		}
	}
}

// consult joins a call that the other face has made and this one has not.
func (t *twins) consult(face int, x synod.Consult) {
	for i := range t.asked {
		c := &t.asked[i]
		if c.by[face] || !c.prompt.Same(x.Prompt) {
			continue
		}
		c.by[face], c.id[face] = true, x.ID
		if c.reply != nil {
			t.pending = append(t.pending, faced{face, synod.Answered{ID: x.ID, Reply: c.reply}})
		}
		return
	}
	c := shared{prompt: x.Prompt}
	c.by[face], c.id[face] = true, x.ID
	t.out = append(t.out, synod.Consult{ID: synod.ConsultID(len(t.asked)), Prompt: x.Prompt})
	t.asked = append(t.asked, c)
}

// contrary is a face that says another answer than its model's, and marks well what
// its model marks badly.
func contrary(seat synod.Seat, honest synod.Machine) synod.Machine {
	m := forgery{answer: func(said read.Confident) synod.Answer { return other(seat.Question, said.Answer) }}.forge(seat, honest)
	answers := m.replaces
	m.replaces = func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		switch p.Purpose {
		case grade.One, grade.All, synod.Scoring:
			return invert(p, r)
		}
		return answers(p, r)
	}
	return m
}
