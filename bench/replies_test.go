package bench_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/report/inspectai"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/internal/llmtest"
)

// The first reply of every honest member that gave one is graded from its text.
func TestGradedReplies(t *testing.T) {
	s := llmtest.Start(t, func(c llmtest.Call) string {
		return map[string]string{"right": `{"reasoning":"","answer":"0"}`, "loose": "It is 7, so I think that 0 fits",
			"wrong": `{"reasoning":"","answer":"9"}`}[c.Model]
	}, llmtest.For("lost", llmtest.Status(404)))
	run := create(t, plan(t, strings.ReplaceAll(`
protocol: {name: majority}
f: 1
models:
  right: {provider: openai, url: URL, model: right}
  loose: {provider: openai, url: URL, model: loose}
  "false": {provider: openai, url: URL, model: wrong}
  lost: {provider: openai, url: URL, model: lost, attempts: 1}
seats: [{id: a, model: right, count: 3}, {id: w, model: "false"}, {id: x, model: "false", adversary: {name: replay}},
  {id: l, model: lost}, {id: o, model: loose}]
`, "URL", s.URL), 1, 1))
	work(t, run, 1)
	r := reported(t, run.Dir())
	e := r.Extraction
	if e == nil || e.Strict.Value != 0.6 || e.Strict.N != 5 || e.Flexible.Value != 0.8 || e.Flexible.N != 5 ||
		e.Differ != 1 {
		t.Errorf("%+v of %d finished", e, r.Finished)
	}
	want := []string{"right × 3", "false = wrong × 2", "lost × 1", "loose × 1"}
	if !slices.Equal(r.Setting.Models, want) {
		t.Errorf("%q, want %q", r.Setting.Models, want)
	}
}

// A message of a later round has the refined reply, and not that of a scoring.
func TestMessagesOfLaterRounds(t *testing.T) {
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if c.Scoring() {
			return `{"reasoning": "", "score": 0.5}`
		}
		return fmt.Sprintf(`{"reasoning": "%d", "answer": "%s"}`, len(c.User), c.Model)
	})
	for _, protocol := range []string{"debate", "sac"} {
		run := create(t, plan(t, fmt.Sprintf("protocol: {name: %s, rounds: 2}\nf: 0\nmodels:\n"+
			"  m: {provider: openai, model: '0', url: %q}\n  n: {provider: openai, model: '1', url: %q}\n"+
			"seats: [{id: a, model: m, count: 2}, {id: b, model: n}]\n", protocol, s.URL, s.URL), 1, 1))
		work(t, run, 1)
		later := 0
		for _, m := range export(t, run).Samples[0].Messages[1:] {
			about := m.Metadata.(map[string]any)
			if (about["answer"] == "0") != (about["verdict"] == "right") || about["verdict"] == nil ||
				about["role"] != nil {
				t.Errorf("%s: %v", protocol, about)
			}
			if strings.HasPrefix(m.ID, "0.") {
				continue
			}
			if later++; !strings.HasSuffix(m.Content, fmt.Sprintf(`"answer": "%s"}`, about["answer"])) {
				t.Errorf("%s: message %s is %s", protocol, m.ID, m.Content)
			}
		}
		if later < 3 {
			t.Errorf("%s: %d messages of later rounds", protocol, later)
		}
	}
}

// Answers to a question without a key are neither right nor wrong.
func TestViewsWithoutKeys(t *testing.T) {
	p := plan(t,
		"protocol: {name: majority}\nmodels: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 3}]\n"+
			"f: 0\n", 2, 1)
	p.Items[1] = task.Ungraded(synod.Question{ID: "free", Text: "Choose a number", Form: synod.Number})
	run := create(t, p)
	work(t, run, 1)
	for q, err := range run.Views(-1) {
		if err != nil {
			t.Fatal(err)
		}
		for _, held := range q.Rounds[0] {
			if (held.Verdict == "") != (q.ID == "free") {
				t.Errorf("%s: %s is %q", q.ID, held.Answer, held.Verdict)
			}
		}
	}
}

// A report names the rounds of a graph that changes in which two members hear each other.
func TestReportOfAChangingGraph(t *testing.T) {
	run := create(t, plan(t, "protocol: {name: sac, rounds: 4}\ngraph: {schedule: [{edges: [[0, 1], [1, 2]]}, "+
		"{edges: [[0, 2], [1, 2]]}]}\nf: 0\nmodels: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 3}]\n",
		1, 1))
	work(t, run, 1)
	g := reported(t, run.Dir()).ChangingGraph
	if g == nil || !g.Repeats || len(g.Rounds) != 2 {
		t.Fatalf("%+v", g)
	}
	want := []report.EdgeRounds{{A: "a1", B: "a2", Rounds: []int{1}}, {A: "a1", B: "a3", Rounds: []int{2}},
		{A: "a2", B: "a3", Rounds: []int{1, 2}}}
	if !slices.EqualFunc(g.Edges, want, func(a, b report.EdgeRounds) bool {
		return a.A == b.A && a.B == b.B && slices.Equal(a.Rounds, b.Rounds)
	}) {
		t.Errorf("%+v", g.Edges)
	}
	if r := reported(t, create(t, plan(t, seven, 1, 1)).Dir()); r.ChangingGraph != nil {
		t.Errorf("a graph that does not change: %+v", r.ChangingGraph)
	}
}

// Tokens of prompts and replies that earlier work used count in the budget of a grid.
func TestBudgetOfTokens(t *testing.T) {
	s := llmtest.Start(t, nil)
	m := bench.GridManifest{Program: "test", Preset: "tokens", Members: "live", Cells: []bench.Cell{{Name: "one"}},
		Budget: bench.Budget{Tokens: 1}}
	g, err := bench.DraftGrid(m, []bench.RunPlan{plan(t, strings.ReplaceAll(frozen, "$URL", s.URL), 3, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Create(filepath.Join(t.TempDir(), "g")); err != nil {
		t.Fatal(err)
	}
	var used *bench.BudgetError
	if p, err := g.Work(t.Context(), bench.Options{}); !errors.As(err, &used) || p.Now != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	r, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Tokens.Prompt + r.Tokens.Completion; r.Tokens.Prompt < 5 || r.Tokens.Completion < 5 ||
		used.Used.Tokens != n {
		t.Fatalf("%d tokens are used, and reported are %+v", used.Used.Tokens, r.Tokens)
	}
	for more := range 2 {
		g.Budget.Tokens = used.Used.Tokens + more
		if p, err := g.Work(t.Context(), bench.Options{}); !errors.As(err, new(*bench.BudgetError)) || p.Now != more {
			t.Errorf("with %d tokens more: %v, %d questions", more, err, p.Now)
		}
	}
}

// While a model is out of order calls wait for it, if the options say so. Else questions fail, and are asked again.
func TestWaitingForAModel(t *testing.T) {
	for _, c := range []struct {
		protocol string
		wait     time.Duration
		calls    int // at least, with the wait: members whose model was out of order answer in later rounds
	}{{"majority", 0, 0}, {"majority", 2 * time.Second, 50}, {"debate", 0, 0}, {"debate", 2 * time.Second, 100}} {
		wait := c.wait
		var n atomic.Int64
		var fifth string // all calls for one question fail, so no success among them closes the breaker
		s := llmtest.Start(t, stubborn, llmtest.With(func(x *llmtest.Exchange) {
			if strings.Contains(x.User, fifth) && n.Add(1) <= 6 {
				llmtest.Status(404)(x)
				return
			}
			x.OK()
		}))
		asked := plan(t, strings.NewReplacer("$URL", s.URL, "timeout: 150ms", "attempts: 1", "majority", c.protocol).
			Replace(frozen), 10, 1)
		fifth = asked.Items[4].Question.Text
		run := create(t, asked)
		waited := false
		p, err := run.Work(t.Context(), bench.Options{Outage: wait, Progress: func(p bench.Progress) {
			waited = waited || len(p.Waiting) > 0
		}})
		if err != nil || waited != (wait > 0) || p.Again != (wait == 0) || wait > 0 && (p.Failed > 0 ||
			p.Finished != 10 || p.Calls < c.calls) {
			t.Errorf("%s, outage %v: %+v, waited %v, %v", c.protocol, wait, p, waited, err)
		}
	}
}

// The log of an old folder, which has no time of creation, has that of its file.
func TestCreationOfOldFolders(t *testing.T) {
	run := create(t, plan(t, seven, 1, 1))
	path := filepath.Join(run.Dir(), "results.db")
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	if name, err := run.InspectName(inspectai.JSON); err != nil || strings.HasPrefix(name, "2024-") {
		t.Errorf("with its own time: %s, %v", name, err)
	}
	run.Created = time.Time{}
	if name, err := run.InspectName(inspectai.JSON); err != nil || !strings.HasPrefix(name,
		"2024-05-06T07-08-09+00-00_") {
		t.Errorf("%s, %v", name, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if name, err := run.InspectName(inspectai.JSON); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s, %v", name, err)
	}
}

// Low, expected and worst amounts are about all questions, not only the first one.
func TestEstimateOfLongQuestions(t *testing.T) {
	text := "protocol: {name: majority}\nf: 0\nmodels: {d: {provider: simulated}}\n" +
		"seats: [{id: a, model: d, count: 3}]\n"
	amounts := func(length int) *bench.CostEstimate {
		p := plan(t, text, 40, 1)
		it, err := task.NewItem(synod.Question{ID: "long", Text: strings.Repeat("x", length), Form: synod.Number}, "0")
		if err != nil {
			t.Fatal(err)
		}
		p.Items[38] = it // the last one that is simulated
		e, err := create(t, p).Estimate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	short, long := amounts(40), amounts(40+4*1000)
	// One of twenty questions has prompts that are 1000 tokens longer, and stands for two of forty.
	if long.Low.Prompt-short.Low.Prompt != 2*3*1000 || long.Expected.Prompt-short.Expected.Prompt != 2*3*1000 ||
		long.Worst.Prompt-short.Worst.Prompt < 40*3*990 || short.Low.Prompt < 40*3*10 || short.Low.Calls != 40*3 {
		t.Errorf("%+v, and with a long question %+v", short, long)
	}
}

// A question on which members do not agree ended with enough live members.
func TestLivenessOfDisagreement(t *testing.T) {
	run := create(t, plan(t, "protocol: {name: majority}\nrule: {name: supermajority}\nf: 0\nmodels: {d: {provider: "+
		"simulated, ability: 0.3}}\nseats: [{id: a, model: d, count: 7}]\n", 6, 1))
	work(t, run, 1)
	r := reported(t, run.Dir())
	if r.Metrics.Decision != nil && r.Metrics.Decision.N == 6 || r.Metrics.Liveness.Value != 1 {
		t.Errorf("decisions %+v, liveness %+v", r.Metrics.Decision, r.Metrics.Liveness)
	}
}

// A grid is created in an empty folder, and in no other one.
func TestGridNeedsAFreeFolder(t *testing.T) {
	empty := t.TempDir()
	if err := computedGrid(t, nil).Create(empty); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	var e *bench.OccupiedError
	if err := computedGrid(t, nil).Create(empty); !errors.As(err, &e) || !e.Run {
		t.Errorf("a folder with a grid: %v", err)
	}
	filled := t.TempDir()
	letter := filepath.Join(filled, "letter")
	if err := os.WriteFile(letter, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := computedGrid(t, nil).Create(filled); !errors.As(err, &e) || e.Run {
		t.Errorf("a folder with a letter: %v", err)
	}
	if err := computedGrid(t, nil).Create(letter); err == nil || errors.As(err, &e) {
		t.Errorf("a file: %v", err)
	}
}

// Cells, computed cells and plots of a grid are checked before anything is written.
func TestDraftOfGrids(t *testing.T) {
	one := []bench.RunPlan{plan(t, seven, 1, 1)}
	cell, computed := []bench.Cell{{Name: "a"}}, []bench.Computed{{Cell: bench.Cell{Name: "b"}}}
	good := report.PlotSpec{Name: "fig1", Kind: "bars", X: "metric", Y: "iaa faa"}
	for _, c := range []struct {
		m     bench.GridManifest
		plans []bench.RunPlan
		says  string
	}{
		{bench.GridManifest{Preset: "p", Cells: cell, Computed: computed}, one, ""},
		{bench.GridManifest{Cells: cell}, one, ""},
		{bench.GridManifest{Cells: cell}, nil, "a grid of 1 cells and 0 plans"},
		{bench.GridManifest{}, nil, "a grid of 0 cells and 0 plans"},
		{bench.GridManifest{Preset: "../p", Cells: cell}, one, `"../p" is not a valid name of an experiment`},
		{bench.GridManifest{Computed: append(computed, computed...)}, nil, `"b" is not a valid name of a cell, or two`},
		{bench.GridManifest{Cells: cell, Plots: []report.PlotSpec{good}}, one, ""},
		{bench.GridManifest{Cells: cell, Plots: []report.PlotSpec{good, {Name: "../x"}}}, one, "plots: name is"},
	} {
		if _, err := bench.DraftGrid(c.m, c.plans); (err == nil) != (c.says == "") || err != nil && !strings.Contains(
			err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.m, err, c.says)
		}
	}
}

// A grid whose cells have other runs than its manifest says was changed.
func TestOpenGridChecksRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	if err := cells(t, 1).Create(dir); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"hash = 'x'", "name = 'x'", "name = NULL"} {
		tamper(t, dir, "UPDATE cells SET "+change)
		if _, err := bench.OpenGrid(dir); !bench.Damaged(err) {
			t.Errorf("%s: %v", change, err)
		}
	}
	update(t, cells(t, 1), dir, bench.Updated{New: 1, Put: 1})
}

// A run is compared with the council that is to resume it.
func TestChangedCouncil(t *testing.T) {
	p := plan(t, seven, 1, 1)
	run := create(t, p)
	if changes, err := run.ChangedCouncil(p.Spec, p.Env); err != nil || len(changes) > 0 {
		t.Errorf("the same council: %q, %v", changes, err)
	}
	other := plan(t, strings.Replace(seven, "f: 3", "f: 2", 1), 1, 1).Spec
	if changes, err := run.ChangedCouncil(other, p.Env); err != nil || !slices.Equal(changes,
		[]string{"council, there: f: 3", "council, now:   f: 2"}) {
		t.Errorf("another council: %q, %v", changes, err)
	}
	other.Rule.Name = "no such rule"
	if _, err := run.ChangedCouncil(other, p.Env); err == nil || !strings.Contains(err.Error(), "no such rule") {
		t.Errorf("a council that cannot meet: %v", err)
	}
	if got := (bench.Progress{Total: 10, Finished: 3, Failed: 2}).Left(); got != 5 {
		t.Errorf("%d questions are left, want 5", got)
	}
}

// The estimate of a grid is the sum of those of its cells. A council that cannot be read names its cell.
func TestEstimateOfAGrid(t *testing.T) {
	g := cells(t, 1, 2)
	sum, err := g.Estimate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want bench.CostEstimate
	for _, run := range g.Runs {
		e, err := run.Estimate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want.Questions += e.Questions
		for _, a := range [][2]*bench.Amount{{&want.Low, &e.Low}, {&want.Expected, &e.Expected}, {&want.Worst,
			&e.Worst}} {
			a[0].Calls += a[1].Calls
			a[0].Prompt += a[1].Prompt
			a[0].Completion += a[1].Completion
		}
	}
	for _, a := range [][2]*bench.Amount{{&want.Low, &sum.Low}, {&want.Expected, &sum.Expected}, {&want.Worst,
		&sum.Worst}} {
		if a[0].Calls != a[1].Calls || a[0].Prompt != a[1].Prompt || a[0].Completion != a[1].Completion ||
			a[0].Calls == 0 ||
			a[1].Cost == nil {
			t.Errorf("%+v, want %+v", a[1], a[0])
		}
	}
	if sum.Questions != want.Questions || sum.Questions != 6 {
		t.Errorf("%d questions", sum.Questions)
	}
	g.Runs[1].Council = "seats: 1"
	if _, err := g.Estimate(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "cell r2: ") {
		t.Errorf("a cell without a council: %v", err)
	}
}
