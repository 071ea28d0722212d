package council

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/llm/structured"
	"synod.dev/synod/protocol"
)

// merging reports whether the decision on a question is made field by field: the answer is a JSON value, and
// the protocol does not choose one member's answer by itself.
func (p *Plan) merging(q *synod.Question) bool {
	return q.Form == synod.JSON && (p.spec.Rule.Name != ByProtocol || p.merges())
}

// merges reports whether the protocol's own answers are merged field by field under rule: protocol.
func (p *Plan) merges() bool {
	_, staged := p.protocol.(protocol.Staged)
	return staged || p.weighting() != nil || p.grading() != nil
}

// grading returns the protocol if its members grade one another's first answers; nil for others.
func (p *Plan) grading() protocol.Grading {
	g, _ := p.protocol.(protocol.Grading)
	return g
}

// weighting returns how the protocol weighs first answers; nil if it does not.
func (p *Plan) weighting() func(first *synod.Opinion) float64 {
	if w, ok := p.protocol.(protocol.Weighting); ok {
		return w.Weight
	}
	return nil
}

// firstHand reports whether a merge takes the answers that members gave before they heard others.
func (p *Plan) firstHand() bool {
	return p.merges() || p.protocol.MaxRounds() == 0
}

// MergeNote says what is guaranteed of a JSON answer of this council, in a sentence.
func (p *Plan) MergeNote() string {
	switch {
	case p.grading() != nil:
		return fmt.Sprintf("each field is merged from independent answers, and texts with x-merge: prose are those of "+
			"one member, chosen by grades: if at most F=%d of all seats are Byzantine, an honest member gave every "+
			"other decided value, and every number lies between two honest ones", p.spec.F)
	case p.spec.Rule.Name == ByProtocol && !p.merges():
		return "the protocol's own step chooses one member's whole value; fields are not merged"
	case p.firstHand():
		return fmt.Sprintf("each field is merged from independent answers: if at most F=%d of all seats are "+
			"Byzantine, an honest member gave every decided value, and every number lies between two honest ones",
			p.spec.F)
	}
	return fmt.Sprintf("each field is merged from the last answers, which members gave after they had heard others: "+
		"if at most F=%d of all seats are Byzantine, an honest member ended on every decided value, and every "+
		"number lies between two that honest members ended on", p.spec.F)
}

// acceptsJSON reports why the council cannot decide on a JSON value; nil if it can.
func (p *Plan) acceptsJSON(q *synod.Question) error {
	s, err := read.Schema(q)
	if err != nil {
		return err
	}
	switch f := p.spec.F; {
	case s.Prose() != "" && p.grading() == nil:
		return fmt.Errorf("the schema has x-merge: prose at %s, for which members grade one another's answers: use "+
			"protocol: {name: panel}, or leave x-merge out there, which decides by vote", s.Prose())
	case s.Prose() == "" && p.grading() != nil:
		return fmt.Errorf("protocol %s grades answers, and the schema has no string with x-merge: prose: use "+
			"protocol: {name: majority}, which merges without grades", p.entry.Name)
	case p.grading() != nil && p.spec.Claims:
		return errors.New("claims are judged of prose only: remove claims, or use form: prose")
	case p.spec.Exact != "":
		return fmt.Errorf("exact is %s, which reads answers as the papers do; none of them has JSON. Remove exact",
			p.spec.Exact)
	case p.spec.Rule.Name == ByProtocol && !p.merges():
		return nil
	case p.voters <= 2*f:
		return fmt.Errorf("f is %d, and %d seats vote: to merge fields with f: %d needs at least %d. Add seats, or "+
			"set f: %d", f, p.voters, f, 2*f+1, (p.voters-1)/2)
	case p.spec.Rule.Support > 0 && !p.firstHand():
		return errors.New("rule.support counts first answers, and fields are merged from the last ones: remove " +
			"support, or use a protocol without rounds, such as majority")
	}
	return nil
}

// merge makes the decision field by field. A verdict without enough answers stays.
func (j *judgment) merge(v *verdict) {
	p, q := j.plan, &j.in.Question
	if v.status == Degraded || !p.merging(q) {
		return
	}
	s, err := read.Schema(q)
	if err != nil { // Accepts has compiled it
		v.status, v.answer, v.reason = Undecided, synod.None, err.Error()
		return
	}
	rule := p.spec.Rule
	in := j.given()
	by := structured.Rule{F: max(p.spec.F, rule.Support-1), Seats: p.voters, Need: func(seats int) int {
		votes, _ := rule.need(seats)
		return votes
	}, Best: j.bestGraded()}
	if p.voices != nil {
		by.Voice, by.Voices = p.voice, rule.Support
	}
	m := s.Merge(in, by)
	for i := range m.Fields {
		if f := &m.Fields[i]; f.How == string(structured.ByProse) && f.Decided {
			f.Author = p.name(synod.NodeID(f.Seat))
		}
	}
	if m.Composed && p.spec.Compose == "never" {
		m.Value, m.Reason = nil, fmt.Sprintf("no member gave the whole value %s, and compose is never", m.Value)
	}
	v.answer, v.status = synod.None, Undecided
	v.reason = "no decision field by field: " + m.Reason
	if m.Value != nil {
		v.status, v.answer = Agreed, synod.Answer(m.Value.String())
		v.reason = mergedBy(&m, by.Count(in), rule.Name)
	}
	j.merged = &m
}

// mergedBy says how a value was decided.
func mergedBy(m *structured.Merged, answers int, rule string) string {
	left := 0
	for _, f := range m.Fields {
		if !f.Decided {
			left++
		}
	}
	if m.Whole() {
		return fmt.Sprintf("%d of %d answers are this whole value (%s)", m.Fields[0].Support, answers, rule)
	}
	text := fmt.Sprintf("merged field by field from %d answers: %d fields decided, %d left out (%s)", answers,
		len(m.Fields)-left, left, rule)
	if m.Composed {
		text += "; no member gave this whole value"
	}
	return text
}

// bestGraded returns the seats whose first answers have a total of grades, the best first; nil in a protocol without
// grades. An answer that a seat did not show to those who graded it does not count.
func (j *judgment) bestGraded() (seats []int) {
	by := j.plan.grading()
	if by == nil {
		return nil
	}
	for _, g := range by.Graded(j.lastOpinions(), j.plan.spec.F) {
		if j.first[g.Of] == g.Answer {
			seats = append(seats, int(g.Of))
		}
	}
	return seats
}

// given returns the values to merge, by seat that votes.
func (j *judgment) given() (in []structured.Given) {
	p := j.plan
	weigh := p.weighting()
	staged := j.staged()
	for i, r := range j.seats {
		if staged != nil && !slices.Contains(staged.Order[:staged.Asked], synod.NodeID(i)) {
			continue // what a member says that was not asked does not count
		}
		o := j.last[i]
		if p.firstHand() {
			if o = nil; j.uncommitted != nil && j.uncommitted[i] {
				continue
			}
			for _, noted := range r.Opinions {
				if noted.Round == 0 {
					o = noted.Opinion
				}
			}
		}
		if p.seats[i].NonVoting || answerOf(o) == synod.None {
			continue
		}
		// What a node or a journal reports as an answer is checked again.
		a, ok := read.Canonical(&j.in.Question, string(o.Answer))
		if !ok {
			continue
		}
		v, err := structured.Parse([]byte(a))
		if err != nil {
			continue
		}
		g := structured.Given{Seat: i, Value: v, Weight: 1}
		if weigh != nil {
			g.Weight = weigh(o)
		}
		in = append(in, g)
	}
	return in
}

// showValue adds to an outcome the value of its decision, and the fields of a merge. Without independent
// answers nothing is said about what they withstand.
func (j *judgment) showValue(o *Outcome) {
	q := &j.in.Question
	if o.Decision != synod.None && (q.Form == synod.JSON || q.Form == synod.Action) {
		o.Value = json.RawMessage(o.Decision)
	}
	if j.merged == nil {
		return
	}
	o.Fields = j.merged.Fields
	if o.Decision != synod.None {
		o.Composed = &j.merged.Composed
	}
	switch {
	case o.Decision == synod.None:
	case j.merged.Graded:
		o.Fragile = "a part was chosen by the members' grades, and not by counting"
	case !j.plan.firstHand() && j.heard():
		for i := range o.Fields {
			o.Fields[i].Withstands = nil
		}
	default:
		w := robust.Withstood(j.merged.Withstands)
		o.Withstands, o.Fragile = &w, ""
		for i := range o.Fields {
			if w := o.Fields[i].Withstands; w != nil {
				w.Ignored, w.Changed = j.plan.inVoices(w.Ignored), j.plan.inVoices(w.Changed)
			}
		}
	}
}

// join replaces the calls of tools by those that stand for them: calls whose numbers differ by no more than
// the tolerances of the tools' schemas are one. Short texts are joined by what members say (joinTexts). Other
// questions have nothing to join.
func (j *judgment) join() {
	q := &j.in.Question
	if by, ok := j.plan.protocol.(protocol.Joining); ok && q.Form == synod.Text && j.plan.joinsTexts() {
		j.joinTexts(by)
	}
	if q.Form != synod.Action {
		return
	}
	tools, err := read.Tools(q)
	if err != nil {
		return
	}
	all := make([]synod.Answer, 0, 2*len(j.seats))
	for i := range j.seats {
		all = append(all, j.first[i], answerOf(j.last[i]))
	}
	calls := make([]*structured.Value, len(all))
	for i, a := range all {
		if c, ok := read.Canonical(q, string(a)); ok {
			calls[i], _ = structured.Parse([]byte(c))
		}
	}
	j.joined = map[synod.Answer]synod.Answer{}
	for i, c := range tools.Join(calls) {
		if c != nil {
			j.joined[all[i]] = synod.Answer(c.String())
		}
	}
}

// stand returns the answer that stands for an answer in the ballot.
func (j *judgment) stand(a synod.Answer) synod.Answer { return cmp.Or(j.joined[a], a) }
