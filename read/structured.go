package read

import (
	"synod.dev/synod"
	"synod.dev/synod/internal/compiled"
	"synod.dev/synod/structured"
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

// structuredReply finds the part of a reply in which it commits to a JSON value or a call: the "answer" of
// the JSON object that the reply is, if that can be read; otherwise the object itself.
func structuredReply(q *synod.Question, text string) (string, bool) {
	body, ok := JSONObject(text)
	if !ok {
		body = finalText(text)
	}
	if v, has := Member(body, "answer"); has {
		if _, fits := canonicalLong(q, string(v)); fits {
			return string(v), true
		}
	}
	return body, body != ""
}
