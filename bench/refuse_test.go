package bench_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
)

// A folder contains one run; creating another one there fails with the differences.
func TestOccupied(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	other, err := bench.Draft(plan(t, strings.Replace(seven, "f: 3", "f: 2", 1), 4, 1))
	if err != nil {
		t.Fatal(err)
	}
	var occupied *bench.OccupiedError
	if err := other.Create(run.Dir()); !errors.As(err, &occupied) {
		t.Fatalf("a second run: %v", err)
	}
	for _, want := range []string{"questions: 3 there, 4 now", "council, there: f: 3", "council, now:   f: 2"} {
		if !strings.Contains(occupied.Error(), want) {
			t.Errorf("%v\ndoes not contain %q", occupied, want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := other.Create(dir); !errors.As(err, &occupied) || occupied.Run {
		t.Errorf("a folder with another file: %v", err)
	}
}

// tamper changes the database of a folder.
func tamper(t *testing.T, dir, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.NewReplacer("?", "%3f", "#", "%23").Replace(filepath.Join(dir, "results.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
}

// manifest reads the only manifest of a folder.
func manifest(t *testing.T, dir string) (text string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT manifest FROM cells").Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// reseal replaces a part of the manifest of a run, with the sum that it needs.
func reseal(t *testing.T, run *bench.Run, from, to string) (undo func()) {
	t.Helper()
	old := manifest(t, run.Dir())
	changed := strings.ReplaceAll(old, from, to)
	if changed == old {
		t.Fatalf("the manifest has no %s", from)
	}
	b, err := bench.Seal([]byte(changed))
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, run.Dir(), "UPDATE cells SET manifest = ?", string(b))
	return func() { tamper(t, run.Dir(), "UPDATE cells SET manifest = ?", old) }
}

// A run is not resumed with other members or other questions.
func TestChangedMembers(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	old := manifest(t, run.Dir())
	tamper(t, run.Dir(), "UPDATE cells SET manifest = replace(manifest, 'Ability:0.8', 'Ability:0.9')")
	if _, err := bench.Open(run.Dir()); !errors.Is(err, journal.ErrChanged) ||
		!strings.Contains(err.Error(), "results.db") {
		t.Errorf("a changed manifest: %v", err)
	}
	tamper(t, run.Dir(), "UPDATE cells SET manifest = ?", old)
	reseal(t, run, "Ability:0.8", "Ability:0.9")
	changed, err := bench.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var refused *bench.ChangedError
	if _, err := changed.Work(context.Background(), bench.Options{}); !errors.As(err, &refused) ||
		len(refused.Changes) != 1 {
		t.Errorf("other members: %v", err)
	}
	tamper(t, run.Dir(), "UPDATE questions SET record = replace(record, 'apples', 'plums') WHERE question = 1")
	if _, err := bench.Open(run.Dir()); !errors.Is(err, journal.ErrChanged) {
		t.Error("other questions were accepted")
	}
}

func TestDraftRefuses(t *testing.T) {
	none := plan(t, seven, 1, 1)
	none.Items = nil
	twice := plan(t, seven, 2, 1)
	twice.Items[1] = twice.Items[0]
	unvoted := plan(t, seven, 1, 1)
	it, err := task.NewItem(synod.Question{ID: "j", Text: "?", Form: task.JSON}, "{}")
	if err != nil {
		t.Fatal(err)
	}
	unvoted.Items = append(unvoted.Items, it)
	for name, p := range map[string]bench.RunPlan{"no questions": none, "have the id": twice,
		"no schema: give one with --schema": unvoted} {
		if _, err := bench.Draft(p); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A full disk stops a run. Finished questions are kept, and the run can be resumed.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=768k", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small disk: %v: %s", err, out)
	}
	defer exec.Command("umount", disk).Run()
	run, err := bench.Draft(plan(t, seven, 2000, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Create(filepath.Join(disk, "run")); err != nil {
		t.Fatal(err)
	}
	_, err = run.Work(context.Background(), bench.Options{})
	if err == nil || !strings.Contains(err.Error(), "no space left") &&
		!strings.Contains(err.Error(), "disk is full") || strings.Contains(err.Error(), "cannot be") {
		t.Fatalf("a full disk: %v", err)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=16m", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	again, err := bench.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	before, err := again.State()
	if err != nil {
		t.Fatal(err)
	}
	if more, err := again.Work(context.Background(), bench.Options{}); err != nil || more.Finished != 2000 ||
		before.Finished+more.Now != 2000 {
		t.Errorf("%d finished before; then %+v, %v", before.Finished, more, err)
	}
}

// If several goroutines create a run in the same folder, one succeeds and the others
// fail.
func TestCreateAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	made := make(chan error)
	for i := range 8 {
		p := plan(t, seven, 20+i, 1) // it may end the test, which only the test's own goroutine can do
		go func() {
			run, err := bench.Draft(p)
			if err == nil {
				err = run.Create(dir)
			}
			made <- err
		}()
	}
	created := 0
	for range 8 {
		err := <-made
		var occupied *bench.OccupiedError
		switch {
		case err == nil:
			created++
		case !errors.As(err, &occupied) && !strings.Contains(err.Error(), "another process"):
			t.Error(err)
		}
	}
	if created != 1 {
		t.Errorf("%d runs were created", created)
	}
	if _, err := bench.Open(dir); err != nil {
		t.Error(err)
	}
}

// A manifest whose seats do not match its council is rejected, because every figure would
// be attributed to other seats.
func TestSeatsTakenOut(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	work(t, run, 1)
	var fields map[string]any
	if err := json.Unmarshal([]byte(manifest(t, run.Dir())), &fields); err != nil {
		t.Fatal(err)
	}
	fields["seats"] = fields["seats"].([]any)[:3]
	delete(fields, "sum")
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = bench.Seal(b); err != nil {
		t.Fatal(err)
	}
	tamper(t, run.Dir(), "UPDATE cells SET manifest = ?", string(b))
	changed, err := bench.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := changed.Report(); err == nil || !strings.Contains(err.Error(), "lists 3 seats and its council has 7") {
		t.Error(err)
	}
}
