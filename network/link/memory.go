package link

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Memory is a network of one process, for tests. Keys are taken on trust.
type Memory struct {
	mu    sync.Mutex
	nodes map[string]*memory
}

// Join returns the transport of a node with a key. Its address is any text.
func (m *Memory) Join(key []byte, gate Gate) Transport {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nodes == nil {
		m.nodes = map[string]*memory{}
	}
	t := &memory{net: m, key: string(key), gate: gate, incoming: make(chan arrival), done: make(chan struct{})}
	m.nodes[t.key] = t
	return t
}

type memory struct {
	net      *Memory
	key      string
	gate     Gate
	incoming chan arrival
	done     chan struct{}
	once     sync.Once
}

// arrival is a stream that was accepted, and whose it is.
type arrival struct {
	stream Stream
	key    []byte
}

// Dial implements Transport. The addresses are not used.
func (t *memory) Dial(ctx context.Context, key []byte, _ []string) (Stream, error) {
	t.net.mu.Lock()
	to := t.net.nodes[string(key)]
	t.net.mu.Unlock()
	if to == nil || !to.gate([]byte(t.key)) {
		return nil, fmt.Errorf("link: %x refuses the connection", key)
	}
	here, there := net.Pipe()
	select {
	case to.incoming <- arrival{there, []byte(t.key)}:
		return here, nil
	case <-to.done:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements Transport.
func (t *memory) Accept() (Stream, []byte, error) {
	select {
	case a := <-t.incoming:
		return a.stream, a.key, nil
	case <-t.done:
		return nil, nil, ErrClosed
	}
}

// Address implements Transport.
func (t *memory) Address() string { return "memory:1" }

// Close implements Transport.
func (t *memory) Close() error {
	t.once.Do(func() {
		close(t.done)
		t.net.mu.Lock()
		defer t.net.mu.Unlock()
		if t.net.nodes[t.key] == t {
			delete(t.net.nodes, t.key)
		}
	})
	return nil
}

// Dialer returns a transport that only dials, in the name of a key. A node with that key keeps its
// place.
func (m *Memory) Dialer(key []byte) Transport {
	return &memory{net: m, key: string(key), incoming: make(chan arrival), done: make(chan struct{})}
}
