package report

import (
	"testing"

	"synod.dev/synod/task"
)

// The filters of a page find undecided, wrong and captured questions.
func TestQuestionClass(t *testing.T) {
	r := &Report{Seats: []Member{{ID: "a"}, {ID: "x", Adversary: "replay"}}}
	votes := []Support{{Answer: "7", Seats: []string{"a", "x"}}, {Answer: "8", Seats: []string{"a"}}}
	for want, q := range map[string]*Question{
		"q q-undecided":        {},
		"q":                    {Answer: "7", Verdict: task.Right, Votes: votes},
		"q q-wrong q-captured": {Answer: "7", Verdict: task.Wrong, Votes: votes},
		"q q-wrong":            {Answer: "8", Verdict: task.Wrong, Votes: votes},
	} {
		if got := r.questionClass(q); got != want {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
}
