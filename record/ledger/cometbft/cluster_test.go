package cometbft_test

import (
	"context"
	"encoding/json"
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
	"github.com/cometbft/cometbft/node"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
	"synod.dev/synod/record/ledger/child"
	"synod.dev/synod/record/ledger/cometbft"
)

// TestMain is synod-cometbft in the child processes of the tests, honest or Byzantine.
func TestMain(m *testing.M) {
	if os.Getenv("COMETBFT_TEST") != "child" {
		os.Exit(m.Run())
	}
	if err := child.Serve(os.Stdin, os.Stdout, openChild); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// nature is what a replica of a test is.
type nature struct {
	cometbft.Settings
	Link   string   // the secret of its connections; "": that of the replica
	Admits [][]byte // who may connect besides
	Lies   bool     // it forges and withholds what it sends
}

func openChild(text json.RawMessage) (ledger.Ledger, error) {
	var n nature
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, err
	}
	if n.Link == "" && len(n.Admits) == 0 && !n.Lies {
		honest, err := json.Marshal(n.Settings)
		if err != nil {
			return nil, err
		}
		return cometbft.OpenSettings(honest, log.NewNopLogger())
	}
	var link *sign.Secret
	if n.Link != "" {
		s, err := sign.ParseSecret(n.Link)
		if err != nil {
			return nil, err
		}
		link = &s
	}
	options := []node.Option{}
	if n.Lies {
		options = append(options, lying)
	}
	r, err := cometbft.OpenByzantine(&n.Settings, link, n.Admits, options...)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// cluster is replicas in child processes. Every replica reaches every other one through a proxy, which can hold what
// it carries.
type cluster struct {
	t       testing.TB
	dir     string
	secrets []sign.Secret
	group   ledger.Group
	listen  []string
	natures []nature
	proxies [][]*proxy // by who dials and who listens

	mu       sync.RWMutex
	replicas []*child.Ledger // nil: it is down
}

// newCluster starts n replicas, which change may make Byzantine.
func newCluster(t testing.TB, n int, change func(c *cluster)) *cluster {
	t.Setenv("COMETBFT_TEST", "child")
	c := &cluster{t: t, dir: t.TempDir(), replicas: make([]*child.Ledger, n), natures: make([]nature, n)}
	c.group, c.secrets = ledgertest.Group(t, n)
	for range n {
		c.listen = append(c.listen, free(t))
	}
	for i := range n {
		row := []*proxy{}
		addresses := []string{}
		for to := range n {
			row = append(row, newProxy(t, c.listen[to]))
			addresses = append(addresses, row[to].address())
		}
		c.proxies = append(c.proxies, row)
		c.natures[i].Settings = cometbft.Settings{Name: c.group.Name, Keys: c.group.Keys, Secret: c.secrets[i].Reveal(),
			Dir: filepath.Join(c.dir, fmt.Sprint(i)), Listen: c.listen[i], Addresses: addresses, TimeoutMS: 500}
	}
	if change != nil {
		change(c)
	}
	for i := range n {
		c.open(i)
	}
	t.Cleanup(func() {
		for i := range n {
			if r := c.replica(i); r != nil {
				r.Close()
			}
		}
	})
	return c
}

// free returns an address on which nobody listens.
func free(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (c *cluster) open(i int) {
	r, err := child.Start(context.Background(), os.Args[0], nil, c.natures[i], os.Stderr)
	if err != nil {
		c.t.Errorf("replica %d: %v", i, err)
		return
	}
	c.mu.Lock()
	c.replicas[i] = r
	c.mu.Unlock()
}

// kill kills the process of a replica with SIGKILL.
func (c *cluster) kill(i int) {
	c.mu.Lock()
	r := c.replicas[i]
	c.replicas[i] = nil
	c.mu.Unlock()
	if r != nil {
		r.Process().Process.Kill()
		r.Close()
	}
}

// empty removes all that a replica that was killed has, but what it has signed last.
func (c *cluster) empty(i int) {
	for _, sub := range []string{"log", "data/blockstore.db", "data/state.db", "data/applied.cbor", "data/cs.wal"} {
		if err := os.RemoveAll(filepath.Join(c.natures[i].Dir, sub)); err != nil {
			c.t.Error(err)
		}
	}
}

func (c *cluster) replica(i int) *child.Ledger {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.replicas[i]
}

// add appends an entry at all replicas, and returns the index that f+1 report.
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
			r := c.replica(i)
			if r == nil {
				heads["down"]++
				continue
			}
			h := r.Head().Head
			heads[fmt.Sprintf("%d %x", h.Size, h.Root[:4])]++
			if h.Size < entries {
				heads["too few"]++
			}
		}
		if len(heads) == 1 && heads["down"] == 0 {
			return
		}
	}
	c.t.Fatalf("the replicas do not agree on %d entries: %v", entries, heads)
}

func (c *cluster) verify(p *ledger.Proof) (*ledger.Entry, error) { return p.VerifyGroup(&c.group) }

// faults kills, restarts and cuts off some replicas, at most one at a time.
func (c *cluster) faults(seed uint64, some []int) func(<-chan struct{}) {
	return func(stop <-chan struct{}) {
		r := rand.New(rand.NewPCG(2, seed))
		for faults := 0; ; faults++ {
			select {
			case <-stop:
				c.t.Logf("%d faults", faults)
				return
			case <-time.After(time.Duration(300+r.IntN(500)) * time.Millisecond):
			}
			i := some[r.IntN(len(some))]
			pause := time.Duration(r.IntN(600)) * time.Millisecond
			if r.IntN(2) == 0 {
				c.kill(i)
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

// cut holds all links of a replica, or frees them.
func (c *cluster) cut(i int, yes bool) {
	for j := range c.proxies {
		c.proxies[i][j].hold(yes)
		c.proxies[j][i].hold(yes)
	}
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
