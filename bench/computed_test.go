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
)

func computedGrid(t *testing.T, of func(context.Context) (*report.Figures, error),
	readings ...bench.Reading) *bench.Grid {
	t.Helper()
	g, err := bench.DraftGrid(bench.GridManifest{Program: "test", Preset: "sums", Members: "none", Readings: readings,
		Computed: []bench.Computed{{
			Cell: bench.Cell{Name: "one", Params: map[string]any{"f_e": 1},
				Paper: map[string]report.Figure{"capture": {Value: 0, N: 100}, "hidden": {Value: 45.1, Count: true}}},
			How: "by hand", Of: of,
		}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The figures of a computed cell are computed once, by work. A grid that was read cannot compute them, and says so. A
// missing figure has no verdict.
func TestComputedCells(t *testing.T) {
	asked := 0
	g := computedGrid(t, func(context.Context) (*report.Figures, error) {
		asked++
		return &report.Figures{Rates: map[string]*metrics.Rate{"capture": metrics.Share(0, 2000)},
			Lists: map[string][]float64{"medians": {49, 83}}}, nil
	})
	dir := filepath.Join(t.TempDir(), "g")
	if err := g.Create(dir); err != nil {
		t.Fatal(err)
	}
	if got := states(t, g); asked != 0 || !slices.Equal(got, []string{"one waiting 0/0"}) {
		t.Errorf("before it is computed: %v, computed %d times", got, asked)
	}
	read, err := bench.OpenGrid(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.Work(t.Context(), bench.Options{}); !errors.Is(err, bench.ErrNotComputed) {
		t.Errorf("a grid that was read: %v", err)
	}
	if _, err := g.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	moved := dir + "-moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	g, err = bench.OpenGrid(moved)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := g.Work(t.Context(), bench.Options{}); err != nil || p.Total != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	r, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	c := r.Cells[0]
	if asked != 1 || c.Metrics["capture"].N != 2000 || c.Verdict["capture"] != report.Reproduced ||
		!slices.Equal(c.Lists["medians"], []float64{49, 83}) {
		t.Errorf("computed %d times: %+v %v %v", asked, c.Metrics["capture"], c.Verdict, c.Lists)
	}
	if _, judged := c.Verdict["hidden"]; judged || c.Paper["hidden"] != 45.1 || c.How != "by hand" {
		t.Errorf("hidden: %v, %v, how %q", c.Verdict, c.Paper, c.How)
	}
}

// A computation that fails, or that is interrupted, keeps what was computed before. A cell that takes its figures from
// an unknown cell is an error.
func TestComputedCellsFail(t *testing.T) {
	broken := errors.New("no such table")
	computed := 0
	three := func(second error) *bench.Grid {
		g := computedGrid(t, nil)
		for i, name := range []string{"one", "two", "three"} {
			c := g.Computed[0]
			if c.Name = name; i > 0 {
				g.Computed = append(g.Computed, c)
			}
			g.Computed[i].Name = name
			g.Computed[i].Of = func(ctx context.Context) (*report.Figures, error) {
				if i == 1 && second != nil {
					return nil, second
				}
				computed++
				return &report.Figures{}, nil
			}
		}
		return g
	}
	dir := filepath.Join(t.TempDir(), "g")
	g := three(broken)
	update(t, g, dir, bench.Updated{})
	if _, err := g.Work(t.Context(), bench.Options{}); !errors.Is(err, broken) ||
		!strings.Contains(err.Error(), "cell two") || computed != 1 {
		t.Errorf("%v, %d cells were computed", err, computed)
	}
	g = three(nil)
	update(t, g, dir, bench.Updated{})
	stopped, stop := context.WithCancelCause(t.Context())
	stop(broken)
	if _, err := g.Work(stopped, bench.Options{}); !errors.Is(err, broken) || computed != 1 {
		t.Errorf("interrupted: %v, %d cells were computed", err, computed)
	}
	var seen []string
	if _, err := g.Work(t.Context(), bench.Options{Progress: func(p bench.Progress) {
		seen = append(seen, fmt.Sprintf("%s %d/%d", p.Cell, p.Computed, p.ToCompute))
	}}); err != nil || computed != 3 || !slices.Equal(seen, []string{"two 1/3", "three 2/3"}) {
		t.Errorf("%v, %d cells were computed, progress %q", err, computed, seen)
	}
	g = computedGrid(t, func(context.Context) (*report.Figures, error) { return &report.Figures{}, nil },
		bench.Reading{Cell: bench.Cell{Name: "two"}, Of: "three"})
	if _, err := g.Report(); err == nil || !strings.Contains(err.Error(),
		"two takes its figures from the unknown cell three") {
		t.Errorf("%v", err)
	}
}

// With a pattern a cell pools the observations of several cells, not their rates.
func TestPooledReading(t *testing.T) {
	of := func(hits, n int) func(context.Context) (*report.Figures, error) {
		return func(context.Context) (*report.Figures, error) {
			return &report.Figures{Rates: map[string]*metrics.Rate{"valid": metrics.Share(hits, n)}}, nil
		}
	}
	m := bench.GridManifest{Program: "test", Preset: "sums", Members: "none"}
	for _, c := range []struct {
		name    string
		hits, n int
	}{{"h4-a", 1, 2}, {"h4-b", 30, 40}, {"h8-a", 0, 100}} {
		m.Computed = append(m.Computed, bench.Computed{Cell: bench.Cell{Name: c.name, Params: map[string]any{}},
			How: "by hand", Of: of(c.hits, c.n)})
	}
	m.Readings = []bench.Reading{{Cell: bench.Cell{Name: "all-h4", Params: map[string]any{}}, How: "pooled", Of: "h4-*",
		Rates: map[string]string{"valid": "valid"}}}
	g, err := bench.DraftGrid(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Create(filepath.Join(t.TempDir(), "g")); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	last := r.Cells[len(r.Cells)-1]
	if v := last.Metrics["valid"]; last.Cell != "all-h4" || v == nil || v.N != 42 || v.Value != 31./42 {
		t.Errorf("%s: %+v; expected 31 of 42", last.Cell, v)
	}
}
