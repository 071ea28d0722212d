package read

import (
	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
)

// given returns a function that reads the part of a reply in which it commits to an answer, if it has one.
func (m manner) given(q *synod.Question) func(candidate string, found bool) (synod.Answer, string, bool) {
	return func(candidate string, found bool) (synod.Answer, string, bool) {
		if !found {
			return synod.None, "", false
		}
		return m.withSurface(q, candidate)
	}
}

// withSurface returns the canonical form of a candidate and the candidate as its author wrote it.
func (m manner) withSurface(q *synod.Question, candidate string) (synod.Answer, string, bool) {
	value := candidate
	if at := answerMark.FindStringIndex(value); q.Form == synod.Text && !m.strict && at != nil && at[0] == 0 {
		value = value[at[1]:]
	}
	a, ok := m.canonical(q, value)
	if !ok && !m.strict && !m.whole && !q.Form.Long() && len(candidate) <= maxRaw {
		if value = m.asWritten(q, candidate); value != "" {
			a, ok = m.canonical(q, value)
		}
	}
	if !ok {
		return synod.None, "", false
	}
	switch {
	case q.Form == synod.Stance: // replies with one stance have different texts
		return a, string(a), true
	case q.Form.Long(): // their canonical form is how the member wrote it, or a JSON value
		return a, "", true
	}
	return a, clean.Line(notation.Unwrap(clean.Head(candidate, maxRaw)), maxSurface), true
}
