package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/nightly"
)

// No change of what a node keeps in files that nobody signs is accepted silently: what it has spent today, the rosters
// that it plays, the horizon. Without their checksums, changes would be.
func TestDamagedFiles(t *testing.T) {
	changes := nightly.Size(100, 500)
	dir := t.TempDir()
	now := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	caps := filepath.Join(dir, "spent.json")
	d, err := openDaily(caps, Caps{}, now, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d.today()
	d.Calls, d.USD, d.Callers = 123, 4.5, map[string]int{"ab12": 77}
	d.timer = time.NewTimer(time.Hour)
	d.save()
	damage.Check(t, caps, changes, durable.Bare, func() (string, error) {
		d, err := openDaily(caps, Caps{}, now, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			return "", err
		}
		b, err := json.Marshal(d)
		return string(b), err
	})
	horizon := filepath.Join(dir, "horizon")
	if err := os.WriteFile(horizon, horizonText(1_772_366_400_123), 0o600); err != nil {
		t.Fatal(err)
	}
	noSum := func(b []byte) []byte { return regexp.MustCompile(`^sum=[0-9a-f]{8} `).ReplaceAll(b, nil) }
	damage.Check(t, horizon, changes, noSum, func() (string, error) {
		b, err := os.ReadFile(horizon)
		if err != nil {
			return "", err
		}
		at, err := parseHorizon(b)
		return fmt.Sprint(at), err
	})
	state := filepath.Join(dir, "state.json")
	b, _ := json.MarshalIndent(&keptState{1, []keptRoster{{Hash: "ab", Serial: 7, Until: now()}}}, "", "  ")
	if err := os.WriteFile(state, durable.Seal(b), 0o600); err != nil {
		t.Fatal(err)
	}
	damage.Check(t, state, changes, durable.Bare, func() (string, error) {
		b, err := os.ReadFile(state)
		var s keptState
		if err == nil {
			_, err = durable.DecodeSealed(b, &s)
		}
		return fmt.Sprint(s), err
	})
}

// Each changed bit of the record of what the node has signed is noticed, or cuts off the last line as a crash does.
// Without the checksums of the lines, some would make the node forget what it has signed.
func TestDamagedSlots(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signed")
	s, err := openSlots(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		v := signing{slotKey{fmt.Sprintf("%064x", i), synod.Slot{Name: "respond", Round: i}}, [32]byte{byte(i)}}
		if err := s.commit([]signing{v}); err != nil {
			t.Fatal(err)
		}
	}
	s.close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(bytes.TrimSpace(text), '\n')
	silent := func(text []byte) (n int) {
		want := fmt.Sprint(signedIn(t, path, text))
		for bit := 0; bit < 8*last; bit += nightly.Size(11, 1) {
			changed := bytes.Clone(text)
			changed[bit/8] ^= 1 << (bit % 8)
			if got := signedIn(t, path, changed); got != nil && fmt.Sprint(got) != want {
				n++
			}
		}
		return n
	}
	if n := silent(text); n > 0 {
		t.Errorf("%d changed bits are accepted", n)
	}
	bare := regexp.MustCompile(`(?m) [0-9a-f]{8}$`).ReplaceAll(text, nil)
	last = len(bare) - len(text) + last + 9
	if n := silent(bare); n == 0 {
		t.Error("no changed bit is accepted without checksums either")
	}
}

// signedIn returns what a file says is signed; nil if it is refused.
func signedIn(t *testing.T, path string, text []byte) map[string]map[synod.Slot][32]byte {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := openSlots(path)
	if err != nil {
		return nil
	}
	defer s.close()
	return s.signed
}

// A node that cannot write what it has spent spends nothing more until it can.
func TestSpendingUnwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spent.json")
	d, err := openDaily(path, Caps{Calls: 10}, time.Now, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path+".new", "kept"), 0o700); err != nil { // the file cannot be made
		t.Fatal(err)
	}
	d.today()
	d.Calls, d.timer = 3, time.NewTimer(time.Hour)
	d.save()
	if err := d.left("caller"); err == nil {
		t.Error("it goes on")
	}
	if err := os.RemoveAll(path + ".new"); err != nil {
		t.Fatal(err)
	}
	if err := d.left("caller"); err != nil {
		t.Errorf("when the disk is back: %v", err)
	}
	if again, err := openDaily(path, Caps{}, time.Now, nil, d.log); err != nil || again.Calls != 3 {
		t.Errorf("%+v, %v", again, err)
	}
}
