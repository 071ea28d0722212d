package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report/inspectai"
	"synod.dev/synod/internal/llmtest"
)

// exported is a log with its samples.
type exported struct {
	inspectai.Log
	Samples []inspectai.Sample
}

func export(t *testing.T, run *bench.Run) (x exported) {
	t.Helper()
	run, err := bench.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := run.Inspect(&b, inspectai.JSON); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	return x
}

// An exported log has the figures of the report, one sample for each question and
// repeat, a score wherever the decision is right or wrong, and the kind of the member of
// each message.
func TestInspect(t *testing.T) {
	run := create(t, plan(t, seven, 8, 2))
	before := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	work(t, run, 2)
	x, r := export(t, run), reported(t, run.Dir())
	if x.Status != inspectai.Success || len(x.Samples) != 16 || x.Eval.Config.Epochs != 2 ||
		x.Eval.Model != "council/seven (simulated)" {
		t.Fatalf("%s, %d samples of %s", x.Status, len(x.Samples), x.Eval.Model)
	}
	if x.Stats.StartedAt < before || x.Stats.CompletedAt < x.Stats.StartedAt || x.Eval.Created < before ||
		x.Eval.Created > x.Stats.StartedAt {
		t.Errorf("made %s, %+v", x.Eval.Created, x.Stats)
	}
	right, scored := 0, 0
	for _, s := range x.Samples {
		if len(s.Messages) < 1+7 || s.Messages[0].Content != s.Input || s.Epoch < 1 || s.Epoch > 2 {
			t.Fatalf("sample %+v", s)
		}
		for _, m := range s.Messages[1:] {
			about := m.Metadata.(map[string]any)
			if !strings.HasPrefix(m.Model, "simulated/") || about["kind"] != "simulated" ||
				(about["seat"] == "m") != (about["adversary"] == "replay") {
				t.Fatalf("message %+v", m)
			}
		}
		score, ok := s.Scores["decision"]
		if !ok {
			continue
		}
		scored++
		if score.Value == inspectai.Correct {
			right++
			if s.Output.Completion != s.Target {
				t.Errorf("%s is right, and the key is %s", s.Output.Completion, s.Target)
			}
		}
	}
	d := x.Results.Scores[0]
	if want := r.Metrics.Decision; scored != want.N || float64(right)/float64(scored) != want.Value ||
		d.Scored != scored || d.Unscored != 16-scored {
		t.Errorf("%d of %d right, %+v, want %+v", right, scored, d, want)
	}
	for _, f := range r.Rates() {
		m, ok := d.Metrics[f.Name]
		if ok != (f.Rate != nil) || ok && m.Value != f.Rate.Value {
			t.Errorf("%s: %+v, want %+v", f.Name, m, f.Rate)
		}
	}
}

// A question that was not asked has no sample, a failed question is a sample with an
// error, and the status gives the reason.
func TestInspectUnfinished(t *testing.T) {
	run := create(t, plan(t, seven, 4, 1))
	if x := export(t, run); x.Status != inspectai.Started || len(x.Samples) != 0 || x.Stats.StartedAt != "" ||
		x.Results.Scores[0].Metrics["faa"].Name != "" {
		t.Errorf("before the start: %+v", x)
	}
	gone := create(t, plan(t, "models: {m: {provider: openai, model: x, url: \"http://127.0.0.1:1/v1\", attempts: "+
		"1}}\nseats: [{id: a, model: m, count: 3}]\n", 2, 1))
	work(t, gone, 1)
	x := export(t, gone)
	if x.Status != inspectai.Failed || x.Error == nil || len(x.Samples) != 2 || x.Results.Completed != 0 ||
		x.Results.Logged != 2 || x.Results.Scores[0].Unscored != 2 {
		t.Fatalf("%+v", x)
	}
	for _, s := range x.Samples {
		if s.Error == nil || s.Error.Message == "" || len(s.Scores) > 0 || len(s.Messages) != 1 ||
			s.Output.Completion != "" {
			t.Errorf("%+v", s)
		}
	}

	for finished, want := range []string{inspectai.Cancelled, inspectai.Cancelled, inspectai.Success} {
		ctx, stop := context.WithCancel(t.Context())
		if _, err := run.Work(ctx, bench.Options{Progress: func(p bench.Progress) {
			if p.Finished == 2*finished {
				stop()
			}
		}}); (err == nil) != (want == inspectai.Success) && finished < 2 {
			t.Fatal(err)
		}
		stop()
		if x := export(t, run); x.Status != want {
			t.Errorf("%d finished: %s", finished, x.Status)
		}
	}
}

// The name begins with a time, as Inspect requires, and the name of a task cannot make it
// a path in another folder.
func TestInspectName(t *testing.T) {
	p := plan(t, seven, 1, 1)
	p.Task = "../../a b\x1b_c.jsonl"
	run := create(t, p)
	name, err := run.InspectName(inspectai.JSON)
	if err != nil {
		t.Fatal(err)
	}
	if name != filepath.Base(name) || !strings.Contains(name, "_------a-b--c_") || strings.Count(name, "_") != 2 {
		t.Errorf("%q", name)
	}
	if _, err := time.Parse("2006-01-02T15-04-05+00-00", name[:25]); err != nil {
		t.Error(err)
	}
}

// A message has the reply of its member in that round, verbatim, and tokens are counted
// for the model that used them.
func TestInspectReplies(t *testing.T) {
	const reply = `{"reasoning": "<i>apples</i>", "answer": "0"}`
	stub := llmtest.Start(t, func(c llmtest.Call) string {
		if c.Scoring() {
			return `{"reasoning": "", "score": 0.9}`
		}
		return reply
	})
	run := create(t, plan(t, fmt.Sprintf("models:\n  m: {provider: openai, model: s, url: %q}\n  dice: {provider: "+
		"simulated}\nseats: [{id: a, model: m, count: 2}, {id: d, model: dice}]\n", stub.URL), 1, 1))
	work(t, run, 1)
	x, r := export(t, run), reported(t, run.Dir())
	var messages []string
	for _, m := range x.Samples[0].Messages[1:4] {
		messages = append(messages, m.Model+": "+m.Content)
	}
	if want := []string{"endpoint/m: " + reply, "endpoint/m: " + reply}; !slices.Equal(messages[:2], want) ||
		!strings.HasPrefix(messages[2], "simulated/dice: ") {
		t.Errorf("%q", messages)
	}
	if u := x.Stats.ModelUsage["endpoint/m"]; u.Input != r.Tokens.Prompt || u.Output != r.Tokens.Completion ||
		u.Total == 0 || len(x.Stats.ModelUsage) != 1 {
		t.Errorf("%+v, and the report has %+v", x.Stats.ModelUsage, r.Tokens)
	}
	if x.Eval.Model != "council/council (endpoint, simulated)" {
		t.Error(x.Eval.Model)
	}
}
