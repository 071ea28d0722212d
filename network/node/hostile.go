package node

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"time"

	"synod.dev/synod/adversary"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
)

// hostile is the transport of a node whose seat has an adversary at links in the council file, for experiments. Its
// machine is honest.
type hostile struct {
	link.Transport
	node   *Node
	attack *adversary.Linked
	swarms sync.Map // by key of a neighbour: strangers were sent to it
}

// Dial opens a stream that attacks.
func (h *hostile) Dial(ctx context.Context, key []byte, addresses []string) (link.Stream, error) {
	if h.attack.Name() == adversary.Sybils {
		if _, sent := h.swarms.LoadOrStore(string(key), true); !sent {
			h.node.work.Go(func() { h.swarm(key, addresses) })
		}
	}
	s, err := h.Transport.Dial(ctx, key, addresses)
	if err != nil || h.attack.Name() == adversary.Sybils {
		return s, err
	}
	return &hostileStream{Stream: s, attack: h.attack, closed: make(chan struct{})}, nil
}

// swarm says hello to a neighbour under invented keys, and waits for a welcome.
func (h *hostile) swarm(key []byte, addresses []string) {
	for range h.attack.Strangers {
		secret, err := sign.Generate(crand.Reader)
		if err != nil || h.node.context.Err() != nil {
			return
		}
		if h.greet(secret, key, addresses) {
			h.node.log.Warn("a neighbour admitted an invented key", "key", key)
		}
	}
}

// greet reports whether a neighbour admits a stranger.
func (h *hostile) greet(secret sign.Secret, key []byte, addresses []string) bool {
	n := h.node
	open := n.config.Stranger
	if open == nil {
		open = func(s sign.Secret) (link.Transport, error) { return link.NewTLS(s.LinkKey()) }
	}
	t, err := open(secret)
	if err != nil {
		return false
	}
	defer t.Close()
	ctx, cancel := context.WithTimeout(n.context, time.Second)
	defer cancel()
	s, err := t.Dial(ctx, key, addresses)
	if err != nil {
		return false
	}
	conn := link.NewConn(s)
	defer conn.Close()
	hello := call.Hello{Version: call.Version, Purpose: call.ToLink, Roster: n.hash[:], Clock: n.now().UnixMicro()}
	var w call.Welcome
	return conn.Send(hello, time.Second) == nil && conn.Receive(call.MaxWelcome, &w, time.Second) == nil
}

// hostileStream is a stream that an adversary writes to.
type hostileStream struct {
	link.Stream
	attack *adversary.Linked
	mu     sync.Mutex // one write at a time
	writes int
	once   sync.Once
	closed chan struct{}
}

// Close ends the attack and closes the stream.
func (s *hostileStream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.Stream.Close()
}

// SetWriteDeadline sets no deadline for bytes that drip.
func (s *hostileStream) SetWriteDeadline(t time.Time) error {
	if s.attack.Name() == adversary.SlowDrip {
		return nil
	}
	return s.Stream.SetWriteDeadline(t)
}

// Write writes what the node sends in the way of the adversary. The first frame, which only says hello, is honest,
// unless it drips.
func (s *hostileStream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	switch name := s.attack.Name(); {
	case name == adversary.SlowDrip:
		return s.drip(b)
	case name == adversary.Flooder && s.writes == 1:
		go s.flood()
	case name == adversary.Forger && s.writes > 1 && s.writes%s.attack.Rate != 0 && len(b) > 4:
		forged := bytes.Clone(b)
		forged[4+rand.IntN(len(b)-4)] ^= 1 << rand.IntN(8) // beyond the length of the first frame
		return s.Stream.Write(forged)
	}
	return s.Stream.Write(b)
}

// drip writes a byte at a time.
func (s *hostileStream) drip(b []byte) (n int, err error) {
	for n < len(b) {
		if _, err := s.Stream.Write(b[n : n+1]); err != nil {
			return n, err
		}
		n++
		select {
		case <-s.closed:
			return n, link.ErrClosed
		case <-time.After(time.Second / time.Duration(s.attack.Rate)):
		}
	}
	return n, nil
}

// flood writes junk until the stream is closed.
func (s *hostileStream) flood() {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-s.closed:
			return
		case <-tick.C:
		}
		var burst []byte
		for range max(1, s.attack.Rate/1000) {
			burst = append(burst, junk(i)...)
		}
		s.mu.Lock()
		_, err := s.Stream.Write(burst)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// junk returns a frame that no honest node sends, of one kind for twenty bursts: pings, which are valid, so that a
// flood of them counts; then random bytes, nested arrays, and a length beyond the limit.
func junk(burst int) []byte {
	framed := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	switch burst / 20 % 4 {
	case 1:
		random := make([]byte, 40)
		for i := range random {
			random[i] = byte(rand.Uint32())
		}
		return framed(random)
	case 2:
		return framed(bytes.Repeat([]byte{0x81}, 2000))
	case 3:
		return binary.BigEndian.AppendUint32(nil, 1<<31)
	}
	return framed(canonical.Encode(frame{Kind: isPing}))
}
