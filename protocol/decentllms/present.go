package decentllms

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/grade"
)

// Panel is the JSON form of a Record in the outcome of a run, under the key "panel".
type Panel struct {
	Criteria   []string     `json:"criteria"`
	Answers    []Answer     `json:"answers"`
	Evaluators []Evaluation `json:"evaluators"`
	Suspects   []string     `json:"suspects"`  // members that signed two values
	Unsafe     bool         `json:"unsafe"`    // the bound on delays seems to have been broken
	Undecided  string       `json:"undecided"` // why there is no decision; "" if there is one
}

// TimingUnsafe implements protocol.Timed.
func (p *Panel) TimingUnsafe() bool { return p.Unsafe }

// Answer is a worker's answer.
type Answer struct {
	Worker string        `json:"worker"`
	Answer *synod.Answer `json:"answer"` // null: ⊥, for all evaluators alike
	Bottom string        `json:"bottom"` // why it is ⊥: silent | equivocated | unreadable; "" if it is an answer
	Total  *float64      `json:"total"`  // the aggregated score, 0 to 100
	// Converged is false if the aggregate stopped before it converged. The total is
	// then its last iterate, the same for all evaluators. It is null without a total.
	Converged *bool `json:"converged"`
}

// Evaluation is an evaluator's grades, and its reply to the user.
type Evaluation struct {
	ID     string                  `json:"id"`
	Scores map[string]grade.Grades `json:"scores"` // by worker; null: ⊥, for all evaluators alike
	Bottom string                  `json:"bottom"`
	// what was wrong with its model's replies, if that is why it sent no grades
	Why    string        `json:"why"`
	Reply  *synod.Answer `json:"reply"`
	Signed bool          `json:"signed"` // its reply has its signature
}

// Present shows the record of an evaluator whose reply was accepted, or else of the
// first that has one. Honest evaluators have the same record. One that does not have every
// worker and evaluator is not shown: a Byzantine evaluator can send any.
func (p *DecentLLMs) Present(last []synod.Opinion, v protocol.View) *protocol.Presentation {
	whole := func(o synod.Opinion) bool { r := RecordOf(&o); return r != nil && complete(r, v.Cast) }
	at := slices.IndexFunc(last, func(o synod.Opinion) bool { return o.Answer == v.Accepted && whole(o) })
	if at < 0 {
		at = slices.IndexFunc(last, whole)
	}
	if at < 0 {
		return nil
	}
	record, criteria := RecordOf(&last[at]), grade.Criteria()
	panel := &Panel{Criteria: criteria[:], Answers: []Answer{}, Suspects: []string{}, Unsafe: record.Unsafe,
		Undecided: record.Undecided}
	for _, id := range last[at].Suspects {
		panel.Suspects = append(panel.Suspects, v.Name(id))
	}
	for _, a := range record.Answers {
		x := Answer{Worker: v.Name(a.Of), Answer: shown(a.Answer), Bottom: a.Bottom, Total: a.Total}
		if a.Total != nil {
			x.Converged = &a.Converged
		}
		panel.Answers = append(panel.Answers, x)
	}
	for _, g := range record.Grades {
		e := Evaluation{ID: v.Name(g.By), Bottom: g.Bottom, Reply: shown(last[g.By].Answer),
			Signed: p.Replied(g.By, &last[g.By], v.Check)}
		if own := RecordOf(&last[g.By]); own != nil {
			e.Why = own.Withheld
		}
		if g.Bottom == "" {
			e.Scores = record.scores(g.Grades, v.Name)
		}
		panel.Evaluators = append(panel.Evaluators, e)
	}
	return &protocol.Presentation{Key: "panel", Value: panel, Voters: "evaluators", Count: len(panel.Evaluators),
		Lines: panel.lines()}
}

// shown returns an answer as JSON has it; nil for None.
func shown(a synod.Answer) *synod.Answer {
	if a == synod.None {
		return nil
	}
	return &a
}

// scores maps the names of workers to an evaluator's grades of their answers.
func (r *Record) scores(grades []grade.Grades, name func(synod.NodeID) string) map[string]grade.Grades {
	scores := make(map[string]grade.Grades, len(grades))
	for _, a := range r.Answers {
		if a.Bottom == "" && len(scores) < len(grades) {
			scores[name(a.Of)] = grades[len(scores)]
		}
	}
	return scores
}

// lines returns the panel as text: which answers and grades are ⊥ and why, and the
// totals of the rest.
func (p *Panel) lines() (lines []string) {
	var totals []string
	for _, a := range p.Answers {
		switch {
		case a.Bottom != "":
			lines = append(lines, fmt.Sprintf("%s has no answer: %s", a.Worker, a.Bottom))
		case a.Total != nil && a.Answer != nil:
			total := fmt.Sprintf("%s %.1f (%q)", a.Worker, *a.Total, clean.Line(string(*a.Answer), maxAnswer))
			if !*a.Converged {
				total += " (not converged)"
			}
			totals = append(totals, total)
		}
	}
	if len(totals) > 0 {
		lines = append(lines, "scores of 100: "+strings.Join(totals, ", "))
	}
	for _, e := range p.Evaluators {
		if e.Bottom == "" {
			continue
		}
		line := fmt.Sprintf("%s gave no valid grades: %s", e.ID, e.Bottom)
		if e.Why != "" {
			line += "; " + clean.Line(e.Why, maxAnswer)
		}
		lines = append(lines, line)
	}
	if len(p.Suspects) > 0 {
		lines = append(lines, "sent different messages to different members: "+strings.Join(p.Suspects, ", "))
	}
	if p.Unsafe {
		lines = append(lines, "messages came late: either delays exceeded a round, and evaluators may disagree, or an "+
			"adversary pretends it")
	}
	return lines
}

// Ranked returns the answers that have a total, the best first; of equal totals, the
// first by its bytes.
func (p *DecentLLMs) Ranked(o *synod.Opinion) (answers []synod.Answer) {
	r := RecordOf(o)
	if r == nil {
		return nil
	}
	scored := r.scored()
	order.Stable(scored, func(a, b WorkerAnswer) int {
		return cmp.Or(cmp.Compare(*b.Total, *a.Total), cmp.Compare(a.Answer, b.Answer))
	})
	for _, a := range scored {
		answers = append(answers, a.Answer)
	}
	return answers
}
