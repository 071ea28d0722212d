package read

import (
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/llm/structured"
)

// Sample draws an answer to a question of the form JSON or Action, for simulated members and adversaries.
// It returns None if it finds none, for example because a pattern of the schema must match.
func Sample(q *synod.Question, r *rand.Rand) synod.Answer {
	if q.Form == synod.JSON {
		s, err := Schema(q)
		if err != nil {
			return synod.None
		}
		v, ok := s.Sample(r)
		return drawn(q, v, ok)
	}
	tools, err := Tools(q)
	if err != nil || len(tools) == 0 {
		return synod.None
	}
	t := tools[r.IntN(len(tools))]
	v, ok := t.Parameters.Sample(r)
	if !ok {
		return synod.None
	}
	return drawn(q, structured.NewCall(t.Name, v), ok)
}

// Vary draws an answer that differs from a, for members that make a mistake: in one part if it can.
// It returns None if it finds none.
func Vary(q *synod.Question, a synod.Answer, r *rand.Rand) synod.Answer {
	v, err := structured.Parse([]byte(a))
	if err != nil {
		return Sample(q, r)
	}
	if q.Form == synod.JSON {
		s, err := Schema(q)
		if err != nil {
			return synod.None
		}
		w, ok := s.Vary(v, r)
		return drawn(q, w, ok)
	}
	tools, err := Tools(q)
	if err != nil {
		return synod.None
	}
	for _, t := range tools {
		if name := v.Member("name"); name == nil || name.Text() != t.Name || r.IntN(4) == 0 {
			continue
		}
		if w, ok := t.Parameters.Vary(v.Member("arguments"), r); ok {
			if other := drawn(q, structured.NewCall(t.Name, w), ok); other != a {
				return other
			}
		}
	}
	for range 8 {
		if other := Sample(q, r); other != a {
			return other
		}
	}
	return synod.None
}

func drawn(q *synod.Question, v *structured.Value, ok bool) synod.Answer {
	if !ok {
		return synod.None
	}
	a, ok := Canonical(q, v.String())
	if !ok {
		return synod.None
	}
	return a
}
