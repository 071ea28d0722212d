package adversary

import (
	"bytes"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/wire"
	"synod.dev/synod/protocol/grade"
)

var cartelEntry = Entry{
	Entry: synod.Entry{Name: "cartel",
		Summary: "DecentLLMs': best grades for one seat's answer, worst grades for all others"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: grading, Defence: "median-total with at most f in the " +
		"cartel",
		Kind: Statistical, Source: "DecentLLMs §V.A, Fig. 8"},
	About: `Judges in favour of one seat: the answer of that seat gets the best grades and every
other answer the worst, whatever its model says (DecentLLMs §V.A and Fig. 8). It learns
the answer from the seat's messages, so its members need no coordination: seat several
that favour the same seat. An honest seat with the same answer profits too. It calls its
model all the same, so that its cost and timing are those of an honest member, and it
answers prompts for an answer as an honest member does.

favours  a seat's id in the council file, or its index from 0; by default the last
         seat of another role than its own, or the last neighbour`,
	New: func(params map[string]any) (Adversary, error) {
		var given cartelParams
		err := param.Decode(params, &given)
		return cartel{seatNames(given.Favours)}, err
	},
	Params: func() any { return &cartelParams{} },
}

type cartelParams struct {
	Favours any `yaml:"favours" doc:"id or index of the favoured seat; default: the last of another role, or neighbour" example:"w1"`
}

type cartel struct{ favours []seatName }

func (cartel) Steady() bool { return true }

func (a cartel) Found(seat func(string) (synod.NodeID, error)) (_ Adversary, err error) {
	a.favours = slices.Clone(a.favours)
	for i, n := range a.favours {
		if a.favours[i], err = n.find(seat); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// favourite returns the seat that the adversary favours, or -1.
func (a cartel) favourite(seat synod.Seat) synod.NodeID {
	if len(a.favours) > 0 {
		return a.favours[0].node()
	}
	for i := len(seat.Cast) - 1; i >= 0; i-- {
		if seat.Cast[i] != seat.Role {
			return synod.NodeID(i)
		}
	}
	if len(seat.Peers) == 0 {
		return -1
	}
	return seat.Peers[len(seat.Peers)-1]
}

func (a cartel) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m := &cartelMachine{favourite: a.favourite(seat)}
	m.PromptAnswerer = PromptAnswerer{Honest: honest, Replace: m.judge}
	return m
}

// cartelMachine keeps the messages of the favoured seat.
type cartelMachine struct {
	PromptAnswerer
	favourite synod.NodeID
	heard     [][]byte
}

// maxHeard bounds how many messages of the favoured seat are kept.
const maxHeard = 64

func (m *cartelMachine) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if h, ok := e.(synod.Heard); ok && h.From == m.favourite && len(m.heard) < maxHeard {
		m.heard = append(m.heard, h.Body)
	}
	return m.PromptAnswerer.Step(now, e)
}

// judge replaces replies to prompts that ask for a judgement.
func (m *cartelMachine) judge(p *synod.Prompt, r *synod.Reply) *synod.Reply {
	judged := []synod.Rated{{Answer: p.Candidate}}
	switch p.Purpose {
	case grade.All:
		judged = p.Peers
	case grade.One, synod.Scoring, synod.Weighing:
	default:
		return r
	}
	mine := synod.None
	for _, x := range judged {
		if m.favoured(x.Answer) || m.favoured(synod.Answer(p.Spelled(x.Answer))) {
			mine = x.Answer
		}
	}
	return Believer(p, mine)
}

// favoured reports whether a message of the favoured seat contains an answer as a
// Response encodes it, whatever the protocol puts around it.
func (m *cartelMachine) favoured(a synod.Answer) bool {
	encoded := wire.AppendBytes(nil, a)
	return slices.ContainsFunc(m.heard, func(body []byte) bool { return bytes.Contains(body, encoded) })
}
