package lab

import (
	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/llm"
	"synod.dev/synod/task"
)

// extracted grades every honest seat's first answer from its own words, as both
// readers read it. Members that write no words have none.
func (r *Run) extracted(j job, item *task.Item) ([]task.Grade, error) {
	if !r.writes() || item.Record().Ungraded {
		return nil, nil
	}
	run, err := journal.Load(r.journal(j))
	if err != nil {
		return nil, err
	}
	var grades []task.Grade
	seen := make([]bool, len(r.Seats))
	for _, a := range run.Asked() {
		seat := int(a.Node)
		if a.Prompt.Purpose != synod.Answering || seat < 0 || seat >= len(seen) || seen[seat] || r.Seats[seat].Adversary != "" {
			continue
		}
		reply, came := run.Replies[a.Key]
		if !came || reply.Status != synod.OK || reply.Text == "" {
			continue
		}
		seen[seat] = true
		grades = append(grades, item.GradeReply(reply.Text))
	}
	return grades, nil
}

// writes reports whether any seat's member writes words.
func (r *Run) writes() bool {
	for _, s := range r.Seats {
		if s.Kind != llm.Simulated {
			return true
		}
	}
	return false
}
