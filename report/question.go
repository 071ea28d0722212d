package report

import (
	"iter"

	"synod.dev/synod"
	"synod.dev/synod/metrics"
	"synod.dev/synod/task"
)

// Seat is a member as those know it who run an experiment.
type Seat struct {
	ID        string `json:"id"`
	Model     string `json:"model"`
	Kind      string `json:"kind"`      // endpoint, embedded, recorded or simulated
	Group     string `json:"group"`     // weak, strong or ""
	Adversary string `json:"adversary"` // name of the liar; "": honest
}

// role is what a seat is coloured by.
func (s Seat) role() string {
	if s.Adversary != "" {
		return "adversary"
	}
	return plain(s.Group)
}

// Drop counts, over all rounds of all finished questions, how often a member had
// a peer's answer before it and dropped it.
type Drop struct {
	By      string        `json:"by"`
	Of      string        `json:"of"`
	Dropped int           `json:"dropped"`
	Share   *metrics.Rate `json:"share"` // of the answers that were dropped or retained
}

// Question is one question of a run, whole, to be read. Its words are those of
// data sets and models: nobody vouches for them.
type Question struct {
	synod.Question
	Key     string
	Repeat  int
	Status  string // agreed, degraded, undecided or stalled; failed or unfinished
	Reason  string
	Verdict task.Verdict // of the decision; "" without one
	Answer  synod.Answer // the decision
	Votes   []Vote       // of the final answers
	Rounds  [][]Held     // by round and seat
}

// Vote is an answer with those who ended on it.
type Vote struct {
	Answer      synod.Answer
	Verdict     task.Verdict
	Seats       []string
	Independent int // members that gave it in round 0
}

// Held is what a member held after a round.
type Held struct {
	synod.Opinion              // as noted; where nothing was noted, what was held before
	Noted         bool         // something was noted in this round
	Verdict       task.Verdict // "" for no answer
}

// Detail is what a page shows beyond the figures of a report.
type Detail struct {
	Questions iter.Seq2[*Question, error] // nil: none
	Limit     int                         // questions to show; below 0: all
	Rest      string                      // tells how the questions beyond Limit are to be had
}
