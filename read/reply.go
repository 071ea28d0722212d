package read

import (
	"synod.dev/synod"

	"synod.dev/synod/clean"
)

// Answer reads a reply to a prompt that wanted an answer. A reply that did not
// end OK has none (SAC-10). exact takes the paper's reader. A typed answer is
// shown as the reply's text where that says the same.
func Answer(q *synod.Question, r *synod.Reply, exact bool) (answer synod.Answer, surface string, ok bool) {
	switch {
	case r.Status != synod.OK:
		return synod.None, "", false
	case r.Typed:
		answer, ok = Canonical(q, string(r.Answer))
		if r.Text != "" && len(r.Text) <= maxSurface && ok && q.Form != synod.Stance {
			if same, _ := Canonical(q, r.Text); same == answer {
				return answer, clean.Line(r.Text, maxSurface), true
			}
		}
		return answer, string(answer), ok
	case exact:
		return PaperAnswer(q, r.Text)
	}
	return AnswerIn(q, r.Text)
}

// Score reads a reply to a prompt that wanted a score. A failed call has none,
// not even the paper's 0.5 (SAC-10). exact takes the paper's reader.
func Score(r *synod.Reply, exact bool) (synod.Score, bool) {
	switch {
	case r.Status != synod.OK:
		return synod.Untrusted, false
	case r.Typed:
		if !(r.Value >= 0 && r.Value <= 1) { // NaN too
			return synod.Untrusted, false
		}
		return synod.Score(r.Value), true
	case exact:
		return PaperScore(r.Text), true
	}
	return ScoreIn(r.Text)
}
