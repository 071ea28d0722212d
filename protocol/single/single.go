// Package single is the simplest baseline: one member answers, and its answer is the
// council's. The other seats do nothing and cost nothing, so that the same council file
// works for it and for the protocols that it is compared with.
//
// It promises nothing: if that member is wrong or Byzantine, so is the council's answer,
// and if its call fails there is no answer.
//
//	protocol: {name: single, member: 2}
package single

import (
	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol: the seat that is asked has nothing to go on with after its only call.
var campaign = func() check.Subject {
	s := check.Ordinary(3, "{}").At(14)
	s.Never = []string{check.Replay}
	return s.Deciding("I-SI-D", "the answer of the one member that votes", "own", func(t *check.Trace) reference.Step {
		voting := make([]bool, t.Case.N)
		voting[t.Protocol.(*Single).Member] = true
		return reference.Step{Voting: voting}
	})
}()

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:  synod.Entry{Name: "single", Summary: "one member answers, and only it votes"},
	Traits: []synod.Trait{},
	Source: "the single model, a baseline that every table needs",
	Exact:  exact,
	About: `One member answers, and its answer is the council's: the other seats do nothing and
cost nothing, and have no vote. One call.

not promised  anything: if that member is wrong or Byzantine, so is the answer.

member       the seat that answers, counted from 0 (0)`,
	New:       func() protocol.Protocol { return New() },
	Prompts:   answer.Templates,
	Campaigns: []check.Subject{campaign},
}

// Single holds the protocol's parameters.
type Single struct {
	answer.Plain `yaml:",inline"`
	Member       synod.NodeID `yaml:"member" json:"member" doc:"index of the seat that answers, from 0" range:"0:"`
}

// New returns the protocol in which the first seat answers.
func New() *Single { return &Single{} }

// Join returns the machine of one member.
func (p *Single) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{OneSeed: p.Exact}, p.play)
}

func (p *Single) play(me *script.Agent) synod.Answer {
	if me.Seat().Self != p.Member {
		return synod.None
	}
	return answer.New(me, answer.Settings{Templates: "single", Exact: p.Exact}).Once()
}

// Votes reports whether a seat is the member that answers.
func (p *Single) Votes(seat synod.NodeID, _ []synod.Role) bool { return seat == p.Member }

// SelectsProse returns true: the text of the member is the decision.
func (p *Single) SelectsProse() bool { return true }

// Dynamic reports that a graph which changes is of no consequence: members do not talk.
func (p *Single) Dynamic() bool { return true }

// Calls returns 1.
func (p *Single) Calls([]int) int { return 1 }

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    one seed; no reply is reused. It is a baseline of every paper and has no own one
differs     the words of the prompts (use prompts: FOLDER)`
