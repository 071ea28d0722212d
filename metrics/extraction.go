package metrics

import "synod.dev/synod/task"

// Extraction is how members' first answers fare when they are read from their own
// words: strictly, an answer that the reply commits to, and flexibly, failing that
// the last thing that could be one. What a reader cannot read is in its N and not
// right, so the two stand on the same replies.
type Extraction struct {
	Strict     *Rate `json:"strict"`
	Flexible   *Rate `json:"flexible"`
	Unreadable int   `json:"unreadable"` // strictly
	Differ     int   `json:"differ"`     // replies on which the two verdicts are not one
}

// extraction adds up readings.
type extraction struct {
	strict, flexible   count
	unreadable, differ int
}

func (e *extraction) add(grades []task.Grade) {
	for _, g := range grades {
		e.strict.add(g.Strict == task.Right, true)
		e.flexible.add(g.Flexible == task.Right, true)
		e.unreadable += bit(g.Strict == task.Unreadable)
		e.differ += bit(g.Strict != g.Flexible)
	}
}

// of is nil where no member wrote anything.
func (e *extraction) of() *Extraction {
	if e.strict.n == 0 {
		return nil
	}
	return &Extraction{Strict: e.strict.rate(), Flexible: e.flexible.rate(), Unreadable: e.unreadable, Differ: e.differ}
}
