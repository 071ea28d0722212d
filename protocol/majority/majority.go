// Package majority is the plain vote: every member answers once, members do not talk, and
// the council's rule counts. With the council key "same: members" they then say which short
// texts mean the same (same.go), and Judge joins these before the rule counts. The rule and
// not the protocol counts, so that plurality, majority and supermajority mean the same for
// all protocols.
//
// The protocol itself promises nothing: with m honest members that agree, the rule holds
// against fewer Byzantine members than are needed to outvote them, on any graph.
//
//	protocol: {name: majority}
//	rule: {name: plurality}
package majority

import (
	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:  synod.Entry{Name: "majority", Summary: "members answer once and do not talk; the council's rule counts"},
	Traits: []synod.Trait{synod.Votes, synod.FirstVotes, synod.Joins},
	Source: "the plain vote, a baseline that every table needs",
	Exact:  exact,
	About: `Every member answers once; the council's rule (plurality, majority,
supermajority) counts. n calls, no messages: the graph plays no part.

With the council key same: members (form text only, complete graph) members then hear all
answers, and each says in one more call which answers of others mean the same. Two answers
are counted as one if more than f members say so that gave neither. At most 2n calls.

not promised  anything of its own: Byzantine members win if there are enough of them
              to win a vote.

probe         likelihood: answers come with how likely models with logprobs: true say they
              are, for synod calibrate; no rule counts it (none)`,
	New:       func() protocol.Protocol { return New() },
	Prompts:   answer.Templates,
	Campaigns: []check.Subject{campaign},
}

// Majority holds the protocol's parameters.
type Majority struct {
	answer.Plain `yaml:",inline"`
	Probe        answer.Probe `yaml:"probe" json:"probe,omitzero" doc:"likelihood: members also report how likely their model's answer is (models with logprobs: true), which no rule counts: what learns from the outcome does" enum:"none|likelihood"`
	Same         bool         `yaml:"-" json:"same,omitempty"` // members compare answers: council key "same: members"
}

// New returns the protocol.
func New() *Majority { return &Majority{Probe: answer.NoProbe} }

// ConfidenceMode says what an answer comes with.
func (p *Majority) ConfidenceMode() synod.ConfidenceMode { return p.Probe.Mode() }

// Join returns the machine of one member.
func (p *Majority) Join(seat synod.Seat) synod.Machine {
	if p.Same {
		return script.New(seat, script.Options{}, p.compare)
	}
	return script.New(seat, script.Options{OneSeed: p.Exact}, func(me *script.Agent) synod.Answer {
		return answer.New(me, answer.Settings{Templates: "majority", Exact: p.Exact,
			ConfidenceMode: p.Probe.Mode()}).Once()
	})
}

// Dynamic reports that a graph which changes is of no consequence: members do not talk, or the graph is complete.
func (p *Majority) Dynamic() bool { return true }

// AllToAll reports whether members hear one another: only to compare answers.
func (p *Majority) AllToAll() bool { return p.Same }

// TellsFirst reports whether members exchange their first answers: to compare them.
func (p *Majority) TellsFirst() bool { return p.Same }

// MaxRounds returns 0, and 1 if members compare answers.
func (p *Majority) MaxRounds() int {
	if p.Same {
		return 1
	}
	return 0
}

// Calls returns n, and 2n if members compare answers.
func (p *Majority) Calls(degrees []int) int { return len(degrees) * (1 + p.MaxRounds()) }

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    one seed; no reply is reused. It is a baseline of every paper and has no own one
differs     the words of the prompts (use prompts: FOLDER); the first answer of several that
            lead equally, which the papers' code takes, is a tie here`
