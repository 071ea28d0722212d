// Package debate is multi-agent debate: Du, Li, Torralba, Tenenbaum, Mordatch,
// "Improving Factuality and Reasoning in Language Models through Multiagent
// Debate", arXiv 2305.14325. Every member answers; then, in each round, it is shown
// the answers of its neighbours with their reasoning, and answers again. In the
// paper three agents who all hear one another debate for two rounds.
//
// Nothing is filtered and nothing is scored: whoever argues well is followed, right
// or wrong, and a liar is read like anyone else. That is the point of comparison
// for protocols that filter.
//
// Where we leave the paper: any graph; reasoning is bounded in bytes; a member
// without an answer tries again to get one and is silent until then; and, unless
// Exact, what a member has asked before it does not ask again.
//
//	protocol: {name: debate, rounds: 2}
package debate

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/script"
)

// Debate holds the protocol's parameters.
type Debate struct {
	Rounds    int  `yaml:"rounds" json:"rounds"`       // 0 to 1000
	Rationale int  `yaml:"rationale" json:"rationale"` // bytes of reasoning shown beside an answer, 0 to 4000
	Exact     bool `yaml:"-" json:"exact"`             // no reuse, the papers' readers: council key "exact: paper"
}

// New returns the paper's two rounds.
func New() *Debate { return &Debate{Rounds: 2, Rationale: 600} }

// Paper asks everything afresh.
func (p *Debate) Paper() { p.Exact = true }

// Validate reports the first parameter that is out of its range.
func (p *Debate) Validate() error {
	return answer.Check("debate", answer.Range{Key: "rounds", Value: p.Rounds, High: 1000}, answer.Range{Key: "rationale", Value: p.Rationale, High: 4000})
}

// Join seats one member.
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
	for _, h := range heard {
		q.Peers = append(q.Peers, synod.Rated{Answer: h.Word.Answer, Score: synod.Untrusted, Rationale: h.Word.Rationale})
	}
	next := m.Ask(r, q)
	for _, h := range heard {
		next.Credit(h.From, h.Word.Answer)
	}
	return next
}

// Calls is n(1+T): everyone answers at first and in every round.
func (p *Debate) Calls(degrees []int) int { return len(degrees) * (1 + p.Rounds) }

// MaxRounds is T.
func (p *Debate) MaxRounds() int { return p.Rounds }

// Settles: a member's next answer is a function of what it is shown and of replies
// that it remembers. Under Exact every call is made afresh, so nothing follows.
func (p *Debate) Settles() bool { return !p.Exact }
