// Package majority is the vote: everyone answers once, nobody hears anyone, and
// the council's rule counts. Counting is the rule's and not the protocol's, so
// that plurality, majority and supermajority mean the same everywhere.
//
// It promises nothing of its own: with m honest members who agree, the rule holds
// against fewer than it takes to outvote them, whatever the graph.
//
//	protocol: {name: majority}
//	rule: {name: plurality}
package majority

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/script"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:  synod.Entry{Name: "majority", Summary: "everyone answers once, nobody hears anyone, the council's rule counts"},
	Source: "the plain vote, a baseline that every table needs",
	About: `Every member answers once; the council's rule (plurality, majority,
supermajority) counts. n calls, no messages: the graph plays no part.

not promised  anything of its own: liars win when there are enough of them to win a
              vote.`,
	New:     func() protocol.Protocol { return New() },
	Prompts: answer.Templates,
}

// Majority holds the protocol's parameters: there are none.
type Majority struct {
	answer.Plain `yaml:",inline"`
}

// New returns the protocol.
func New() *Majority { return &Majority{} }

// Join seats one member.
func (p *Majority) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{OneSeed: p.Exact}, func(me *script.Agent) synod.Answer {
		return answer.New(me, answer.Settings{Templates: "majority", Exact: p.Exact}).Once()
	})
}

// Calls is n.
func (p *Majority) Calls(degrees []int) int { return len(degrees) }
