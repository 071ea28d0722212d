package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/record/ledger"
)

// Cluster is the replicas of one group, whatever their consensus, which a test stops, starts and cuts off.
type Cluster struct {
	Group   ledger.Replicas
	Secrets []sign.Secret
	Honest  []int // the replicas that must agree
	// Open opens a replica, with what it has kept.
	Open func(replica int) (ledger.Ledger, error)
	// Stop stops a replica; nil: Close does.
	Stop func(replica int, l ledger.Ledger) error
	// Cut cuts a replica off from the others, or connects it again.
	Cut    func(replica int, yes bool)
	Repair sync.Mutex // held while a replica is stopped and started

	t        testing.TB
	mu       sync.RWMutex
	replicas []ledger.Ledger // nil: it is down
}

// NewCluster returns replicas that do not run yet. All of them are honest.
func NewCluster(t testing.TB, g ledger.Replicas, secrets []sign.Secret) *Cluster {
	c := &Cluster{Group: g, Secrets: secrets, t: t, replicas: make([]ledger.Ledger, len(secrets))}
	for i := range secrets {
		c.Honest = append(c.Honest, i)
	}
	return c
}

// Run starts all replicas, and stops them when the test ends.
func (c *Cluster) Run() {
	for i := range c.replicas {
		c.Start(i)
	}
	c.t.Cleanup(func() {
		for i := range c.replicas {
			c.Kill(i)
		}
	})
}

// Start opens a replica that is down.
func (c *Cluster) Start(i int) {
	l, err := c.Open(i)
	if err != nil {
		c.t.Errorf("replica %d: %v", i, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replicas[i] = l
}

// Kill stops a replica, if it runs.
func (c *Cluster) Kill(i int) {
	c.mu.Lock()
	l := c.replicas[i]
	c.replicas[i] = nil
	c.mu.Unlock()
	if l == nil {
		return
	}
	stop := l.Close
	if c.Stop != nil {
		stop = func() error { return c.Stop(i, l) }
	}
	if err := stop(); err != nil {
		c.t.Logf("replica %d: %v", i, err)
	}
}

// Replica returns a replica; nil: it is down.
func (c *Cluster) Replica(i int) ledger.Ledger {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.replicas[i]
}

// Revive opens replicas again that have failed, as a ledger.Keeper does.
func (c *Cluster) Revive() {
	if !c.Repair.TryLock() {
		return
	}
	defer c.Repair.Unlock()
	for i := range c.replicas {
		if f, ok := c.Replica(i).(ledger.Failing); ok && f.Failed() != nil {
			c.t.Logf("opened again: %v", f.Failed())
			c.Kill(i)
			c.Start(i)
		}
	}
}

// Add appends an entry at all replicas, again until f+1 of them return one index, which it returns.
func (c *Cluster) Add(e *ledger.Entry) (uint64, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	got := make(chan uint64, len(c.replicas))
	for i := range c.replicas {
		go c.addAt(ctx, i, e, got)
	}
	same := map[uint64]int{}
	for {
		select {
		case at := <-got:
			if same[at]++; same[at] > c.Group.Faulty() {
				return at, nil
			}
		case <-ctx.Done():
			return 0, fmt.Errorf("no f+1 replicas report it: %w", ctx.Err())
		}
	}
}

// addAt appends an entry at one replica until it is acknowledged there.
func (c *Cluster) addAt(ctx context.Context, i int, e *ledger.Entry, got chan<- uint64) {
	for ctx.Err() == nil {
		c.Revive()
		if r := c.Replica(i); r != nil {
			within, stop := context.WithTimeout(ctx, 2*time.Second)
			at, err := r.Append(within, e)
			stop()
			if err == nil {
				got <- at
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Agree waits until all honest replicas have the same head of at least so many entries.
func (c *Cluster) Agree(entries uint64) {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		heads := map[string]int{}
		for _, i := range c.Honest {
			r := c.Replica(i)
			if r == nil {
				heads["down"]++
				continue
			}
			h := r.Head().Head
			heads[fmt.Sprintf("%d %x", h.Size, h.Root)]++
			if h.Size < entries {
				heads["too few"]++
			}
		}
		if len(heads) == 1 && heads["down"] == 0 {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("the replicas do not agree on %d entries: %v", entries, heads)
		}
	}
}

// Has checks that the log of every honest replica has what was acknowledged, and that every proof verifies with the
// keys of the replicas alone.
func (c *Cluster) Has(acknowledged map[string]uint64) {
	c.t.Helper()
	for _, i := range c.Honest {
		Has(c.t, c.Replica(i), acknowledged,
			func(p *ledger.Proof) (*ledger.Entry, error) { return p.VerifyGroup(&c.Group) })
	}
}

// Finish appends one entry more, waits until all honest replicas have everything, and checks each.
func (c *Cluster) Finish(acknowledged map[string]uint64) {
	c.t.Helper()
	at, err := c.Add(Entry("last"))
	if err != nil {
		c.t.Fatal(err)
	}
	acknowledged["last"] = at
	c.Agree(uint64(len(acknowledged)))
	c.Has(acknowledged)
}

// Faults stops, restarts and cuts off some replicas, one at a time, with a pause between two faults, until its channel
// is closed.
func (c *Cluster) Faults(seed uint64, some []int, pause time.Duration) func(stop <-chan struct{}) {
	return func(stop <-chan struct{}) {
		r := rand.New(rand.NewPCG(1, seed))
		for faults := 0; ; faults++ {
			select {
			case <-stop:
				c.t.Logf("%d faults", faults)
				return
			case <-time.After(pause + time.Duration(r.IntN(400))*time.Millisecond):
			}
			i, away := some[r.IntN(len(some))], time.Duration(r.IntN(500))*time.Millisecond
			if r.IntN(2) == 0 {
				c.Repair.Lock()
				c.Kill(i)
				time.Sleep(away)
				c.Start(i)
				c.Repair.Unlock()
				continue
			}
			c.Cut(i, true)
			time.Sleep(away)
			c.Cut(i, false)
		}
	}
}

// Histories has clients append while replicas are stopped, restarted and cut off, at most one at a time. It checks that
// the history is linearizable, that nothing acknowledged is lost, that all replicas agree afterwards, that every proof
// verifies, and that a witness finds a fork.
func (c *Cluster) Histories(long, pause time.Duration) {
	c.t.Helper()
	acknowledged := History(c.t, long, c.Add, c.Faults(7, c.Honest, pause))
	c.Finish(acknowledged)
	runs := []string{}
	for i := range len(acknowledged) + 2 {
		runs = append(runs, fmt.Sprint("forked-", i))
	}
	w := &ledger.Witness{Secret: Secret(c.t, 99), Group: &c.Group}
	Fork(c.t, w, c.Replica(0), Forked(c.t, &c.Group, c.Secrets, runs...))
}

// HasOnly checks that a replica's log has no entry that no client has appended.
func (c *Cluster) HasOnly(i int, acknowledged map[string]uint64) {
	c.t.Helper()
	for e, err := range ledger.Export(c.Replica(i)) {
		if err != nil {
			c.t.Fatal(err)
		}
		if _, ok := acknowledged[e.Instance]; !ok {
			c.t.Errorf("the log has %q, which no client has appended", e.Instance)
		}
	}
}

// Propose has replicas of Holding append what each says about a run; one says nothing where answers has "".
func (c *Cluster) Propose(run string, answers []string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	for i, answer := range answers {
		if answer == "" || c.Replica(i) == nil {
			continue
		}
		_, err := c.Replica(i).Append(ctx, Signed(c.t, c.Secrets, i, run, answer))
		if err != nil && !errors.Is(err, ledger.ErrWaits) {
			c.t.Errorf("%s of replica %d: %v", run, i, err)
		}
	}
}

// Logged returns the runs, answers and authors in the log of a replica of Holding, in order.
func (c *Cluster) Logged(i int) (all []string) {
	for e, err := range ledger.Export(c.Replica(i)) {
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, fmt.Sprint(e.Instance, " ", string(e.Parts[1].Body), " ", e.Claimed()))
	}
	return all
}

// Invented has f Byzantine replicas of Holding, the first leader among them, append entries about runs that no honest
// replica has played, and another answer to a run that all have played. Nothing of it is in a log, also after a replica
// that knew what waits was stopped and started. Where the group has no Least, as logs of before, all of it is.
func (c *Cluster) Invented() {
	c.t.Helper()
	n, f := len(c.replicas), c.Group.Faulty()
	invented, honest := make([]string, n), make([]string, n)
	for i := range n {
		if honest[i] = "42"; i < f {
			invented[i], honest[i] = "43", "43"
		}
	}
	c.Propose("never played", invented)
	c.Kill(n - 1)
	c.Start(n - 1)
	c.Propose("played", honest)
	c.Propose("also never played", invented)
	want := n - f
	if c.Group.Least == 0 {
		want = n + 2*f
	}
	c.Agree(uint64(want))
	for i := range n {
		got := c.Logged(i)
		wrong := slices.ContainsFunc(got, func(s string) bool { return !strings.HasPrefix(s, "played 42 ") })
		if len(got) != want || wrong != (c.Group.Least == 0) {
			c.t.Errorf("replica %d has %q", i, got)
		}
	}
}

// BenchClusters measures appends with clients at once, at clusters of 4 and of 7 replicas.
func BenchClusters(b *testing.B, clients int, open func(b *testing.B, n int) *Cluster) {
	for _, n := range []int{4, 7} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			c := open(b, n)
			Bench(b, clients, func(_ context.Context, e *ledger.Entry) error { _, err := c.Add(e); return err })
		})
	}
}
