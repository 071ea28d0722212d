package adversary

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

var equivocatorEntry = Entry{
	Entry: synod.Entry{Name: "equivocator", Summary: "sends different messages to its neighbours in the same round"},
	Facts: Facts{Number: 19, Place: AtSeat, Model: Synchronous,
		Where:   synod.With(synod.Tells).Or(synod.Grades).Or(synod.Bargains),
		Defence: "signed broadcast, and evidence against who signs twice", Kind: Deterministic,
		Source: "DecentLLMs §III.A; Twins"},
	About: `Takes part as an honest member does, but splits every message in two: its first, third,
fifth … neighbour gets its true answer, the others get another answer made from it (a
number one higher, the next choice, the opposite). An only neighbour gets the false
answer. Instead of messages that are not answers, the others get the previous message of
that kind, as soon as the two differ. A protocol in which receivers do not compare what
they received cannot notice it.

In a protocol that signs its messages it is two honest members with one key: one for the
neighbours that get the true answer, and one whose model says the opposite. So it signs
both, answers and grades alike. The two share the calls of the seat.`,
	New: NoParams(equivocator{}),
}

type equivocator struct{}

func (equivocator) Steady() bool { return true }

// Rejoin returns twins in a protocol that signs its messages, because to change a message
// would only break its signature.
func (e equivocator) Rejoin(seat synod.Seat, join func(synod.Seat) synod.Machine) synod.Machine {
	if seat.Signer == nil {
		return e.Corrupt(seat, join(seat))
	}
	return &twins{seat: seat, machines: [2]synod.Machine{join(seat), contrary(seat, join(seat))}}
}

func (equivocator) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	previous := map[string][]byte{} // bodies, by the name of the slot
	return &MessageRewriter{Honest: honest, Other: func(s synod.Send) []synod.Send {
		body, ok := previous[s.Slot.Name]
		previous[s.Slot.Name] = s.Body
		if !ok || bytes.Equal(body, s.Body) {
			return []synod.Send{s}
		}
		informed, deceived := split(seat, s.To)
		stale := *s.Message
		stale.Body = body
		return []synod.Send{{To: informed, Message: s.Message}, {To: deceived, Message: &stale}}
	}, Response: func(s synod.Send, r synod.Response) (sends []synod.Send) {
		informed, deceived := split(seat, s.To)
		wrong := r
		wrong.Answer = other(seat.Question, r.Answer)
		if informed != nil {
			sends = append(sends, WithResponse(s, informed, r))
		}
		if deceived != nil {
			sends = append(sends, WithResponse(s, deceived, wrong))
		}
		return sends
	}}
}

// split divides recipients into those that get true messages and those that get false
// ones.
func split(seat synod.Seat, to []synod.NodeID) (informed, deceived []synod.NodeID) {
	for _, id := range to {
		if len(seat.Peers) == 1 || slices.Index(seat.Peers, id)%2 == 1 {
			deceived = append(deceived, id)
		} else {
			informed = append(informed, id)
		}
	}
	return informed, deceived
}

// numberIn returns the number in an answer, which may have a unit; nil if there is none.
func numberIn(q *synod.Question, a synod.Answer) *big.Rat {
	bare, _ := read.Bare(q, string(a))
	r, ok := new(big.Rat).SetString(string(bare))
	if !ok {
		return nil
	}
	return r
}

// other returns another answer of the same form.
func other(q *synod.Question, a synod.Answer) synod.Answer {
	switch q.Form {
	case synod.Number:
		if r := numberIn(q, a); r != nil {
			return canonical(q, r.Add(r, big.NewRat(1, 1)).RatString())
		}
		return "0" // a is a value like 3√3 or 2:30
	case synod.Bool:
		if a == "true" {
			return "false"
		}
		return "true"
	case synod.Choice:
		for i, o := range q.Options {
			if canonical(q, o.Label) == a {
				return canonical(q, q.Options[(i+1)%len(q.Options)].Label)
			}
		}
	case synod.Stance:
		if a == synod.Refuses {
			return synod.Complies
		}
		return synod.Refuses
	case synod.Math:
		return canonical(q, fmt.Sprintf("%s+1", a))
	case synod.JSON, synod.Action:
		return varied(q, a)
	}
	return canonical(q, "not "+string(a))
}

// sample returns an answer of the form JSON or Action that a seed gives; None if none is found.
func sample(q *synod.Question, seed uint64) synod.Answer {
	return read.Sample(q, rand.New(rand.NewPCG(seed, 0x5a)))
}

// varied returns an answer of the form JSON or Action that differs from a; None if none is found.
func varied(q *synod.Question, a synod.Answer) synod.Answer {
	return read.Vary(q, a, rand.New(rand.NewPCG(uint64(len(a)), 0x5b)))
}
