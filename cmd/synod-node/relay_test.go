package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

// Two nodes that reach each other only through a relay play like all others: the council has the outcome and the
// journals of the simulator, and the status names the relay.
func TestRelay(t *testing.T) {
	h := newHosts(t, 5)
	if h.spaces == nil {
		t.Skip("processes on loopback addresses need no relay; TestRelayCarriesNeighboursOnly has one")
	}
	p := conveneOn(t, h, "protocol: {name: sac, rounds: 3}\nf: 1\n"+pace+
		"models: {d: {provider: simulated, ability: 0.6}}\nseats: [{id: a, model: d, count: 5}]\n",
		roster.Libp2p+withRelay)
	const one, other, via = 0, 1, "a4"
	address := func(seat int) string { return p.signed.Members[seat].ID + "=" + p.signed.Members[seat].Addresses[0] }
	for from, to := range map[int]int{one: other, other: one} { // no packet reaches the other
		if err := ip("-n", h.spaces[from], "route", "add", "blackhole", h.ip[to]+"/32"); err != nil {
			t.Fatal(err)
		}
	}
	p.more = func(seat int) (args, env []string) {
		switch seat {
		case one:
			args = []string{"--relay", via, "--dial", address(other)}
		case other:
			args = []string{"--relay", via, "--dial", address(one)}
		}
		return args, nil
	}
	p.startAll()
	for from, to := range map[int]int{one: other, other: one} {
		var s node.Status
		if err := request(p.path(from, "d"), http.MethodGet, "/status", &s); err != nil {
			t.Fatal(err)
		}
		for _, q := range s.Peers {
			want := ""
			if q.ID == p.signed.Members[to].ID {
				want = via
			}
			if q.Relay != want {
				t.Errorf("%s reaches %s through %q; want %q", s.Seat, q.ID, q.Relay, want)
			}
		}
	}
	res, o := p.ask(sum, func() {})
	p.same(res, &o)
	t.Logf("%s: %s in %v", o.Status, o.Reason, time.Since(res.Start))
	p.throughOthers(one)
}

// throughOthers asks as a caller that cannot connect to a member, and requires its record.
func (p *processes) throughOthers(seat int) {
	p.t.Helper()
	transport, err := link.NewTLS(p.secrets[2].LinkKey())
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := &call.Client{Roster: p.signed.Roster, Transport: transport, Secret: &p.secrets[2],
		Addresses: map[synod.NodeID][]string{synod.NodeID(seat): {"127.0.0.1:9"}}}
	defer c.Close()
	res, err := c.Ask(ctx, sum)
	if err != nil || res.Finals[seat] == nil {
		p.t.Errorf("a member that the caller cannot reach: %v, missing %v", err, res.Missing)
	}
}

// ring is the transports of five members of a ring in this process, with a roster that permits relays.
func ring(t *testing.T, relays bool) (all []*peerToPeer, r *roster.Roster) {
	t.Helper()
	links := roster.Libp2p
	if relays {
		links += withRelay
	}
	p := convene(t, "protocol: {name: sac, rounds: 2}\ngraph: {family: circulant, k: 1}\nf: 0\n"+
		"models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 5}]\n", links)
	for i := range p.secrets {
		at, err := newPeerToPeer(p.signed.Members[i].Addresses[0], p.secrets[i], node.NewGate(p.signed.Roster))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { at.Close() })
		all = append(all, at)
	}
	return all, p.signed.Roster
}

// A relay carries the streams of neighbours, and nothing for members that are none, for strangers, or without a
// reservation; without relay in the roster it carries nothing and no place can be reserved.
func TestRelayCarriesNeighboursOnly(t *testing.T) {
	all, r := ring(t, true)
	nowhere := []string{"127.0.0.250:9"}
	dial := func(from *peerToPeer, to int) (link.Stream, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return from.Dial(ctx, r.Members[to].Key, nowhere)
	}
	if _, err := dial(all[0], 1); err == nil {
		t.Error("a circuit to a member without a reservation")
	}
	for _, i := range []int{1, 2} { // both are to be reached through member 3
		if err := all[i].reserve([]string{r.Members[3].ID}, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	var s link.Stream
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if s, err = dial(all[0], 1); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("a neighbour is not reached through the relay: %v", err)
	}
	if through, ok := s.(interface{ Relay() string }); !ok || through.Relay() != r.Members[3].ID {
		t.Errorf("the stream %T does not go through %s", s, r.Members[3].ID)
	}
	if !s.(*relayedStream).Conn().Stat().Limited {
		t.Error("the relayed connection has no limits")
	}
	if _, err := s.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	in, key, err := all[1].Accept()
	if err != nil || string(key) != string(r.Members[0].Key) {
		t.Fatalf("accepted %x, %v", key, err)
	}
	b := make([]byte, 5)
	if _, err := in.Read(b); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	if err := throughOnly(t, all[0], r, 2, 3); err == nil || !strings.Contains(err.Error(), "PERMISSION_DENIED") {
		t.Errorf("members 0 and 2 are no neighbours: %v", err)
	}
	if err := stranger(t, r).reserve([]string{r.Members[3].ID}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if n := len(all[3].host.Network().Peers()); n > 4 {
		t.Errorf("the relay has connections to %d peers", n)
	}
}

// throughOnly connects to a member through a relay, and by no other way.
func throughOnly(t *testing.T, from *peerToPeer, r *roster.Roster, to, relay int) error {
	t.Helper()
	info, err := infoOf(r.Members[to].Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	from.host.Network().ClosePeer(info.ID)
	from.host.Peerstore().ClearAddrs(info.ID)
	for _, a := range from.circuits(info.ID) {
		at, err := a.ValueForProtocol(ma.P_P2P)
		if id, _ := idOf(r.Members[relay].Key); err == nil && at == id.String() {
			info.Addrs = append(info.Addrs, a)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return from.host.Connect(network.WithAllowLimitedConn(ctx, "test"), peer.AddrInfo{ID: info.ID, Addrs: info.Addrs})
}

// stranger is the transport of somebody who has the roster, and no key of it.
func stranger(t *testing.T, r *roster.Roster) *peerToPeer {
	t.Helper()
	secret, err := sign.Generate(rand.NewChaCha8([32]byte{99}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := newPeerToPeer(fmt.Sprintf("127.0.0.99:%d", 20000+rand.IntN(12000)), secret, node.NewGate(r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Without relay in the roster, nothing is relayed and no place is reserved.
func TestNoRelay(t *testing.T) {
	all, r := ring(t, false)
	if err := all[1].reserve([]string{r.Members[3].ID}, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "permits no relays") {
		t.Errorf("a place was reserved: %v", err)
	}
	for _, id := range all[3].host.Mux().Protocols() {
		if strings.Contains(string(id), "circuit") || strings.Contains(string(id), "dcutr") {
			t.Errorf("the host offers %s", id)
		}
	}
}
