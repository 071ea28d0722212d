package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	ma "github.com/multiformats/go-multiaddr"

	"synod.dev/synod"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/roster"
)

// With a roster that says so, every member relays between members of the roster that are neighbours. A node that
// others cannot reach reserves a place at one or more members (synod node run --relay ID), and they reach it through
// these. What is relayed is encrypted between the two ends.

// The times of a reservation.
const (
	reserveEvery = 30 * time.Second // also when nothing shows that it was lost
	reserveRetry = time.Second
)

// relayOptions are the options of a host whose roster permits relays.
func relayOptions() []libp2p.Option {
	return []libp2p.Option{libp2p.EnableRelay(), libp2p.EnableHolePunching()}
}

// relayFor makes the host relay between members that are neighbours. Its limits are those of a member that nobody
// trusts: time and bytes of a relayed connection are bounded, and it is opened again after that.
func (t *peerToPeer) relayFor(r *roster.Roster) (*relay.Relay, error) {
	limits := relay.DefaultResources()
	limits.Limit = &relay.RelayLimit{Duration: 30 * time.Minute, Data: 256 << 20}
	limits.MaxReservations, limits.MaxReservationsPerIP = len(r.Members), len(r.Members)
	limits.MaxReservationsPerASN, limits.MaxCircuits = len(r.Members), len(r.Members)
	return relay.New(t.host, relay.WithResources(limits), relay.WithACL(&relayed{t.gate}),
		relay.WithReservationAddressFilter(func(ma.Multiaddr) bool { return true }))
}

// relayed admits the reservations of members of the rosters that are played, and connections between members that are
// neighbours in one of them.
type relayed struct{ gate *node.Gate }

// AllowReserve implements relay.ACLFilter.
func (a *relayed) AllowReserve(id peer.ID, _ ma.Multiaddr) bool {
	return slices.ContainsFunc(a.gate.Rosters(), func(r *roster.Roster) bool {
		_, ok := seatOf(r, id)
		return ok
	})
}

// AllowConnect implements relay.ACLFilter.
func (a *relayed) AllowConnect(from peer.ID, _ ma.Multiaddr, to peer.ID) bool {
	return slices.ContainsFunc(a.gate.Rosters(), func(r *roster.Roster) bool {
		x, member := seatOf(r, from)
		y, other := seatOf(r, to)
		return member && other && slices.Contains(r.Peers(x), y)
	})
}

// seatOf returns the seat of a member; false for anybody else.
func seatOf(r *roster.Roster, id peer.ID) (synod.NodeID, bool) {
	public, err := id.ExtractPublicKey()
	if err != nil {
		return 0, false
	}
	raw, err := public.Raw()
	if err != nil {
		return 0, false
	}
	return r.Seat(raw)
}

// circuits returns the addresses of a member through all members that may relay, by their addresses in the roster.
func (t *peerToPeer) circuits(to peer.ID) (all []ma.Multiaddr) {
	for _, m := range newest(t.gate).Members {
		id, err := idOf(m.Key)
		if err != nil || id == to || id == t.host.ID() {
			continue
		}
		tail, err := ma.NewMultiaddr("/p2p/" + id.String() + "/p2p-circuit")
		if err != nil {
			continue
		}
		for _, a := range m.Addresses {
			if parts, err := multiaddrs(a); err == nil {
				all = append(all, parts[0].Encapsulate(tail)) // over TCP
			}
		}
	}
	return all
}

// reserve keeps places at members, so that neighbours reach this node through them, until the transport is closed.
func (t *peerToPeer) reserve(ids []string, log *slog.Logger) error {
	for _, id := range ids {
		var found *roster.Member
		for i := range t.roster.Members {
			if t.roster.Members[i].ID == id {
				found = &t.roster.Members[i]
			}
		}
		switch {
		case !t.roster.Relay:
			return errors.New("--relay: the roster permits no relays; synod roster new --links libp2p --relay makes " +
				"one that does")
		case found == nil:
			return fmt.Errorf("--relay: the roster has no member %q", id)
		case len(found.Addresses) == 0:
			return fmt.Errorf("--relay: the roster has no address of %s", id)
		}
		info, err := infoOf(found.Key, found.Addresses)
		if err != nil {
			return err
		}
		if info.ID == t.host.ID() {
			return fmt.Errorf("--relay: %s is this node itself", id)
		}
		go t.keepReservation(info, id, log)
	}
	return nil
}

func (t *peerToPeer) keepReservation(at peer.AddrInfo, name string, log *slog.Logger) {
	lost := make(chan struct{}, 1)
	notify := &network.NotifyBundle{DisconnectedF: func(_ network.Network, c network.Conn) {
		if c.RemotePeer() == at.ID {
			select {
			case lost <- struct{}{}:
			default:
			}
		}
	}}
	t.host.Network().Notify(notify)
	defer t.host.Network().StopNotify(notify)
	held := false
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 2*closeTime)
		_, err := client.Reserve(ctx, t.host, at)
		cancel()
		wait := reserveEvery
		if err != nil {
			wait = reserveRetry
		}
		if now := err == nil; now != held {
			held = now
			log.Info("the place at a relay", "relay", name, "held", held, "error", err)
		}
		select {
		case <-t.done:
			return
		case <-lost:
			time.Sleep(reserveRetry / 10)
		case <-time.After(wait):
		}
	}
}

// relayedStream is a stream on a connection through a relay.
type relayedStream struct {
	network.Stream
	relay string // the id of the member
}

// Relay returns the member through which the stream goes.
func (s *relayedStream) Relay() string { return s.relay }

// throughRelay names the relay of a stream, if it has one.
func (t *peerToPeer) throughRelay(s network.Stream) network.Stream {
	at, err := s.Conn().RemoteMultiaddr().ValueForProtocol(ma.P_P2P)
	if _, e := s.Conn().RemoteMultiaddr().ValueForProtocol(ma.P_CIRCUIT); e != nil || err != nil {
		return s
	}
	id, err := peer.Decode(at)
	if err != nil {
		return s
	}
	name := at
	for _, r := range t.gate.Rosters() {
		if seat, ok := seatOf(r, id); ok {
			name = r.Members[seat].ID
		}
	}
	return &relayedStream{s, name}
}
