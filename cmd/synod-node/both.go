package main

import (
	"context"
	"errors"
	"net"
	"sync"

	"synod.dev/synod/network/link"
)

// both is the transport of a node whose links are go-libp2p: callers reach it over TLS, on the next
// port.
type both struct {
	link.Transport // go-libp2p: dials, and names the address
	callers        *link.TLS
	incoming       chan accepted
	once           sync.Once
}

type accepted struct {
	stream link.Stream
	key    []byte
	err    error
}

func newBoth(p2p link.Transport, callers *link.TLS) *both {
	b := &both{Transport: p2p, callers: callers, incoming: make(chan accepted)}
	for _, t := range []link.Transport{p2p, callers} {
		go func() {
			for {
				s, key, err := t.Accept()
				b.incoming <- accepted{s, key, err}
				if err != nil {
					return
				}
			}
		}()
	}
	return b
}

// Accept implements link.Transport.
func (b *both) Accept() (link.Stream, []byte, error) {
	a := <-b.incoming
	if a.err != nil {
		go func() { <-b.incoming }() // the other one ends too
	}
	return a.stream, a.key, a.err
}

// Dial implements link.Transport.
func (b *both) Dial(ctx context.Context, key []byte, addresses []string) (link.Stream, error) {
	return b.Transport.Dial(ctx, key, addresses)
}

// Reserve replaces the members' addresses.
func (b *both) Reserve(addresses []net.IP) { b.callers.Reserve(addresses) }

// Close implements link.Transport.
func (b *both) Close() (err error) {
	b.once.Do(func() { err = errors.Join(b.Transport.Close(), b.callers.Close()) })
	return err
}
