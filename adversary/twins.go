package adversary

import (
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/bargain"
	"synod.dev/synod/protocol/grade"
)

// twins are two machines in one seat (Bano et al., "Twins: BFT Systems Made Robust").
// Both hear every message. The first sends to the informed neighbours, the second to the
// deceived ones. They share the seat's model: a prompt that both have is sent once. Only
// the first records opinions and decides.
type twins struct {
	seat     synod.Seat
	machines [2]synod.Machine
	asked    []shared
	out      []synod.Effect
	pending  []twinEvent // of one Step
}

// shared is one call of the model, and the consult of each machine that waits for it.
type shared struct {
	prompt *synod.Prompt
	reply  *synod.Reply
	id     [2]synod.ConsultID
	by     [2]bool
}

// twinEvent is an event for one of the machines.
type twinEvent struct {
	machine int
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
				t.pending = append(t.pending, twinEvent{f, synod.Answered{ID: c.id[f], Reply: c.reply}})
			}
		}
	case synod.Expired:
		t.pending = append(t.pending, twinEvent{int(e.ID % 2), synod.Expired{ID: e.ID / 2}})
	default:
		t.pending = append(t.pending, twinEvent{0, e}, twinEvent{1, e})
	}
	for i := 0; i < len(t.pending); i++ {
		p := t.pending[i]
		for _, x := range t.machines[p.machine].Step(now, p.Event) {
			t.effect(p.machine, x)
		}
	}
	return t.out
}

func (t *twins) effect(machine int, x synod.Effect) {
	switch x := x.(type) {
	case synod.Send:
		informed, deceived := split(t.seat, x.To)
		if to := [2][]synod.NodeID{informed, deceived}[machine]; len(to) > 0 {
			t.out = append(t.out, synod.Send{To: to, Message: x.Message})
		}
	case synod.Consult:
		t.consult(machine, x)
	case synod.Alarm:
		t.out = append(t.out, synod.Alarm{ID: 2*x.ID + synod.AlarmID(machine), At: x.At})
	default:
		if machine == 0 {
			t.out = append(t.out, x)
		}
	}
}

// consult joins a call that only the other machine has made, or makes one.
func (t *twins) consult(machine int, x synod.Consult) {
	for i := range t.asked {
		c := &t.asked[i]
		if c.by[machine] || !c.prompt.Same(x.Prompt) {
			continue
		}
		c.by[machine], c.id[machine] = true, x.ID
		if c.reply != nil {
			t.pending = append(t.pending, twinEvent{machine, synod.Answered{ID: x.ID, Reply: c.reply}})
		}
		return
	}
	c := shared{prompt: x.Prompt}
	c.by[machine], c.id[machine] = true, x.ID
	t.out = append(t.out, synod.Consult{ID: synod.ConsultID(len(t.asked)), Prompt: x.Prompt})
	t.asked = append(t.asked, c)
}

// contraryMove returns another number or the opposite vote than a reply in the game has. A
// reply that cannot be read stays.
func contraryMove(t *bargain.Table, purpose synod.Purpose, r *synod.Reply) *synod.Reply {
	moved := *r // with the model's cost
	moved.Typed, moved.Text = true, ""
	if purpose == bargain.Voting {
		vote, ok := bargain.ReadVote(r)
		if !ok {
			return r
		}
		moved.Answer = synod.Answer(bargain.Stop)
		if vote == bargain.Stop {
			moved.Answer = synod.Answer(bargain.Continue)
		}
		return &moved
	}
	v, ok := bargain.ReadValue(r, t.Low, t.High)
	if !ok || v == nil {
		return r
	}
	next := *v + 1
	if next > t.High {
		next = t.Low
	}
	moved.Answer = synod.Answer(strconv.Itoa(next))
	return &moved
}

// contrary returns a machine that gives another answer than its model's, and inverts its
// model's judgements.
func contrary(seat synod.Seat, honest synod.Machine) synod.Machine {
	m := ReplyForger{Answer: func(given read.Confident) synod.Answer {
		return other(seat.Question,
			given.Answer)
	}}.Machine(seat, honest)
	forge := m.Replace
	m.Replace = func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		switch p.Purpose {
		case grade.One, grade.All, synod.Scoring, synod.Weighing:
			return invert(p, r)
		case bargain.Proposing, bargain.Voting:
			return contraryMove(bargain.TableOf(p), p.Purpose, r)
		}
		return forge(p, r)
	}
	return m
}
