// Package link carries frames between nodes that know one another's Ed25519 keys.
//
// A Transport opens and accepts authenticated streams. A Conn reads and writes frames on a stream:
// a length of four bytes and a value in canonical CBOR. Every read and write has a time limit, and
// every length is checked before memory is allocated.
//
// There are three transports: Listen (TLS 1.3 with pinned keys), Memory (in one process, for
// tests), and go-libp2p in the module cmd/synod-node.
//
// The package has rank 3: it uses internal/canonical and internal/durable's neighbours only.
package link

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"synod.dev/synod/internal/canonical"
)

// Stream is one authenticated connection. Its methods may be called concurrently with one another.
type Stream interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// Transport opens and accepts streams. A stream exists only between two nodes that have proved to
// one another that they own their keys, and whose gates admit each other.
type Transport interface {
	// Dial opens a stream to the owner of a key at one of some addresses HOST:PORT. A nil error
	// does not mean that the other side has admitted this node: the first frame that comes back
	// does.
	Dial(ctx context.Context, key []byte, addresses []string) (Stream, error)
	// Accept waits for the next stream of a node that the gate has admitted, and returns that
	// node's key. It fails after Close.
	Accept() (Stream, []byte, error)
	// Address returns where the transport listens, HOST:PORT.
	Address() string
	Close() error
}

// Gate reports whether the owner of a key may open streams to this node.
type Gate func(key []byte) bool

// ErrClosed is the error of a Transport that was closed.
var ErrClosed = errors.New("link: the transport is closed")

// ErrTooLong is the error of a frame that is longer than its reader allows.
var ErrTooLong = errors.New("link: the frame is too long")

// Conn reads and writes frames on a stream. One goroutine at a time may send, and one may receive.
type Conn struct {
	Stream
	in  *bufio.Reader
	mu  sync.Mutex
	out []byte
}

// NewConn returns a Conn of a stream, which it owns.
func NewConn(s Stream) *Conn { return &Conn{Stream: s, in: bufio.NewReaderSize(s, 4<<10)} }

// Send writes one frame within a time limit.
func (c *Conn) Send(v any, limit time.Duration) error { return c.SendBytes(canonical.Encode(v), limit) }

// SendBytes is Send for a value that is encoded already.
func (c *Conn) SendBytes(b []byte, limit time.Duration) error { return c.SendAll([][]byte{b}, limit) }

// atOnce is how many bytes of frames share one write.
const atOnce = 1 << 16

// SendAll sends several frames that are encoded already, small ones in one write. The limit is that of a write.
func (c *Conn) SendAll(frames [][]byte, limit time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(frames) > 0 {
		c.out = c.out[:0]
		for len(frames) > 0 && (len(c.out) == 0 || len(c.out)+len(frames[0]) < atOnce) {
			c.out = append(binary.BigEndian.AppendUint32(c.out, uint32(len(frames[0]))), frames[0]...)
			frames = frames[1:]
		}
		if err := c.SetWriteDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
		if _, err := c.Write(c.out); err != nil {
			return err
		}
		if cap(c.out) > atOnce {
			c.out = nil
		}
	}
	return nil
}

// Receive reads one frame of at most max bytes within a time limit. The limit covers the whole
// frame, so a sender that sends a byte now and then does not extend it.
func (c *Conn) Receive(max int, into any, limit time.Duration) error {
	b, err := c.ReceiveBytes(max, limit)
	if err != nil {
		return err
	}
	if err := canonical.Decode(b, max, into); err != nil {
		return fmt.Errorf("link: a frame cannot be read: %w", err)
	}
	return nil
}

// ReceiveBytes is Receive without decoding the frame.
func (c *Conn) ReceiveBytes(max int, limit time.Duration) ([]byte, error) {
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if uint64(n) > uint64(max) {
		return nil, fmt.Errorf("%w: it has %d bytes; at most %d are read", ErrTooLong, n, max)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(c.in, b)
	return b, err
}
