package journal_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/faultdisk"
)

// failing returns a disk on which calls of a kind fail while the result is set.
func failing(t *testing.T, op faultdisk.Op) (d *faultdisk.Disk, fails *bool) {
	t.Helper()
	d, fails = faultdisk.New(), new(bool)
	if err := errors.Join(d.Mkdir("/data", 0o700), d.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	d.Inject = func(c faultdisk.Call) (f faultdisk.Fault) {
		if *fails && c.Op == op {
			f.Err = syscall.EIO
		}
		return f
	}
	return d, fails
}

var paid = synod.Reply{Status: synod.OK, Text: "paid", Calls: 1}

// What was read of a journal whose sync failed is on the disk when the run that goes on in its file is closed: a sync
// alone does nothing for it.
func TestContinueAfterAFailedSync(t *testing.T) {
	d, fails := failing(t, faultdisk.Sync)
	w, err := journal.CreateOn(d, "/data/runs/j", journal.Head{})
	if err != nil {
		t.Fatal(err)
	}
	w.Reply(0, 0, paid)
	*fails = true
	if _, err := w.Close("rounds"); err == nil {
		t.Fatal("a journal is closed that is not on the disk")
	}
	*fails = false
	run, _, err := journal.ResumeOn(d, "/data/runs/j")
	if err != nil {
		t.Fatal(err)
	}
	if w, err = run.Continue(journal.Head{Known: run.Answered()}); err == nil {
		_, err = w.Close("rounds")
	}
	if err != nil {
		t.Fatal(err)
	}
	d.PowerCut(rand.New(rand.NewPCG(1, 1)), false)
	f, err := d.OpenFile("/data/runs/j", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if run, err = journal.Read(f); err != nil || run.End == nil || run.Replies[journal.Key{}].Text != "paid" {
		t.Errorf("after a power cut: %+v, %v", run, err)
	}
}

// A segment that could not be emptied is not written from its beginning.
func TestForgetThatFails(t *testing.T) {
	d, fails := failing(t, faultdisk.Write)
	s, err := journal.OpenSegmentOn(d, "/data/s")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Create("q", journal.Head{})
	if err != nil {
		t.Fatal(err)
	}
	w.Reply(0, 0, paid)
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take("q"); err != nil {
		t.Fatal(err)
	}
	*fails = true
	if err := s.Forget("q"); err == nil {
		t.Fatal("a file was emptied that cannot be written")
	}
	*fails = false
	if w, err = s.Create("r", journal.Head{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Asked(0, 0, journal.Cost{Calls: 1}); err == nil {
		t.Error("a request leaves, and its line is over those of another run")
	}
	_ = s.Close() // it says again that the disk failed
	if _, err := journal.OpenSegmentOn(d, "/data/s"); err != nil {
		t.Error(err)
	}
}

// taken returns an open segment on a disk, with one run that was taken.
func taken(t *testing.T, d *faultdisk.Disk) *journal.Segment {
	t.Helper()
	s, err := journal.OpenSegmentOn(d, "/data/s")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Create("q", journal.Head{})
	if err != nil {
		t.Fatal(err)
	}
	w.Reply(0, 0, paid)
	if _, err = w.Close("rounds"); err == nil {
		_, err = s.Take("q")
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A segment that was emptied is empty on the disk, too: otherwise a power cut could mix old chunks with new ones.
func TestEmptiedOnDisk(t *testing.T) {
	for seed := range uint64(8) {
		d, _ := failing(t, faultdisk.Sync)
		s := taken(t, d)
		if err := s.Forget("q"); err != nil {
			t.Fatal(err)
		}
		d.PowerCut(rand.New(rand.NewPCG(seed, 1)), true)
		if b := d.Backup()["/data/s"]; len(b) > 0 {
			t.Errorf("seed %d: %d bytes of a run that was forgotten are on the disk", seed, len(b))
		}
	}
}

// What was cut off when a segment was opened is not on the disk, also if the first sync after it failed.
func TestCutOnDisk(t *testing.T) {
	d, fails := failing(t, faultdisk.Sync)
	taken(t, d)
	whole := len(d.Backup()["/data/s"])
	f, err := d.OpenFile("/data/s", os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(`{"k":"chunk","run":"torn`), int64(whole))
	}
	if err = errors.Join(err, f.Sync()); err != nil {
		t.Fatal(err)
	}
	*fails = true
	if _, err := journal.OpenSegmentOn(d, "/data/s"); err == nil {
		t.Fatal("a segment is open that could not be synced")
	}
	*fails = false
	if _, err := journal.OpenSegmentOn(d, "/data/s"); err != nil {
		t.Fatal(err)
	}
	d.PowerCut(rand.New(rand.NewPCG(1, 1)), false)
	if n := len(d.Backup()["/data/s"]); n != whole {
		t.Errorf("%d bytes are on the disk, and %d were kept", n, whole)
	}
}
