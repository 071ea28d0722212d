package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	councilplan "synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

const seven = `council: seven
protocol: {name: sac, rounds: 3}
f: 3
models:
  dice: {provider: simulated, ability: 0.8}
  weak: {provider: simulated, ability: 0.25}
seats:
  - {id: a, model: dice, count: 4, group: strong}
  - {id: w, model: weak, count: 2, group: weak}
  - {id: m, model: weak, adversary: {name: replay}}
`

func sums(t testing.TB, n int) (items []task.Item) {
	t.Helper()
	for i := range n {
		it, err := task.NewItem(synod.Question{ID: fmt.Sprintf("Sum %d/x", i),
			Text: fmt.Sprintf("How much are %d apples and %d pears?", i, i), Form: synod.Number}, fmt.Sprint(2*i))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

func plan(t *testing.T, text string, n, repeat int) bench.RunPlan {
	t.Helper()
	spec, err := councilplan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return bench.RunPlan{Program: "test", Task: "sums", Items: sums(t, n), Repeat: repeat, Seed: 7, Spec: spec}
}

func create(t *testing.T, p bench.RunPlan) *bench.Run {
	t.Helper()
	run, err := bench.Draft(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Create(filepath.Join(t.TempDir(), "run [1] *")); err != nil {
		t.Fatal(err)
	}
	return run
}

func work(t *testing.T, run *bench.Run, parallel int) bench.Progress {
	t.Helper()
	p, err := run.Work(context.Background(), bench.Options{Parallel: parallel})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reported returns the report of a run, read from its folder, without figures that
// differ between runs.
func reported(t *testing.T, dir string) *report.Report {
	t.Helper()
	run, err := bench.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Report()
	if err != nil {
		t.Fatal(err)
	}
	r.Seconds = 0
	for i := range r.Models { // wall times too
		r.Models[i].Latency = nil
	}
	return r
}

// unfinished lists the journals of unfinished questions of a run.
func unfinished(t *testing.T, run *bench.Run) (ids []string) {
	t.Helper()
	segment, err := journal.OpenSegment(journals(run))
	if err != nil {
		t.Fatal(err)
	}
	defer segment.Close()
	for _, id := range segment.IDs() {
		if !segment.Finished(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// journals is the path of the journals of a run that are not finished.
func journals(run *bench.Run) string { return filepath.Join(run.Dir(), "working.jsonl") }

func text(t *testing.T, r *report.Report) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A report depends neither on the parallelism nor on the place of the folder. Simulated
// members know the keys, so strong ones are mostly right.
func TestRunAndMove(t *testing.T) {
	one, three := create(t, plan(t, seven, 12, 3)), create(t, plan(t, seven, 12, 3))
	work(t, one, 1)
	p := work(t, three, 3)
	if p.Finished != 36 || p.Failed != 0 || p.Calls == 0 || p.Left() != 0 {
		t.Errorf("progress %+v", p)
	}
	want := text(t, reported(t, one.Dir()))
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(three.Dir(), moved); err != nil {
		t.Fatal(err)
	}
	r := reported(t, moved)
	if got := text(t, r); got != want {
		t.Errorf("in parallel and moved:\n%s\nwant\n%s", got, want)
	}
	if r.Finished != 36 || r.Unfinished != 0 || r.Groups.Strong.Before.Value < 0.5 || r.Groups.Weak.Before.N != 72 ||
		r.MembersKind[0] != "simulated" {
		t.Errorf("report %s", want)
	}
	if r.Metrics.IAA.N != 36*7 || r.Calls.Made != p.Calls || r.Calls.Planned != 36*175 {
		t.Errorf("iaa over %d answers, %d calls made (progress said %d), %d planned", r.Metrics.IAA.N, r.Calls.Made,
			p.Calls, r.Calls.Planned)
	}
	again, err := bench.Open(moved)
	if err != nil {
		t.Fatal(err)
	}
	if p := work(t, again, 1); p.Calls != 0 || p.Now != 0 || p.Finished != 36 {
		t.Errorf("work on a finished run: %+v", p)
	}
}

// An interrupted run keeps finished questions and the replies of the others.
func TestInterrupt(t *testing.T) {
	whole, cut := create(t, plan(t, seven, 10, 1)), create(t, plan(t, seven, 10, 1))
	calls := work(t, whole, 1).Calls
	sum := 0
	for range 50 {
		ctx, stop := context.WithCancel(context.Background())
		p, err := cut.Work(ctx, bench.Options{Progress: func(p bench.Progress) {
			if p.Calls > 37 { // in the middle of a question
				stop()
			}
		}})
		stop()
		if sum += p.Calls; err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if got, want := text(t, reported(t, cut.Dir())), text(t, reported(t, whole.Dir())); got != want {
		t.Errorf("after interruptions:\n%s\nwant\n%s", got, want)
	}
	if left := unfinished(t, cut); len(left) > 0 {
		t.Errorf("unfinished attempts: %v", left)
	}
	if sum != calls {
		t.Errorf("%d calls without interruptions, %d with", calls, sum)
	}
}

// A folder whose segment lacks bytes that were committed is refused.
func TestTruncated(t *testing.T) {
	run := create(t, plan(t, seven, 6, 1))
	work(t, run, 1)
	path := filepath.Join(run.Dir(), "journals-1.seg")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for part := int64(3); part >= 0; part-- {
		if err := os.Truncate(path, info.Size()*part/4); err != nil {
			t.Fatal(err)
		}
		_, report := run.Report()
		_, work := run.Work(t.Context(), bench.Options{})
		for _, err := range []error{report, work} {
			if !bench.Damaged(err) || !strings.Contains(err.Error(), path) {
				t.Errorf("%d quarters of the journals: %v", part, err)
			}
		}
	}
}

// part loads a run of a segment.
func part(path, id string) (*journal.Run, error) {
	s, err := journal.OpenSegment(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Load(id)
}

// A question with unreachable members has failed; this is not disagreement. The next
// attempt asks again.
func TestFailed(t *testing.T) {
	text := `models: {m: {provider: openai, model: x, url: "http://127.0.0.1:1/v1", attempts: 1}}
seats: [{id: a, model: m, count: 3}]
`
	run := create(t, plan(t, text, 2, 1))
	p, err := run.Work(context.Background(), bench.Options{Env: llm.Env{Getenv: func(string) string { return "" }}})
	if err != nil {
		t.Fatal(err)
	}
	r := reported(t, run.Dir())
	if p.Failed != 2 || r.Failed != 2 || r.Finished != 0 || r.Metrics.RA != nil || r.Metrics.Liveness.Value != 0 ||
		r.Metrics.Liveness.N != 2 {
		t.Errorf("progress %+v, failed %d, finished %d, metrics %+v", p, r.Failed, r.Finished, r.Metrics)
	}
	// What the attempts cost stays, and no reply does.
	for _, id := range unfinished(t, run) {
		if left, err := part(journals(run), id); err != nil || len(left.Replies) > 0 ||
			len(left.Lost()) == 0 {
			t.Errorf("unfinished attempt %s: %v, %+v", id, err, left)
		}
	}
}

// In a protocol with roles, IAA and FAA are about the members that are asked for an answer,
// before and after: the workers of DecentLLMs. Its evaluators answer nothing themselves.
func TestSamePopulationBeforeAndAfter(t *testing.T) {
	run := create(t, plan(t, `council: roles
protocol: {name: decentllms}
f: 1
models: {dice: {provider: simulated, ability: 0.8}}
seats:
  - {id: w, model: dice, count: 3, role: worker}
  - {id: e, model: dice, count: 3, role: evaluator}
`, 5, 1))
	work(t, run, 2)
	r := reported(t, run.Dir())
	if len(r.Ranked) == 0 || r.Ranked[0].N != 5 || *r.Ranked[0] != *r.Metrics.Decision {
		t.Errorf("the best answers %+v, decisions %+v", r.Ranked, r.Metrics.Decision)
	}
	if r.Metrics.IAA == nil || r.Metrics.IAA.N != 5*3 || *r.Metrics.FAA != *r.Metrics.IAA ||
		r.Metrics.Decision == nil {
		t.Errorf("iaa %+v, faa %+v, decisions %+v; want 15 answers of workers", r.Metrics.IAA, r.Metrics.FAA,
			r.Metrics.Decision)
	}
}
