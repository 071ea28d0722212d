package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/lab"
	"synod.dev/synod/task"
)

// A folder contains one run; creating another one there fails with the differences.
func TestOccupied(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	other, err := lab.Draft(plan(t, strings.Replace(seven, "f: 3", "f: 2", 1), 4, 1))
	if err != nil {
		t.Fatal(err)
	}
	var occupied *lab.OccupiedError
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

// reseal writes a manifest with the sum that it needs.
func reseal(t *testing.T, path string, manifest []byte) {
	t.Helper()
	b, err := lab.Seal(manifest)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A run is not resumed with other members or other questions.
func TestChangedMembers(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	path := filepath.Join(run.Dir(), "run.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte("Ability:0.8"), []byte("Ability:0.9")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Open(run.Dir()); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("a changed run.json: %v", err)
	}
	reseal(t, path, bytes.ReplaceAll(b, []byte("Ability:0.8"), []byte("Ability:0.9")))
	changed, err := lab.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var refused *lab.ChangedError
	if _, err := changed.Work(context.Background(), lab.Options{}); !errors.As(err, &refused) ||
		len(refused.Changes) != 1 {
		t.Errorf("other members: %v", err)
	}
	if err := os.WriteFile(filepath.Join(run.Dir(), "items.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Open(run.Dir()); err == nil {
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
	for name, p := range map[string]lab.Plan{"no questions": none, "have the id": twice,
		"no schema: give one with --schema": unvoted} {
		if _, err := lab.Draft(p); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A full disk stops a run. Finished questions are kept, and the run can be resumed.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small disk: %v: %s", err, out)
	}
	defer exec.Command("umount", disk).Run()
	run, err := lab.Draft(plan(t, seven, 40, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Create(filepath.Join(disk, "run")); err != nil {
		t.Fatal(err)
	}
	p, err := run.Work(context.Background(), lab.Options{})
	if err == nil || !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "cannot be") {
		t.Fatalf("a full disk: %v", err)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=16m", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	again, err := lab.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if more, err := again.Work(context.Background(), lab.Options{}); err != nil || more.Finished != 40 ||
		p.Finished+more.Now != 40 {
		t.Errorf("%d finished before; then %+v, %v", p.Finished, more, err)
	}
}

// If several goroutines create a run in the same folder, one succeeds and the others
// fail.
func TestCreateAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	made := make(chan error)
	for i := range 8 {
		go func() {
			run, err := lab.Draft(plan(t, seven, 20+i, 1))
			if err == nil {
				err = run.Create(dir)
			}
			made <- err
		}()
	}
	created := 0
	for range 8 {
		err := <-made
		var occupied *lab.OccupiedError
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
	if _, err := lab.Open(dir); err != nil {
		t.Error(err)
	}
}

// A run.json whose seats do not match its council is rejected, because every figure would
// be attributed to other seats.
func TestSeatsTakenOut(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	work(t, run, 1)
	path := filepath.Join(run.Dir(), "run.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]any
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	manifest["seats"] = manifest["seats"].([]any)[:3]
	delete(manifest, "sum")
	if b, err = json.Marshal(manifest); err != nil {
		t.Fatal(err)
	}
	reseal(t, path, b)
	changed, err := lab.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := changed.Report(); err == nil || !strings.Contains(err.Error(), "lists 3 seats and its council has 7") {
		t.Error(err)
	}
}
