package lab

import (
	"time"

	"synod.dev/synod/journal"
	"synod.dev/synod/report/inspect"
	"synod.dev/synod/task"
)

// samples yields the questions that are finished or have failed.
func (x *export) samples(yield func(*inspect.Sample, error) bool) {
	for k := range x.total() {
		s, err := x.sample(x.job(k))
		if (s != nil || err != nil) && !yield(s, err) || err != nil {
			return
		}
	}
}

// sample is one question; nil where it is not finished.
func (x *export) sample(j job) (*inspect.Sample, error) {
	res, err := x.result(j)
	if err != nil || res == nil && !x.last(j).Failed {
		return nil, err
	}
	it, past := x.Run.Items[j.item], x.past[attempt{Question: x.id(j), Repeat: j.repeat}.key()]
	q := it.Question
	s := &inspect.Sample{
		ID: q.ID, Epoch: j.repeat + 1, Input: q.Text, Target: it.Key,
		Messages: []inspect.Message{{ID: "question", Role: inspect.User, Source: inspect.Input, Content: q.Text}},
		Output:   inspect.Output{Model: x.model, Choices: []inspect.Choice{}},
		Scores:   map[string]inspect.Score{}, Metadata: about(it), Store: map[string]any{},
		Events: []struct{}{}, ModelUsage: map[string]inspect.Usage{},
	}
	for _, o := range q.Options {
		s.Choices = append(s.Choices, o.Text)
	}
	past.tell(s)
	if res == nil {
		s.Error = &inspect.Error{Message: past.last.Reason}
		s.Metadata["status"], s.Metadata["stopped"] = "failed", past.last.Stopped
		return s, nil
	}
	run, err := journal.Load(x.journal(j))
	if err != nil {
		return nil, err
	}
	t := &telling{x, s, run, res, spellings(run)}
	t.rounds()
	t.decided()
	t.usage()
	return s, nil
}

// tell says when the last attempt took place, and how long all of them took.
func (h history) tell(s *inspect.Sample) {
	if last := h.last; !last.Ended.IsZero() {
		s.CompletedAt = stamp(last.Ended)
		s.StartedAt = stamp(last.Ended.Add(-time.Duration(last.Seconds * float64(time.Second))))
	}
	if h.seconds > 0 {
		s.TotalTime = &h.seconds
	}
}

// about is what is known of a question besides its text and key.
func about(it task.Record) map[string]any {
	m := map[string]any{"form": it.Question.Form}
	if it.Level > 0 {
		m["level"] = it.Level
	}
	if it.Topic != "" {
		m["topic"] = it.Topic
	}
	if it.Note != "" {
		m["note"] = it.Note
	}
	var labels []string
	for _, o := range it.Question.Options {
		labels = append(labels, o.Label)
	}
	if labels != nil {
		m["labels"] = labels
	}
	return m
}
