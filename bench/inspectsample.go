package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench/report/inspectai"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/order"
)

// samples yields a sample for every question that is finished or has failed.
func (x *export) samples(yield func(*inspectai.Sample, error) bool) {
	for k := range x.total() {
		s, err := x.sample(x.job(k))
		if (s != nil || err != nil) && !yield(s, err) || err != nil {
			return
		}
	}
}

// sample returns the sample of a job; nil if it is not finished.
func (x *export) sample(j job) (*inspectai.Sample, error) {
	res, err := x.result(j)
	if err != nil || res == nil && !x.last(j).Failed {
		return nil, err
	}
	it, past := x.Run.Items[j.item], x.past[j]
	q := it.Question
	s := &inspectai.Sample{
		ID: q.ID, Epoch: j.repeat + 1, Input: q.Text, Target: it.Key,
		Messages: []inspectai.Message{{ID: "question", Role: inspectai.User, Source: inspectai.Input, Content: q.Text}},
		Output:   inspectai.Output{Model: x.model, Choices: []inspectai.Choice{}},
		Scores:   map[string]inspectai.Score{}, Metadata: metadata(it), Store: map[string]any{},
		Events: []struct{}{}, ModelUsage: map[string]inspectai.Usage{},
	}
	for _, o := range q.Options {
		s.Choices = append(s.Choices, o.Text)
	}
	if res != nil {
		if past, err = x.completed(past, res.row); err != nil {
			return nil, err
		}
	}
	past.times(s)
	if res == nil {
		s.Error = &inspectai.Error{Message: past.last.Reason}
		s.Metadata["status"], s.Metadata["stopped"] = "failed", past.last.Stopped
		return s, nil
	}
	run, err := x.shown(j, res.row)
	if err != nil {
		return nil, err
	}
	t := &sampler{x, s, run, res}
	t.rounds()
	t.decided()
	t.usage()
	return s, nil
}

// times sets when the last attempt took place and how long all attempts took.
func (h history) times(s *inspectai.Sample) {
	if last := h.last; !last.Ended.IsZero() {
		s.CompletedAt = stamp(last.Ended)
		s.StartedAt = stamp(last.Ended.Add(-time.Duration(last.Seconds * float64(time.Second))))
	}
	if h.seconds > 0 {
		s.TotalTime = &h.seconds
	}
}

// metadata returns what is known of a question besides its text and key.
func metadata(it task.Keyed) map[string]any {
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

// sampler fills a sample from the journal of a finished job.
type sampler struct {
	x      *export
	sample *inspectai.Sample
	run    *journal.Run
	res    *result
}

// rounds adds every opinion as a message of its member and as a row of the store. The
// message is the reply of the member if it was asked in that round, else its answer.
func (t *sampler) rounds() {
	replies := map[[2]int]string{}
	for _, a := range t.run.Asked() {
		if r := t.run.Replies[a.Key]; r.Status == synod.OK && r.Text != "" &&
			(a.Prompt.Purpose == synod.Answering || a.Prompt.Purpose == synod.Refining) {
			replies[[2]int{int(a.Node), a.Round}] = r.Text
		}
	}
	var rounds []map[string]any
	for _, n := range t.inOrder() {
		seat := t.x.Seats[n.Node]
		row := map[string]any{"seat": seat.ID, "round": n.Round, "answer": nullable(n.Answer), "source": n.Source}
		if v := t.res.Verdicts[n.Answer]; v != "" {
			row["verdict"] = v
		}
		if seat.Adversary != "" {
			row["adversary"] = seat.Adversary
		}
		if seat.Role != "" {
			row["role"] = seat.Role
		}
		if n.Confidence != nil {
			row["confidence"] = *n.Confidence
		}
		row["kind"] = seat.Kind
		content, ok := replies[[2]int{int(n.Node), n.Round}]
		if !ok {
			content = string(n.Answer)
		}
		t.sample.Messages = append(t.sample.Messages, inspectai.Message{
			ID: fmt.Sprintf("%d.%s", n.Round, seat.ID), Role: inspectai.Assistant, Source: inspectai.Generate,
			Content: content, Model: t.x.models[n.Node], Metadata: row,
		})
		rounds = append(rounds, t.withScores(n, maps.Clone(row)))
	}
	t.sample.Store["rounds"] = rounds
}

// inOrder returns the opinions ordered by round and seat.
func (t *sampler) inOrder() []journal.Noted {
	all := slices.DeleteFunc(t.run.Opinions(), func(n journal.Noted) bool { return !in(n.Node, len(t.x.Seats)) })
	order.Stable(all, func(a, b journal.Noted) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Node, b.Node))
	})
	return all
}

// withScores adds to a row how the member scored and treated the answers of others.
func (t *sampler) withScores(n journal.Noted, row map[string]any) map[string]any {
	scores := map[string]synod.Score{}
	for _, s := range n.Scores {
		scores[t.seat(s.Of)] = s.Score
	}
	row["scores"] = scores
	for what, nodes := range map[string][]synod.NodeID{"retained": n.Retained, "dropped": n.Dropped, "silent": n.Silent,
		"from": n.From} {
		names := []string{}
		for _, id := range nodes {
			names = append(names, t.seat(id))
		}
		row[what] = names
	}
	row["failed_calls"], row["unreadable_calls"], row["reused"] = n.Failed, n.Unreadable, n.Reused
	return row
}

func (t *sampler) seat(id synod.NodeID) string {
	if !in(id, len(t.x.Seats)) {
		return fmt.Sprintf("#%d", id)
	}
	return t.x.Seats[id].ID
}

func nullable(a synod.Answer) any {
	if a == synod.None {
		return nil
	}
	return a
}

// decided adds the decision and its grade. Without a decision that can be graded there
// is no score.
func (t *sampler) decided() {
	status, reason := t.res.outcome.Status, t.res.outcome.Reason
	m := t.sample.Metadata
	m["status"], m["reason"], m["stopped"], m["digest"], m["calls"] = status, reason, t.run.End.Stopped, t.res.digest,
		t.res.calls
	if !t.res.Agreed {
		return
	}
	shown, verdict := string(t.res.Decision), t.res.Verdicts[t.res.Decision]
	m["verdict"] = verdict
	t.sample.Output.Completion = shown
	t.sample.Output.Choices = []inspectai.Choice{{
		Message: inspectai.Message{ID: "decision", Role: inspectai.Assistant, Source: inspectai.Generate,
			Content: shown, Model: t.x.model},
		StopReason: "stop",
	}}
	score := inspectai.Score{
		Value: inspectai.Incorrect, Answer: string(t.res.Decision),
		Explanation: fmt.Sprintf("%s: %s is %s, the key is %s", reason, shown, verdict, t.sample.Target),
		Metadata:    map[string]any{"votes": t.res.outcome.Votes},
	}
	switch verdict {
	case task.Right:
		score.Value = inspectai.Correct
	case task.Wrong:
	default:
		return
	}
	t.sample.Scores[decision] = score
}

// usage adds the tokens by model, for models that report them.
func (t *sampler) usage() {
	whole := inspectai.Usage{}
	for key, r := range t.run.Replies { // sums do not depend on the order
		if r.Usage == (synod.Usage{}) || !in(key.Node, len(t.x.models)) {
			continue
		}
		u := t.sample.ModelUsage[t.x.models[key.Node]]
		for _, sum := range []*inspectai.Usage{&u, &whole} {
			*sum = sum.Plus(inspectai.Usage{Input: r.Usage.Prompt, Output: r.Usage.Completion, Total: r.Usage.Total()})
		}
		t.sample.ModelUsage[t.x.models[key.Node]] = u
	}
	if whole.Total > 0 {
		t.sample.Output.Usage = &whole
	}
}
