package smartbft_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
	"synod.dev/synod/record/ledger/smartbft"
)

// cluster is replicas in one process whose network can be cut.
type cluster struct {
	t       testing.TB
	dir     string
	secrets []sign.Secret
	group   ledger.Group

	mu        sync.RWMutex
	replicas  []*smartbft.Replica // nil: it is down
	cut       []bool              // its messages are lost
	byzantine []*byzantine        // what a replica does to what it sends; nil: it is honest
	queues    []chan envelope

	repair sync.Mutex // held while a replica is stopped and started
}

// revive opens replicas again that have failed, as a ledger.Keeper does.
func (c *cluster) revive() {
	if !c.repair.TryLock() {
		return
	}
	defer c.repair.Unlock()
	for i := range c.replicas {
		if r := c.replica(i); r != nil && r.Failed() != nil {
			c.t.Logf("opened again: %v", r.Failed())
			c.close(i)
			c.open(i)
		}
	}
}

type envelope struct {
	from    uint64
	message []byte
}

// link is the transport of one replica.
type link struct {
	c    *cluster
	self uint64
}

func (l link) Send(to uint64, message []byte) {
	l.c.mu.RLock()
	defer l.c.mu.RUnlock()
	if l.c.cut[l.self-1] || l.c.cut[to-1] {
		return
	}
	if b := l.c.byzantine[l.self-1]; b != nil {
		if message = b.change(to, message); message == nil {
			return
		}
	}
	select {
	case l.c.queues[to-1] <- envelope{l.self, message}:
	default: // a full queue loses messages
	}
}

func (l link) Blocks(of, from uint64) [][]byte {
	l.c.mu.RLock()
	defer l.c.mu.RUnlock()
	r := l.c.replicas[of-1]
	if r == nil || l.c.cut[l.self-1] || l.c.cut[of-1] {
		return nil
	}
	if b := l.c.byzantine[of-1]; b != nil {
		return b.blocks(r, from)
	}
	return r.Blocks(from)
}

func newCluster(t testing.TB, n int) *cluster {
	g, secrets := ledgertest.Group(t, n)
	return clusterOf(t, g, secrets)
}

func clusterOf(t testing.TB, g ledger.Group, secrets []sign.Secret) *cluster {
	n := len(secrets)
	c := &cluster{t: t, dir: t.TempDir(), replicas: make([]*smartbft.Replica, n), cut: make([]bool, n),
		byzantine: make([]*byzantine, n), group: g, secrets: secrets}
	for i := range n {
		queue := make(chan envelope, 4096)
		c.queues = append(c.queues, queue)
		go func() {
			for e := range queue {
				if r := c.replica(i); r != nil {
					r.Receive(e.from, e.message)
				}
			}
		}()
	}
	for i := range n {
		c.open(i)
	}
	t.Cleanup(func() {
		for i := range n {
			c.close(i)
		}
	})
	return c
}

func (c *cluster) replica(i int) *smartbft.Replica {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.replicas[i]
}

func (c *cluster) open(i int) {
	r, err := smartbft.Open(smartbft.Config{ID: uint64(i) + 1, Group: c.group, Secret: c.secrets[i],
		Dir: filepath.Join(c.dir, fmt.Sprint(i)), Transport: link{c, uint64(i) + 1}})
	if err != nil {
		c.t.Errorf("replica %d: %v", i, err)
		return
	}
	c.mu.Lock()
	c.replicas[i] = r
	c.mu.Unlock()
}

func (c *cluster) close(i int) {
	c.mu.Lock()
	r := c.replicas[i]
	c.replicas[i] = nil
	c.mu.Unlock()
	if r != nil {
		if err := r.Close(); err != nil {
			c.t.Logf("replica %d: %v", i, err)
		}
	}
}

func (c *cluster) set(i int, cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut[i] = cut
}

// add submits an entry to all replicas and returns the index that f+1 report. It repeats that until
// they do.
func (c *cluster) add(e *ledger.Entry, within time.Duration) (uint64, error) {
	end := time.Now().Add(within)
	got := make(chan [2]uint64, 1000)
	reported := map[uint64]uint64{}
	for time.Now().Before(end) {
		c.revive()
		for i := range c.replicas {
			if r := c.replica(i); r != nil {
				if done, err := r.Submit(e); err == nil {
					go func() {
						select {
						case at := <-done:
							got <- [2]uint64{uint64(i), at}
						case <-time.After(time.Second):
						}
					}()
				}
			}
		}
		for again := time.After(time.Second); ; {
			select {
			case g := <-got:
				reported[g[0]] = g[1]
				same := 0
				for _, at := range reported {
					if at == g[1] {
						same++
					}
				}
				if same > c.group.Faulty() {
					return g[1], nil
				}
				continue
			case <-again:
			}
			break
		}
	}
	return 0, fmt.Errorf("no f+1 replicas reported it within %v", within)
}

// agree waits until all honest replicas have the same log of at least so many entries.
func (c *cluster) agree(entries uint64) {
	c.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		heads := map[string]int{}
		for i := range c.replicas {
			if r := c.replica(i); r == nil {
				heads["down"]++
			} else if c.byzantine[i] == nil {
				h := r.Head().Head
				heads[fmt.Sprintf("%d %x", h.Size, h.Root)]++
				if h.Size < entries {
					heads["too few"]++
				}
			}
		}
		if len(heads) == 1 {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("the replicas do not agree: %v", heads)
		}
	}
}

// verify checks a proof with the keys of the replicas alone.
func (c *cluster) verify(p *ledger.Proof) (*ledger.Entry, error) { return p.VerifyGroup(&c.group) }

// All replicas have the same log, and each proves every entry under a head that a quorum has signed. What a replica
// has acknowledged to its own owner is there too.
func TestAgreement(t *testing.T) {
	c := newCluster(t, 4)
	acknowledged := map[string]uint64{}
	for i := range 20 {
		run := fmt.Sprint("run-", i)
		at, err := c.replica(i%4).Append(t.Context(), ledgertest.Entry(run))
		if err != nil || at != uint64(i) {
			t.Fatalf("entry %d has the index %d, %v", i, at, err)
		}
		acknowledged[run] = at
	}
	c.agree(20)
	for i := range 4 {
		ledgertest.Has(t, c.replica(i), acknowledged, c.verify)
	}
	stranger := c.group
	stranger.Name = "other"
	if p, err := c.replica(0).Prove(3); err != nil {
		t.Error(err)
	} else if _, err := p.VerifyGroup(&stranger); err == nil {
		t.Error("the proof is accepted for the log of another council")
	}
}

// A replica that was away takes the blocks of others.
func TestAway(t *testing.T) {
	c := newCluster(t, 4)
	for i := range 12 {
		switch i {
		case 3:
			c.close(3)
		case 9:
			c.open(3)
		}
		if _, err := c.add(ledgertest.Entry(fmt.Sprint("run-", i)), 30*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	c.agree(12)
}

// An entry that not every council may append is refused by every replica, and the others go on.
func TestCheck(t *testing.T) {
	c := newCluster(t, 4)
	big := ledgertest.Entry("big")
	big.Parts[0] = ledger.NewPart("question", make([]byte, smartbft.MaxEntry), true)
	if _, err := c.replica(0).Append(t.Context(), big); err == nil {
		t.Error("an entry that is too large is taken")
	}
	if _, err := c.add(ledgertest.Entry("next"), 20*time.Second); err != nil {
		t.Error(err)
	}
}

var duration = flag.Duration("duration", 3*time.Second, "how long each TestHistories appends")

// faults stops, restarts and cuts off some replicas, at most one at a time, with a pause between two faults.
func (c *cluster) faults(seed uint64, spare []int, pause time.Duration) func(stop <-chan struct{}) {
	return func(stop <-chan struct{}) {
		r := rand.New(rand.NewPCG(1, seed))
		for faults := 0; ; faults++ {
			select {
			case <-stop:
				c.t.Logf("%d faults", faults)
				return
			case <-time.After(pause + time.Duration(r.IntN(300))*time.Millisecond):
			}
			i := spare[r.IntN(len(spare))]
			if r.IntN(2) == 0 {
				c.repair.Lock()
				c.close(i)
				time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
				c.open(i)
				c.repair.Unlock()
				continue
			}
			c.set(i, true)
			time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
			c.set(i, false)
		}
	}
}

// TestHistories has clients append while replicas are stopped, restarted and cut off, at most f at a
// time, and checks that the history is linearizable, that nothing acknowledged is lost, that all
// replicas agree afterwards, that every proof verifies, and that a witness finds a fork.
func TestHistories(t *testing.T) {
	c := newCluster(t, 4)
	acknowledged := ledgertest.History(t, *duration,
		func(_ int, e *ledger.Entry) (uint64, error) { return c.add(e, time.Minute) },
		c.faults(7, []int{0, 1, 2, 3}, 200*time.Millisecond))
	c.finish(t, acknowledged)
	runs := []string{}
	for i := range len(acknowledged) + 2 {
		runs = append(runs, fmt.Sprint("forked-", i))
	}
	w := &ledger.Witness{Secret: ledgertest.Secret(t, 99), Group: &c.group}
	ledgertest.Fork(t, w, c.replica(0), ledgertest.Forked(t, &c.group, c.secrets, runs...))
}

// finish appends one entry more, waits until all honest replicas have everything, and checks each.
func (c *cluster) finish(t *testing.T, acknowledged map[string]uint64) {
	t.Helper()
	at, err := c.add(ledgertest.Entry("last"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged["last"] = at
	c.agree(uint64(len(acknowledged)))
	for i := range c.replicas {
		if c.byzantine[i] == nil && c.replica(i) != nil {
			ledgertest.Has(t, c.replica(i), acknowledged, c.verify)
		}
	}
}

// add of a benchmark.
func (c *cluster) append(_ context.Context, e *ledger.Entry) error {
	_, err := c.add(e, 30*time.Second)
	return err
}

// BenchmarkLatency appends one decision after another; its time is the latency of one.
func BenchmarkLatency(b *testing.B) {
	for _, n := range []int{4, 7} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) { ledgertest.Bench(b, 1, newCluster(b, n).append) })
	}
}

// BenchmarkThroughput has 32 clients append at once.
func BenchmarkThroughput(b *testing.B) {
	for _, n := range []int{4, 7} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) { ledgertest.Bench(b, 32, newCluster(b, n).append) })
	}
}
