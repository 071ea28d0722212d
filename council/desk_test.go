package council_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// answers is a model that gives these replies in turn.
type answers struct {
	kind    llm.Kind
	replies []synod.Reply
	asked   []llm.Request
	then    func() // called before each reply; may be nil
}

func (m *answers) Info() llm.Info { return llm.Info{Kind: m.kind, Name: "m"} }

func (m *answers) Complete(_ context.Context, r llm.Request) (synod.Reply, error) {
	reply := m.replies[len(m.asked)]
	m.asked = append(m.asked, r)
	if m.then != nil {
		m.then()
	}
	if r.Asked != nil {
		if err := r.Asked(synod.Usage{Prompt: 10, Completion: 5}); err != nil {
			return synod.Reply{}, err
		}
	}
	if reply.Detail != "" {
		return reply, &llm.Failure{Status: synod.Refused, Err: errors.New(reply.Detail)}
	}
	return reply, nil
}

// planFor returns the plan of a council file, by default one of three simulated members.
func planFor(t *testing.T, text string) *plan.Plan {
	t.Helper()
	if text == "" {
		text = "models: {m: {provider: simulated}}\nseats: [{id: a, model: m, count: 3}]\n"
	}
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// desk returns the desk of seat 1 with a model, and what reads its journal.
func desk(t *testing.T, m llm.Model, known journal.Replies) (*council.Desk, func() *journal.Run) {
	t.Helper()
	p := planFor(t, "")
	path := filepath.Join(t.TempDir(), "j")
	w, err := journal.Create(path, journal.Head{Spec: p.Record(), Question: sum})
	if err != nil {
		t.Fatal(err)
	}
	return council.NewDesk(p, 1, m, w, nil, known), func() *journal.Run {
		if _, err := w.Close("rounds"); err != nil {
			t.Fatal(err)
		}
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
}

// The desk of one seat asks its model, keeps the record of the seat and writes each reply to
// the journal. What an earlier attempt knows is not asked for again.
func TestDesk(t *testing.T) {
	m := &answers{kind: llm.Endpoint, replies: []synod.Reply{
		{Text: "Adding.\nAnswer: 42", Calls: 1, Usage: synod.Usage{Prompt: 7, Completion: 3}},
		{Detail: "the second", Calls: 1},
		{Detail: "the first", Calls: 1},
		{Detail: "another", Calls: 1},
	}}
	known := journal.Replies{
		{Node: 1, ID: 1}: {Status: synod.OK, Text: "Answer: 41", Calls: 1},
		{Node: 1, ID: 2}: {Status: synod.Dropped},
		{Node: 0, ID: 3}: {Status: synod.OK, Text: "of another seat"},
	}
	d, read := desk(t, m, known)
	prompt := &synod.Prompt{Purpose: synod.Answering, Question: &sum}
	for _, c := range []struct {
		id     synod.ConsultID
		want   synod.Status
		detail string
	}{{1, synod.OK, ""}, {2, synod.OK, ""}, {7, synod.Refused, "the second"}, {3, synod.Refused, "the first"},
		{9, synod.Refused, "another"}} {
		r := d.Ask(t.Context(), c.id, prompt)
		if r.Status != c.want || !strings.Contains(r.Detail, c.detail) {
			t.Errorf("call %d: %+v", c.id, r)
		}
		if (r.Took > 0) != (c.id != 1) {
			t.Errorf("call %d took %d ms", c.id, r.Took)
		}
	}
	d.Note(5, &synod.Opinion{Round: 0, Answer: "42"})
	d.Decide("42")
	record := d.Record("rounds", 99)
	if len(m.asked) != 4 || record.Use.Calls != 5 || record.Use.Prompt != 7 || record.Use.Completion != 3 {
		t.Errorf("%d requests, use %+v", len(m.asked), record.Use)
	}
	if !strings.Contains(record.Failure, "the first") || record.Statuses.Of(synod.Refused) != 3 ||
		record.Statuses.Of(synod.OK) != 2 {
		t.Errorf("failure %q, %v", record.Failure, record.Statuses)
	}
	if record.Seat != 1 || record.Stopped != "rounds" || record.Ticks != 99 || *record.Decided != "42" ||
		len(record.Opinions) != 1 || record.Opinions[0].Tick != 5 || record.Reasoning(0) != "Adding." {
		t.Errorf("%+v", record)
	}
	if m.asked[0].Seat != "a2" || m.asked[0].Prompt != prompt || m.asked[0].Templates == nil {
		t.Errorf("the request is %+v", m.asked[0])
	}
	run := read()
	if len(run.Replies) != 4 || len(run.Unanswered) != 0 {
		t.Errorf("the journal has %d replies, without %v", len(run.Replies), run.Unanswered)
	}
}

// The reasoning of a reply belongs to the round that the seat's next note is for.
func TestDeskKnowsTheRound(t *testing.T) {
	m := &answers{kind: llm.Endpoint, replies: []synod.Reply{{Text: "One.\nAnswer: 1", Calls: 1},
		{Text: "Two.\nAnswer: 2", Calls: 1}}}
	d, _ := desk(t, m, nil)
	prompt := &synod.Prompt{Purpose: synod.Answering, Question: &sum}
	d.Ask(t.Context(), 1, prompt)
	d.Note(1, &synod.Opinion{Round: 0})
	d.Ask(t.Context(), 2, prompt)
	if r := d.Record("", 0); r.Reasoning(0) != "One." || r.Reasoning(1) != "Two." {
		t.Errorf("%+v", r.Said)
	}
}

// A member that costs nothing announces no request, and nobody asks after the end of the run
// or when the journal cannot be written.
func TestDeskAsksNobody(t *testing.T) {
	m := &answers{kind: llm.Simulated, replies: []synod.Reply{{Typed: true, Answer: "42", Calls: 1}, {}, {}}}
	d, _ := desk(t, m, nil)
	prompt := &synod.Prompt{Purpose: synod.Answering, Question: &sum}
	if r := d.Ask(t.Context(), 1, prompt); r.Status != synod.OK || r.Took != 0 || m.asked[0].Asked != nil {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := d.Ask(ctx, 2, prompt); r.Status != synod.Dropped || len(m.asked) != 1 {
		t.Errorf("after the end: %+v, %d requests", r, len(m.asked))
	}
	segment, err := journal.OpenSegment(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := segment.Create("q", journal.Head{Question: sum})
	if err != nil {
		t.Fatal(err)
	}
	if err := segment.Close(); err != nil { // all writes fail
		t.Fatal(err)
	}
	m.kind = llm.Endpoint
	lost := council.NewDesk(planFor(t, ""), 1, m, w, nil, nil)
	lost.Ask(t.Context(), 3, prompt)
	if r := lost.Ask(t.Context(), 4, prompt); r.Status != synod.Dropped || len(m.asked) != 2 {
		t.Errorf("without a journal: %+v, %d requests", r, len(m.asked))
	}
}

// A seat's owner opens its model: with settings of their own, or with those of the plan.
func TestOpenSeat(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	p := planFor(t, seven(s.URL, "s41", "s42", "s43"))
	for want, settings := range map[string]plan.Params{
		"s42": nil, "own": {"provider": "openai", "url": s.URL, "model": "own"},
	} {
		m, err := council.OpenSeat(p, 1, settings,
			council.Options{Env: llm.Env{Getenv: func(string) string { return "" }}})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Info().Model; got != want {
			t.Errorf("%v: model %s, want %s", settings, got, want)
		}
		if c, ok := m.(llm.Closer); ok {
			c.Close()
		}
	}
	var bad *plan.ConfigError
	_, err := council.OpenSeat(p, 1, plan.Params{"provider": "no such"}, council.Options{})
	if !errors.As(err, &bad) || bad.Section != "models.m1" {
		t.Errorf("a provider that does not exist: %v", err)
	}
	p = planFor(t, "protocol: {name: cp-wbft, probe: hidden}\nf: 1\nmodels: {d: {provider: openai, model: x, url: "+
		"\"http://127.0.0.1:1/v1\"}}\nseats: [{id: a, model: d, count: 4}]\n")
	if _, err := council.OpenSeat(p, 0, nil, council.Options{}); err == nil || !strings.Contains(err.Error(),
		"members with a trained probe") {
		t.Errorf("a model without the probe that the protocol needs: %v", err)
	}
}

// The reference's sampling belongs to exact: paper.
func TestOpenSeatExact(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	for exact, want := range map[string]bool{"": false, "paper": true} {
		p := planFor(t, seven(s.URL, "s41", "s42", "s43")+"exact: \""+exact+"\"\n")
		m, err := council.OpenSeat(p, 0, nil, council.Options{Env: llm.Env{Getenv: func(string) string { return "" }}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Complete(t.Context(), llm.Request{Prompt: &synod.Prompt{Template: "sac/answer",
			Purpose: synod.Answering, Question: &sum}, Templates: p.Templates(), Seat: "a0"}); err != nil {
			t.Fatal(err)
		}
		calls := s.Calls()
		if last := calls[len(calls)-1]; (last.Seed != nil && *last.Seed == 1234) != want {
			t.Errorf("exact %q: %+v", exact, last)
		}
	}
}

// What a plan says of a seat.
func TestPlanOfASeat(t *testing.T) {
	p := planFor(t, "graph: {family: ring}\nf: 1\nmodels: {m: {provider: simulated}}\nseats: [{id: a, model: m, "+
		"count: 3}, {id: b, model: m, adversary: {name: silent}}]\n")
	if p.Adversary(0) || !p.Adversary(3) || !slices.Equal(p.Peers(1), []synod.NodeID{0, 2}) || p.CallTicks() != 1 ||
		p.Pace().Within != 2000 {
		t.Errorf("adversaries %v %v, peers %v, %d ticks, pace %+v", p.Adversary(0), p.Adversary(3), p.Peers(1),
			p.CallTicks(), p.Pace())
	}
}

// The desk of a node gives its member a second chance too, and goes on with one that an earlier attempt did not finish.
func TestDeskRereads(t *testing.T) {
	vague := synod.Reply{Status: synod.OK, Text: vague, Calls: 1, Usage: synod.Usage{Prompt: 7, Completion: 3}}
	good := synod.Reply{Text: "Answer: 42", Calls: 1, Usage: synod.Usage{Prompt: 20, Completion: 2}}
	unfinished := vague
	unfinished.Reread = synod.RereadPending
	prompt := &synod.Prompt{Purpose: synod.Answering, Question: &sum}
	for name, c := range map[string]struct {
		replies []synod.Reply
		known   journal.Replies
	}{
		"both":       {[]synod.Reply{vague, good}, nil},
		"the second": {[]synod.Reply{good}, journal.Replies{{Node: 1, ID: 4}: unfinished}},
	} {
		m := &answers{kind: llm.Endpoint, replies: c.replies}
		d, read := desk(t, m, c.known)
		r := d.Ask(t.Context(), 4, prompt)
		if r.Text != "Answer: 42" || r.Other != vague.Text || r.Reread != synod.RereadUsed || r.Calls != 2 ||
			r.Usage != (synod.Usage{Prompt: 27, Completion: 5}) {
			t.Errorf("%s: %+v", name, r)
		}
		if kept := read().Replies[journal.Key{Node: 1, ID: 4}]; kept.Reread != r.Reread || kept.Other != r.Other ||
			kept.Calls != r.Calls {
			t.Errorf("%s: the journal has %+v", name, kept)
		}
		if record := d.Record("rounds", 1); record.Rereads != 1 {
			t.Errorf("%s: %+v", name, record)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	m := &answers{kind: llm.Endpoint, replies: []synod.Reply{vague}, then: cancel}
	d, _ := desk(t, m, nil)
	if r := d.Ask(ended, 4, prompt); r.Reread != "" || r.Calls != 1 {
		t.Errorf("after the time of the call has passed: %+v", r)
	}
}
