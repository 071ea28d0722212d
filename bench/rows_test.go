package bench_test

import (
	"errors"
	"path/filepath"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/core/journal"
)

// Rows are the finished questions of every cell, question by question. For a question whose record was
// changed, an error is returned instead of a row.
func TestRows(t *testing.T) {
	grid, err := bench.DraftGrid(bench.GridManifest{Preset: "g", Cells: []bench.Cell{{Name: "a",
		Params: map[string]any{"f": 1}}, {Name: "b"}}}, []bench.RunPlan{plan(t, seven, 3, 2), plan(t, seven, 2, 1)})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "grid")
	if err := grid.Create(dir); err != nil {
		t.Fatal(err)
	}
	work(t, grid.Runs[0], 2)
	var rows []bench.Row
	for r, err := range grid.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, *r)
	}
	if len(rows) != 6 {
		t.Fatalf("%d rows of a cell with 6 finished questions and one with none", len(rows))
	}
	report := reported(t, grid.Runs[0].Dir())
	calls, right := 0, 0
	for i, r := range rows {
		if r.Cell != "a" || r.Preset != "g" || r.Params != `{"f":1}` || r.MembersKind != "simulated" ||
			r.Question != grid.Runs[0].Items[i/2].Question.ID || r.Repeat != i%2 {
			t.Errorf("row %d: %+v", i, r)
		}
		calls += r.Calls
		if r.Right != nil && *r.Right {
			right++
		}
	}
	if calls != report.Calls.Made || float64(right)/6 != report.Metrics.Decision.Value {
		t.Errorf("%d calls and %d right; the report has %d and %g", calls, right, report.Calls.Made,
			report.Metrics.Decision.Value)
	}
	tamper(t, dir, "UPDATE results SET calls = calls + 1 WHERE question = 1 AND repeat = 1")
	n := 0
	for _, err := range grid.Rows() {
		if n++; n == 4 && !errors.Is(err, journal.ErrChanged) {
			t.Errorf("a changed row: %v", err)
		}
	}
	if n != 4 {
		t.Errorf("%d rows up to the changed one, which is the fourth", n)
	}
}
