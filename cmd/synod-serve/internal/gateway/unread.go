package gateway

import (
	"log/slog"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/council/outcome"
)

// unreadTally counts, by council and model, the replies of the last questions that could not be read, so that the log
// says it where they are many. It says it again after as many questions again. The zero value is ready for use.
type unreadTally struct {
	mu  sync.Mutex
	all map[unreadKey]*unreadCount
}

type unreadKey struct{ council, model string }

type unreadCount struct{ questions, replies, unreadable int }

// enough is how many questions are counted before the log may say something.
const enough = 10

// add counts the members of an outcome. It returns those of whose model too many replies could not be read.
func (t *unreadTally) add(served string, o *outcome.Outcome) (often []*outcome.Member, counts []unreadCount) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[unreadKey]*unreadCount{}
	}
	seen := map[string]*outcome.Member{}
	var order []string
	for i := range o.Members {
		m := &o.Members[i]
		c := t.all[unreadKey{served, m.Model}]
		if c == nil {
			c = &unreadCount{}
			t.all[unreadKey{served, m.Model}] = c
		}
		if seen[m.Model] == nil {
			c.questions++
			order = append(order, m.Model)
		}
		if seen[m.Model] == nil || m.Unreadable != nil {
			seen[m.Model] = m
		}
		bad := m.Calls.Of(synod.Unreadable)
		c.unreadable, c.replies = c.unreadable+bad, c.replies+bad+m.Calls.Of(synod.OK)
	}
	for _, model := range order {
		c := t.all[unreadKey{served, model}]
		if c.questions < enough {
			continue
		}
		if metrics.OftenUnread(c.unreadable, c.replies, c.questions) {
			often, counts = append(often, seen[model]), append(counts, *c)
		}
		*c = unreadCount{}
	}
	return often, counts
}

// warn counts the members of an outcome, and writes a line into the log for each model of the council whose replies
// often cannot be read. Without log_content it has no text of the model.
func (t *unreadTally) warn(log *slog.Logger, served string, o *outcome.Outcome) {
	often, counts := t.add(served, o)
	for i, m := range often {
		help := ""
		if m.Unreadable != nil {
			help = m.Unreadable.Help
		}
		log.Warn("many replies of a model cannot be read", "council", served, "model", m.Model, "unreadable",
			counts[i].unreadable, "replies", counts[i].replies, "questions", counts[i].questions, "help", help)
	}
}
