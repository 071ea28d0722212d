// Package decentllms is DecentLLMs: Jo, Park, "Byzantine-Robust Decentralized
// Coordination of LLM Agents" ("the paper"), §III.
//
// Workers answer in parallel and do not hear one another. Every answer reaches all
// evaluators by signed Byzantine broadcast. Every evaluator grades each answer by five
// criteria, broadcasts its grades, aggregates all grades so that a minority has a bounded
// influence, and replies to the user with the answer that has the best score.
//
// Differences from the paper, and choices where it is silent:
//
//   - broadcast is Dolev and Strong's with ⊥: f+2 rounds for workers, which are outside the
//     group, and f+1 for evaluators (finding F11);
//   - an evaluator sees one answer in each call, so that no answer can comment on another
//     (DL-6; the paper's way is judge: all). Its grades count completely or not at all
//     (I-DL-6);
//   - the hash that decides between equal scores is salted with what evaluators committed
//     to while workers committed to their answers, and revealed afterwards, so no worker
//     can choose its answer for the hash (DL-4). The paper takes the hash of the latest
//     block; the head of the council's ledger is a part of the salt, if it has one, but not
//     all of it, because workers know it before they answer. k evaluators that withhold their
//     parts until they know the others' can choose among 2^k salts, and lose their grades;
//     every coin toss by commitments has this bias;
//   - an evaluator without grades uses up the budget f, like a Byzantine one. With more than
//     f of them there is no decision;
//   - Weiszfeld's algorithm starts at the mean, not at the origin (DL-3).
//
// Promised under synchrony with f of N evaluators Byzantine, f within the aggregate's bound:
// all honest evaluators hold the same answers and grades and reply with the same answer, bit
// for bit. Not promised: that it is right, and that scores of the geometric median stay in
// the range of the honest grades (F6); with median-total they do.
package decentllms

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/grade"
)

// The roles of seats.
const (
	Worker    synod.Role = "worker"
	Evaluator synod.Role = "evaluator"
)

// DecentLLMs holds the protocol's parameters.
type DecentLLMs struct {
	Aggregate string `yaml:"aggregate" json:"aggregate" doc:"how the evaluators' scores become one (DL-5)" names:"aggregates"`
	Judge     string `yaml:"judge" json:"judge" doc:"answers in one call of an evaluator" enum:"one|all"`
	Score     string `yaml:"score" json:"score" doc:"how an evaluator grades: it writes five grades, or each is the likelihood that it gives the text of the answer" enum:"stated|likelihood"`
	// bytes of reasoning that evaluators see beside an answer
	Rationale int `yaml:"rationale" json:"rationale" doc:"bytes of reasoning that evaluators see beside an answer; 0: none" range:"0:4000" unit:"bytes"`
	// what prompts say about hostile answers: none | may-exist
	Examples bool `yaml:"examples" json:"examples,omitempty" doc:"show evaluators marks of a good, a moderate and a bad answer to another question, as the paper does"`

	Caution synod.Caution `yaml:"caution" json:"caution" doc:"what prompts say about hostile answers" enum:"none|may-exist"`
	Exact   bool          `yaml:"-" json:"exact"` // as in the paper: council key "exact: paper"
}

// New returns the defaults: the paper's aggregate.
func New() *DecentLLMs {
	return &DecentLLMs{Aggregate: "geometric-median", Judge: One, Score: Stated, Rationale: 1000,
		Caution: synod.CautionNone}
}

// Paper sets the paper's choices: an evaluator grades all answers in one call and sees as much
// of their reasoning as fits into a message, its page has examples of marks, the aggregate is the
// geometric median, and no prompt is answered from memory. f is at most ⌊(N−1)/2⌋ as in §III.C
// and Fig. 8, which has six of fourteen; §III.A says less than that. Exact has the list of what
// is not restored.
func (p *DecentLLMs) Paper() {
	p.Exact, p.Judge, p.Aggregate, p.Rationale, p.Examples = true, All, "geometric-median", maxRationale, true
}

// maxRationale limits the size of the broadcast messages.
const maxRationale = 4000

// Validate returns an error for an unknown rule, and for parameters that do not go together.
func (p *DecentLLMs) Validate() error {
	_, err := robust.Catalogue.Find(p.Aggregate)
	switch {
	case err != nil:
		return fmt.Errorf("decentllms: aggregate is %q; it must be one of %v%s", p.Aggregate, robust.Catalogue.Names(),
			synod.Hint(p.Aggregate, robust.Catalogue.Names()))
	case p.Score == Likelihood && p.Judge == All:
		return errors.New("decentllms: score: likelihood weighs one answer at a time; use judge: one")
	}
	return nil
}

// CheckCast returns an error if a cast cannot tolerate the bound f on Byzantine evaluators.
// The error names the largest f that it can.
func (p *DecentLLMs) CheckCast(cast []synod.Role, f int) error {
	workers, evaluators := members(cast)
	a, err := robust.Catalogue.Find(p.Aggregate)
	if err != nil {
		return err
	}
	most, rule := a.Bound(len(evaluators)), p.Aggregate
	switch {
	case len(workers) == 0 || most < 0:
		return fmt.Errorf("decentllms: %d workers and %d evaluators are too few for %s", len(workers), len(evaluators),
			rule)
	case f < 0 || f > most:
		return fmt.Errorf("decentllms: f is %d; with %d evaluators %s tolerates at most f = %d", f, len(evaluators),
			rule, most)
	}
	g, marks := p.answers(cast, f, synod.DefaultPace), p.marks(cast, f, synod.DefaultPace)
	if err := g.Validate(); err != nil {
		return err
	}
	return marks.Validate()
}

// members returns the seats of each role, ascending.
func members(cast []synod.Role) (workers, evaluators []synod.NodeID) {
	for i, r := range cast {
		if r == Worker {
			workers = append(workers, synod.NodeID(i))
		} else {
			evaluators = append(evaluators, synod.NodeID(i))
		}
	}
	return workers, evaluators
}

// version is part of everything that is signed.
const version = "decentllms/1"

// answers returns the broadcast of the first phase: workers send their answers, evaluators
// their commitments for the salt. It begins after the time for one call, and a second one
// if that fails.
func (p *DecentLLMs) answers(cast []synod.Role, f int, pace synod.Pace) broadcast.Group {
	_, evaluators := members(cast)
	all := make([]synod.NodeID, len(cast))
	for i := range all {
		all[i] = synod.NodeID(i)
	}
	return broadcast.Group{Protocol: version, Name: "answers", Members: evaluators, Senders: all, F: f,
		Start: 2 * pace.Think, Within: roundOf(pace), MaxValue: maxAnswer + p.Rationale}
}

// marks returns the broadcast of the second phase: evaluators send their grades.
func (p *DecentLLMs) marks(cast []synod.Role, f int, pace synod.Pace) broadcast.Group {
	g := p.answers(cast, f, pace)
	start := g.End() + 2*pace.Think
	workers, evaluators := members(cast)
	return broadcast.Group{Protocol: version, Name: "marks", Members: evaluators, Senders: evaluators, F: f,
		Start: start, Within: roundOf(pace), MaxValue: marksSize(len(workers))}
}

// Join returns the machine of one member.
func (p *DecentLLMs) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, p.play)
}

// play is §III.C, for a worker or an evaluator.
func (p *DecentLLMs) play(me *script.Agent) synod.Answer {
	m := p.seat(me)
	if me.Seat().Role == Worker {
		return m.work()
	}
	answers := m.hear()               // 1) answer generation
	marks := m.evaluate(answers)      // 2) evaluation
	record := m.judge(answers, marks) // 3) robust score consensus
	suspects := m.check(record)       // equivocation and late messages
	top, of := best(record)           // the best answer, by salted hash among equals
	return m.reply(top, of, suspects, record)
}

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return answer.With(files, grade.Templates) }

// Roles returns the roles of seats.
func (p *DecentLLMs) Roles() []synod.Role { return []synod.Role{Worker, Evaluator} }

// Votes reports whether a seat is an evaluator: only evaluators reply to the user.
func (p *DecentLLMs) Votes(seat synod.NodeID, cast []synod.Role) bool {
	return cast[seat] == Evaluator
}

// Asks reports whether a seat is a worker: evaluators give no answer of their own.
func (p *DecentLLMs) Asks(seat synod.NodeID, cast []synod.Role) bool {
	return cast[seat] == Worker
}

// AllToAll returns true: broadcast needs every link.
func (p *DecentLLMs) AllToAll() bool { return true }

// roundOf returns the length of a round of the broadcasts, which has at least two ticks.
func roundOf(pace synod.Pace) synod.Tick { return max(pace.Within, 2) }

// Weighs reports whether evaluators must be able to give the likelihood of a text.
func (p *DecentLLMs) Weighs() bool { return p.Score == Likelihood }

// Signs returns true: broadcast needs signers.
func (p *DecentLLMs) Signs() bool { return true }

// MaxRounds returns 1: the replies of evaluators are the opinions of round 1.
func (p *DecentLLMs) MaxRounds() int { return 1 }

// Settles returns false: nothing is repeated.
func (p *DecentLLMs) Settles() bool { return false }

// Calls returns the largest number of model calls of a run: w workers answer, and each
// evaluator grades w answers, for the worst w, or all in one call.
func (p *DecentLLMs) Calls(degrees []int) int {
	n := len(degrees)
	if p.Judge == All {
		return n
	}
	w := (n + 1) / 2 // the worst: w + (n−w)·w is the largest
	return w + (n-w)*w
}

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "decentllms", Summary: "DecentLLMs: workers answer, evaluators grade; signed broadcast " +
		"and a robust aggregate choose the best"},
	Traits: []synod.Trait{synod.Votes, synod.Reasons, synod.Lists, synod.Judges, synod.Grades,
		synod.Solves, synod.Signs, synod.HashTies},
	Source:    `Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents"`,
	About:     About,
	Exact:     Exact,
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Campaigns: []check.Subject{inCampaigns},
}

// About is the text of "synod explain".
const About = `Seats have a role. Workers answer the question and do not hear one another. Every answer
reaches all evaluators by signed broadcast. Each evaluator grades each answer from 0 to
20 by five criteria (factual contradiction, factual fabrication, instruction
inconsistency, context inconsistency, logical inconsistency), one answer in a call, and
broadcasts its grades. Each aggregates all grades so that a minority has a bounded
influence, and replies with the answer of the highest total, signed. Between equal totals
a hash decides whose salt was not known when answers were given. Only evaluators vote; f
is the bound on Byzantine evaluators, and the graph must be complete.

guaranteed  under synchrony and with at most f Byzantine evaluators: all honest ones hold
            the same answers and grades and reply alike, bit for bit, in a time that does
            not depend on what workers do; with median-total every score is in the range
            of the honest grades.
measured    that the answer with the best grades is right.
not promised  correctness; with geometric-median (the paper's) a score may leave the
            range of the honest grades; that honest evaluators reply alike if delays
            exceed a round. An evaluator that knows this for certain replies that there
            is no decision; one that only suspects it (which an adversary can cause)
            marks its record as unsafe.

aggregate    geometric-median, median-total, coordinate-median, trimmed-mean, krum,
             bulyan (geometric-median)
judge        one: an evaluator sees one answer in a call; all: all in one, as in the paper
score        stated: an evaluator writes the grades; likelihood: all five are 20 times exp of
             the mean log-probability that it gives the answer's text, which reads no
             reasoning, and so no attack in it (ours; embedded and simulated members only)
rationale    bytes of a worker's reasoning that evaluators see (1000)
examples     show evaluators the marks of a good, a moderate and a bad answer to another
             question, as in the paper (false)
caution      what prompts say about hostile answers: none or may-exist`

// Exact is what "exact: paper" restores, and what it does not.
const Exact = `restored    an evaluator grades all answers in one call, in the order of the workers, and
            sees up to 4000 bytes of their reasoning and examples of marks; geometric
            median; f ≤ ⌊(N−1)/2⌋, as in §III.C and Fig. 8 (§III.A has <); no reply is
            reused. A parameter that the council file names overrides these
differs     the words of the prompts and of their examples (use prompts: FOLDER); the
            hash of the latest block alone between equal scores (the salt comes from the
            latest record of the council's ledger, if it has one, and from commitments);
            Weiszfeld's start at the origin, which one all-zero evaluator captures (it
            starts at the mean); Krum of n evaluators, n even, tolerates (n−4)/2, as it was
            proved, where §III.C has (n−2)/2; gRPC; an evaluator's grades count completely or not at all,
            where the paper does not say`

// Guarantee returns what holds for the bound f. The graph is complete, so its robustness
// has no influence.
func (p *DecentLLMs) Guarantee(f, _ int, _ bool) (name, note string) {
	return "agreement", fmt.Sprintf("with at most F=%d Byzantine evaluators and no delay beyond a round, honest "+
		"evaluators reply alike; not that they are right", f)
}
