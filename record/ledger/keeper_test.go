package ledger_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/record/ledger"
)

// flaky is a ledger that fails, and that takes nothing while it is split.
type flaky struct {
	*ledger.Log
	mu     sync.Mutex
	split  bool
	failed error
}

func (f *flaky) Append(ctx context.Context, e *ledger.Entry) (uint64, error) {
	f.mu.Lock()
	split := f.split
	f.mu.Unlock()
	if split {
		return 0, errors.New("no quorum")
	}
	return f.Log.Append(ctx, e)
}

func (f *flaky) set(split bool, failed error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.split, f.failed = split, failed
}

func (f *flaky) Failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// A ledger that cannot be opened, is split, or fails holds nothing up; what was promised is written when it heals, by
// this process or the next, and one entry that cannot be read does not keep the others from it.
func TestKeeper(t *testing.T) {
	dir, own := t.TempDir(), secret(t, 1)
	var mu sync.Mutex
	var f *flaky
	refuse, opened := errors.New("nobody is there"), 0
	keep := func() *ledger.Keeper {
		return ledger.Keep(dir, func(context.Context) (ledger.Ledger, error) {
			mu.Lock()
			defer mu.Unlock()
			if refuse != nil {
				return nil, refuse
			}
			l, err := ledger.Open(filepath.Join(dir, "log"), own)
			if err != nil {
				return nil, err
			}
			opened++
			f = &flaky{Log: l, split: opened == 1}
			return f, nil
		}, slog.New(slog.DiscardHandler))
	}
	k := keep()
	promise := func(run string) {
		t.Helper()
		begin := time.Now()
		if err := k.Record(entry(run, false)); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d > 15*time.Second {
			t.Errorf("a promise took %v", d)
		}
	}
	until := func(what string, ok func(ledger.KeeperStatus) bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(k.Status()); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %+v", what, k.Status())
			}
		}
	}
	promise("a")
	until("not open", func(s ledger.KeeperStatus) bool { return s.Pending == 1 && s.Trouble != "" && s.Entries == 0 })
	mu.Lock()
	refuse = nil
	mu.Unlock()
	until("split", func(s ledger.KeeperStatus) bool { return s.Pending == 1 && s.Trouble == "no quorum" })
	promise("b")
	f.set(false, nil)
	until("healed", func(s ledger.KeeperStatus) bool { return s.Pending == 0 && s.Entries == 2 && s.Trouble == "" })
	f.set(true, errors.New("the disk is full"))
	promise("c")
	until("opened again", func(s ledger.KeeperStatus) bool { return s.Pending == 0 && s.Entries == 3 })
	mu.Lock()
	if opened != 2 {
		t.Errorf("it was opened %d times", opened)
	}
	refuse = errors.New("nobody is there")
	mu.Unlock()
	f.set(false, errors.New("gone"))
	promise("d")
	until("gone", func(s ledger.KeeperStatus) bool { return s.Pending == 1 && s.Trouble != "" })
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	refuse = nil
	mu.Unlock()
	bad := filepath.Join(dir, "pending", "00ff")
	if err := os.WriteFile(bad, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	k = keep()
	until("the next process", func(s ledger.KeeperStatus) bool { return s.Pending == 0 && s.Entries == 4 })
	if _, err := os.Stat(bad + ".unreadable"); err != nil {
		t.Error("the junk was not put aside: ", err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}
