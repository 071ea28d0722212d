// Package decentllms is DecentLLMs: Jo, Park, "Byzantine-Robust Decentralized
// Coordination of LLM Agents" ("the paper"), §III.
//
// Workers answer in parallel and never hear one another. Every answer reaches all
// evaluators by signed Byzantine broadcast; every evaluator marks each by five
// criteria, broadcasts its marks, aggregates all marks so that a minority cannot
// drag them, and replies to the user with the answer that scores best.
//
// Where we leave the paper or it is silent:
//
//   - broadcast is Dolev and Strong's with ⊥, f+2 rounds for workers, which stand
//     outside the group, f+1 for evaluators (finding F11);
//   - an evaluator sees one answer a call, so that no answer can speak about
//     another (DL-6; judge: all is the paper's way), and its marks count whole or not at all (I-DL-6);
//   - the tie hash is salted with what evaluators committed to while workers
//     committed to their answers, and revealed after: nobody can grind an answer
//     for it (DL-4). The paper takes the latest block's hash. k evaluators that hold
//     their part back until they know the others' choose among 2^k salts, at the
//     price of their marks: every coin tossed by commitments can be biased so;
//   - an evaluator without marks spends the budget f, as one that lies does; more
//     than f of them, and there is no decision;
//   - Weiszfeld starts at the mean, not at the origin (DL-3).
//
// Promised under synchrony with f of N evaluators Byzantine, f within the
// aggregate's bound: all honest evaluators hold the same answers and marks and
// reply with the same answer, bit for bit. Whether it is right, and whether marks
// of the geometric median stay in the range of the honest (they need not, F6), is
// not promised; median-total keeps the range.
package decentllms

import (
	"embed"
	"fmt"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/robust"
	"synod.dev/synod/script"
)

// The roles of seats.
const (
	Worker    synod.Role = "worker"
	Evaluator synod.Role = "evaluator"
)

// DecentLLMs holds the protocol's parameters.
type DecentLLMs struct {
	Aggregate string        `yaml:"aggregate" json:"aggregate"` // a name in robust.Catalogue (DL-5)
	Judge     string        `yaml:"judge" json:"judge"`         // one | all: answers a call of an evaluator
	Rationale int           `yaml:"rationale" json:"rationale"` // bytes of reasoning that evaluators see beside an answer
	Caution   synod.Caution `yaml:"caution" json:"caution"`     // what prompts say of hostile answers: none | may-exist
	Exact     bool          `yaml:"-" json:"exact"`             // the paper's letter: council key "exact: paper"
}

// New returns the paper's aggregate.
func New() *DecentLLMs {
	return &DecentLLMs{Aggregate: "geometric-median", Judge: One, Rationale: 1000, Caution: synod.CautionNone}
}

// Paper sets what "exact: paper" means: nothing is remembered from call to call.
func (p *DecentLLMs) Paper() { p.Exact = true }

// maxRationale keeps the answers of many workers in few messages.
const maxRationale = 4000

// Validate returns an error for the first parameter that is out of its range.
func (p *DecentLLMs) Validate() error {
	_, err := robust.Catalogue.Find(p.Aggregate)
	switch {
	case err != nil:
		return fmt.Errorf("decentllms: aggregate is %q; it must be one of %v%s", p.Aggregate, robust.Catalogue.Names(), synod.Hint(p.Aggregate, robust.Catalogue.Names()))
	case p.Judge != One && p.Judge != All:
		return fmt.Errorf("decentllms: judge is %q; it must be one or all", p.Judge)
	case p.Rationale < 0 || p.Rationale > maxRationale:
		return fmt.Errorf("decentllms: rationale is %d bytes; it must be between 0 and %d", p.Rationale, maxRationale)
	case p.Caution != synod.CautionNone && p.Caution != synod.CautionMayExist:
		return fmt.Errorf("decentllms: caution is %q; it must be none or may-exist", p.Caution)
	}
	return nil
}

// Suits reports why a cast with this bound f on Byzantine evaluators cannot be
// convened. It names the largest f that can.
func (p *DecentLLMs) Suits(cast []synod.Role, f int) error {
	workers, evaluators := members(cast)
	a, err := robust.Catalogue.Find(p.Aggregate)
	if err != nil {
		return err
	}
	switch most := a.Bound(len(evaluators)); {
	case len(workers) == 0 || most < 0:
		return fmt.Errorf("decentllms: %d workers and %d evaluators are too few for %s", len(workers), len(evaluators), p.Aggregate)
	case f < 0 || f > most:
		return fmt.Errorf("decentllms: f is %d; with %d evaluators %s bears at most f = %d", f, len(evaluators), p.Aggregate, most)
	}
	g, marks := p.answers(cast, f, synod.DefaultPace), p.marks(cast, f, synod.DefaultPace)
	if err := g.Validate(); err != nil {
		return err
	}
	return marks.Validate()
}

// members lists the seats of each role, ascending.
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

// version is signed with everything: words of another version say nothing.
const version = "decentllms/1"

// answers returns the broadcast of the first phase. It begins after the time for one
// call and a second one if that fails: workers their answers, evaluators
// what they commit to for the salt.
func (p *DecentLLMs) answers(cast []synod.Role, f int, pace synod.Pace) broadcast.Group {
	_, evaluators := members(cast)
	all := make([]synod.NodeID, len(cast))
	for i := range all {
		all[i] = synod.NodeID(i)
	}
	return broadcast.Group{Protocol: version, Name: "answers", Members: evaluators, Senders: all, F: f, Start: 2 * pace.Think, Within: pace.Within, MaxValue: maxAnswer + p.Rationale}
}

// marks is the broadcast of the second phase: evaluators their marks.
func (p *DecentLLMs) marks(cast []synod.Role, f int, pace synod.Pace) broadcast.Group {
	g := p.answers(cast, f, pace)
	start := g.End() + 2*pace.Think
	workers, evaluators := members(cast)
	return broadcast.Group{Protocol: version, Name: "marks", Members: evaluators, Senders: evaluators, F: f, Start: start, Within: pace.Within, MaxValue: marksSize(len(workers))}
}

// Join returns the machine of one member.
func (p *DecentLLMs) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, p.play)
}

// play is §III.C, of a worker or of an evaluator.
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

// Roles lists the roles of seats.
func (p *DecentLLMs) Roles() []synod.Role { return []synod.Role{Worker, Evaluator} }

// Votes reports that evaluators reply to the user, and nobody else.
func (p *DecentLLMs) Votes(seat synod.NodeID, cast []synod.Role) bool {
	return cast[seat] == Evaluator
}

// AllToAll reports that broadcast needs every link.
func (p *DecentLLMs) AllToAll() bool { return true }

// Signs reports that seats need signers.
func (p *DecentLLMs) Signs() bool { return true }

// MaxRounds is one: what evaluators reply is held after round 1.
func (p *DecentLLMs) MaxRounds() int { return 1 }

// Settles reports that nothing is repeated.
func (p *DecentLLMs) Settles() bool { return false }

// Calls is how many model calls a run makes at most: w workers answer, and each
// evaluator marks w answers, for the w that is worst, or all in one call.
func (p *DecentLLMs) Calls(degrees []int) (most int) {
	n := len(degrees)
	if p.Judge == All {
		return n
	}
	for w := range n + 1 {
		most = max(most, w+(n-w)*w)
	}
	return most
}
