package node_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
)

// meter counts what nodes and their caller send, by kind of frame.
type meter struct {
	mu     sync.Mutex
	bytes  map[string]int
	frames map[string]int
	writes int
	// batches are what nodes have sent to neighbours.
	batches [][]byte
}

// metered is a transport whose streams are counted.
type metered struct {
	link.Transport
	of *meter
}

func (m *metered) Dial(ctx context.Context, key []byte, a []string) (link.Stream, error) {
	s, err := m.Transport.Dial(ctx, key, a)
	if err != nil {
		return nil, err
	}
	return &meteredStream{Stream: s, of: m.of, dialled: true}, nil
}

func (m *metered) Accept() (link.Stream, []byte, error) {
	s, key, err := m.Transport.Accept()
	if err != nil {
		return nil, nil, err
	}
	return &meteredStream{Stream: s, of: m.of}, key, nil
}

// meteredStream reads what is written as frames. The purpose of the stream is in its first frame.
type meteredStream struct {
	link.Stream
	of      *meter
	dialled bool
	linked  bool
	count   int
	rest    []byte
}

// frameKinds are the kinds of frames between neighbours, by number.
var frameKinds = []string{"", "message", "closed", "demand", "begun", "receipts", "ping", "held", "summary", "pull",
	"digests", "decline"}

func (s *meteredStream) kind(body []byte) string {
	s.count++
	switch {
	case s.count == 1:
		s.linked = strings.Contains(string(body), "link")
		return "hello"
	case s.linked && s.dialled:
		return "batch"
	case s.dialled:
		return "question"
	case len(body) < 64:
		return "pong"
	}
	return "record"
}

func (s *meteredStream) Write(b []byte) (int, error) {
	s.of.mu.Lock()
	s.of.writes++
	s.rest = append(s.rest, b...)
	for len(s.rest) >= 4 && len(s.rest) >= 4+int(binary.BigEndian.Uint32(s.rest)) {
		n := 4 + int(binary.BigEndian.Uint32(s.rest))
		kind := s.kind(s.rest[4:n])
		if kind == "batch" {
			s.of.batches = append(s.of.batches, slices.Clone(s.rest[4:n])) // they are read after the measurement
		} else {
			s.of.bytes[kind] += n
			s.of.frames[kind]++
		}
		s.rest = s.rest[n:]
	}
	s.of.mu.Unlock()
	return s.Stream.Write(b)
}

// add counts a batch: each frame by its kind, and what is around them as a batch.
func (m *meter) add(b []byte) {
	var x sentBatch
	if canonical.Decode(b, largest, &x) != nil {
		panic("a node has sent what no node can read")
	}
	n := len(b) + 4
	for i := range x.Frames {
		size, kind := len(canonical.Encode(x.Frames[i])), frameKinds[x.Frames[i].Kind]
		n -= size
		m.bytes[kind] += size
		m.frames[kind]++
	}
	if x.Frames[0].Kind != aPing {
		m.bytes["batch"] += n
	}
}

// reset begins to count again, and returns what was counted.
func (m *meter) reset() (bytes, frames map[string]int, writes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.batches {
		m.add(b)
	}
	m.batches = nil
	bytes, frames, writes = m.bytes, m.frames, m.writes
	m.bytes, m.frames, m.writes = map[string]int{}, map[string]int{}, 0
	return bytes, frames, writes
}

// sized returns the text of a council of n seats with simulated models. A third of the seats of decentllms,
// at most 7, are workers.
func sized(name string, n int) string {
	const simple = "pace: {think: 2s, within: 20s}\nmodels: {d: {provider: simulated, ability: 0.9}}\n"
	f := (n - 1) / 3
	if name != "decentllms" {
		return fmt.Sprintf("protocol: {name: %s}\nf: %d\n%sseats: [{id: a, model: d, count: %d}]\n", name, f, simple, n)
	}
	w := min(n/3, 7)
	return fmt.Sprintf("protocol: {name: decentllms}\nf: %d\n%sseats: [{id: w, model: d, count: %d, role: worker}, "+
		"{id: e, model: d, count: %d, role: evaluator}]\n", max((n-w-1)/3, 0), simple, w, n-w)
}

// processorTime returns the processor time of this process.
func processorTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMessages prints what a question costs a council of n nodes over TLS, with simulated models: bytes of frames,
// frames, writes, and processor time, of all nodes and the caller together. Pings are left out.
func BenchmarkMessages(b *testing.B) {
	for _, name := range []string{"sac", "decentllms", "cascade"} {
		for _, n := range []int{4, 7, 13, 25, 50} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) { benchMessages(b, sized(name, n)) })
		}
	}
}

func benchMessages(b *testing.B, text string) {
	net := conveneAt(b, text, 1, apart)
	m := &meter{}
	m.reset()
	net.overTLS()
	tls := net.change
	net.change = func(seat int, c *node.Config) {
		tls(seat, c)
		c.Transport = &metered{c.Transport, m}
	}
	net.startAll()
	client := net.overTLSClient()
	client.Transport = &metered{client.Transport, m}
	defer client.Close()
	ask := func() {
		res, err := client.Ask(b.Context(), sum)
		if err != nil || len(res.Missing) > 0 {
			b.Fatal(err, res.Missing)
		}
	}
	ask()
	time.Sleep(200 * time.Millisecond)
	m.reset()
	begun, count := processorTime(b), 0
	for b.Loop() {
		ask()
		count++
	}
	time.Sleep(200 * time.Millisecond) // what nodes tell one another after the end
	spent := processorTime(b) - begun
	bytes, frames, writes := m.reset()
	all, messages := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(bytes)) {
		if kind == "ping" || kind == "pong" {
			continue
		}
		all, messages = all+bytes[kind], messages+frames[kind]
		b.Logf("%-8s %9d bytes, %6d frames", kind, bytes[kind]/count, frames[kind]/count)
	}
	b.ReportMetric(float64(all)/float64(count), "bytes/question")
	b.ReportMetric(float64(messages)/float64(count), "frames/question")
	b.ReportMetric(float64(writes)/float64(count), "writes/question")
	b.ReportMetric(float64(spent.Milliseconds())/float64(count), "cpu-ms/question")
}
