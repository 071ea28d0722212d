// Package panel chooses the best of long texts: every member answers, and every member
// grades the answers of all others. It is what prose is decided with, where no two answers
// are equal and nothing can be counted.
//
// The grades are DecentLLMs' (Jo, Park; package grade): five criteria, one answer in a call.
// Each answer is graded by all seats but its author's. A robust aggregate makes one total of
// its grades, and the answer with the highest total is the decision, word for word. No text is
// ever blended with another one.
//
// Differences from DecentLLMs, for councils whose outcome one judge computes from the records of
// all seats:
//
//   - a seat is worker and evaluator at once, and no seat grades its own answer;
//   - grades name the text that they are about by its hash. Whoever computes the decision takes each
//     author's own text and the grades about that very text, so a member that shows different texts to
//     different members only loses grades. Signed broadcast is not needed for that, and not used;
//   - a grade that is missing uses up the bound F for that answer. An answer without the grades of more
//     than F members has no total and cannot be chosen, so a text that keeps evaluators from replying
//     does not win;
//   - between equal totals a hash decides that is salted with all answers, so no author can choose its
//     text for the hash.
//
// With Lenient there is a decision also where more than F members send no grades, which no guarantee covers: a
// total is then the mean of the grades that came, and a text that nobody graded counts as one of which nobody can
// tell how good it is.
//
// With Claims, every member but the author then judges each sentence of the chosen answer (claims.go, parts.go).
//
// Promised, if at most F members are Byzantine, n ≥ 2F+2, and no message is late: with trimmed-mean or
// median-total every total is in the range of the honest members' grades of that text, so an answer whose
// honest grades are all below those of another one is never chosen. Not promised: that honest grades are
// right, or that the answer is.
package panel

import (
	"embed"
	"fmt"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// Panel holds the protocol's parameters.
type Panel struct {
	Aggregate string        `yaml:"aggregate" json:"aggregate" doc:"how the grades of an answer become one total" names:"aggregates"`
	Caution   synod.Caution `yaml:"caution" json:"caution" doc:"what prompts say about hostile answers" enum:"none|may-exist"`
	Claims    bool          `yaml:"claims" json:"claims,omitempty" doc:"all members but its author judge each sentence of the chosen answer; the council key claims sets it too"`
	Drop      bool          `yaml:"drop-disputed" json:"drop-disputed,omitempty" doc:"with claims: the author writes the answer again without disputed sentences, and the new text is checked"`
	Lenient   bool          `yaml:"lenient" json:"lenient,omitempty" doc:"decide also where more than f members sent no grades, by those that came; nothing is guaranteed then. Councils that name no protocol for prose have it"`
	Exact     bool          `yaml:"-" json:"exact,omitempty"` // no reply is reused: council key "exact: paper"
}

// New returns the defaults: the mean without the F lowest and F highest grades.
func New() *Panel { return &Panel{Aggregate: "trimmed-mean", Caution: synod.CautionMayExist} }

// Paper sets the aggregate of DecentLLMs' paper. No paper has this protocol.
func (p *Panel) Paper() { p.Exact, p.Aggregate = true, "geometric-median" }

// Validate returns an error for an unknown rule, and for parameters that do not go together.
func (p *Panel) Validate() error {
	_, err := robust.Catalogue.Find(p.Aggregate)
	switch {
	case err != nil:
		return fmt.Errorf("panel: aggregate is %q; it must be one of %v%s", p.Aggregate, robust.Catalogue.Names(),
			synod.Hint(p.Aggregate, robust.Catalogue.Names()))
	case p.Drop && !p.Claims:
		return fmt.Errorf("panel: drop-disputed needs claims: true, which finds what is disputed")
	}
	return nil
}

// CheckCast returns an error if so many seats cannot tolerate the bound f. Each answer has n-1 evaluators.
func (p *Panel) CheckCast(cast []synod.Role, f int) error {
	a, err := robust.Catalogue.Find(p.Aggregate)
	if err != nil {
		return err
	}
	switch most := a.Bound(len(cast) - 1); {
	case p.Lenient && len(cast) == 1 && f == 0: // its text is the decision, and nobody grades it
	case most < 0:
		return fmt.Errorf("panel: %d seats are too few for %s", len(cast), p.Aggregate)
	case f < 0 || f > most:
		return fmt.Errorf("panel: f is %d; with %d seats, of which %d grade an answer, %s tolerates at most f = %d", f,
			len(cast), len(cast)-1, p.Aggregate, most)
	}
	return nil
}

// DecidesWithoutSome reports Lenient.
func (p *Panel) DecidesWithoutSome() bool { return p.Lenient }

// Forms returns prose, and JSON with parts that are decided as prose: short answers are counted.
func (p *Panel) Forms() []synod.Form { return []synod.Form{synod.Prose, synod.JSON} }

// Graded returns the answers with a total, the best first.
func (p *Panel) Graded(last []synod.Opinion, f int) (all []protocol.GradedAnswer) {
	totals := p.decide(last, f).totals
	for top := best(totals); top != nil; top = best(totals) {
		all = append(all, protocol.GradedAnswer{Of: top.Of, Answer: top.Answer})
		top.Why = "it has its place"
	}
	return all
}

// AllToAll returns true: every member grades every answer.
func (p *Panel) AllToAll() bool { return true }

// JudgeClaims sets Claims.
func (p *Panel) JudgeClaims() { p.Claims = true }

// Settles returns false: nothing is repeated.
func (p *Panel) Settles() bool { return false }

// TellsFirst reports that members exchange their first answers.
func (p *Panel) TellsFirst() bool { return true }

// MaxRounds returns 1 for the grades, and one more for each check of claims.
func (p *Panel) MaxRounds() int {
	switch {
	case p.Drop:
		return 3
	case p.Claims:
		return 2
	}
	return 1
}

// Calls returns the largest number of calls: n answers, n(n-1) grades, and with claims n-1 checks; with
// drop-disputed also a new text and n-1 checks.
func (p *Panel) Calls(degrees []int) int {
	n := len(degrees)
	calls := n * n
	if p.Claims {
		calls += n - 1
	}
	if p.Drop {
		calls += n
	}
	return calls
}

// Guarantee returns what holds for the bound f. The graph is complete, so its robustness has no influence.
func (p *Panel) Guarantee(f, _ int, _ bool) (name, note string) {
	switch {
	case p.Aggregate != "trimmed-mean" && p.Aggregate != "median-total":
		return "", fmt.Sprintf("no guarantee: with %s a total may leave the range of the honest grades", p.Aggregate)
	case f == 0:
		return "", "no guarantee: with F=0 a single hostile member can get its text chosen; otherwise the text is " +
			"the one that the other members grade best"
	}
	return "best-of", fmt.Sprintf("with at most F=%d Byzantine members, every total is in the range of the honest "+
		"members' grades of that text; not that these are right", f)
}

// Join returns the machine of one member.
func (p *Panel) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, p.play)
}

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return answer.With(files) }

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "panel", Summary: "prose: every member grades the texts of all others, and a robust " +
		"aggregate chooses one"},
	Traits: []synod.Trait{synod.Tells, synod.Texts, synod.Judges, synod.Grades},
	Source: `the grades of Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents"; every seat is ` +
		"worker and evaluator",
	Default:  synod.Prose,
	Settings: map[string]any{"lenient": true},
	About:    about,
	Exact: "restored    the geometric median of DecentLLMs; no reply is reused\n" +
		"differs     no paper has this protocol",
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Variable:  true,
	Campaigns: []check.Subject{campaign},
}

const about = `For questions of the form prose, and of the form json with x-merge: prose at a string.
Every member answers, and grades the answers of all
others by five criteria from 0 to 20 (factual contradiction, factual fabrication,
instruction inconsistency, context inconsistency, logical inconsistency), one answer in a
call. The grades of an answer become one total by a robust aggregate, and the answer with
the highest total is the decision, word for word. The graph must be complete, and f is the
bound on Byzantine members: n ≥ 2f+2.

claims           every member but the author says of each sentence of the chosen answer:
                 supported, contradicted, cannot tell. More than f supporters and at most
                 f critics: supported. More than f critics: disputed. All others: open. So
                 f adversaries alone, the author among them, can neither support nor
                 dispute.
drop-disputed    the author writes the answer again without disputed sentences; the new
                 text is checked. It stands if nothing in it is disputed and more than f
                 members find nothing new in it.

guaranteed  with trimmed-mean and median-total, at most f Byzantine members and no late
            message: every total is in the range of the honest grades of that text. A text
            that all honest members grade below another one is never chosen.
not promised  that honest grades and verdicts are right; anything with f = 0, that is
            with two or three members, if one is hostile.

lenient      decide also where more than f members sent no grades: by the mean of those
             that came. A text that nobody graded has 50 of 100. Nothing is guaranteed
             then, and the outcome says so (false; true where no protocol is named)

aggregate    trimmed-mean, median-total, geometric-median, coordinate-median, krum, bulyan
             (trimmed-mean)
caution      what prompts say about hostile answers: none or may-exist (may-exist)`

// purposes of prompts beside grade.One.
const (
	checking  synod.Purpose = "check"   // which sentences of the Detail, from Candidate, are true
	rewriting synod.Purpose = "rewrite" // Candidate without the sentences of the Detail
)
