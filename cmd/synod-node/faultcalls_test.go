//go:build linux && amd64

package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/faultcall"
	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/roster"
)

const fourSeats = "protocol: {name: sac, rounds: 2}\nf: 1\npace: {think: 1s, within: 1s}\n" +
	"models: {d: {provider: simulated, ability: 1, skill: 1, primacy: 0, shared: 0}}\n" +
	"seats: [{id: a, model: d, count: 4}]\n"

// faulted is a node of which a sync fails.
type faulted struct {
	*exec.Cmd
	ended  chan int
	mu     sync.Mutex
	synced []string // what was synced, in this order
}

// startFaulted starts a node in which sync n fails, counted from 0; none does if n is negative.
func (p *processes) startFaulted(seat, n int) *faulted {
	p.t.Helper()
	f := &faulted{Cmd: p.command(seat), ended: make(chan int, 1)}
	go func() {
		code, err := faultcall.Run(f.Cmd, func(c faultcall.Call) (fault faultcall.Fault) {
			if c.Name != "fsync" && c.Name != "fdatasync" {
				return fault
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if len(f.synced) == n {
				fault.Err = syscall.EIO
			}
			f.synced = append(f.synced, c.Path)
			return fault
		})
		if err != nil {
			p.t.Error(err)
		}
		f.ended <- code
	}()
	return f
}

// found waits until the nodes have found one another, or have found all but the first, which has ended.
func (p *processes) found(f *faulted) {
	p.t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		all, ended := true, len(f.ended) > 0
		for i := range p.running {
			if i == 0 && ended {
				continue
			}
			var s node.Status
			all = all && request(p.path(i, "d"), "GET", "/status", &s) == nil
			for _, q := range s.Peers {
				all = all && (q.Connected && q.Incoming > 0 || ended && q.ID == string(p.plan.Seats()[0].ID))
			}
		}
		if all {
			return
		}
	}
	p.t.Fatal("the nodes do not find one another")
}

// end tells the node to end, and returns its exit code.
func (f *faulted) end() int {
	f.mu.Lock() // it has synced, so it was started
	process := f.Process
	f.mu.Unlock()
	_ = process.Signal(syscall.SIGTERM) // it may have ended
	return <-f.ended
}

// Whatever sync of a node fails, it says so in its log and the council decides. What it could not put on disk it has
// not signed, so nobody can accuse it afterwards, and it takes part again after a restart. "make nightly" tries every
// sync.
func TestEverySync(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const some = 10 // of the syncs, one
	part := rand.IntN(some)
	for n, count := -1, 1; n < count; n++ {
		if n >= 0 && n%some != part && !nightly.On() {
			continue
		}
		p := convene(t, fourSeats, roster.TLS)
		f := p.startFaulted(0, n)
		for seat := 1; seat < 4; seat++ {
			p.start(seat)
		}
		p.found(f)
		p.decides(n, 3)
		p.decides(n, 3)
		code := f.end()
		log, err := os.ReadFile(p.path(0, "log"))
		if err != nil {
			t.Fatal(err)
		}
		if n < 0 || n >= len(f.synced) { // their number may differ from run to run
			if count = len(f.synced); code != 0 || count < 20 || strings.Contains(string(log), "level=ERROR") {
				t.Fatalf("exit %d after %d syncs\n%s", code, count, log)
			}
		} else if !strings.Contains(string(log), "input/output error") {
			t.Errorf("exit %d, and the log does not say that sync %d, of %s, failed\n%s", code, n, f.synced[n], log)
		}
		p.start(0)
		p.connected()
		p.decides(n, 4)
		for _, c := range p.running {
			c.Process.Kill()
		}
	}
}

// decides asks a question, and checks that at least so many seats of four have the right answer, and that nobody is
// accused.
func (p *processes) decides(n, least int) {
	p.t.Helper()
	q := synod.Question{Text: "What is 17 + 25?", Form: synod.Number}
	res, o := p.ask(q, func() {})
	if o.Answer == nil || *o.Answer != "42" || len(res.Missing) > 4-least || len(res.Proofs) > 0 {
		p.t.Errorf("sync %d: %s: %s, missing %v, %d proofs", n, o.Status, o.Reason, res.Missing, len(res.Proofs))
	}
}
