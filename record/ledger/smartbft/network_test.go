package smartbft_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/internal/ledgertest"
	streams "synod.dev/synod/network/link"
	"synod.dev/synod/record/ledger"
	"synod.dev/synod/record/ledger/smartbft"
)

// A replica whose disk fails stops to take part, and says so; this process and the other replicas go on. It is closed
// and opened again, and takes what it missed.
func TestFailedDisk(t *testing.T) {
	c := newCluster(t, 4)
	add := func(run string) {
		t.Helper()
		if _, err := c.Add(ledgertest.Entry(run)); err != nil {
			t.Fatal(err)
		}
	}
	add("first")
	c.Repair.Lock() // it is opened again below
	defer c.Repair.Unlock()
	blocks := filepath.Join(c.dir, "3", "blocks")
	if err := errors.Join(os.Rename(blocks, blocks+".away"), os.WriteFile(blocks, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	add("second")
	for end := time.Now().Add(20 * time.Second); c.replica(3).Failed() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a replica that cannot write has not failed")
		}
	}
	if _, err := c.replica(3).Append(t.Context(), ledgertest.Entry("third")); err == nil {
		t.Error("a replica that has failed appends")
	}
	add("fourth")
	c.Kill(3)
	if err := errors.Join(os.Remove(blocks), os.Rename(blocks+".away", blocks)); err != nil {
		t.Fatal(err)
	}
	c.Start(3)
	add("fifth")
	c.Agree(4)
}

// TestStreams is the test of histories over TLS with pinned keys: streams break when a replica is cut off.
func TestStreams(t *testing.T) { newNetworks(t, 4).Histories(*duration, 500*time.Millisecond) }

// networks is a cluster whose replicas talk over streams.
type networks struct {
	*ledgertest.Cluster
	mu   sync.Mutex
	away []bool
	open map[int][]*streams.Conn // by who has dialled or accepted
}

func newNetworks(t *testing.T, n int) *networks {
	g, secrets := ledgertest.Group(t, n)
	w := &networks{Cluster: ledgertest.NewCluster(t, g, secrets), away: make([]bool, n),
		open: map[int][]*streams.Conn{}}
	gate := func(key []byte) bool { return w.seat(key) >= 0 }
	transports, nets, dir := make([]*streams.TLS, n), make([]*smartbft.Network, n), t.TempDir()
	for i := range n {
		var err error
		transports[i], err = streams.Listen("127.0.0.1:0", secrets[i].LinkKey(), gate, streams.Limits{})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		nets[i] = smartbft.NewNetwork(uint64(i)+1, n, func(ctx context.Context, to uint64) (*streams.Conn, error) {
			s, err := transports[i].Dial(ctx, g.Keys[to-1], []string{transports[to-1].Address()})
			if err != nil {
				return nil, err
			}
			return w.keep(s, i, int(to)-1)
		})
		go w.accept(transports[i], i, nets[i])
		t.Cleanup(func() { nets[i].Close(); transports[i].Close() })
	}
	w.Open = func(i int) (ledger.Ledger, error) {
		l, err := open(w.Cluster, i, dir, nets[i])
		if err == nil {
			nets[i].Attach(l.(*smartbft.Replica))
		}
		return l, err
	}
	w.Stop = func(i int, l ledger.Ledger) error { nets[i].Attach(nil); return l.Close() }
	w.Cut = w.cutOff
	w.Run()
	return w
}

func (w *networks) seat(key []byte) int {
	for i, k := range w.Group.Keys {
		if string(k) == string(key) {
			return i
		}
	}
	return -1
}

// keep notes a stream of two replicas, unless one of them is cut off.
func (w *networks) keep(s streams.Stream, a, b int) (*streams.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away[a] || w.away[b] {
		s.Close()
		return nil, errors.New("cut off")
	}
	conn := streams.NewConn(s)
	w.open[a], w.open[b] = append(w.open[a], conn), append(w.open[b], conn)
	return conn, nil
}

func (w *networks) accept(t *streams.TLS, i int, net *smartbft.Network) {
	for {
		s, key, err := t.Accept()
		if err != nil {
			return
		}
		go func() {
			from := w.seat(key)
			if conn, err := w.keep(s, i, from); err == nil {
				defer conn.Close()
				net.Serve(uint64(from)+1, conn)
			}
		}()
	}
}

// cutOff closes all streams of a replica, and lets it have none.
func (w *networks) cutOff(i int, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away[i] = yes
	for _, conn := range w.open[i] {
		conn.Close()
	}
	w.open[i] = nil
}
