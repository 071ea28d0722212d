package cometbft_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

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
	*ledgertest.Cluster
	dir     string
	natures []nature
	proxies [][]*proxy // by who dials and who listens
}

// newCluster starts n replicas, which change may make Byzantine.
func newCluster(t testing.TB, n int, change func(c *cluster)) *cluster {
	g, secrets := ledgertest.Group(t, n)
	return clusterOf(t, g, secrets, change)
}

func clusterOf(t testing.TB, g ledger.Replicas, secrets []sign.Secret, change func(c *cluster)) *cluster {
	t.Setenv("COMETBFT_TEST", "child")
	n := len(secrets)
	c := &cluster{Cluster: ledgertest.NewCluster(t, g, secrets), dir: t.TempDir(), natures: make([]nature, n)}
	listen := []string{}
	for range n {
		listen = append(listen, free(t))
	}
	for i := range n {
		row, addresses := []*proxy{}, []string{}
		for to := range n {
			row = append(row, newProxy(t, listen[to]))
			addresses = append(addresses, row[to].address())
		}
		c.proxies = append(c.proxies, row)
		c.natures[i].Settings = cometbft.Settings{Name: g.Name, Keys: g.Keys, Least: g.Least, Names: g.Names,
			Secret: secrets[i].Reveal(), Dir: filepath.Join(c.dir, fmt.Sprint(i)), Listen: listen[i],
			Addresses: addresses, TimeoutMS: 500}
	}
	if change != nil {
		change(c)
	}
	c.Open, c.Cut = c.open, func(i int, yes bool) { c.cut(i, 0, yes) }
	c.Stop = func(_ int, l ledger.Ledger) error {
		l.(*child.Ledger).Process().Process.Kill()
		l.Close()
		return nil
	}
	c.Run()
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

func (c *cluster) open(i int) (ledger.Ledger, error) {
	l, err := child.Start(context.Background(), os.Args[0], nil, c.natures[i], os.Stderr)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// empty removes all that a replica that was killed has, but what it has signed last.
func (c *cluster) empty(t testing.TB, i int) {
	for _, sub := range []string{"log", "data/blockstore.db", "data/state.db", "data/applied.cbor", "data/cs.wal"} {
		if err := os.RemoveAll(filepath.Join(c.natures[i].Dir, sub)); err != nil {
			t.Error(err)
		}
	}
}

// cut holds the links between a replica and those from a number on, or frees them.
func (c *cluster) cut(i, from int, yes bool) {
	for j := from; j < len(c.proxies); j++ {
		c.proxies[i][j].hold(yes)
		c.proxies[j][i].hold(yes)
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
