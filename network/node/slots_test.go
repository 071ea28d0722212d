package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/node/call"
)

// A second value for a slot is refused, also by a later process; a torn line was never signed; a file
// that was changed is not used; and two processes do not share one.
func TestSlots(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slots")
	open := func() *slots {
		t.Helper()
		s, err := openSlots(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	value := func(round int, sum byte) signing {
		return signing{slotKey{"run", synod.Slot{Name: "a \"name\"\n", Round: round}}, [32]byte{sum}}
	}
	s := open()
	if _, err := openSlots(path); err == nil {
		t.Error("two processes have one file")
	}
	if err := s.commit([]signing{value(1, 1), value(2, 2)}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.commit([]signing{value(1, 1)}); err != nil {
			t.Errorf("the same value again: %v", err)
		}
		if err := s.commit([]signing{value(3, 3), value(1, 9)}); !errors.Is(err, errSecondValue) {
			t.Errorf("a second value: %v", err)
		}
		if err := s.commit([]signing{value(4, 1), value(4, 2)}); !errors.Is(err, errSecondValue) {
			t.Errorf("two values at once: %v", err)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		if s.commit([]signing{value(5, 5)}) == nil {
			t.Error("a closed file takes values")
		}
		s = open()
	}
	if err := s.commit([]signing{value(3, 4)}); err != nil {
		t.Errorf("a value of a commit that was refused as a whole: %v", err)
	}
	s.close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(append([]byte{}, whole...), `run 7 0000`...)
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open()
	if err := s.commit([]signing{value(7, 7)}); err != nil {
		t.Errorf("after a torn line: %v", err)
	}
	s.close()
	changed := strings.Replace(string(whole), "run 1", "run x", 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openSlots(path); err == nil {
		t.Error("a changed file is used")
	}
}

// Batches are those that one encoding gives, and have all frames in order.
func TestPack(t *testing.T) {
	for _, n := range []int{1, 23, 24, 255, 256, 1000} {
		var all []frame
		var encoded [][]byte
		for i := range n {
			f := frame{Kind: isClosed, Tick: int64(i)}
			all, encoded = append(all, f), append(encoded, canonical.Encode(f))
		}
		run := runKey{1}
		batches := pack(run[:], encoded)
		if shorten(batches, runKey{}) != run {
			t.Error("the last run is another")
		}
		for i, b := range batches {
			var x batch
			if err := canonical.Decode(b, maxFrame, &x); err != nil || i == 0 != (string(x.Run) == string(run[:])) {
				t.Fatalf("%d frames: %v", n, err)
			}
			for _, f := range x.Frames {
				if f.Tick != all[0].Tick {
					t.Fatalf("frame %d is %d", all[0].Tick, f.Tick)
				}
				all = all[1:]
			}
		}
		if len(all) > 0 {
			t.Errorf("of %d frames %d are missing", n, len(all))
		}
	}
}

// Only what an honest node can send is in range.
func TestFramesInRange(t *testing.T) {
	for _, c := range []struct {
		frame
		honest bool
	}{
		{frame{Kind: isClosed, Tick: -1}, true}, // nothing is closed yet
		{frame{Kind: isClosed, Tick: int64(never)}, true},
		{frame{Kind: isClosed, Tick: -2}, false},
		{frame{Kind: isClosed, Tick: int64(never) + 1}, false},
		{frame{Kind: isDemand, Tick: -1}, false},
		{frame{Kind: isMessage, Tick: -1}, false},
		{frame{Kind: isMessage, Round: 1 << 31}, false},
		{frame{Kind: isMessage, Slot: strings.Repeat("s", maxSlotName+1)}, false},
		{frame{Kind: isReceipts, Receipts: make([]call.Receipt, receiptsAtOnce+1)}, false},
	} {
		if got := c.frame.inRange(); got != c.honest {
			t.Errorf("kind %d, tick %d, round %d: %v", c.Kind, c.Tick, c.Round, got)
		}
	}
}

// Whatever bytes a neighbour sends as a frame, reading them ends without a panic, and a frame has one
// encoding.
func FuzzFrame(f *testing.F) {
	f.Add(canonical.Encode(batch{Run: make([]byte, 16), Frames: []frame{{Kind: isMessage, Slot: "respond",
		Body: []byte("x")}, {Kind: isClosed, Tick: 1}}}))
	f.Add(canonical.Encode(batch{Frames: []frame{{Kind: isPing}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var x batch
		if canonical.Decode(b, maxFrame, &x) == nil && string(canonical.Encode(x)) != string(b) {
			t.Errorf("%x is one of two encodings", b)
		}
	})
}

// A value that cannot be put on disk is not signed, although the write was taken, and nothing is signed after it.
// A null device takes writes and cannot be synced.
func TestSlotThatCannotBeSynced(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if null.Sync() == nil {
		t.Skip("this system syncs its null device")
	}
	s := &slots{file: null, signed: map[string]map[synod.Slot][32]byte{}, settled: map[string]bool{}}
	defer s.close()
	v := signing{slotKey{"run", synod.Slot{Name: "a"}}, [32]byte{1}}
	for range 2 {
		if s.commit([]signing{v}) == nil || s.holds(v) {
			t.Error("a value may be signed that is not on disk")
		}
	}
}
