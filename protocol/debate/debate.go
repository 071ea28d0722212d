// Package debate is multi-agent debate: Du, Li, Torralba, Tenenbaum, Mordatch,
// "Improving Factuality and Reasoning in Language Models through Multiagent
// Debate", arXiv 2305.14325. Every member answers. Then, in each round, it is shown the
// answers of its neighbours with their reasoning, and answers again. In the paper, three
// agents that all hear one another debate for two rounds.
//
// Nothing is filtered and nothing is scored: a convincing answer is followed, right or
// wrong, and a Byzantine member's answer is shown like any other. It is the baseline for
// protocols that filter.
//
// Differences from the paper: the graph is arbitrary; reasoning is bounded in bytes; a
// member without an answer asks again and is silent until it has one; and, unless Exact,
// repeated prompts are answered from memory.
//
//	protocol: {name: debate, rounds: 2}
package debate

import (
	"embed"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// Debate holds the protocol's parameters.
type Debate struct {
	Rounds    int  `yaml:"rounds" json:"rounds" doc:"rounds after the first answers" range:"0:1000"`
	Rationale int  `yaml:"rationale" json:"rationale" doc:"bytes of reasoning shown beside an answer; 0: none" range:"0:4000" unit:"bytes"`
	Exact     bool `yaml:"-" json:"exact"` // no reuse, the papers' readers: council key "exact: paper"
}

// New returns the defaults: the paper's two rounds.
func New() *Debate { return &Debate{Rounds: 2, Rationale: 600} }

// Paper sets Exact.
func (p *Debate) Paper() { p.Exact = true }

// Join returns the machine of one member.
func (p *Debate) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, p.play)
}

func (p *Debate) play(me *script.Agent) synod.Answer {
	m := answer.New(me, answer.Settings{Templates: "debate", Exact: p.Exact, Rationale: p.Rationale})
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	for t := range p.Rounds {
		heard, silent := m.Exchange(t, &r, 2) // an answer that is asked for again, and the next one
		r = reconsider(m, r, heard)
		m.Note(t+1, r, synod.Opinion{Silent: silent})
	}
	return r.Answer
}

// reconsider asks the member for its next answer, with those of its neighbours
// before it.
func reconsider(m *answer.Member, r answer.Held, heard []answer.Heard) answer.Held {
	if r.Answer == synod.None {
		return r
	}
	if len(heard) == 0 {
		return r.Take(r.Answer, nil)
	}
	q := m.Prompt(synod.Refining)
	q.Own = r.Answer
	for _, h := range answer.DrawnHeard(m.Me.Seat(), heard) {
		q.Peers = append(q.Peers, m.Peer(h.From, &h.Value, synod.Untrusted))
	}
	next := m.Ask(r, q)
	for _, h := range heard {
		next.Credit(h.From, h.Value.Answer)
	}
	return next
}

// Calls is n(1+T): everyone answers at first and in every round.
func (p *Debate) Calls(degrees []int) int { return len(degrees) * (1 + p.Rounds) }

// TellsFirst reports that members exchange their first answers.
func (p *Debate) TellsFirst() bool { return true }

// Dynamic reports that each round has neighbours of its own.
func (p *Debate) Dynamic() bool { return true }

// MaxRounds returns T.
func (p *Debate) MaxRounds() int { return p.Rounds }

// Settles: a member's next answer is a function of what it is shown and of replies
// that it remembers. Under Exact every call is made afresh, so nothing follows.
func (p *Debate) Settles() bool { return !p.Exact }

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "debate",
		Summary: "multi-agent debate: members see their neighbours' answers and reasons, and answer again"},
	Traits: []synod.Trait{synod.Tells, synod.Votes, synod.Rounds, synod.Reasons, synod.Lists},
	Source: `Du et al., "Improving Factuality and Reasoning in Language Models through Multiagent Debate", arXiv 2305.14325`,
	Exact:  exact,
	About: `Every member answers by itself. Then, for a number of rounds, it is shown its
neighbours' answers with their reasoning and answers again; the council's rule counts.
Nothing is filtered and nothing is scored. n(1+T) calls; in the paper, three agents that
all hear one another debate for two rounds.

not promised  anything: a Byzantine member's answer is shown like any other.

rounds       T, the number of rounds (2)
rationale    bytes of reasoning shown beside an answer (600; 0: answers alone)`,
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Campaigns: []check.Subject{campaign},
}

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return answer.With(files) }

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    one seed; no reply is reused; no early end
differs     the words of the prompts (use prompts: FOLDER); reasoning of any length (it is
            bounded in bytes)`
