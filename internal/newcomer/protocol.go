package newcomer

import (
	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
)

// tell is a protocol of one round: members answer, tell one another their answers, and keep them.
type tell struct {
	answer.Plain `yaml:",inline"`
}

// Join implements synod.Protocol.
func (p *tell) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		m := answer.New(me, answer.Settings{Templates: "newcomer"})
		r := m.Answer()
		m.Note(0, r, synod.Opinion{})
		_, silent := m.Exchange(0, &r, 1)
		m.Note(1, r, synod.Opinion{Silent: silent})
		return r.Answer
	})
}

func (p *tell) MaxRounds() int          { return 1 }
func (p *tell) Calls(degrees []int) int { return len(degrees) }
func (p *tell) TellsFirst() bool        { return true }

// Protocol is the entry of the protocol.
var Protocol = protocol.Entry{
	Entry:   synod.Entry{Name: "newcomer", Summary: "members tell one another their answers, and keep them"},
	Traits:  []synod.Trait{synod.Tells, synod.Votes, synod.FirstVotes},
	Source:  "own, an example",
	About:   "Nothing is guaranteed: a member keeps its answer whatever it hears.",
	Exact:   "restored    nothing: there is no paper\ndiffers     as above",
	New:     func() protocol.Protocol { return &tell{} },
	Prompts: answer.Templates,
}
