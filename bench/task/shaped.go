package task

import (
	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/llm/structured"
)

// shaped reports whether the question says what its JSON answers look like.
func shaped(q *synod.Question) bool { return len(q.Schema) > 0 || q.Form == synod.Action }

// readShaped reads a JSON value that follows the question's schema, or a call of one of its tools.
func readShaped(q *synod.Question, s string) (reading, bool) {
	a, ok := read.Canonical(q, s)
	return reading{shown: string(a), answer: a}, ok
}

// sameShaped reports whether two answers are equal as values: canonical answers are if their texts are. Calls
// whose numbers differ by no more than the tolerances of their tools are equal too.
func sameShaped(q *synod.Question, want, got synod.Answer) bool {
	if want == got || q.Form != synod.Action {
		return want == got
	}
	tools, err := read.Tools(q)
	if err != nil {
		return false
	}
	a, err := structured.Parse([]byte(want))
	if err != nil {
		return false
	}
	b, err := structured.Parse([]byte(got))
	if err != nil {
		return false
	}
	joined := tools.Join([]*structured.Value{a, b})
	return joined[0].String() == joined[1].String()
}
