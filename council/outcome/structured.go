package outcome

import (
	"encoding/json"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/llm/structured"
	"synod.dev/synod/protocol"
)

// merge makes the decision field by field. A verdict without enough answers stays.
func (j *judgment) merge(v *verdict) {
	p, q := j.plan, &j.in.Question
	if v.status == Degraded || !plan.Merging(p, q) {
		return
	}
	s, err := read.Schema(q)
	if err != nil { // Accepts has compiled it
		v.status, v.answer, v.reason = Undecided, synod.None, err.Error()
		return
	}
	rule := p.Full().Rule
	in := j.given()
	by := structured.Rule{F: max(p.Full().F, rule.Support-1), Seats: p.Voters(), Need: func(seats int) int {
		votes, _ := rule.Need(seats)
		return votes
	}, Best: j.bestGraded()}
	if p.VoicesOf() != nil {
		by.Voice, by.Voices = p.VoiceOf, rule.Support
	}
	m := s.Merge(in, by)
	for i := range m.Fields {
		if f := &m.Fields[i]; f.How == string(structured.ByProse) && f.Decided {
			f.Author = p.Name(synod.NodeID(f.Seat))
		}
	}
	if p.Full().Compose == "never" && m.Value != nil {
		wholly(&m, in)
	}
	v.answer, v.status = synod.None, Undecided
	v.reason = "no decision field by field: " + m.Reason
	if m.Value != nil {
		v.status, v.answer = Agreed, synod.Answer(m.Value.String())
		v.reason = mergedBy(&m, by.Count(in), rule.Name)
	}
	j.merged = &m
}

// wholly takes a value back that no member gave as a whole. It withstands that all but one of those who did are left
// out or say something else.
func wholly(m *structured.Merged, in []structured.Given) {
	spare := -1
	for _, g := range in {
		if g.Value.String() == m.Value.String() {
			spare++
		}
	}
	m.Withstands.Ignored, m.Withstands.Changed = min(m.Withstands.Ignored, spare), min(m.Withstands.Changed, spare)
	if m.Composed {
		m.Value, m.Reason = nil, fmt.Sprintf("no member gave the whole value %s, and compose is never", m.Value)
	}
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
	by := plan.Grading(j.plan)
	if by == nil {
		return nil
	}
	for _, g := range by.Graded(j.lastOpinions(), j.plan.Full().F) {
		if j.first[g.Of] == g.Answer {
			seats = append(seats, int(g.Of))
		}
	}
	return seats
}

// given returns the values to merge, by seat that votes.
func (j *judgment) given() (in []structured.Given) {
	p := j.plan
	weigh := plan.Weighting(p)
	staged := j.staged()
	for i, r := range j.seats {
		if staged != nil && !slices.Contains(staged.Order[:staged.Asked], synod.NodeID(i)) {
			continue // what a member says that was not asked does not count
		}
		o := j.last[i]
		if plan.FirstHand(p) {
			if o = nil; j.uncommitted != nil && j.uncommitted[i] {
				continue
			}
			for _, noted := range r.Opinions {
				if noted.Round == 0 {
					o = noted.Opinion
				}
			}
		}
		if p.Seats()[i].NonVoting || AnswerOf(o) == synod.None {
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
	case !plan.FirstHand(j.plan) && j.heard():
		for i := range o.Fields {
			o.Fields[i].Withstands = nil
		}
	default:
		w := robust.Withstood(j.merged.Withstands)
		o.Withstands, o.Fragile = withQuorum(j, &w), ""
		for i := range o.Fields {
			if w := o.Fields[i].Withstands; w != nil {
				*w = structured.Withstands(*withstoodVoices(j.plan, withQuorum(j, (*robust.Withstood)(w))))
			}
		}
	}
}

// join replaces the calls of tools by those that stand for them: calls whose numbers differ by no more than
// the tolerances of the tools' schemas are one. Short texts are joined by what members say (joinTexts). Other
// questions have nothing to join.
func (j *judgment) join() {
	q := &j.in.Question
	if by, ok := j.plan.Protocol().(protocol.Joining); ok && q.Form == synod.Text && plan.JoinsTexts(j.plan) {
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
		all = append(all, j.first[i], AnswerOf(j.last[i]))
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
