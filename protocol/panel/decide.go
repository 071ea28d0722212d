package panel

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/grade"
)

// decided is the decision as everybody computes it from the records of all seats.
type decided struct {
	records []*Record
	given   []synod.Answer // the graded texts, by seat
	totals  []Total
	top     *Total // nil: no answer has a total
	loose   string // why the guarantee does not hold for the totals; "" if it does
	answer  synod.Answer
	why     string
	checks  []*Check // what each seat says of the sentences of answer; nil: nothing
}

// decide computes the decision. Each author's text is taken from its own opinions. A new text without disputed
// claims replaces the chosen one only if the records of the others say that it stands.
func (p *Panel) decide(last []synod.Opinion, f int) *decided {
	d := &decided{}
	marks := make([][]Mark, len(last))
	for i := range last {
		r := recordOf(&last[i])
		d.records, marks[i] = append(d.records, r), r.Marks
		text := last[i].Answer
		if r.Again != nil && r.Again.Old != "" && sumOf(text) != r.Given {
			text = synod.Answer(r.Again.Old)
		}
		if sumOf(text) != r.Given { // it noted another text than the one that was graded
			text = synod.None
		}
		d.given = append(d.given, text)
	}
	d.totals, d.loose = p.rank(d.given, marks, f)
	if d.top = best(d.totals); d.top == nil {
		d.why = fmt.Sprintf("no answer has the grades of all members but f = %d", f)
		return d
	}
	held := last[d.top.Of].Answer
	d.answer, d.why = d.top.Answer, d.reason()
	if held != d.answer {
		d.checks = d.about(func(r *Record) *Check { return r.Again },
			&Check{Of: d.top.Of, Text: sumOf(held), Before: sumOf(d.answer)})
		if !stands(held, d.top.Of, d.checks, f) {
			d.answer = synod.None
			d.why = "the author of the chosen answer replaced it by a text that the others did not confirm"
			return d
		}
		d.answer = held
		d.why += "; its author left out what was disputed"
		return d
	}
	d.checks = d.about(func(r *Record) *Check { return r.Claims }, &Check{Of: d.top.Of, Text: sumOf(d.answer)})
	return d
}

// reason says why an answer was chosen.
func (d *decided) reason() string {
	n := d.scored()
	switch {
	case n == 1 && d.top.Judges == 0:
		return "it is the only answer, and nobody graded it"
	case d.top.Judges == 0:
		return fmt.Sprintf("%s; it is one of %d answers, and nobody graded it", d.loose, n)
	}
	why := fmt.Sprintf("it has the highest total of %d answers, %.1f of 100, by %d members", n, d.top.Total,
		d.top.Judges)
	if d.loose != "" {
		why += "; " + d.loose
	}
	return why
}

// Forfeits says why the guarantee does not hold for a decision: more than f members sent no grades.
func (p *Panel) Forfeits(last []synod.Opinion, f int) string { return p.decide(last, f).loose }

// about returns what each seat says of the sentences of a text.
func (d *decided) about(of func(*Record) *Check, c *Check) []*Check {
	all := make([]*Check, len(d.records))
	for i, r := range d.records {
		if other := of(r); other != nil && other.about(c) {
			all[i] = other
		}
	}
	return all
}

// scored counts the answers with a total.
func (d *decided) scored() (n int) {
	for _, t := range d.totals {
		if t.Why == "" {
			n++
		}
	}
	return n
}

// Accept returns the decision from the records of all seats.
func (p *Panel) Accept(last []synod.Opinion, _ []synod.Role, f int, _ synod.Verifier) (a synod.Answer, enough bool,
	why string) {
	d := p.decide(last, f)
	silent := 0
	for _, r := range d.records {
		if len(r.Marks) == 0 {
			silent++
		}
	}
	switch {
	case p.Lenient && d.scored() == 0:
		return synod.None, false, "no member has an answer"
	case p.Lenient:
	case silent > f && len(last) > 1:
		return synod.None, false, fmt.Sprintf("%d of %d members graded no answer; f is %d", silent, len(last), f)
	}
	return d.answer, true, d.why
}

// Replied reports whether a seat holds an answer. Members sign nothing: one judge has the records of all seats.
func (p *Panel) Replied(_ synod.NodeID, last *synod.Opinion, _ synod.Verifier) bool {
	return last.Answer != synod.None
}

// ListClaims returns the sentences of the decision with who supports and who contradicts each of them. Those that no
// member judged are among them. It returns nil if no member judged any.
func (p *Panel) ListClaims(last []synod.Opinion, f int) (all []protocol.Claim) {
	d := p.decide(last, f)
	if !slices.ContainsFunc(d.checks, func(c *Check) bool { return c != nil }) {
		return nil
	}
	shown := judged(d.answer)
	for _, part := range partsOf(d.answer) {
		text := string(d.answer[part.start:part.end])
		x := protocol.Claim{Text: clean.Line(text, maxPart), Start: part.start, End: part.end, Verdict: protocol.Open}
		if i := slices.Index(shown, part); i >= 0 {
			x.Supporters, x.Critics = tally(d.checks, d.top.Of, i)
			x.Judged = slices.ContainsFunc(d.checks, func(c *Check) bool { return c != nil && i < len(c.Marks) })
		}
		switch {
		case len(x.Critics) > f:
			x.Verdict = protocol.Disputed
		case len(x.Supporters) > f:
			x.Verdict = protocol.Supported
		}
		all = append(all, x)
	}
	return all
}

// Shown is the JSON form of the grades in the outcome of a run, under the key "panel".
type Shown struct {
	Criteria []string      `json:"criteria"`
	Answers  []ShownAnswer `json:"answers"`
}

// ShownAnswer is an answer with its grades.
type ShownAnswer struct {
	Author string                  `json:"author"`
	Total  *float64                `json:"total"`  // 0 to 100; null: none
	Why    string                  `json:"why"`    // why there is no total
	Grades map[string]grade.Grades `json:"grades"` // by evaluator
}

// Present shows the total and the grades of every answer.
func (p *Panel) Present(last []synod.Opinion, v protocol.View) *protocol.Presentation {
	f := v.F
	d := p.decide(last, f)
	criteria := grade.Criteria()
	s := &Shown{Criteria: criteria[:]}
	var totals []string
	for i, t := range d.totals {
		x := ShownAnswer{Author: v.Name(t.Of), Why: t.Why, Grades: map[string]grade.Grades{}}
		if t.Why == "" {
			x.Total = &d.totals[i].Total
			totals = append(totals, fmt.Sprintf("%s %.1f", x.Author, t.Total))
		}
		for by, r := range d.records {
			k := slices.IndexFunc(r.Marks, func(m Mark) bool { return m.Of == t.Of && m.Text == sumOf(t.Answer) })
			if k >= 0 && r.Marks[k].Grades != nil && by != i {
				x.Grades[v.Name(synod.NodeID(by))] = *r.Marks[k].Grades
			}
		}
		s.Answers = append(s.Answers, x)
	}
	out := &protocol.Presentation{Key: "panel", Value: s, Voters: "evaluators", Count: len(last)}
	if d.top != nil && d.answer != synod.None && d.answer == v.Accepted {
		out.Head = d.head(v.Name(d.top.Of))
		if d.answer != d.top.Answer {
			out.Head += "; its author left out what was disputed"
		}
	}
	if len(totals) > 0 {
		out.Lines = append(out.Lines, "scores of 100: "+strings.Join(totals, ", "))
	}
	for _, t := range d.totals {
		if t.Why != "" {
			out.Lines = append(out.Lines, clean.Line(v.Name(t.Of)+" has no score: "+t.Why, 200))
		}
	}
	return out
}

// head describes the decision in a few words.
func (d *decided) head(author string) string {
	switch n := d.scored(); {
	case n == 1 && d.top.Judges == 0:
		return "the answer of " + author + "; no other member had one, and nothing was compared"
	case d.top.Judges == 0:
		return fmt.Sprintf("the answer of %s, one of %d; no member graded it", author, n)
	default:
		return fmt.Sprintf("the answer of %s, best of %d by %d evaluators", author, n, d.top.Judges)
	}
}
