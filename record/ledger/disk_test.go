package ledger_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"synod.dev/synod/internal/faultdisk"
	"synod.dev/synod/record/ledger"
)

// faulty returns a disk whose next calls of a kind fail when the result is set.
func faulty(t *testing.T) (d *faultdisk.Disk, fails map[faultdisk.Op]bool) {
	t.Helper()
	d, fails = faultdisk.New(), map[faultdisk.Op]bool{}
	if err := errors.Join(d.Mkdir("/data", 0o700), d.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	d.Inject = func(c faultdisk.Call) (f faultdisk.Fault) {
		if fails[c.Op] {
			f.Err = syscall.EIO
		}
		return f
	}
	return d, fails
}

func openOn(t *testing.T, d *faultdisk.Disk) *ledger.Log {
	t.Helper()
	l, err := ledger.OpenOn(d, "/data/log", secret(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// An entry whose sync failed can still be read, so the next process puts it under a head. It must be on the disk then:
// a sync alone does nothing for it.
func TestEntryOfAFailedSync(t *testing.T) {
	d, fails := faulty(t)
	l := openOn(t, d)
	fails[faultdisk.Sync] = true
	if _, err := l.Append(t.Context(), entry("run", false)); err == nil {
		t.Fatal("an entry is acknowledged that is not on the disk")
	}
	fails[faultdisk.Sync] = false
	l.Close()
	l = openOn(t, d)
	if l.Head().Head.Size != 1 {
		t.Fatalf("the head has %d entries", l.Head().Head.Size)
	}
	l.Close()
	d.PowerCut(rand.New(rand.NewPCG(1, 1)), false)
	if l = openOn(t, d); l.Size() != 1 {
		t.Errorf("after a power cut %d entries are left", l.Size())
	}
}

// An entry whose head could not be written is not acknowledged when it is appended again.
func TestEntryWithoutHead(t *testing.T) {
	d, fails := faulty(t)
	l := openOn(t, d)
	fails[faultdisk.Rename] = true
	for range 2 {
		if at, err := l.Append(t.Context(), entry("run", false)); err == nil {
			t.Errorf("entry %d is acknowledged without a head", at)
		}
	}
}

// An entry after the head that cannot be read is not cut off.
func TestUnreadableEntry(t *testing.T) {
	d, fails := faulty(t)
	l := openOn(t, d)
	fails[faultdisk.Rename] = true
	if _, err := l.Append(t.Context(), entry("run", false)); err == nil {
		t.Fatal("no error")
	}
	l.Close()
	inject, reads := d.Inject, 0
	d.Inject = func(c faultdisk.Call) faultdisk.Fault {
		if c.Op == faultdisk.Read && c.Len < 100 { // that of an entry, not that of the head
			reads++
			return faultdisk.Fault{Err: syscall.EIO}
		}
		return faultdisk.Fault{}
	}
	if _, err := ledger.OpenOn(d, "/data/log", secret(t, 1)); err == nil || reads != 1 ||
		!strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("after %d reads: %v", reads, err)
	}
	fails[faultdisk.Rename], d.Inject = false, inject
	if l = openOn(t, d); l.Size() != 1 {
		t.Errorf("%d entries are left", l.Size())
	}
}

// A head whose name did not get on the disk can be read by the next process, which acknowledges what is under it. Its
// name must be on the disk then.
func TestHeadWhoseNameWasNotSynced(t *testing.T) {
	for seed := range uint64(8) {
		d, _ := faulty(t)
		var last faultdisk.Op
		fails := true
		d.Inject = func(c faultdisk.Call) (f faultdisk.Fault) {
			if fails && last == faultdisk.Rename && c.Op == faultdisk.SyncDir {
				f.Err = syscall.EIO
			}
			last = c.Op
			return f
		}
		if _, err := ledger.OpenOn(d, "/data/log", secret(t, 1)); err == nil {
			t.Fatal("a log is open whose head is not on the disk")
		}
		l := openOn(t, d)
		if _, err := l.Append(t.Context(), entry("run", false)); err == nil {
			t.Fatal("an entry is acknowledged whose head is not on the disk")
		}
		l.Close()
		fails = false
		l = openOn(t, d)
		if _, err := l.Append(t.Context(), entry("run", false)); err != nil {
			t.Fatal(err)
		}
		l.Close()
		d.PowerCut(rand.New(rand.NewPCG(seed, 1)), false)
		if l = openOn(t, d); l.Size() != 1 {
			t.Errorf("after a power cut %d entries are left", l.Size())
		}
		l.Close()
	}
}
