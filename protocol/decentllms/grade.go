package decentllms

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
)

// The ways to judge (DL-6).
const (
	One = "one" // one answer a call: no answer can speak about another
	All = "all" // all answers in one call, as in the paper
)

// grade asks for marks of every answer, at most twice.
func (m *member) grade(answers []answered) (own marks, ok bool) {
	own = marks{m.nonce, make([]*grade.Grades, len(answers))}
	of := own.indexes(answers)
	for range 2 {
		left := slices.DeleteFunc(slices.Clone(of), func(i int) bool { return own.grades[i] != nil })
		switch {
		case len(left) == 0:
			return own, true
		case m.p.Judge == All:
			m.gradeAll(answers, left, &own)
		default:
			m.gradeEach(answers, left, &own)
		}
	}
	return own, !slices.ContainsFunc(of, func(i int) bool { return own.grades[i] == nil })
}

// gradeEach asks for the marks of those answers, one a call.
func (m *member) gradeEach(answers []answered, of []int, own *marks) {
	prompts := make([]synod.Prompt, len(of))
	for k, i := range of {
		q := m.Prompt(grade.One)
		q.Candidate, q.Rationale, q.Detail = answers[i].Answer, answers[i].rationale, grade.Detail{}
		q.Spelling = spelling(answers[i : i+1])
		prompts[k] = q
	}
	for k, reply := range m.Me.Ask(prompts...) {
		g, err := grade.Read(reply)
		if err != nil {
			m.missed(reply, err.Error())
			continue
		}
		own.grades[of[k]] = &g
	}
}

// gradeAll asks for the marks of all those answers in one call: all or none.
func (m *member) gradeAll(answers []answered, of []int, own *marks) {
	q := m.Prompt(grade.All)
	q.Detail = grade.Detail{}
	var shown []answered
	for _, i := range of {
		q.Peers = append(q.Peers, synod.Rated{Answer: answers[i].Answer, Rationale: answers[i].rationale})
		shown = append(shown, answers[i])
	}
	q.Spelling = spelling(shown)
	reply := m.Me.Ask(q)[0]
	sheet, err := grade.ReadAll(reply, len(of))
	if err != nil {
		m.missed(reply, err.Error())
		return
	}
	for k, i := range of {
		own.grades[i] = &sheet[k]
	}
}

// missed counts a reply that gave no marks.
func (m *member) missed(r *synod.Reply, why string) {
	if m.why = why; r.Status != synod.OK {
		m.Failed++
	} else {
		m.Unreadable++
		m.Me.Forget(r)
	}
}

// spelling is how answers were written, where that is not their canonical form.
func spelling(answers []answered) (as map[synod.Answer]string) {
	for _, a := range answers {
		if a.surface != string(a.Answer) {
			if as == nil {
				as = map[synod.Answer]string{}
			}
			as[a.Answer] = a.surface
		}
	}
	return as
}
