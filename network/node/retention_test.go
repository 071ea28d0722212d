package node

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/network/roster"
)

const pruned = 300 // runs in the folder of TestPruneKilled

// runID is the id of a run of a test.
func runID(i int) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(strconv.Itoa(i)))) }

// folder opens the part of a node that keeps runs.
func folder(t testing.TB, dir string) *Node {
	t.Helper()
	n := newNode(Config{Dir: dir, Roster: &roster.Signed{Roster: &roster.Roster{}}})
	spec, err := plan.Parse([]byte("protocol: {name: majority}\nmodels: {d: {provider: simulated}}\n" +
		"seats: [{id: a, model: d, count: 3}]\nlimits: {deadline: 1m}\n"))
	if err == nil {
		n.plan, err = plan.New(spec)
	}
	if err == nil {
		n.shared, err = openShared(&n.config, n.now, n.log)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.slots = n.shared.slots
	return n
}

// age returns how old the files of a run of TestPruneKilled are: run 0 is the oldest.
func age(i int) time.Duration { return time.Duration(pruned-i)*time.Hour + MinKeep }

func fill(t *testing.T, dir string, begun time.Time) {
	n := folder(t, dir)
	defer n.slots.close()
	for i := range pruned {
		id := runID(i)
		err := n.slots.commit([]signing{{slotKey{id, synod.Slot{Name: "respond"}}, [32]byte{1}},
			{slotKey{id, synod.Slot{Name: "respond", Round: 1}}, [32]byte{2}}, {slotKey{id, certified}, [32]byte{3}}})
		for _, file := range []string{"runs/" + id + ".jsonl", "records/" + id + ".cbor",
			"evidence/" + id + "-seat1.pem"} {
			at := begun.Add(-age(i))
			path := filepath.Join(dir, file)
			err = errors.Join(err, os.WriteFile(path, make([]byte, 100), 0o600), os.Chtimes(path, at, at))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPruneChild is the process that TestPruneKilled kills.
func TestPruneChild(t *testing.T) {
	dir := os.Getenv("SYNOD_PRUNE_TEST")
	if dir == "" {
		t.Skip("TestPruneKilled starts it")
	}
	n := folder(t, dir)
	for keep := age(0); keep > age(pruned-10); keep -= 2 * time.Hour {
		p, err := n.Prune(t.Context(), Retention{Age: keep})
		if err != nil {
			t.Fatal(err)
		}
		if p.Runs > 0 {
			fmt.Println("removed")
		}
	}
}

// Whenever a node is killed while it prunes, what it has not removed is whole, and nothing is signed in a run that it
// has removed: neither a second value nor a first one.
func TestPruneKilled(t *testing.T) {
	kills := 25
	if testing.Short() {
		kills = 5
	}
	dir, begun := t.TempDir(), time.Now()
	fill(t, dir, begun)
	ended, gone := 0, 0
	for range kills {
		c := exec.Command(os.Args[0], "-test.run", "^TestPruneChild$")
		c.Env = append(os.Environ(), "SYNOD_PRUNE_TEST="+dir)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + rand.N(2) { // it has removed some runs, however slow the machine is
			lines.Scan()
		}
		time.Sleep(rand.N(5 * time.Millisecond))
		c.Process.Kill()
		if c.Wait() == nil {
			ended++
		}
		gone = checkPruned(t, dir, begun)
	}
	t.Logf("%d kills, %d of them too late; %d of %d runs are gone", kills, ended, gone, pruned)
	if gone < kills || ended > kills/2 {
		t.Error("too little was removed before the kills, or most kills came too late")
	}
}

// checkPruned checks a folder after a kill, and returns how many runs are gone.
func checkPruned(t *testing.T, dir string, begun time.Time) (gone int) {
	t.Helper()
	n := folder(t, dir)
	defer n.slots.close()
	for i := range pruned {
		id, starts := runID(i), begun.Add(-age(i)).UnixMilli()
		_, err := os.Stat(n.finalPath(sign.Instance(id)))
		_, journal := os.Stat(n.journalPath(sign.Instance(id)))
		whole := err == nil && journal == nil
		if !whole {
			gone++
		}
		if !whole && !n.shared.horizon.covers(starts) {
			t.Fatalf("run %d has lost files, and the horizon is before it", i)
		}
		if n.shared.horizon.covers(starts + ahead.Milliseconds()) {
			continue // nothing is signed in it, whatever is left of it
		}
		for _, v := range []signing{{slotKey{id, synod.Slot{Name: "respond"}}, [32]byte{9}},
			{slotKey{id, synod.Slot{Name: "later"}}, [32]byte{9}}, {slotKey{id, certified}, [32]byte{9}}} {
			if n.slots.commit([]signing{v}) == nil {
				t.Fatalf("run %d is kept, and a second %s is signed", i, v.key.slot.Name)
			}
		}
		if n.slots.commit([]signing{{slotKey{id, certified}, [32]byte{3}}}) != nil {
			t.Fatalf("run %d: the certificate is not signed again", i)
		}
	}
	return gone
}

// Values of runs that have ended, or are gone, take a line or eight bytes, and are refused after every new start.
func TestSlotsAreCompact(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, time.Now())
	before, err := os.ReadFile(filepath.Join(dir, "slots"))
	if err != nil {
		t.Fatal(err)
	}
	n := folder(t, dir) // it settles what has a record
	after, err := os.ReadFile(filepath.Join(dir, "slots"))
	if err != nil || bytes.Count(after, []byte("\n")) != 2*pruned || len(n.slots.signed) != pruned {
		t.Errorf("%d lines before, %d lines after; %v", bytes.Count(before, []byte("\n")),
			bytes.Count(after, []byte("\n")), err)
	}
	if _, err := openSlots(filepath.Join(dir, "slots")); err == nil {
		t.Error("the new file is not locked")
	}
	p, err := n.Prune(t.Context(), Retention{Bytes: 200 * 300}) // each run has 300 bytes
	if err != nil || p.Runs != 100 || p.Left != 200 || p.LeftBytes != 200*300 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "evidence", runID(0)+"-seat1.pem")); err != nil {
		t.Error("a proof is removed because of its bytes:", err)
	}
	old, kept := runID(0), runID(150)
	for range 2 {
		for _, id := range []string{old, kept} {
			err := n.slots.commit([]signing{{slotKey{id, synod.Slot{Name: "x"}}, [32]byte{1}}})
			if !errors.Is(err, errSettled) {
				t.Errorf("a value is signed in an old run: %v", err)
			}
		}
		if !n.hasSigned(signing{slotKey{old, synod.Slot{Name: "respond"}}, [32]byte{1}}, nil) {
			t.Error("an own signature in a run that is gone seems to be from elsewhere")
		}
		if n.hasSigned(signing{slotKey{runID(-1), synod.Slot{Name: "respond"}}, [32]byte{1}}, nil) {
			t.Error("a signature in an unknown run seems to be from here")
		}
		n.slots.close()
		n = folder(t, dir)
	}
	n.slots.close()
	if err := os.WriteFile(n.shared.horizonPath(), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the file of slots is not locked after a failure
		if _, err := openShared(&n.config, n.now, n.log); err == nil || !strings.Contains(err.Error(), "horizon") {
			t.Errorf("a changed horizon is used: %v", err)
		}
	}
	if (Retention{Age: time.Hour}).Validate() == nil || (Retention{Bytes: -1}).Validate() == nil {
		t.Error("a retention that is too short is accepted")
	}
}
