package read

import (
	"synod.dev/synod"
	"synod.dev/synod/internal/compiled"
	"synod.dev/synod/llm/structured"
)

// Schema returns the compiled schema of a JSON question; of a question without one, a schema that every value
// follows.
func Schema(q *synod.Question) (*structured.Schema, error) {
	if len(q.Schema) == 0 {
		return compiled.Schema([]byte("true"))
	}
	return compiled.Schema(q.Schema)
}

// Tools returns the tools of an Action question with their compiled schemas.
func Tools(q *synod.Question) (structured.Tools, error) {
	all := make(structured.Tools, len(q.Tools))
	for i, t := range q.Tools {
		s, err := compiled.Schema(t.Parameters)
		if err != nil {
			return nil, err
		}
		all[i] = structured.Tool{Name: t.Name, Parameters: s}
	}
	return all, nil
}

// canonJSON returns the canonical text of a JSON value that follows the question's schema.
func canonJSON(q *synod.Question, raw string) (string, bool) {
	s, err := Schema(q)
	if err != nil {
		return "", false
	}
	v, err := structured.Parse([]byte(raw))
	if err != nil || s.Validate(v) != nil {
		return "", false
	}
	return s.Canonical(v, false).String(), true
}

// canonAction returns the canonical text of a call of one of the question's tools.
func canonAction(q *synod.Question, raw string) (string, bool) {
	tools, err := Tools(q)
	if err != nil {
		return "", false
	}
	v, err := structured.Parse([]byte(raw))
	if err != nil {
		return "", false
	}
	call, err := tools.Call(v)
	if err != nil {
		return "", false
	}
	return call.String(), true
}

// structured reads a JSON value or a call: the "answer" of the object that the reply is, if that can be read;
// otherwise the object itself. An object that is not well-formed, or stands in other text, is read like other
// answers: repaired, and not if the reply has another one that differs.
func (m manner) structured(q *synod.Question, text string) (synod.Answer, string, bool) {
	body, ok := strictObject(text)
	if !ok {
		body = m.text(text)
	}
	if answer, shown, ok := m.valueOf(q, body); ok || m.strict {
		return answer, shown, ok
	}
	found := synod.None
	for _, o := range objects(m.text(text)) {
		answer, _, ok := m.valueOf(q, o.json())
		if ok && found != synod.None && answer != found {
			return synod.None, "", false
		}
		if ok {
			found = answer
		}
	}
	return found, "", found != synod.None
}

// valueOf reads the answer of an object, or the object itself.
func (m manner) valueOf(q *synod.Question, body string) (synod.Answer, string, bool) {
	if v, has := Member(body, answerKey); has {
		if answer, shown, ok := m.withSurface(q, string(v)); ok {
			return answer, shown, true
		}
	}
	return m.given(q)(body, body != "")
}
