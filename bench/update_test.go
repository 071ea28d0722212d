package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/llm"
)

// cells drafts a grid with a cell for each number of rounds, named r and the number.
func cells(t *testing.T, rounds ...int) *bench.Grid {
	t.Helper()
	m := bench.GridManifest{Program: "test", Preset: "rounds", Members: "simulated"}
	var plans []bench.RunPlan
	for _, n := range rounds {
		m.Cells = append(m.Cells, bench.Cell{Name: fmt.Sprint("r", n), Params: map[string]any{"rounds": n}})
		plans = append(plans, plan(t, strings.Replace(seven, "rounds: 3", fmt.Sprint("rounds: ", n), 1), 3, 1))
	}
	g, err := bench.DraftGrid(m, plans)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func update(t *testing.T, g *bench.Grid, dir string, want bench.Updated) {
	t.Helper()
	if u, err := g.Update(dir); err != nil || u != want {
		t.Fatalf("%+v, %v; want %+v", u, err, want)
	}
}

// states is the state of each cell.
func states(t *testing.T, g *bench.Grid) (all []string) {
	t.Helper()
	of, err := g.States()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range of {
		all = append(all, fmt.Sprintf("%s %s %d/%d", s.Cell, s.State, s.Finished, s.Total))
	}
	return all
}

// A grid gains and loses cells. A run that is paid for is kept, and found again by what was asked, whatever its cell
// is called.
func TestGridIsUpdated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	g := cells(t, 1, 2)
	update(t, g, dir, bench.Updated{New: 2})
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err := g.Work(ctx, bench.Options{Progress: func(p bench.Progress) {
		if p.Finished == 4 {
			cancel(stop)
		}
	}}); err == nil {
		t.Fatal("the work was not interrupted")
	}
	if got := states(t, g); !slices.Equal(got, []string{"r1 finished 3/3", "r2 partly 1/3"}) {
		t.Errorf("%v", got)
	}
	g = cells(t, 3, 2)
	update(t, g, dir, bench.Updated{Kept: 1, New: 1, Put: 1})
	if got := states(t, g); !slices.Equal(got, []string{"r3 waiting 0/3", "r2 partly 1/3"}) {
		t.Errorf("with another cell: %v", got)
	}
	// The cell comes back under another name, and another takes its place.
	g = cells(t, 1, 2)
	g.Cells[0].Name, g.Cells[1].Name = "r2", "old"
	update(t, g, dir, bench.Updated{Kept: 2, Put: 1})
	if got := states(t, g); !slices.Equal(got, []string{"r2 finished 3/3", "old partly 1/3"}) {
		t.Errorf("under other names: %v", got)
	}
	again, err := bench.OpenGrid(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := states(t, again); !slices.Equal(got, []string{"r2 finished 3/3", "old partly 1/3"}) {
		t.Errorf("read from the folder: %v", got)
	}
	update(t, again, dir, bench.Updated{Kept: 2, Put: 1})
}

// Cells of the same settings have a run each, also when one of them gets another name.
func TestCellsOfTheSameSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	twins := func(first, second string) *bench.Grid {
		g := cells(t, 1, 2)
		other := cells(t, 1)
		g.Runs[1] = other.Runs[0]
		g.Cells[0].Name, g.Cells[1].Name = first, second
		return g
	}
	g := twins("a", "b")
	update(t, g, dir, bench.Updated{New: 2})
	if _, err := g.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	g = twins("b", "c")
	update(t, g, dir, bench.Updated{Kept: 2})
	if got := states(t, g); !slices.Equal(got, []string{"b finished 3/3", "c finished 3/3"}) {
		t.Errorf("%v", got)
	}
}

// The folder of another experiment, and one that has something else, are left alone.
func TestUpdateRefusesOtherFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	update(t, cells(t, 1), dir, bench.Updated{New: 1})
	other := cells(t, 1)
	other.Preset = "squares"
	var e *bench.OccupiedError
	if _, err := other.Update(dir); !errors.As(err, &e) || !strings.Contains(err.Error(),
		"experiment: rounds there, squares now") {
		t.Errorf("another experiment: %v", err)
	}
	if err := os.WriteFile(filepath.Join(t.TempDir(), "letter"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mail := t.TempDir()
	if _, err := cells(t, 1).Before(mail); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(mail, "letter"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cells(t, 1).Update(mail); !errors.As(err, &e) || e.Run {
		t.Errorf("a folder of letters: %v", err)
	}
	tamper(t, dir, "UPDATE meta SET value = '{}' WHERE key = 'grid'")
	if _, err := cells(t, 1).Update(dir); err == nil || errors.As(err, &e) && !e.Run {
		t.Errorf("a damaged grid: %v", err)
	}
}

// Figures of computed cells are computed again only if their parameters or the computation changed.
func TestComputedCellsAreReused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	for _, c := range []struct {
		params int
		how    string
		want   int // computations so far
	}{{1, "by hand", 1}, {1, "by hand", 1}, {2, "by hand", 2}, {2, "by machine", 3}, {2, "by machine", 3}} {
		g := computedGrid(t, nil)
		g.Computed[0].Params, g.Computed[0].How = map[string]any{"f_e": c.params}, c.how
		g.Computed[0].Of = func(context.Context) (*report.Figures, error) {
			computations++
			return &report.Figures{Rates: map[string]*metrics.Rate{"capture": metrics.Share(computations, 10)}}, nil
		}
		if _, err := g.Update(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Work(t.Context(), bench.Options{}); err != nil {
			t.Fatal(err)
		}
		r, err := g.Report()
		if err != nil {
			t.Fatal(err)
		}
		if computations != c.want || r.Cells[0].Metrics["capture"].Value != float64(c.want)/10 {
			t.Errorf("%+v: %d computations, %v", c, computations, r.Cells[0].Metrics["capture"])
		}
	}
}

var computations int // of TestComputedCellsAreReused

// The states of cells without a run.
func TestStatesWithoutRuns(t *testing.T) {
	g := computedGrid(t, nil, bench.Reading{Cell: bench.Cell{Name: "two"}, Of: "one"})
	g.Blank = []bench.Blank{{Cell: bench.Cell{Name: "three"}, Why: "it needs a probe"}}
	if got := states(t, g); !slices.Equal(got, []string{"one waiting 0/0", "two derived 0/0", "three blank 0/0"}) {
		t.Errorf("%v", got)
	}
}

// A grid ends its work when its budget is used, also by earlier work, and says by what.
func TestBudgetOfGrids(t *testing.T) {
	for _, c := range []struct {
		budget bench.Budget
		says   string // "": it is enough
	}{
		{bench.Budget{Calls: 1}, " of 1 calls"}, {bench.Budget{Calls: 1_000_000}, ""},
		{bench.Budget{Tokens: 1}, ""}, // simulated members use none
		{bench.Budget{Calls: 1, Tokens: 5, USD: 2}, " of 1 calls, 0 of 5 tokens, 0.0000 of 2.0000 USD"},
		{bench.Budget{USD: 0.5}, ""},
	} {
		g := cells(t, 1, 2)
		g.Budget = c.budget
		if err := g.Create(filepath.Join(t.TempDir(), "g")); err != nil {
			t.Fatal(err)
		}
		p, err := g.Work(t.Context(), bench.Options{})
		var used *bench.BudgetError
		if errors.As(err, &used) != (c.says != "") || err != nil && !strings.HasSuffix(err.Error(), c.says) ||
			c.says == "" && p.Finished != 6 {
			t.Errorf("%+v: %v after %d questions", c.budget, err, p.Finished)
			continue
		}
		if c.says == "" {
			continue
		}
		if p.Finished != 1 || used.Used.Calls != p.Calls || !strings.HasPrefix(err.Error(),
			"cell r1: the budget is used: ") {
			t.Errorf("%+v: %v after %d questions and %d calls", c.budget, err, p.Finished, p.Calls)
		}
		// What was used before counts, and one call more lets one question begin.
		g.Budget = bench.Budget{Calls: used.Used.Calls}
		if p, err := g.Work(t.Context(), bench.Options{}); !errors.As(err, &used) || p.Now != 0 {
			t.Errorf("with as much as was used: %v, %d questions", err, p.Now)
		}
		g.Budget.Calls++
		if p, err := g.Work(t.Context(), bench.Options{}); !errors.As(err, &used) || p.Now != 1 {
			t.Errorf("with one call more: %v, %d questions", err, p.Now)
		}
	}
}

// Cells of the same name are compared, later grids with the first.
func TestCompareGrids(t *testing.T) {
	made := func(g *bench.Grid, worked bool) *bench.Grid {
		if err := g.Create(filepath.Join(t.TempDir(), "g")); err != nil {
			t.Fatal(err)
		}
		if worked {
			if _, err := g.Work(t.Context(), bench.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		return g
	}
	first, second, third := made(cells(t, 1, 2), true), made(cells(t, 4, 2, 1), true), made(cells(t, 2), true)
	c, err := bench.CompareGrids([]*bench.Grid{first, second, third})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range c.Cells {
		got = append(got, fmt.Sprintf("%s %d %d", d.Cell, d.Grid, d.Compared.Questions))
		if d.Decision.Value != 0 || *d.Corrected != 1 || !slices.Equal(d.Kinds, []string{"simulated"}) {
			t.Errorf("%+v", d)
		}
	}
	if !slices.Equal(got, []string{"r2 1 3", "r1 1 3", "r2 2 3"}) || len(c.Grids) != 3 ||
		c.Grids[1].Folder != second.Dir() || !slices.Equal(c.Grids[1].Models, []string{"dice × 4", "weak × 3"}) {
		t.Errorf("%v, %+v", got, c.Grids)
	}
	for name, grids := range map[string][]*bench.Grid{"two or more grids": {first},
		"no two cells of these grids": {first, made(cells(t, 2, 9), false)}} {
		if _, err := bench.CompareGrids(grids); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every two of several runs are compared on the questions that all have finished. Runs of one name are told apart by
// what differs.
func TestCompareAll(t *testing.T) {
	texts := []string{seven, strings.Replace(seven, "rounds: 3", "rounds: 1", 1), strings.Replace(seven, "f: 3",
		"f: 2", 1),
		strings.Replace(seven, "council: seven", "council: other", 1)}
	var runs []*bench.Run
	for i, text := range texts {
		run := create(t, plan(t, text, 3+i, 1))
		work(t, run, 2)
		runs = append(runs, run)
	}
	c, err := bench.CompareAll(runs)
	if err != nil {
		t.Fatal(err)
	}
	if c.Questions != 3 || len(c.Runs) != 4 || len(c.Pairs) != 6 {
		t.Fatalf("%d questions, %d runs, %d pairs", c.Questions, len(c.Runs), len(c.Pairs))
	}
	var pairs []string
	for _, d := range c.Pairs {
		at := func(name string) int {
			return slices.IndexFunc(c.Runs,
				func(r report.Compare) bool { return r.Name == name })
		}
		pairs = append(pairs, fmt.Sprint(at(d.First), at(d.Second)))
		if d.Questions != 3 || d.Compared.Pairs.N() != 3 || d.Against != d.First || *d.Corrected < d.McNemar {
			t.Errorf("%+v", d)
		}
	}
	if !slices.Equal(pairs, []string{"0 1", "0 2", "0 3", "1 2", "1 3", "2 3"}) {
		t.Errorf("pairs %v", pairs)
	}
	if !strings.HasPrefix(c.Runs[2].Name, "seven · ") || c.Runs[3].Name != "other" {
		t.Errorf("%q, %q, %q, %q", c.Runs[0].Name, c.Runs[1].Name, c.Runs[2].Name, c.Runs[3].Name)
	}
	if _, err := bench.CompareAll(runs[:1]); err == nil || !strings.Contains(err.Error(), "two or more runs") {
		t.Errorf("one run: %v", err)
	}
	idle := create(t, plan(t, seven, 3, 1))
	if _, err := bench.CompareAll([]*bench.Run{runs[0], idle}); err == nil || !strings.Contains(err.Error(),
		"no question that "+
			"all runs have finished") {
		t.Errorf("a run without results: %v", err)
	}
}

// Changes of a grid are named with the number of cells that have them, unless all have.
func TestChangesOfGrids(t *testing.T) {
	three := func(rounds ...int) *bench.Grid { return cells(t, rounds...) }
	if got := three(1, 2).Changes(three(1, 2)); len(got) > 0 {
		t.Errorf("the same grid: %v", got)
	}
	if got := three(1, 2).Changes(three(1)); !slices.Equal(got, []string{"cells: 2 there, 1 now"}) {
		t.Errorf("a cell less: %v", got)
	}
	one := three(1, 2, 3)
	one.Runs[1].Seed, one.Members = 8, "live"
	if got := three(1, 2, 3).Changes(one); !slices.Equal(got, []string{"members: simulated there, live now",
		"seed: 7 there, 8 now (in 1 of 3 cells)"}) {
		t.Errorf("one cell: %v", got)
	}
	for _, run := range one.Runs {
		run.Seed = 8
	}
	one.Members = "simulated"
	if got := three(1, 2, 3).Changes(one); !slices.Equal(got, []string{"seed: 7 there, 8 now"}) {
		t.Errorf("all cells: %v", got)
	}
	for name, change := range map[string]func(*bench.Computed){
		"": func(*bench.Computed) {}, "two": func(c *bench.Computed) { c.Name = "two" },
		"by machine": func(c *bench.Computed) { c.How = "by machine" },
		"one":        func(c *bench.Computed) { c.Params = map[string]any{"f_e": 2} },
	} {
		other := computedGrid(t, nil)
		change(&other.Computed[0])
		got := computedGrid(t, nil).Changes(other)
		if (len(got) == 0) != (name == "") || name != "" && (len(got) != 1 || !strings.Contains(got[0],
			"computed cells: one (by hand) there, ") || !strings.Contains(got[0], name)) {
			t.Errorf("%q: %v", name, got)
		}
	}
	none := computedGrid(t, nil)
	none.Computed = nil
	if got := computedGrid(t, nil).Changes(none); !slices.Equal(got, []string{"computed cells: 1 there, 0 now"}) {
		t.Errorf("no computed cell: %v", got)
	}
}

// A cell whose questions all failed is partly done, and counts them.
func TestStateOfAFailedCell(t *testing.T) {
	m := bench.GridManifest{Program: "test", Preset: "far", Members: "live", Cells: []bench.Cell{{Name: "gone"}}}
	g, err := bench.DraftGrid(m, []bench.RunPlan{plan(t, "models: {m: {provider: openai, model: x, url: "+
		"\"http://127.0.0.1:1/v1\", attempts: 1}}\nseats: [{id: a, model: m, count: 3}]\n", 2, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Create(filepath.Join(t.TempDir(), "g")); err != nil {
		t.Fatal(err)
	}
	p, err := g.Work(t.Context(), bench.Options{Env: llm.Env{Getenv: func(string) string { return "" }}})
	if err != nil || p.Failed != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	all, err := g.States()
	if err != nil || len(all) != 1 || all[0].State != "partly" || all[0].Failed != 2 || all[0].Finished != 0 ||
		all[0].Hash != g.Cells[0].Hash {
		t.Errorf("%+v, %v", all, err)
	}
}

// A report of games follows the first few, and tells how each ended.
func TestGamesOfAReport(t *testing.T) {
	run := create(t, plan(t,
		"protocol: {name: game, rounds: 4}\nmodels: {d: {provider: simulated, stubbornness: 0.2}}\n"+
			"seats: [{id: p, model: d, count: 4}, {id: b, model: d, adversary: {name: saboteur}}]\nf: 1\n", 5, 1))
	work(t, run, 2)
	r := reported(t, run.Dir())
	if len(r.Trajectories) != 3 || r.Finished != 5 {
		t.Fatalf("%d trajectories of %d games", len(r.Trajectories), r.Finished)
	}
	if r.Latency == nil || r.Latency.Value <= 0 || r.Latency.Value > 3600 { // seconds of virtual time
		t.Errorf("a game took %+v", r.Latency)
	}
	games := 0
	for _, e := range r.Endings {
		if e.Rate != nil {
			games = max(games, e.Rate.N)
		}
	}
	if games != 5 || len(r.Endings) < 2 {
		t.Errorf("%+v", r.Endings)
	}
}
