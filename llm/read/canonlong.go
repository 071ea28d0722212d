package read

import (
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/compiled"
	"synod.dev/synod/llm/structured"
)

// canonicalLong is canonical for the forms that are Long. Nothing in their texts is folded.
func canonicalLong(q *synod.Question, raw string) (synod.Answer, bool) {
	if len(raw) > 4*synod.MaxLong {
		return synod.None, false
	}
	var s string
	ok := false
	switch q.Form {
	case synod.Prose:
		s, ok = canonProse(raw)
	case synod.JSON:
		s, ok = canonJSON(q, raw)
	case synod.Action:
		s, ok = canonAction(q, raw)
	}
	if !ok || s == "" || len(s) > synod.MaxLong {
		return synod.None, false
	}
	return synod.Answer(s), true
}

// canonProse returns a text as it was written, without white space around it. Bytes that are not UTF-8
// become U+FFFD, because a journal could not hold them. A text without a letter, digit or symbol is no
// answer.
func canonProse(raw string) (string, bool) {
	s := strings.TrimSpace(strings.ToValidUTF8(raw, "\uFFFD"))
	return s, strings.ContainsFunc(s, meaningful)
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
