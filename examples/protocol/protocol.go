package main

import (
	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
)

// echo is a protocol of one round: every member answers, hears its neighbours,
// and takes the answer of its neighbour with the lowest number, if it has one.
type echo struct {
	answer.Plain `yaml:",inline"`
}

// Join returns the machine of one seat.
func (e *echo) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		m := answer.New(me, answer.Settings{Templates: "echo"})
		r := m.Answer()
		m.Note(0, r, synod.Opinion{})
		heard, silent := m.Exchange(0, &r, 1)
		if len(heard) > 0 {
			r = r.Take(heard[0].Value.Answer, heard[:1])
		}
		m.Note(1, r, synod.Opinion{Silent: silent})
		return r.Answer
	})
}

func (e *echo) MaxRounds() int          { return 1 }
func (e *echo) Calls(degrees []int) int { return len(degrees) }

// Echo is the entry of the catalogue of protocols.
var Echo = protocol.Entry{
	Entry:   synod.Entry{Name: "echo", Summary: "answer, then repeat the first neighbour"},
	New:     func() protocol.Protocol { return &echo{} },
	Prompts: answer.Templates,
}
