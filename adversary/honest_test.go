package adversary

import (
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// honest is a simple honest machine: it asks for an answer, sends it, scores the answers that it
// receives and its own, refines, and sends again, for three rounds.
type honest struct {
	seat    synod.Seat
	answer  synod.Answer
	round   int
	heard   []synod.Answer
	scores  []float64 // as the model returned them
	waiting map[synod.ConsultID]synod.Purpose
	next    synod.ConsultID
	halted  bool
	buffer  []synod.Effect // reused, as the contract allows
}

const rounds = 3

func (h *honest) Step(_ synod.Tick, e synod.Event) []synod.Effect {
	clear(h.buffer[:cap(h.buffer)]) // effects of earlier steps that were not copied are lost
	h.buffer = h.buffer[:0]
	switch e := e.(type) {
	case synod.Begin:
		h.consult(synod.Prompt{Purpose: synod.Answering})
	case synod.Heard:
		h.receive(e.Message)
	case synod.Answered:
		h.reply(e)
	case synod.Halt:
		h.halted = true
	}
	return h.buffer
}

func (h *honest) consult(p synod.Prompt) {
	if h.waiting == nil {
		h.waiting = map[synod.ConsultID]synod.Purpose{}
	}
	p.Question = h.seat.Question
	h.waiting[h.next] = p.Purpose
	h.buffer = append(h.buffer, synod.Consult{ID: h.next, Prompt: &p})
	h.next++
}

func (h *honest) send() {
	body, _ := synod.Response{Answer: h.answer, Confidence: 0.5}.AppendBinary(nil)
	h.buffer = append(h.buffer, synod.Send{To: h.seat.Peers,
		Message: &synod.Message{From: h.seat.Self, Slot: synod.Slot{Name: synod.Respond, Round: h.round}, Body: body}})
}

func (h *honest) receive(m *synod.Message) {
	var r synod.Response
	if r.UnmarshalBinary(m.Body) != nil {
		return
	}
	h.heard = append(h.heard, r.Answer)
	if len(h.heard) < len(h.seat.Peers) {
		return
	}
	for _, a := range append(h.heard, h.answer) {
		h.consult(synod.Prompt{Purpose: synod.Scoring, Candidate: a})
	}
	h.heard = nil
}

func (h *honest) reply(e synod.Answered) {
	purpose := h.waiting[e.ID]
	delete(h.waiting, e.ID)
	switch purpose {
	case synod.Scoring:
		s, _ := read.Score(e.Reply, false)
		h.scores = append(h.scores, float64(s))
		if len(h.waiting) == 0 {
			h.consult(synod.Prompt{Purpose: synod.Refining, Own: h.answer})
		}
	case synod.Answering, synod.Refining:
		if a, _, ok := read.Answer(h.seat.Question, e.Reply, false); ok {
			h.answer = a
		}
		if h.round++; h.round > rounds {
			h.buffer = append(h.buffer, synod.Decide{Answer: h.answer})
			return
		}
		h.send()
	}
}

// world runs one machine: it answers its model calls, and simulates two peers that send 7 and 8
// in every round.
type world struct {
	t        *testing.T
	m        synod.Machine
	model    func(*synod.Prompt) synod.Reply
	consults []synod.Purpose
	sent     map[synod.NodeID][]synod.Response // by receiver
	decided  *synod.Answer
}

// writes returns a model that writes prose: its n-th reply is the n-th of answers, and every
// score is 0.5.
func writes(answers ...string) func(*synod.Prompt) synod.Reply {
	n := 0
	return func(p *synod.Prompt) synod.Reply {
		if p.Purpose == synod.Scoring {
			return synod.Reply{Status: synod.OK, Text: "0.5"}
		}
		n++
		return synod.Reply{Status: synod.OK, Text: answers[min(n, len(answers))-1]}
	}
}

func (w *world) run() {
	w.sent = map[synod.NodeID][]synod.Response{}
	events := []synod.Event{synod.Begin{}}
	for round := 0; len(events) > 0 && round < 1000; round++ {
		e := events[0]
		events = events[1:]
		for _, x := range slices.Clone(w.m.Step(synod.Tick(round), e)) {
			switch x := x.(type) {
			case synod.Consult:
				w.consults = append(w.consults, x.Purpose)
				r := w.model(x.Prompt)
				events = append(events, synod.Answered{ID: x.ID, Reply: &r})
			case synod.Send:
				var r synod.Response
				if err := r.UnmarshalBinary(x.Body); err != nil {
					w.t.Fatalf("sent a message that cannot be decoded: %v", err)
				}
				for _, to := range x.To {
					w.sent[to] = append(w.sent[to], r)
				}
				if len(w.sent[1]) == len(w.sent[2]) { // both have received it: the peers send
					events = append(events, w.response(1, "7"), w.response(2, "8"))
				}
			case synod.Decide:
				w.decided = &x.Answer
			}
		}
	}
}

func (w *world) response(from synod.NodeID, a synod.Answer) synod.Event {
	body, _ := synod.Response{Answer: a, Confidence: 0.9}.AppendBinary(nil)
	return synod.Heard{Message: &synod.Message{From: from, Slot: synod.Slot{Name: synod.Respond}, Body: body}}
}
