package council

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/protocol"
)

// Panel is what evaluators made of workers' answers. The record is that of an
// evaluator whose reply was accepted, else of the first that has one; honest ones
// hold the same.
type Panel struct {
	Criteria   []string         `json:"criteria"`
	Answers    []PanelAnswer    `json:"answers"`
	Evaluators []PanelEvaluator `json:"evaluators"`
	Suspects   []string         `json:"suspects"`  // who signed two values
	Unsafe     bool             `json:"unsafe"`    // the bound on delays seems to have been broken
	Undecided  string           `json:"undecided"` // why there is no decision; "" if there is one
}

// PanelAnswer is a worker's answer.
type PanelAnswer struct {
	Worker string        `json:"worker"`
	Answer *synod.Answer `json:"answer"` // null: ⊥, for all evaluators alike
	Bottom string        `json:"bottom"` // why: silent | equivocated | unreadable; "" if it is an answer
	Total  *float64      `json:"total"`  // the aggregated score, 0 to 100
	// Converged is false where the aggregate gave up: the total is then its last iterate,
	// the same for all evaluators; null without a total.
	Converged *bool `json:"converged"`
}

// PanelEvaluator is an evaluator's marks and its reply to the user.
type PanelEvaluator struct {
	ID     string                  `json:"id"`
	Scores map[string]synod.Grades `json:"scores"` // by worker; null: ⊥, for all evaluators alike
	Bottom string                  `json:"bottom"`
	Why    string                  `json:"why"` // what was wrong with its model's replies, if it gave no marks for that
	Reply  *synod.Answer           `json:"reply"`
	Signed bool                    `json:"signed"` // its reply has its signature
}

// panel puts the evaluators' records together; nil where there are none.
func (c *Council) panel(q *synod.Question, seed uint64, accepted synod.Answer, last []synod.Opinion, shown spellings) *Panel {
	at := slices.IndexFunc(last, func(o synod.Opinion) bool { return o.Panel != nil && o.Answer == accepted })
	if at < 0 {
		at = slices.IndexFunc(last, func(o synod.Opinion) bool { return o.Panel != nil })
	}
	if at < 0 {
		return nil
	}
	record, check := last[at].Panel, c.verifier(q, seed)
	criteria := synod.Criteria()
	p := &Panel{Criteria: criteria[:], Answers: []PanelAnswer{}, Suspects: c.names(asInts(record.Suspects)), Unsafe: record.Unsafe, Undecided: record.Undecided}
	for _, a := range record.Answers {
		x := PanelAnswer{Worker: c.seats[a.Of].id, Answer: shown.of(a.Answer), Bottom: a.Bottom, Total: a.Total}
		if a.Total != nil {
			x.Converged = &a.Converged
		}
		p.Answers = append(p.Answers, x)
	}
	for _, g := range record.Grades {
		e := PanelEvaluator{ID: c.seats[g.By].id, Bottom: g.Bottom, Reply: shown.of(last[g.By].Answer)}
		if own := last[g.By].Panel; own != nil {
			e.Why = own.Withheld
		}
		if r, ok := c.protocol.(protocol.Accepting); ok {
			e.Signed = r.Replied(g.By, &last[g.By], check)
		}
		if g.Bottom == "" {
			e.Scores = c.scores(record, g.Grades)
		}
		p.Evaluators = append(p.Evaluators, e)
	}
	return p
}

// scores are an evaluator's marks by worker.
func (c *Council) scores(record *synod.Panel, marks []synod.Grades) map[string]synod.Grades {
	scores := make(map[string]synod.Grades, len(marks))
	for _, a := range record.Answers {
		if a.Bottom == "" && len(scores) < len(marks) {
			scores[c.seats[a.Of].id] = marks[len(scores)]
		}
	}
	return scores
}

// Verify checks the records that were noted in a run (its Opinions) against the
// run's keys, as a third party does: how many there are, and what is wrong with the first that does not
// hold. Where all members were simulated, tokens stand for signatures.
func Verify(run *journal.Run, noted []journal.Noted) (records int, err error) {
	spec, err := SpecOf(run)
	if err != nil {
		return 0, err
	}
	c, err := seatAll(spec)
	if err != nil {
		return 0, err
	}
	p, ok := c.protocol.(protocol.Recording)
	if !ok {
		return 0, nil
	}
	check := c.verifier(&run.Head.Question, run.Head.Seed)
	for _, n := range noted {
		if n.Panel == nil {
			continue
		}
		if err := p.Verify(n.Node, &n.Opinion, &run.Head.Question, c.cast, c.spec.F, check); err != nil {
			return records, fmt.Errorf("council: the record of seat %d: %w", n.Node, err)
		}
		records++
	}
	return records, nil
}
