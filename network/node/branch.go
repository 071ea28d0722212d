package node

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
)

// branch is the part of a Host's transport that has the streams of one roster.
type branch struct {
	host     *Host
	incoming chan arrived
	done     chan struct{}
	once     sync.Once
}

type arrived struct {
	stream link.Stream
	key    []byte
}

func newBranch(h *Host) *branch {
	return &branch{host: h, incoming: make(chan arrived), done: make(chan struct{})}
}

// Dial implements link.Transport.
func (b *branch) Dial(ctx context.Context, key []byte, addresses []string) (link.Stream, error) {
	return b.host.config.Transport.Dial(ctx, key, addresses)
}

// Accept implements link.Transport.
func (b *branch) Accept() (link.Stream, []byte, error) {
	select {
	case a := <-b.incoming:
		return a.stream, a.key, nil
	case <-b.done:
		return nil, nil, link.ErrClosed
	}
}

// Address implements link.Transport.
func (b *branch) Address() string { return b.host.config.Transport.Address() }

// Close implements link.Transport. The Host's transport stays open.
func (b *branch) Close() error {
	b.once.Do(func() { close(b.done) })
	return nil
}

// deliver hands a stream to the node of the roster. It is false if the node ends.
func (b *branch) deliver(s link.Stream, key []byte) bool {
	select {
	case b.incoming <- arrived{s, key}:
		return true
	case <-b.done:
		return false
	}
}

// begun is a stream whose first frame was read already. It is read again by who gets the stream.
type begun struct {
	link.Stream
	first *bytes.Reader
}

// Read reads the first frame again, and then from the stream.
func (b *begun) Read(p []byte) (int, error) {
	if b.first.Len() > 0 {
		return b.first.Read(p)
	}
	return b.Stream.Read(p)
}

// readHello reads the first frame of a stream, and nothing after it.
func readHello(s link.Stream) (h call.Hello, again link.Stream, err error) {
	if err = s.SetReadDeadline(time.Now().Add(helloTime)); err != nil {
		return h, nil, err
	}
	frame := make([]byte, 4, 4+call.MaxHello)
	if _, err = io.ReadFull(s, frame); err != nil {
		return h, nil, err
	}
	size := binary.BigEndian.Uint32(frame)
	if size > call.MaxHello {
		return h, nil, fmt.Errorf("%w: a hello has %d bytes", link.ErrTooLong, size)
	}
	frame = frame[:4+size]
	if _, err = io.ReadFull(s, frame[4:]); err != nil {
		return h, nil, err
	}
	err = canonical.Decode(frame[4:], call.MaxHello, &h)
	return h, &begun{s, bytes.NewReader(frame)}, err
}
