package smartbft_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"synod.dev/synod/ledger"
	"synod.dev/synod/ledger/smartbft"
	"synod.dev/synod/sign"
)

// cluster is replicas in one process whose network can be cut.
type cluster struct {
	t       testing.TB
	dir     string
	secrets []sign.Secret
	keys    [][]byte

	mu       sync.RWMutex
	replicas []*smartbft.Replica // nil: it is down
	cut      []bool              // its messages are lost
	queues   []chan envelope
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
	return r.Blocks(from)
}

func newCluster(t testing.TB, n int) *cluster {
	c := &cluster{t: t, dir: t.TempDir(), replicas: make([]*smartbft.Replica, n), cut: make([]bool, n)}
	for i := range n {
		b := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
		s, err := sign.Generate(bytes.NewReader(b[:]))
		if err != nil {
			t.Fatal(err)
		}
		c.secrets, c.keys = append(c.secrets, s), append(c.keys, s.PublicKey())
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
	r, err := smartbft.Open(smartbft.Config{ID: uint64(i) + 1, Keys: c.keys, Secret: c.secrets[i],
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
			c.t.Errorf("replica %d: %v", i, err)
		}
	}
}

func entry(run string) *ledger.Entry {
	council := sha256.Sum256([]byte("council"))
	return &ledger.Entry{Format: ledger.Format, Instance: run, Council: council[:],
		Parts: []ledger.Part{ledger.NewPart("answer", []byte("42"), false)}}
}

// add submits an entry to all replicas and returns the index that f+1 report. It repeats that until
// they do.
func (c *cluster) add(run string, within time.Duration) (uint64, error) {
	e, end := entry(run), time.Now().Add(within)
	f := (len(c.keys) - 1) / 3
	got := make(chan [2]uint64, 1000)
	reported := map[uint64]uint64{}
	for time.Now().Before(end) {
		for i := range c.keys {
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
				if same > f {
					return g[1], nil
				}
				continue
			case <-again:
			}
			break
		}
	}
	return 0, fmt.Errorf("%s: no f+1 replicas reported it within %v", run, within)
}

// agree waits until all replicas have the same log of at least so many entries.
func (c *cluster) agree(entries uint64) {
	c.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		heads := map[string]int{}
		for i := range c.keys {
			if r := c.replica(i); r != nil {
				h := r.Log().Head().Head
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

// All replicas have the same log, and each proves every entry.
func TestAgreement(t *testing.T) {
	c := newCluster(t, 4)
	for i := range 20 {
		at, err := c.add(fmt.Sprint("run-", i), 20*time.Second)
		if err != nil || at != uint64(i) {
			t.Fatalf("entry %d has the index %d, %v", i, at, err)
		}
	}
	c.agree(20)
	for i := range 4 {
		for at := range uint64(20) {
			p, err := c.replica(i).Log().Prove(at)
			if err == nil {
				_, err = p.Verify(c.keys[i])
			}
			if err != nil {
				t.Fatalf("replica %d, entry %d: %v", i, at, err)
			}
		}
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
		if _, err := c.add(fmt.Sprint("run-", i), 30*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	c.agree(12)
}

// model is a log to which appending an entry again returns its first index.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		log, run := state.(string), in.(string)
		if !strings.Contains("\n"+log, "\n"+run+"\n") {
			log += run + "\n"
		}
		before, _, _ := strings.Cut("\n"+log, "\n"+run+"\n")
		return out.(uint64) == uint64(strings.Count(before, "\n")), log
	},
}

var duration = flag.Duration("duration", 6*time.Second, "how long TestHistories appends")

// TestHistories has clients append while replicas are stopped, restarted and cut off, at most f at a
// time, and checks that the history is linearizable, that nothing acknowledged is lost, and that all
// replicas agree afterwards.
func TestHistories(t *testing.T) {
	c, begin := newCluster(t, 4), time.Now()
	var events []porcupine.Operation
	var kept sync.Mutex
	var clients, nemesis sync.WaitGroup
	stop := make(chan struct{})
	nemesis.Go(func() {
		r := rand.New(rand.NewPCG(1, 7))
		for faults := 0; ; faults++ {
			select {
			case <-stop:
				t.Logf("%d faults", faults)
				return
			case <-time.After(time.Duration(200+r.IntN(300)) * time.Millisecond):
			}
			i := r.IntN(4) // the leader too
			if r.IntN(2) == 0 {
				c.close(i)
				time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
				c.open(i)
				continue
			}
			c.set(i, true)
			time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
			c.set(i, false)
		}
	})
	for client := range 3 {
		clients.Go(func() {
			for i := 0; time.Since(begin) < *duration; i++ {
				run := fmt.Sprintf("run-%d-%d", client%2, i) // two clients append the same entries
				start := time.Since(begin).Nanoseconds()
				at, err := c.add(run, 60*time.Second)
				if err != nil {
					t.Error(err)
					return
				}
				kept.Lock()
				events = append(events, porcupine.Operation{ClientId: client, Input: run, Call: start, Output: at,
					Return: time.Since(begin).Nanoseconds()})
				kept.Unlock()
			}
		})
	}
	clients.Wait()
	close(stop)
	nemesis.Wait()
	if got := porcupine.CheckOperationsTimeout(model, events, 30*time.Second); got != porcupine.Ok {
		t.Errorf("the history of %d operations is not linearizable: %s", len(events), got)
	}
	if _, err := c.add("last", 60*time.Second); err != nil {
		t.Fatal(err)
	}
	entries := map[string]bool{}
	for _, e := range events {
		entries[e.Input.(string)] = true
	}
	c.agree(uint64(len(entries)) + 1)
	t.Logf("%d appends, %d entries", len(events), len(entries))
}

func (c *cluster) set(i int, cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut[i] = cut
}

func bench(b *testing.B, n, clients int) {
	c := newCluster(b, n)
	if _, err := c.add("first", 30*time.Second); err != nil {
		b.Fatal(err)
	}
	var next sync.Mutex
	i := 0
	b.ResetTimer()
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for {
				next.Lock()
				run := i
				i++
				next.Unlock()
				if run >= b.N {
					return
				}
				if _, err := c.add(fmt.Sprint("run-", run), 30*time.Second); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}

// BenchmarkLatency appends one decision after another; its time is the latency of one.
func BenchmarkLatency(b *testing.B) {
	for _, n := range []int{4, 7} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) { bench(b, n, 1) })
	}
}

// BenchmarkThroughput has 32 clients append at once.
func BenchmarkThroughput(b *testing.B) {
	for _, n := range []int{4, 7} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) { bench(b, n, 32) })
	}
}
