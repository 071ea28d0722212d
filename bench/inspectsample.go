package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench/report/inspectai"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/llm"
)

// samples yields a sample for every question that is finished or has failed.
func (x *export) samples(yield func(*inspectai.Sample, error) bool) {
	for s := range eachJob(x.reader, x.store.ByRepeat(x.cell), x.job, x.sample) {
		if (s.made != nil || s.err != nil) && !yield(s.made, s.err) || s.err != nil {
			return
		}
	}
}

// sample returns the sample of a job; nil if it is not finished.
func (x *export) sample(j job, row *store.Result) (*inspectai.Sample, error) {
	if row == nil && !x.last(j).Failed {
		return nil, nil
	}
	var res *result
	var err error
	if row != nil {
		if res, err = x.graded(j, row); err != nil {
			return nil, err
		}
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
	shown, err := x.shown(j, res)
	if err != nil {
		return nil, err
	}
	t := &sampler{x, s, shown, res}
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
	shown  *shown
	res    *result
}

// noted is an opinion as the metadata of its message; its fields are in the order of their names.
type noted struct {
	Adversary  string       `json:"adversary,omitempty"`
	Answer     any          `json:"answer"`
	Confidence *float64     `json:"confidence,omitempty"`
	Kind       llm.Kind     `json:"kind"`
	Role       string       `json:"role,omitempty"`
	Round      int          `json:"round"`
	Seat       string       `json:"seat"`
	Source     synod.Source `json:"source"`
	Verdict    task.Verdict `json:"verdict,omitempty"`
}

// treated is an opinion as a row of the store: noted, and how the member scored and treated the answers of others.
type treated struct {
	Adversary  string                 `json:"adversary,omitempty"`
	Answer     any                    `json:"answer"`
	Confidence *float64               `json:"confidence,omitempty"`
	Dropped    []string               `json:"dropped"`
	Failed     int                    `json:"failed_calls"`
	From       []string               `json:"from"`
	Kind       llm.Kind               `json:"kind"`
	Retained   []string               `json:"retained"`
	Reused     int                    `json:"reused"`
	Role       string                 `json:"role,omitempty"`
	Round      int                    `json:"round"`
	Scores     map[string]synod.Score `json:"scores"`
	Seat       string                 `json:"seat"`
	Silent     []string               `json:"silent"`
	Source     synod.Source           `json:"source"`
	Unreadable int                    `json:"unreadable_calls"`
	Verdict    task.Verdict           `json:"verdict,omitempty"`
}

// rounds adds every opinion as a message of its member and as a row of the store. The
// message is the reply of the member if it was asked in that round, else its answer.
func (t *sampler) rounds() {
	replies := t.replies()
	all := t.inOrder()
	var rounds []treated // null without opinions
	for _, n := range all {
		seat := &t.x.Seats[n.Node]
		row := &noted{Adversary: seat.Adversary, Answer: nullable(n.Answer), Confidence: n.Confidence, Kind: seat.Kind,
			Role: string(seat.Role), Round: n.Round, Seat: seat.ID, Source: n.Source, Verdict: t.res.Verdicts[n.Answer]}
		content, ok := replies[[2]int{int(n.Node), n.Round}]
		if !ok {
			content = string(n.Answer)
		}
		t.sample.Messages = append(t.sample.Messages, inspectai.Message{
			ID: strconv.Itoa(n.Round) + "." + seat.ID, Role: inspectai.Assistant, Source: inspectai.Generate,
			Content: content, Model: t.x.models[n.Node], Metadata: row,
		})
		rounds = append(rounds, t.treated(n, row))
	}
	t.sample.Store["rounds"] = rounds
}

// replies returns the text of the reply of each member in each round in which it was asked for an answer.
func (t *sampler) replies() map[[2]int]string {
	if t.shown.run == nil {
		return nil
	}
	replies := map[[2]int]string{}
	for _, a := range t.shown.run.Asked() {
		if r := t.shown.run.Replies[a.Key]; r.Status == synod.OK && r.Text != "" &&
			(a.Prompt.Purpose == synod.Answering || a.Prompt.Purpose == synod.Refining) {
			replies[[2]int{int(a.Node), a.Round}] = r.Text
		}
	}
	return replies
}

// inOrder returns the opinions ordered by round and seat.
func (t *sampler) inOrder() []*journal.Noted {
	all := make([]*journal.Noted, 0, len(t.shown.noted))
	for i := range t.shown.noted {
		if n := &t.shown.noted[i]; in(n.Node, len(t.x.Seats)) {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b *journal.Noted) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Node, b.Node))
	})
	return all
}

// treated adds to a row how the member scored and treated the answers of others.
func (t *sampler) treated(n *journal.Noted, row *noted) treated {
	scores := make(map[string]synod.Score, len(n.Scores))
	for _, s := range n.Scores {
		scores[t.seat(s.Of)] = s.Score
	}
	return treated{Adversary: row.Adversary, Answer: row.Answer, Confidence: row.Confidence,
		Dropped: t.names(n.Dropped), Failed: n.Failed, From: t.names(n.From), Kind: row.Kind,
		Retained: t.names(n.Retained), Reused: n.Reused, Role: row.Role, Round: row.Round, Scores: scores,
		Seat: row.Seat, Silent: t.names(n.Silent), Source: row.Source, Unreadable: n.Unreadable, Verdict: row.Verdict}
}

func (t *sampler) names(ids []synod.NodeID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = t.seat(id)
	}
	return names
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
	m["status"], m["reason"], m["stopped"] = status, reason, t.res.sum.End.Stopped
	m["digest"], m["calls"] = t.res.digest, t.res.calls
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
	if t.shown.run == nil {
		return
	}
	whole := inspectai.Usage{}
	for key, r := range t.shown.run.Replies { // sums do not depend on the order
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
