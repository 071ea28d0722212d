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
	"synod.dev/synod/protocol/internal/answer"
	"synod.dev/synod/script"
)

// Majority holds the protocol's parameters: there are none.
type Majority struct {
	answer.Plain `yaml:",inline"`
}

// New returns the protocol.
func New() *Majority { return &Majority{} }

// Join seats one member.
func (p *Majority) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{OneSeed: p.Exact}, func(me *script.Agent) synod.Answer {
		return answer.New(me, answer.Manner{Pages: "majority", Exact: p.Exact}).Once()
	})
}

// Calls is n.
func (p *Majority) Calls(degrees []int) int { return len(degrees) }
