// Package sac is Self-Anchored Consensus: Lee, Yun, Oh, Panagou, Karimireddy,
// "Robust Multi-Agent LLMs under Byzantine Faults", arXiv 2605.09076 ("the
// paper"), §4.1 and Algorithm 1.
//
// Every member answers. Then, for T rounds, it sends its answer to its neighbours, scores
// theirs and its own with its own model, drops at most F of those that it scores below its
// own, and refines its answer with the rest. What a sender says about itself has no
// influence on the score.
//
// Differences from the paper (Exact removes all of them):
//
//   - silence uses up the budget F: with s silent neighbours at most F-s more are dropped.
//     Without this, silence can empty the retained set and break Property 4.3 (finding F3);
//   - a score that cannot be read is Untrusted, the lowest score, and not 0.5 (F4);
//   - a member without a readable score of its own answer has no anchor and drops the F
//     lowest scores whatever they are, which keeps Property 4.2 (F1, strict trim);
//   - repeated prompts are answered from memory.
//
// With Asynchronous rounds have no fixed end. A member goes on as soon as all its neighbours
// but F have sent their message of the round, however long messages take; the F that it does
// not wait for may be honest, so silence does not use up the budget. What a member hears is
// then the graph without up to F of its incoming edges. An r-robust graph that loses up to K
// incoming edges of each node is (r-K)-robust, because a node with r neighbours outside its set
// keeps r-K of them. So Properties 4.2 and 4.3 hold for r-F ≥ F+1, and 4.3-strong for r-F ≥ 2F+1.
// Dibaji and Ishii ("Resilient consensus of second-order agent networks: Asynchronous update rules
// with delays", Automatica 81, 2017, 123-132) give conditions of this kind for numbers.
//
// On a graph that changes from round to round a member sends to and hears its neighbours of the
// round. Properties 4.2 and 4.3 are about one round, so each round has those that its graph earns.
//
// Promised: Property 4.2 at reliable members only, Property 4.3 for r ≥ F+1. Not promised:
// agreement, correctness, or anything if a judge is deceived.
package sac

import (
	"embed"
	"fmt"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// ScoreBy says how a member scores an answer.
type ScoreBy string

// The ways to score (SAC-12).
const (
	Stated     ScoreBy = "stated"     // the model writes a number, as in the paper
	Likelihood ScoreBy = "likelihood" // exp of the mean log-probability the model gives the answer's text
	// Random scores say nothing. They are a control: what SAC gains with them, judging does not explain.
	Random ScoreBy = "random"
)

// SAC holds the protocol's parameters.
type SAC struct {
	Rounds int     `yaml:"rounds" json:"rounds" doc:"T, the rounds after the first answers" range:"0:1000"`
	Score  ScoreBy `yaml:"score" json:"score" doc:"how a member scores an answer: it writes a number, or the likelihood that it gives the text (SAC-12), or by chance (a control for experiments)" enum:"stated|likelihood|random"`
	// drop the F lowest whatever the self-score (SAC-7)
	StrictTrim bool          `yaml:"strict-trim" json:"strict-trim" doc:"drop the F lowest-scored answers whatever the score of one's own (SAC-7)"`
	Caution    synod.Caution `yaml:"caution" json:"caution" doc:"what prompts say about hostile members (SAC-11)" enum:"none|may-exist|bound"`
	// bytes of reasoning exchanged beside an answer; 0: none (SAC-6)
	Rationale int `yaml:"rationale" json:"rationale" doc:"bytes of reasoning that are sent beside an answer; 0: none (SAC-6)" range:"0:4000" unit:"bytes"`
	// no fixed round ends: go on after the messages of all neighbours but F
	Asynchronous bool `yaml:"asynchronous" json:"asynchronous" doc:"rounds have no fixed end: a member goes on after the messages of all neighbours but F; needs r of at least 2F+1"`
	Exact        bool `yaml:"-" json:"exact"` // as in the paper: council key "exact: paper"
}

// New returns the defaults: the paper's T, without the paper's cautions.
func New() *SAC {
	return &SAC{Rounds: 6, Score: Stated, Caution: synod.CautionNone}
}

// Paper sets the protocol of the paper, apart from the wording of prompts.
func (p *SAC) Paper() { p.Exact, p.Caution = true, synod.CautionBound }

// Validate returns an error for parameters that do not go together.
func (p *SAC) Validate() error {
	if p.Asynchronous && p.Exact {
		return fmt.Errorf("sac: asynchronous is not in the paper, so it cannot stand beside exact: paper")
	}
	return nil
}

// TellsFirst reports whether rounds have fixed ends.
func (p *SAC) TellsFirst() bool { return !p.Asynchronous }

// SelectsProse returns true: see selected.
func (p *SAC) SelectsProse() bool { return true }

// Join returns the machine of one member.
func (p *SAC) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, p.play)
}

// calls is the number of calls of a round that wait for one another: an answer that is
// asked for again, the scores and the refinement.
const calls = 3

// Calls returns the largest number of model calls of a run, n + T(2|E| + 2n), for members
// of the given degrees.
func (p *SAC) Calls(degrees []int) int {
	n, ends := len(degrees), 0
	for _, d := range degrees {
		ends += d
	}
	return n + p.Rounds*(ends+2*n)
}

// Settles reports whether a round in which every call succeeded and no answer changed would
// repeat itself: a member's next answer is then a function of answers that have not changed
// and of remembered replies. With Exact nothing is remembered, so it may change. With
// Asynchronous other neighbours may be the first to be heard in the next round.
func (p *SAC) Settles() bool { return !p.Exact && !p.Asynchronous && p.Score != Random }

// Dynamic reports that each round has neighbours of its own.
func (p *SAC) Dynamic() bool { return true }

// MaxRounds returns T.
func (p *SAC) MaxRounds() int { return p.Rounds }

// Weighs reports whether members must be able to weigh text (SAC-12).
func (p *SAC) Weighs() bool { return p.Score == Likelihood }

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "sac",
		Summary: "Self-Anchored Consensus: score neighbours' answers, drop up to F below one's own, refine"},
	Traits: []synod.Trait{synod.Tells, synod.Votes, synod.Rounds, synod.Reasons, synod.Lists,
		synod.Judges, synod.Solves, synod.Trims},
	Source: `Lee et al., "Robust Multi-Agent LLMs under Byzantine Faults", arXiv 2605.09076`,
	Exact:  exact,
	About: `Every member answers by itself. Then, for a number of rounds, it sends its answer to its
neighbours, scores theirs and its own with its own model, drops at most F of those that
it scores below its own, and answers again in view of the rest. What a sender says about
itself is ignored.

guaranteed  on an r-robust graph with at most F Byzantine neighbours each:
            r >= F+1: no retained answer scores below the lowest-scored reliable one
            (Property 4.2, at reliable members), and the retained links still connect
            every member to some root (Property 4.3);
            r >= 2F+1: links between reliable members alone do so (4.3-strong).
            Each round is filtered by itself. On a graph that changes from round to round,
            r is the least of all rounds, with at most F Byzantine neighbours in each.
measured    that good judges spread right answers to weak members.
not promised  agreement, correctness, or anything if a judge is deceived.

rounds       T, the number of rounds (6)
score        stated: the model writes a number; likelihood: the mean log-probability
             it gives the answer's text (embedded models only); random: a number by
             chance, as a control in experiments
strict-trim  true: drop the F lowest whatever the self-score, which extends 4.2 to
             faulty members
caution      what prompts say about hostile neighbours: none, may-exist, or bound (names F)
rationale    bytes of reasoning that are sent beside an answer (0: none)
asynchronous true: rounds have no fixed end; a member goes on after the messages of all its
             neighbours but F, however long they take. Needs r >= 2F+1 for 4.2 and 4.3,
             and r >= 3F+1 for 4.3-strong: F neighbours less are heard in a round`,
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Campaigns: []check.Subject{campaign},
}

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return answer.With(files) }

// The guarantees that a graph earns for a bound F (§4.2, finding F2).
const (
	Strong = "4.3-strong" // r ≥ 2F+1: reliable members alone stay linked
	Weak   = "4.3"        // r ≥ F+1: Properties 4.2 (at reliable members) and 4.3
)

// Guarantee returns what holds on an r-robust graph for the bound f.
func (p *SAC) Guarantee(f, r int, exact bool) (name, note string) {
	atLeast := ""
	if !exact {
		atLeast = "at least "
	}
	if p.Asynchronous {
		return guaranteeLate(f, r, atLeast)
	}
	switch {
	case r >= 2*f+1:
		return Strong, fmt.Sprintf("r is %s%d: with at most F=%d Byzantine neighbours each, reliable members stay "+
			"linked by reliable members", atLeast, r, f)
	case r >= f+1:
		return Weak, fmt.Sprintf("r is %s%d: with at most F=%d Byzantine neighbours each, what reliable members "+
			"retain is no worse than a reliable answer (4.2) and everyone stays linked (4.3)", atLeast, r, f)
	}
	return "", fmt.Sprintf("no guarantee: F=%d needs r of at least %d, and this graph has r %s%d, which is good for "+
		"F=%d at most", f, f+1, atLeast, r, max(0, r-1))
}

// guaranteeLate is Guarantee without bounds on delays.
func guaranteeLate(f, r int, atLeast string) (name, note string) {
	heard := fmt.Sprintf("r is %s%d, and %d of what members hear in an asynchronous round, where each misses F=%d "+
		"neighbours at most", atLeast, r, max(0, r-f), f)
	switch {
	case r >= 3*f+1:
		return Strong, heard + "; however long messages take, reliable members stay linked by reliable members"
	case r >= 2*f+1:
		return Weak, heard + "; however long messages take, what reliable members retain is no worse than a reliable " +
			"answer (4.2) and everyone stays linked (4.3)"
	}
	return "", fmt.Sprintf("no guarantee: asynchronous rounds with F=%d need r of at least %d, and this graph has r "+
		"%s%d, which is good for F=%d at most", f, 2*f+1, atLeast, r, max(0, (r-1)/2))
}

// AnyDelay reports whether what is claimed holds however long messages take.
func (p *SAC) AnyDelay() bool { return p.Asynchronous }

// ClaimsEachRound reports that the properties hold for each round separately.
func (p *SAC) ClaimsEachRound() bool { return true }

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    the budget F whatever neighbours are silent; a score is the first number of a
            reply, and 0.5 if there is none or the call fails; no strict trim without an own
            score; a member whose answer cannot be read scores, filters and refines as the
            others do, with 0.5 as its own score; prompts say that up to F answers may be
            malicious; one seed; no reply is reused
differs     the words of the prompts (use prompts: FOLDER); the order of neighbours with
            equal scores (by id here; the paper does not say); a response that cannot be read
            is not sent to neighbours, and its member is asked again before each round`
