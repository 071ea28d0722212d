package main

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/ledger"
)

// ledger asks a node for the status of its ledger; nil: it does not answer.
func (p *processes) ledger(seat int) *node.LedgerStatus {
	var s node.Status
	if request(p.path(seat, "d"), "GET", "/status", &s) != nil {
		return nil
	}
	return s.Ledger
}

// recorded waits until the ledgers of some nodes have so many entries and the same root, with nothing pending.
func (p *processes) recorded(entries uint64, seats ...int) {
	p.t.Helper()
	var last []node.LedgerStatus
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		last = nil
		same := true
		for _, seat := range seats {
			s := p.ledger(seat)
			if s == nil {
				same = false
				break
			}
			last = append(last, *s)
			same = same && s.Entries == entries && s.Pending == 0 && string(s.Root) == string(last[0].Root)
		}
		if same {
			return
		}
	}
	p.t.Fatalf("the ledgers do not have %d entries each: %+v", entries, last)
}

// proved checks every entry of a node's ledger on disk with the keys of the roster alone.
func (p *processes) proved(seat int) {
	p.t.Helper()
	g, err := terms.Group(p.signed.Roster)
	if err != nil {
		p.t.Fatal(err)
	}
	l, err := ledger.Inspect(filepath.Join(p.path(seat, "d"), "ledger", "log"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer l.Close()
	authors := map[string]bool{}
	for at := range l.Head().Head.Size {
		proof, err := l.Prove(at)
		if err != nil {
			p.t.Fatal(err)
		}
		e, err := proof.VerifyGroup(g)
		if err != nil {
			p.t.Errorf("seat %d, entry %d: %v", seat, at, err)
			continue
		}
		by, err := e.Author(func(id string) ([]byte, bool) {
			for _, m := range p.signed.Members {
				if m.ID == id {
					return m.Key, true
				}
			}
			return nil, false
		})
		if err != nil || authors[e.Instance+by] {
			p.t.Errorf("seat %d, entry %d is by %q: %v", seat, at, by, err)
		}
		authors[e.Instance+by] = true
	}
}

const council4 = "council: four\nprotocol: {name: sac, rounds: 2}\nf: 1\npace: {think: 300ms, within: 600ms}\n" +
	"models: {d: {provider: simulated, ability: 1}}\nseats: [{id: a, model: d, count: 4}]\n"

// Four processes replicate their decisions. With two of them the ledger has no quorum: the question is answered all
// the same, and what was promised is written when the others come. A replica that was killed with SIGKILL
// takes what it missed.
func TestReplicatedLedger(t *testing.T) {
	for _, links := range []string{roster.TLS, roster.Libp2p} {
		t.Run(links, func(t *testing.T) {
			p := convene(t, council4+"ledger: {name: smartbft}\n", links)
			p.start(0)
			p.start(1)
			p.up(0, 1)
			res, _ := p.ask(sum, func() {})
			if res.Finals[0] == nil || res.Finals[1] == nil {
				t.Fatalf("a ledger without a quorum held the question up: %v", res.Missing)
			}
			for seat := range 2 {
				if s := p.ledger(seat); s == nil || s.Pending != 1 || s.Entries != 0 {
					t.Errorf("without a quorum, seat %d has %+v", seat, s)
				}
			}
			p.start(2)
			p.start(3)
			p.connected()
			p.recorded(2, 0, 1, 2, 3)
			if res.Question.Salt != "" {
				t.Errorf("the first question has the salt %s", res.Question.Salt)
			}
			const victim = 3
			p.running[victim].Process.Kill()
			p.running[victim].Wait()
			p.ask(synod.Question{Text: "What is 3 + 4?", Form: synod.Number}, func() {})
			p.recorded(5, 0, 1, 2)
			p.start(victim)
			p.connected()
			time.Sleep(2 * time.Second) // it reads the head each second
			salt := hex.EncodeToString(p.ledger(0).Root)
			res, o := p.ask(synod.Question{Text: "What is 5 + 4?", Form: synod.Number}, func() {})
			if o.Answer == nil || res.Question.Salt != salt || len(res.Missing) > 0 {
				t.Errorf("%s: %s; the salt is %s, want the root %s", o.Status, o.Reason, res.Question.Salt, salt)
			}
			for seat := range 4 {
				p.replay(seat, res)
			}
			p.recorded(9, 0, 1, 2, victim)
			for seat := range 4 {
				p.proved(seat)
			}
		})
	}
}

// The same with CometBFT in child processes. The program of the child is built for the test, and lies where
// synod-node looks for it.
func TestCometLedger(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds synod-cometbft")
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o",
		filepath.Join(filepath.Dir(os.Args[0]), cometProgram), "./synod-cometbft")
	build.Dir = filepath.Join("..", "..", "record", "ledger", "cometbft")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := convene(t, council4+"ledger: {name: cometbft}\n", roster.TLS)
	p.startAll()
	p.ask(sum, func() {})
	p.recorded(4, 0, 1, 2, 3)
	const victim = 2
	p.running[victim].Process.Kill()
	p.running[victim].Wait()
	p.ask(synod.Question{Text: "What is 3 + 4?", Form: synod.Number}, func() {})
	p.recorded(7, 0, 1, 3)
	p.start(victim)
	p.connected()
	p.recorded(7, 0, 1, victim, 3)
	for seat := range 4 {
		p.proved(seat)
	}
}

// With a log, every node that votes keeps its own.
func TestLogOfEachNode(t *testing.T) {
	p := convene(t, council4+"ledger: {name: log, bodies: true}\n", roster.TLS)
	p.startAll()
	if _, o := p.ask(sum, func() {}); o.Answer == nil {
		t.Fatalf("%s: %s", o.Status, o.Reason)
	}
	for seat := range 4 {
		p.recorded(1, seat)
		l, err := ledger.Read(filepath.Join(p.path(seat, "d"), "ledger", "log"), p.secrets[seat].PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		e, err := l.Entry(0)
		if err != nil || len(e.Parts) != 4 || string(e.Parts[1].Body) != "42" {
			t.Errorf("seat %d: %v, %v", seat, e, err)
		}
		l.Close()
	}
}

// up waits until nodes answer their owners.
func (p *processes) up(seats ...int) {
	p.t.Helper()
	for _, seat := range seats {
		var s node.Status
		for deadline := time.Now().Add(30 * time.Second); request(p.path(seat, "d"), "GET", "/status", &s) != nil; {
			if time.Now().After(deadline) {
				p.t.Fatalf("seat %d does not answer", seat)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}
