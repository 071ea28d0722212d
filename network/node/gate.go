package node

import (
	"bytes"
	"net"
	"sync/atomic"

	"synod.dev/synod/network/roster"
)

// Gate is the rosters under which a process plays, for its transport: it admits who is a member or a caller of one of
// them. It is safe for concurrent use.
type Gate struct {
	rosters atomic.Pointer[[]*roster.Roster]
	guest   atomic.Pointer[[]byte]
}

// NewGate returns the gate of a roster.
func NewGate(r *roster.Roster) *Gate {
	g := new(Gate)
	g.set([]*roster.Roster{r})
	return g
}

// MayAsk implements link.Gate.
func (g *Gate) MayAsk(key []byte) bool {
	if guest := g.guest.Load(); guest != nil && bytes.Equal(*guest, key) {
		return true
	}
	for _, r := range g.Rosters() {
		if r.MayAsk(key) {
			return true
		}
	}
	return false
}

// Rosters returns the rosters, the one in force last.
func (g *Gate) Rosters() []*roster.Roster { return *g.rosters.Load() }

func (g *Gate) set(all []*roster.Roster) { g.rosters.Store(&all) }

// Admit admits one more key, which may do nothing but what Host.Desk lets it; nil: none.
func (g *Gate) Admit(key []byte) {
	if key == nil {
		g.guest.Store(nil)
		return
	}
	g.guest.Store(&key)
}

// ReservedAddresses are the members' addresses that are IP addresses.
func ReservedAddresses(rosters ...*roster.Roster) (all []net.IP) {
	for _, r := range rosters {
		for _, m := range r.Members {
			for _, a := range m.Addresses {
				if host, _, err := net.SplitHostPort(a); err == nil && net.ParseIP(host) != nil {
					all = append(all, net.ParseIP(host))
				}
			}
		}
	}
	return all
}
