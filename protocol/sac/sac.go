// Package sac is Self-Anchored Consensus: Lee, Yun, Oh, Panagou, Karimireddy,
// "Robust Multi-Agent LLMs under Byzantine Faults", arXiv 2605.09076 ("the
// paper"), §4.1 and Algorithm 1.
//
// Every member answers; then for T rounds it tells its neighbours its answer,
// scores theirs and its own with its own model, drops at most F of those it
// scores below itself, and refines its answer on the rest. What a sender says
// about itself never reaches the score.
//
// Where we leave the paper's letter (all of it is restored by Exact):
//
//   - silence spends the budget F: with s silent neighbours at most F-s more are
//     dropped. Without this, silence can empty the retained set and break
//     Property 4.3 (finding F3);
//   - a score that cannot be read is Untrusted, the lowest, and not 0.5 (F4);
//   - a member without a readable score of itself has no anchor and drops the F
//     lowest whatever they are, which keeps Property 4.2 (F1, strict trim);
//   - what a member has asked before it does not ask again.
//
// What is promised: Property 4.2 at reliable members only, Property 4.3 for
// r ≥ F+1. Not promised: agreement, correctness, anything once a judge is fooled.
package sac

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/script"
)

// ScoreBy says how a member scores an answer.
type ScoreBy string

// The ways to score (SAC-12).
const (
	Stated     ScoreBy = "stated"     // the model writes a number, as in the paper
	Likelihood ScoreBy = "likelihood" // exp of the mean log-probability the model gives the answer's text
)

// SAC holds the protocol's parameters.
type SAC struct {
	Rounds     int           `yaml:"rounds" json:"rounds"`           // T ≥ 0
	Score      ScoreBy       `yaml:"score" json:"score"`             // stated | likelihood
	StrictTrim bool          `yaml:"strict-trim" json:"strict-trim"` // drop the F lowest whatever the self-score (SAC-7)
	Caution    synod.Caution `yaml:"caution" json:"caution"`         // none | may-exist | bound (SAC-11)
	Rationale  int           `yaml:"rationale" json:"rationale"`     // bytes of reasoning exchanged beside an answer; 0: none (SAC-6)
	Exact      bool          `yaml:"-" json:"exact"`                 // the paper's letter: council key "exact: paper"
}

// New returns the paper's T with our safer defaults.
func New() *SAC {
	return &SAC{Rounds: 6, Score: Stated, Caution: synod.CautionNone}
}

// Paper returns the protocol as the paper has it, prompts' wording aside.
func (p *SAC) Paper() { p.Exact, p.Caution = true, synod.CautionBound }

// Validate reports the first parameter that is out of its range.
func (p *SAC) Validate() error {
	switch {
	case p.Rounds < 0 || p.Rounds > 1000:
		return fmt.Errorf("sac: rounds is %d; it must be between 0 and 1000", p.Rounds)
	case p.Score != Stated && p.Score != Likelihood:
		return fmt.Errorf("sac: score is %q; it must be stated or likelihood", p.Score)
	case p.Caution != synod.CautionNone && p.Caution != synod.CautionMayExist && p.Caution != synod.CautionBound:
		return fmt.Errorf("sac: caution is %q; it must be none, may-exist or bound", p.Caution)
	case p.Rationale < 0 || p.Rationale > 4000:
		return fmt.Errorf("sac: rationale is %d bytes; it must be between 0 and 4000", p.Rationale)
	}
	return nil
}

// Join seats one member.
func (p *SAC) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, p.play)
}

// play is Algorithm 1, line by line.
func (p *SAC) play(me *script.Agent) synod.Answer {
	m := &member{SAC: p, Member: answer.New(me, answer.Settings{Templates: "sac", Exact: p.Exact, Caution: p.Caution, Rationale: p.Rationale})}
	r := m.Answer() // 1
	m.note(0, r, verdict{})
	for t := range p.Rounds { // 2
		heard, silent := m.Exchange(t, &r, calls)  // 3
		scores := m.score(heard, r)                // 4
		v := m.filter(me.Seat().F, silent, scores) // 5, 6
		r = m.refine(r, v)                         // 7
		m.note(t+1, r, v)
	} // 8
	return r.Answer // 9
}

// calls is the number of calls of a round that wait for one another: an answer that is
// asked for again, the scores and the refinement.
const calls = 3

// Calls is how many model calls a run makes at most, n + T(2|E| + 2n), for
// members of the given degrees.
func (p *SAC) Calls(degrees []int) int {
	n, ends := len(degrees), 0
	for _, d := range degrees {
		ends += d
	}
	return n + p.Rounds*(ends+2*n)
}

// Settles reports that a round in which every call succeeded and no answer
// changed repeats itself for ever: a member's next answer is then a function of
// answers that have not changed and replies that it remembers. Under Exact every
// call is made afresh, so nothing follows.
func (p *SAC) Settles() bool { return !p.Exact }

// MaxRounds is T.
func (p *SAC) MaxRounds() int { return p.Rounds }

// Weighs reports that members must be able to weigh text (SAC-12).
func (p *SAC) Weighs() bool { return p.Score == Likelihood }
