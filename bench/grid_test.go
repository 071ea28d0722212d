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
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/internal/durable"
)

func grid(t *testing.T, repeat int) *bench.Grid {
	t.Helper()
	m := bench.GridManifest{Program: "test", Preset: "two", Source: "nobody", Members: "simulated", Cells: []bench.Cell{
		{Name: "three-rounds", Params: map[string]any{"protocol": "sac"},
			Paper: map[string]report.Figure{"iaa": {Value: 0.02, N: 1000}, "faa": {Value: 0.8, N: 2}}},
		{Name: "one-round"},
	}}
	g, err := bench.DraftGrid(m, []bench.RunPlan{plan(t, seven, 4, repeat),
		plan(t, strings.Replace(seven, "rounds: 3", "rounds: 1", 1), 4, repeat)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func gridJSON(t *testing.T, dir string) string {
	t.Helper()
	g, err := bench.OpenGrid(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	r.Seconds = 0
	for _, c := range r.Cells {
		c.Seconds = 0
		for i := range c.Models {
			c.Models[i].Latency = nil
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A grid that is interrupted, moved and resumed gives the report of an uninterrupted one,
// and no call is made twice.
func TestGridResumes(t *testing.T) {
	whole, cut := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "cut")
	g := grid(t, 2)
	if err := g.Create(whole); err != nil {
		t.Fatal(err)
	}
	all, err := g.Work(context.Background(), bench.Options{Parallel: 2})
	if err != nil || all.Finished != 16 {
		t.Fatalf("%+v, %v", all, err)
	}
	g = grid(t, 2)
	if err := g.Create(cut); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	first, err := g.Work(ctx, bench.Options{Parallel: 1, Progress: func(p bench.Progress) {
		if p.Cell == "one-round" && p.Finished == 10 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || first.Finished != 10 {
		t.Fatalf("%+v, %v", first, err)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(cut, moved); err != nil {
		t.Fatal(err)
	}
	if g, err = bench.OpenGrid(moved); err != nil {
		t.Fatal(err)
	}
	second, err := g.Work(context.Background(), bench.Options{Parallel: 2})
	if err != nil || second.Finished != 16 || first.Calls+second.Calls != all.Calls {
		t.Fatalf("%+v then %+v, %v; uninterrupted: %+v", first, second, err, all)
	}
	if a, b := gridJSON(t, whole), gridJSON(t, moved); a != b {
		t.Errorf("reports differ:\n%s\n%s", a, b)
	}
}

// Create rejects a folder that is not empty, and describes the differences.
func TestGridOccupied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	if err := grid(t, 1).Create(dir); err != nil {
		t.Fatal(err)
	}
	var e *bench.OccupiedError
	if err := grid(t, 1).Create(dir); !errors.As(err, &e) || !e.Run || len(e.Changes) != 0 {
		t.Errorf("the same grid again: %v", err)
	}
	if err := grid(t, 2).Create(dir); !errors.As(err, &e) || !strings.Contains(err.Error(), "repeat: 1 there, 2 now") {
		t.Errorf("a changed grid: %v", err)
	}
	run := create(t, plan(t, seven, 2, 1))
	if err := grid(t, 1).Create(run.Dir()); !errors.As(err, &e) || !e.Run {
		t.Errorf("onto a run: %v", err)
	}
	if _, err := bench.OpenGrid(run.Dir()); !errors.Is(err, bench.ErrNoRun) {
		t.Errorf("a run opened as a grid: %v", err)
	}
	b, err := bench.Seal([]byte(fmt.Sprintf(`{"version":%d,"cells":[{"cell":"../../etc"}]}`, bench.GridVersion)))
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, dir, "UPDATE meta SET value = ? WHERE key = 'grid'", string(b))
	if _, err := bench.OpenGrid(dir); err == nil || !strings.Contains(err.Error(), "not a valid name of a cell") {
		t.Errorf("a cell outside the folder: %v", err)
	}
}

// A figure that is far off differs, one with few questions is inconclusive, and one
// without data has no verdict.
func TestGridVerdicts(t *testing.T) {
	g := grid(t, 1)
	dir := filepath.Join(t.TempDir(), "g")
	if err := g.Create(dir); err != nil {
		t.Fatal(err)
	}
	before, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	if v := before.Cells[0].Verdict; len(v) != 0 {
		t.Errorf("verdicts without a finished question: %v", v)
	}
	if _, err := g.Work(context.Background(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	after, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	if v := after.Cells[0].Verdict; v["iaa"] != report.Differs || v["faa"] == report.Differs {
		t.Errorf("verdicts %v of %+v", v, after.Cells[0].Metrics["iaa"])
	}
	if len(after.Cells[1].Paper) != 0 || after.Questions != 8 || after.Finished != 8 ||
		after.MembersKind[0] != "simulated" {
		t.Errorf("%+v", after)
	}
}

// Creating a grid does not change other folders with similar names.
func TestGridLeavesNeighbours(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "t1")
	kept := filepath.Join(dir+".new", "results")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := grid(t, 1).Create(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if err := grid(t, 1).Create("."); err == nil {
		t.Error("the working folder was replaced")
	}
}

// The folder that a killed creation has left is removed by the next one of the same grid; that of a creation which goes
// on, or has just begun, stays.
func TestGridClearsKilledCreations(t *testing.T) {
	dir := t.TempDir()
	left := map[string]string{}
	for _, name := range []string{"killed", "new", "locked", "other"} {
		base := ".g.new-"
		if name == "other" {
			base = ".gg.new-"
		}
		left[name] = filepath.Join(dir, base+name)
		if err := os.MkdirAll(filepath.Join(left[name], "part"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	held, err := durable.Own(durable.System, filepath.Join(left["locked"], "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for name, path := range left {
		if name != "new" {
			if err := os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := grid(t, 1).Create(filepath.Join(dir, "g")); err != nil {
		t.Fatal(err)
	}
	for name, path := range left {
		if _, err := os.Stat(path); (err != nil) != (name == "killed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
