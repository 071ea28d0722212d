package node

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"log/slog"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

// One caller cannot spend all money of a day, and what it has spent outlives the process.
func TestOneCallerLeavesMoney(t *testing.T) {
	path := t.TempDir() + "/spent.json"
	open := func() *daily {
		d, err := openDaily(path, Caps{DailyUSD: 0.10}, time.Now, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	n := &Node{model: priced{}, daily: open(), log: slog.New(slog.DiscardHandler)}
	reply := synod.Reply{Status: synod.OK, Calls: 1, Usage: synod.Usage{Prompt: 50_000, Completion: 1000}}
	for i := 0; n.daily.left("flood") == nil; i++ {
		if i > 50 {
			t.Fatalf("one caller has spent $%.2f of a limit of $0.10", n.daily.USD)
		}
		n.spend(&reply, "flood")
	}
	if n.daily.USD > 0.06 || n.daily.left("alice") != nil {
		t.Errorf("one caller has spent $%.3f; for another: %v", n.daily.USD, n.daily.left("alice"))
	}
	n.daily.save()
	if again := open(); again.left("flood") == nil || again.left("alice") != nil {
		t.Error("after a restart a caller can spend again")
	}
	if b := n.daily.budget(plan.Limits{}, "alice"); b == nil {
		t.Error("there is no budget for a caller that has spent nothing")
	}
}

// runHolding returns a run of a caller on a node with limits of memory.
func runHolding(n *Node, caller string) *run {
	return &run{node: n, caller: caller, held: map[synod.NodeID]int64{}, ended: make(chan struct{})}
}

// What runs hold is accounted to who asked from their begin to their end: a caller whose runs hold much gets no more,
// others do, and everything is free when the runs have ended.
func TestMemoryOfACaller(t *testing.T) {
	n := &Node{config: Config{Caps: Caps{Memory: 8 << 20}}, links: map[synod.NodeID]*peer{1: {}}}
	var all []*run
	for (service{n}).hasRoom("flood", 16<<10) == nil {
		r := runHolding(n, "flood")
		r.grow(int(runBytes(16 << 10)))
		all = append(all, r)
		if len(all) > 1000 {
			t.Fatal("one caller has more than 1000 runs")
		}
	}
	if _, one := n.memory.used("flood"); one > 4<<20 || one < 3<<20 {
		t.Errorf("one caller holds %d of %d bytes", one, 8<<20)
	}
	if err := (service{n}).hasRoom("alice", 16<<10); err != nil {
		t.Errorf("another caller: %v", err)
	}
	r := runHolding(n, "alice")
	r.grow(int(runBytes(1)))
	for i := 0; r.hold(1, 64<<10); i++ {
		if i > 1000 {
			t.Fatal("a neighbour makes a run hold 64 MB")
		}
	}
	if held, _ := n.memory.used("alice"); held > 8<<20+64<<10 {
		t.Errorf("all runs hold %d bytes", held)
	}
	for _, r := range append(all, r) {
		r.release()
		r.grow(1 << 20) // a reply that comes after the end
	}
	if held, one := n.memory.used("alice"); held != 0 || one != 0 || len(n.memory.callers) != 0 {
		t.Errorf("%d bytes are accounted after the runs: %v", held, n.memory.callers)
	}
}

// A caller has a budget of checks of signatures of its own.
func TestChecksOfACaller(t *testing.T) {
	n := &Node{}
	asked := 0
	for (service{n}).mayCheck("flood", 8) == nil {
		asked++
		if asked > 100_000 {
			t.Fatal("there is no limit")
		}
	}
	if asked < checkBurst/8 || (service{n}).mayCheck("alice", 8) != nil {
		t.Errorf("%d requests of 8 checks; another caller: %v", asked, (service{n}).mayCheck("alice", 8))
	}
}

// A neighbour that was excluded is not read when it opens its stream again, and each time it is excluded for longer.
func TestStrikesOutliveStreams(t *testing.T) {
	n := &Node{observer: unobserved{}, roster: &roster.Roster{Members: []roster.Member{{ID: "a"}, {ID: "b"}}},
		begun: time.Now(), log: slog.New(slog.DiscardHandler)}
	p := &peer{node: n, id: 1}
	last := time.Duration(0)
	for i := range 5 {
		p.strike(errors.New("junk"))
		if _, err := p.join(); err == nil {
			t.Fatalf("after strike %d the neighbour is read again at once", i+1)
		}
		if for_ := time.Until(p.excluded); for_ < last {
			t.Errorf("strike %d excludes for %v, after %v before", i+1, for_, last)
		} else {
			last = for_
		}
	}
	if last < 500*time.Millisecond {
		t.Errorf("five strikes exclude for %v", last)
	}
}

// A neighbour waits when it has spent its budget of checks, over all its streams.
func TestChecksOfANeighbour(t *testing.T) {
	p := &peer{checks: newChecks()}
	paid := 0
	for ; p.checks.Allow(); paid++ {
		if paid > 2*checkBurst {
			t.Fatal("there is no limit")
		}
	}
	if paid < checkBurst {
		t.Errorf("it has paid for %d checks", paid)
	}
	began := time.Now()
	if p.pay(t.Context(), checksPerSecond/5); time.Since(began) < 100*time.Millisecond {
		t.Errorf("it waited %v for the checks of a fifth of a second", time.Since(began))
	}
}

// A message costs its sender one check, also if it sends it again. A message of a run that is over, and one that is
// more than a member sends in a run, cost none and are not read; a forged one costs a check.
func TestCheapChecksFirst(t *testing.T) {
	secret, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{context: t.Context(), roster: &roster.Roster{Members: []roster.Member{{ID: "a"},
		{ID: "b", Key: secret.PublicKey()}}}}
	p := &peer{node: n, id: 1, checks: newChecks()}
	r := &run{node: n, id: "run", ended: make(chan struct{}), fresh: map[synod.NodeID]int{},
		receipts: map[slotOf][]call.Receipt{}}
	m := &synod.Message{From: 1, Slot: synod.Slot{Name: "respond"}, Body: []byte("x")}
	key := receiptKey{1, m.Slot, sha256.Sum256(m.Body)}
	slip := n.slip(r.id, m, key.sum)
	f := &frame{Kind: isMessage, Slot: "respond", Body: m.Body, Signature: slip.Sign(secret)}
	forged := &frame{Kind: isMessage, Slot: "respond", Body: []byte("y"), Signature: f.Signature}
	step := func(what string, f *frame, want, wrong bool, checks uint64) {
		t.Helper()
		if read, err := p.checkMessage(r, f); read != want || (err != nil) != wrong || p.checked != checks {
			t.Errorf("%s: read %v, %v, after %d checks; want %v after %d", what, read, err, p.checked, want, checks)
		}
	}
	step("a message", f, true, false, 1)
	r.receipts[slotOf{1, m.Slot}] = []call.Receipt{{Sum: key.sum[:], Signature: f.Signature}}
	step("the same again", f, true, false, 1)
	step("the same with another signature", &frame{Kind: isMessage, Slot: "respond", Body: m.Body,
		Signature: make([]byte, 64)}, false, false, 1)
	step("a forged one", forged, false, true, 2)
	r.fresh[1] = maxRunMessages
	step("one too many", forged, false, false, 2)
	close(r.ended)
	step("one of a run that is over", f, false, false, 2)
}
