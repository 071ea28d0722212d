package cometbft_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cometbft/cometbft/libs/log"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/ledger"
	"synod.dev/synod/ledger/cometbft"
	"synod.dev/synod/sign"
)

var duration = flag.Duration("duration", 5*time.Second, "how long each history appends")

// cluster is replicas in one process. Every replica reaches every other one through a proxy, which can hold what
// it carries.
type cluster struct {
	t       testing.TB
	dir     string
	secrets []sign.Secret
	group   ledger.Group
	listen  []string
	proxies [][]*proxy // by who dials and who listens

	mu       sync.RWMutex
	replicas []*cometbft.Replica // nil: it is down
}

func newCluster(t testing.TB, n int) *cluster {
	c := &cluster{t: t, dir: t.TempDir(), replicas: make([]*cometbft.Replica, n)}
	c.group, c.secrets = ledgertest.Group(t, n)
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c.listen = append(c.listen, l.Addr().String())
		l.Close()
	}
	for range n {
		row := []*proxy{}
		for to := range n {
			row = append(row, newProxy(t, c.listen[to]))
		}
		c.proxies = append(c.proxies, row)
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

func (c *cluster) config(i int) cometbft.Config {
	g := cometbft.Config{Group: c.group, Secret: c.secrets[i], Dir: filepath.Join(c.dir, fmt.Sprint(i)),
		Listen: c.listen[i], Timeout: 500 * time.Millisecond}
	for to := range c.listen {
		g.Addresses = append(g.Addresses, c.proxies[i][to].address())
	}
	if os.Getenv("COMETBFT_LOG") != "" {
		g.Log = log.NewTMLogger(log.NewSyncWriter(os.Stderr)).With("replica", i)
	}
	return g
}

func (c *cluster) open(i int) {
	r, err := cometbft.Open(c.config(i))
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
			c.t.Errorf("replica %d: %v", i, err)
		}
	}
}

func (c *cluster) replica(i int) *cometbft.Replica {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.replicas[i]
}

// add appends an entry at the first replicas that work, and returns the index that f+1 report.
func (c *cluster) add(ctx context.Context, e *ledger.Entry) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	got := make(chan uint64, len(c.replicas))
	for i := range c.replicas {
		go func() {
			for ctx.Err() == nil {
				if r := c.replica(i); r != nil {
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
		}()
	}
	same := map[uint64]int{}
	for {
		select {
		case at := <-got:
			if same[at]++; same[at] > c.group.Faulty() {
				return at, nil
			}
		case <-ctx.Done():
			return 0, fmt.Errorf("no f+1 replicas report it: %w", ctx.Err())
		}
	}
}

// agree waits until some replicas have the same head of so many entries.
func (c *cluster) agree(entries uint64, replicas ...int) {
	c.t.Helper()
	var heads map[string]int
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		heads = map[string]int{}
		for _, i := range replicas {
			if r := c.replica(i); r != nil {
				h := r.Head().Head
				heads[fmt.Sprintf("%d %x", h.Size, h.Root[:4])]++
				if h.Size < entries {
					heads["too few"]++
				}
			}
		}
		if len(heads) == 1 {
			return
		}
	}
	c.t.Fatalf("the replicas do not agree on %d entries: %v", entries, heads)
}

func (c *cluster) verify(p *ledger.Proof) (*ledger.Entry, error) { return p.VerifyGroup(&c.group) }

// proxy carries what connects to it to an address. While it is held, nothing passes.
type proxy struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	free     chan struct{} // closed when it is not held
}

func newProxy(t testing.TB, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, free: make(chan struct{})}
	close(p.free)
	t.Cleanup(func() { p.hold(false); l.Close() })
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", to)
			if err != nil {
				a.Close()
				continue
			}
			go p.carry(a, b)
			go p.carry(b, a)
		}
	}()
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) hold(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.free:
		if yes {
			p.free = make(chan struct{})
		}
	default:
		if !yes {
			close(p.free)
		}
	}
}

func (p *proxy) carry(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		free := p.free
		p.mu.Unlock()
		<-free
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err == io.EOF || err != nil {
			return
		}
	}
}

// cut holds all links of a replica, or frees them.
func (c *cluster) cut(i int, yes bool) {
	for j := range c.proxies {
		c.proxies[i][j].hold(yes)
		c.proxies[j][i].hold(yes)
	}
}

// All replicas have the same log, and each proves every entry under a head that a quorum has signed.
func TestAgreement(t *testing.T) {
	c := newCluster(t, 4)
	acknowledged := map[string]uint64{}
	for i := range 12 {
		run := fmt.Sprint("run-", i)
		at, err := c.replica(i%4).Append(t.Context(), ledgertest.Entry(run))
		if err != nil || at != uint64(i) {
			t.Fatalf("entry %d has the index %d, %v", i, at, err)
		}
		acknowledged[run] = at
	}
	earlier := c.replica(0).Head()
	c.agree(12, 0, 1, 2, 3)
	for i := range 4 {
		ledgertest.Has(t, c.replica(i), acknowledged, c.verify)
		ledgertest.Extends(t, c.replica(i), earlier)
	}
}

// faults stops, restarts and cuts off some replicas, at most one at a time.
func (c *cluster) faults(seed uint64, spare []int) func(<-chan struct{}) {
	return func(stop <-chan struct{}) {
		r := rand.New(rand.NewPCG(2, seed))
		for faults := 0; ; faults++ {
			select {
			case <-stop:
				c.t.Logf("%d faults", faults)
				return
			case <-time.After(time.Duration(300+r.IntN(500)) * time.Millisecond):
			}
			i := spare[r.IntN(len(spare))]
			pause := time.Duration(r.IntN(600)) * time.Millisecond
			if r.IntN(3) == 0 {
				c.close(i)
				time.Sleep(pause)
				c.open(i)
				continue
			}
			c.cut(i, true)
			time.Sleep(pause)
			c.cut(i, false)
		}
	}
}

// TestHistories has clients append while replicas are stopped, restarted and cut off, at most f at a time, and
// checks that the history is linearizable, that nothing acknowledged is lost, that all replicas agree afterwards,
// that every proof verifies, and that a witness finds a fork.
func TestHistories(t *testing.T) {
	c := newCluster(t, 4)
	acknowledged := ledgertest.History(t, *duration,
		func(_ int, e *ledger.Entry) (uint64, error) { return c.add(t.Context(), e) }, c.faults(5, []int{0, 1, 2, 3}))
	c.finish(t, acknowledged, 0, 1, 2, 3)
	runs := []string{}
	for i := range len(acknowledged) + 2 {
		runs = append(runs, fmt.Sprint("forked-", i))
	}
	w := &ledger.Witness{Secret: ledgertest.Secret(t, 99), Group: &c.group}
	ledgertest.Fork(t, w, c.replica(0), ledgertest.Forked(t, &c.group, c.secrets, runs...))
}

// finish appends one entry more, waits until some replicas have everything, and checks each.
func (c *cluster) finish(t *testing.T, acknowledged map[string]uint64, replicas ...int) {
	t.Helper()
	at, err := c.add(t.Context(), ledgertest.Entry("last"))
	if err != nil {
		t.Fatal(err)
	}
	acknowledged["last"] = at
	c.agree(uint64(len(acknowledged)), replicas...)
	for _, i := range replicas {
		ledgertest.Has(t, c.replica(i), acknowledged, c.verify)
	}
}

func (c *cluster) append(ctx context.Context, e *ledger.Entry) error {
	_, err := c.add(ctx, e)
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
