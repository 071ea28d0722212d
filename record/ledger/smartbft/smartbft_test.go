package smartbft_test

import (
	"flag"
	"fmt"
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
	*ledgertest.Cluster
	dir string

	mu        sync.RWMutex
	cut       []bool       // a replica's messages are lost
	byzantine []*byzantine // what a replica does to what it sends; nil: it is honest
	queues    []chan envelope
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
	r := l.c.replica(int(of) - 1)
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

func clusterOf(t testing.TB, g ledger.Replicas, secrets []sign.Secret) *cluster {
	n := len(secrets)
	c := &cluster{Cluster: ledgertest.NewCluster(t, g, secrets), dir: t.TempDir(), cut: make([]bool, n),
		byzantine: make([]*byzantine, n)}
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
	c.Open = func(i int) (ledger.Ledger, error) { return open(c.Cluster, i, c.dir, link{c, uint64(i) + 1}) }
	c.Cut = func(i int, yes bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cut[i] = yes
	}
	c.Run()
	return c
}

// open opens a replica in its part of a folder.
func open(c *ledgertest.Cluster, i int, dir string, transport smartbft.Transport) (ledger.Ledger, error) {
	r, err := smartbft.Open(smartbft.Config{ID: uint64(i) + 1, Group: c.Group, Secret: c.Secrets[i],
		Dir: filepath.Join(dir, fmt.Sprint(i)), Transport: transport})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// replica returns a replica; nil: it is down.
func (c *cluster) replica(i int) *smartbft.Replica {
	r, _ := c.Replica(i).(*smartbft.Replica)
	return r
}

// corrupt makes the first replica Byzantine, which is the leader when the cluster begins.
func (c *cluster) corrupt(b *byzantine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byzantine[0], c.Honest = b, c.Honest[1:]
}

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
	c.Agree(20)
	c.Has(acknowledged)
	stranger := c.Group
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
			c.Kill(3)
		case 9:
			c.Start(3)
		}
		if _, err := c.Add(ledgertest.Entry(fmt.Sprint("run-", i))); err != nil {
			t.Fatal(err)
		}
	}
	c.Agree(12)
}

// An entry that not every council may append is refused by every replica, and the others go on.
func TestCheck(t *testing.T) {
	c := newCluster(t, 4)
	big := ledgertest.Entry("big")
	big.Parts[0] = ledger.NewPart("question", make([]byte, smartbft.MaxEntry), true)
	if _, err := c.replica(0).Append(t.Context(), big); err == nil {
		t.Error("an entry that is too large is taken")
	}
	if _, err := c.Add(ledgertest.Entry("next")); err != nil {
		t.Error(err)
	}
}

var duration = flag.Duration("duration", 3*time.Second, "how long each TestHistories appends")

// TestHistories is the test of histories in one process.
func TestHistories(t *testing.T) { newCluster(t, 4).Histories(*duration, 200*time.Millisecond) }

func benchCluster(b *testing.B, n int) *ledgertest.Cluster { return newCluster(b, n).Cluster }

// BenchmarkLatency appends one decision after another; its time is the latency of one.
func BenchmarkLatency(b *testing.B) { ledgertest.BenchClusters(b, 1, benchCluster) }

// BenchmarkThroughput has 32 clients append at once.
func BenchmarkThroughput(b *testing.B) { ledgertest.BenchClusters(b, 32, benchCluster) }
