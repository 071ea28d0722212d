package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	p2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/roster"
)

// streamProtocol names the streams between nodes, and between nodes and callers.
const streamProtocol = "/synod/node/1"

// peerToPeer is the transport over go-libp2p: TCP with Noise or TLS, and QUIC. It announces itself to
// nobody, looks for nobody, and relays nothing unless the roster says so.
type peerToPeer struct {
	host     host.Host
	gate     *node.Gate
	roster   *roster.Roster // that it was opened with
	relay    *relay.Relay   // nil: it relays nothing
	listen   string
	incoming chan network.Stream
	done     chan struct{}
	once     sync.Once
}

// newPeerToPeer listens on HOST:PORT, over TCP and QUIC.
func newPeerToPeer(address string, secret sign.Secret, gate *node.Gate) (*peerToPeer, error) {
	r := newest(gate)
	key, err := crypto.UnmarshalEd25519PrivateKey(secret.LinkKey())
	if err != nil {
		return nil, err
	}
	addresses, err := multiaddrs(address)
	if err != nil {
		return nil, err
	}
	limits, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limitsFor(r)))
	if err != nil {
		return nil, err
	}
	options := []libp2p.Option{
		libp2p.Identity(key), libp2p.ListenAddrs(addresses...), libp2p.ConnectionGater(&gater{gate}),
		libp2p.ResourceManager(limits), libp2p.Transport(tcp.NewTCPTransport), libp2p.Transport(quic.NewTransport),
		libp2p.Security(noise.ID, noise.New), libp2p.Security(p2ptls.ID, p2ptls.New), libp2p.DisableMetrics(),
	}
	if r.Relay {
		options = append(options, relayOptions()...)
	} else {
		options = append(options, libp2p.DisableRelay(), libp2p.DisableIdentifyAddressDiscovery())
	}
	h, err := libp2p.New(options...)
	if err != nil {
		return nil, err
	}
	t := &peerToPeer{host: h, gate: gate, roster: r, listen: listened(h, address), incoming: make(chan network.Stream),
		done: make(chan struct{})}
	if r.Relay {
		if t.relay, err = t.relayFor(r); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	h.SetStreamHandler(streamProtocol, func(s network.Stream) {
		select {
		case t.incoming <- s:
		case <-t.done:
			s.Reset()
		}
	})
	return t, nil
}

// newest returns the roster in force.
func newest(gate *node.Gate) *roster.Roster {
	all := gate.Rosters()
	return all[len(all)-1]
}

// limitsFor bounds what peers can make this process hold (SC-18): the streams of all members, and
// little of everybody else.
func limitsFor(r *roster.Roster) rcmgr.ConcreteLimitConfig {
	c, members := rcmgr.DefaultLimits, len(r.Members)
	c.SystemBaseLimit.ConnsInbound, c.SystemBaseLimit.Conns = 64+2*members, 128+4*members
	c.SystemBaseLimit.FD, c.SystemBaseLimit.Memory = 256+4*members, 128<<20
	c.TransientBaseLimit.ConnsInbound, c.TransientBaseLimit.Conns = 32, 64
	c.TransientBaseLimit.Memory = 32 << 20
	c.PeerBaseLimit.ConnsInbound, c.PeerBaseLimit.StreamsInbound = 4, 16
	if r.Relay { // each relayed connection of a peer is a connection and a stream of it
		c.PeerBaseLimit.ConnsInbound += members
		c.PeerBaseLimit.StreamsInbound += 2 * members
	}
	return c.Scale(0, 0)
}

// multiaddrs returns the addresses of HOST:PORT for TCP and QUIC.
func multiaddrs(address string) (all []ma.Multiaddr, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	kind := "dns"
	if ip := net.ParseIP(host); ip != nil && ip.To4() != nil {
		kind = "ip4"
	} else if ip != nil {
		kind = "ip6"
	}
	for _, tail := range []string{"/tcp/" + port, "/udp/" + port + "/quic-v1"} {
		a, err := ma.NewMultiaddr("/" + kind + "/" + host + tail)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// listened returns HOST:PORT of the TCP listener.
func listened(h host.Host, asked string) string {
	for _, a := range h.Network().ListenAddresses() {
		if parts := strings.Split(a.String(), "/"); len(parts) == 5 && parts[3] == "tcp" {
			return net.JoinHostPort(parts[2], parts[4])
		}
	}
	return asked
}

// Dial implements link.Transport.
func (t *peerToPeer) Dial(ctx context.Context, key []byte, addresses []string) (link.Stream, error) {
	info, err := infoOf(key, addresses)
	if err != nil {
		return nil, err
	}
	if t.relay != nil {
		info.Addrs = append(info.Addrs, t.circuits(info.ID)...)
		ctx = network.WithAllowLimitedConn(ctx, "a stream between neighbours")
	}
	if err := t.host.Connect(ctx, info); err != nil {
		return nil, err
	}
	s, err := t.host.NewStream(network.WithNoDial(ctx, "connected"), info.ID, streamProtocol)
	if err != nil {
		return nil, err
	}
	return t.throughRelay(s), nil
}

// infoOf returns the libp2p id of the owner of a key, with addresses.
func infoOf(key []byte, addresses []string) (info peer.AddrInfo, err error) {
	if info.ID, err = idOf(key); err != nil {
		return info, err
	}
	for _, a := range addresses {
		more, err := multiaddrs(a)
		if err != nil {
			return info, err
		}
		info.Addrs = append(info.Addrs, more...)
	}
	return info, nil
}

func idOf(key []byte) (peer.ID, error) {
	public, err := crypto.UnmarshalEd25519PublicKey(key)
	if err != nil {
		return "", err
	}
	return peer.IDFromPublicKey(public)
}

// Accept implements link.Transport.
func (t *peerToPeer) Accept() (link.Stream, []byte, error) {
	for {
		select {
		case s := <-t.incoming:
			if key, err := keyOf(s); err == nil {
				return s, key, nil
			}
			s.Reset()
		case <-t.done:
			return nil, nil, link.ErrClosed
		}
	}
}

func keyOf(s network.Stream) ([]byte, error) {
	public := s.Conn().RemotePublicKey()
	if public == nil {
		return nil, errors.New("the peer has no key")
	}
	raw, err := public.Raw()
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("the peer's key is not an Ed25519 key: %w", err)
	}
	return raw, nil
}

// Address implements link.Transport.
func (t *peerToPeer) Address() string { return t.listen }

// Close implements link.Transport.
func (t *peerToPeer) Close() (err error) {
	t.once.Do(func() {
		close(t.done)
		if t.relay != nil {
			err = t.relay.Close()
		}
		err = errors.Join(err, t.host.Close())
	})
	return err
}

// gater admits members and callers of the rosters that are played, and nobody else: before anything is negotiated but
// the keys.
type gater struct{ gate *node.Gate }

func (g *gater) admits(id peer.ID) bool {
	public, err := id.ExtractPublicKey()
	if err != nil {
		return false
	}
	raw, err := public.Raw()
	return err == nil && !bytes.Equal(raw, nil) && g.gate.MayAsk(raw)
}

// InterceptPeerDial implements connmgr.ConnectionGater.
func (g *gater) InterceptPeerDial(id peer.ID) bool { return g.admits(id) }

// InterceptAddrDial implements connmgr.ConnectionGater.
func (g *gater) InterceptAddrDial(id peer.ID, _ ma.Multiaddr) bool { return g.admits(id) }

// InterceptAccept implements connmgr.ConnectionGater: who it is shows only after the handshake.
func (g *gater) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured implements connmgr.ConnectionGater.
func (g *gater) InterceptSecured(_ network.Direction, id peer.ID, _ network.ConnMultiaddrs) bool {
	return g.admits(id)
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g *gater) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

var _ interface{ SetReadDeadline(time.Time) error } = network.Stream(nil)
