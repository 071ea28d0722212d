package bench_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/internal/llmtest"
)

// A reply that cannot be kept is not used: the work ends with the error of the system, nothing counts as finished, and
// the run goes on when there is room.
func TestNoSpace(t *testing.T) {
	spec := strings.ReplaceAll(served, "$URL", llmtest.Start(t, stubborn).URL)
	whole, run := create(t, plan(t, spec, 4, 1)), create(t, plan(t, spec, 4, 1))
	work(t, whole, 2)
	if err := os.Symlink("/dev/full", journals(run)); err != nil {
		t.Skip(err)
	}
	_, err := run.Work(context.Background(), bench.Options{Parallel: 2})
	if err == nil || !strings.Contains(err.Error(), "no space left") ||
		!strings.Contains(err.Error(), "working.jsonl") {
		t.Fatalf("a file that cannot be written: %v", err)
	}
	if p, err := run.State(); err != nil || p.Finished != 0 {
		t.Errorf("without a journal: %+v, %v", p, err)
	}
	if err := os.Remove(journals(run)); err != nil {
		t.Fatal(err)
	}
	if p := work(t, run, 1); p.Finished != 4 || p.Failed != 0 {
		t.Errorf("afterwards %+v", p)
	}
	if got, want := text(t, reported(t, run.Dir())), text(t, reported(t, whole.Dir())); got != want {
		t.Errorf("afterwards\n%s\nand of a run with room\n%s", got, want)
	}
}

// A folder that cannot be written is reported and exported, and work on it is refused with the reason.
func TestReadOnly(t *testing.T) {
	run := create(t, plan(t, seven, 6, 1))
	work(t, run, 1)
	want := text(t, reported(t, run.Dir()))
	readOnly(t, run.Dir())
	if got := text(t, reported(t, run.Dir())); got != want {
		t.Errorf("the report is\n%s\nand was\n%s", got, want)
	}
	if p, err := run.State(); err != nil || p.Finished != 6 {
		t.Errorf("%+v, %v", p, err)
	}
	n := 0
	for _, err := range run.Views(-1) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	_, err := run.Work(context.Background(), bench.Options{})
	if err == nil || !strings.Contains(err.Error(), "the folder cannot be written") || n != 6 {
		t.Errorf("%d views; work: %v", n, err)
	}
}

// What was committed before a kill is read in a folder that cannot be written, by the files that SQLite keeps beside
// the database. Without one of them the error says to copy the folder, and the copy can be read.
func TestReadOnlyAfterKill(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	work(t, run, 1)
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("?", "%3f", "#", "%23").
		Replace(filepath.Join(run.Dir(), "results.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("INSERT INTO meta VALUES ('pending', 'logged')"); err != nil {
		t.Fatal(err)
	}
	killed, partial := filepath.Join(t.TempDir(), "killed"), filepath.Join(t.TempDir(), "partial")
	for _, dir := range []string{killed, partial} {
		if err := os.CopyFS(dir, os.DirFS(run.Dir())); err != nil { // as a kill leaves it
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(partial, "results.db-shm")); err != nil {
		t.Fatal(err)
	}
	readOnly(t, killed)
	readOnly(t, partial)
	if _, err := bench.Open(partial); err == nil || !strings.Contains(err.Error(), "copy the folder") {
		t.Errorf("a folder with a write-ahead log alone: %v", err)
	}
	again := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(again, os.DirFS(partial)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{killed, again} {
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if logged, err := s.Meta("pending"); err != nil || logged != "logged" {
			t.Errorf("what is in the write-ahead log: %q, %v", logged, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if r := reported(t, dir); r.Finished != 3 {
			t.Errorf("%s: %+v", dir, r)
		}
	}
}

// readOnly makes a folder one that nobody can write. The permissions of a folder do not stop root.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		return
	}
	if out, err := exec.Command("mount", "--bind", dir, dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a folder: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	if out, err := exec.Command("mount", "-o", "remount,bind,ro", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a folder read-only: %v: %s", err, out)
	}
}

// While a process works on a folder, a second one is refused with the number of the first, and reports are made.
func TestTwoProcesses(t *testing.T) {
	run := create(t, plan(t, seven, 4, 1))
	held, err := run.Write()
	if err != nil {
		t.Fatal(err)
	}
	second := func() (string, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SYNOD_LAB_WORK="+run.Dir())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	out, err := second()
	if want := fmt.Sprintf("another process is working on this run: process %d on %s", os.Getpid(), host); err == nil ||
		!strings.Contains(out, want) {
		t.Errorf("a second process: %v: %s; want %q", err, out, want)
	}
	if r := reported(t, run.Dir()); r.Finished != 0 || r.Unfinished != 4 {
		t.Errorf("a report meanwhile: %+v", r)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := second(); err != nil {
		t.Errorf("after the first has ended: %v: %s", err, out)
	}
	if r := reported(t, run.Dir()); r.Finished != 4 {
		t.Errorf("%+v", r)
	}
}

// What another user wrote into the lock is not printed as it is.
func TestHostileLock(t *testing.T) {
	run := create(t, plan(t, seven, 1, 1))
	for _, content := range []string{"", "x", "12", "-4 host", "7 \x1b[31m" + strings.Repeat("x", 1000)} {
		held, err := run.Write()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run.Dir(), "lock"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = run.Write()
		if err == nil || !strings.HasSuffix(err.Error(), "another process is working on this run") {
			t.Errorf("%.20q: %v", content, err)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// When the clock goes back an hour between two attempts, what is finished stays finished, and the report is that of a
// run whose clock was right.
func TestClockBack(t *testing.T) {
	whole, run := create(t, plan(t, seven, 6, 1)), create(t, plan(t, seven, 6, 1))
	work(t, whole, 1)
	ctx, stop := context.WithCancel(context.Background())
	_, err := run.Work(ctx, bench.Options{Progress: func(p bench.Progress) {
		if p.Now == 3 {
			stop()
		}
	}})
	if err == nil {
		t.Fatal("the work was not interrupted")
	}
	ahead := time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05.000Z")
	tamper(t, run.Dir(), "UPDATE blocks SET committed = ?", ahead) // as by a clock that was an hour ahead
	before, err := run.State()
	if err != nil || before.Finished == 0 || before.Finished == 6 {
		t.Fatalf("%+v, %v", before, err)
	}
	if p := work(t, run, 1); p.Finished != 6 || p.Now != 6-before.Finished {
		t.Errorf("%+v; before %+v", p, before)
	}
	if got, want := text(t, reported(t, run.Dir())), text(t, reported(t, whole.Dir())); got != want {
		t.Errorf("the report is\n%s\nand with a right clock\n%s", got, want)
	}
}
