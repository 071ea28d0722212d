package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"synod.dev/synod/network/roster"
)

// Take makes the council go over to a roster: the node plays it from now on and, until a moment, the one in force too.
// It fails unless the roster, or the last of those that its file has, replaces the one in force (roster.Signed.Steps).
// The roster is on disk when Take returns, and the node goes on with it after a restart. A roster that is in force
// already changes nothing.
//
// A node takes one successor of a roster, for ever: the first that it is given.
func (h *Host) Take(next *roster.Signed, until time.Time) error {
	h.taking.Lock()
	defer h.taking.Unlock()
	h.mu.Lock()
	before, count := h.inForce(), len(h.held)
	h.mu.Unlock()
	if next.Hash() == before.signed.Hash() {
		return nil
	}
	if _, err := next.Steps(before.signed); err != nil {
		return h.kept.conflict(next, before.signed, err)
	}
	if err := mayGoOver(before.signed.Roster, next.Roster); err != nil {
		return err
	}
	if count >= maxHeld {
		return fmt.Errorf("the node plays %d rosters; end the oldest first (synod node roster --end-old)", count)
	}
	if next.Before == nil || next.Before.Hash() == before.signed.Hash() {
		with := roster.Successor(next.Roster, before.signed) // so that its file stands by itself
		with.Signatures = next.Signatures
		next = with
	}
	x, err := h.open(heldRoster{signed: next})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.rosters()
	held[len(held)-1].until = until
	if err := h.kept.save(append(held, x.heldRoster)); err != nil {
		return errors.Join(fmt.Errorf("the roster cannot be written: %w", err), x.discard())
	}
	before.until = until
	h.held = append(h.held, x)
	h.setGate()
	h.endLater(before)
	if h.running {
		h.play(x)
	}
	h.log.Info("the council goes over to another roster", "serial", next.Serial, "roster", next.HexHash()[:16],
		"seat", x.node != nil, "old until", until)
	return nil
}

// discard closes a node that nobody runs.
func (x *holding) discard() error {
	if x.node == nil {
		return nil
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return x.node.Run(ended)
}

// mayGoOver fails if two rosters cannot be played by one process.
func mayGoOver(old, next *roster.Roster) error {
	const restart = "; drain the node and start it with the new roster"
	switch {
	case old.Links != next.Links || old.Relay != next.Relay:
		return errors.New("the roster has other links than the one in force" + restart)
	case old.Ledger.Kind != roster.NoLedger || next.Ledger.Kind != roster.NoLedger:
		return errors.New("a node whose council keeps a ledger plays one roster at a time" + restart)
	}
	return nil
}

// EndOld makes the rosters that were replaced take no question any more. It returns how many there are.
func (h *Host) EndOld() (n int, err error) {
	h.taking.Lock()
	defer h.taking.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, x := range h.held {
		if x.until.After(now) {
			x.until = now
		}
		if !x.until.IsZero() {
			n++
			h.endLater(x)
		}
	}
	return n, h.kept.save(h.rosters())
}

// Drain makes the node take no new question under any roster, and waits until its runs have ended.
func (h *Host) Drain(ctx context.Context) (err error) {
	for _, n := range h.nodes() {
		n.draining.Store(true)
	}
	for _, n := range h.nodes() {
		err = errors.Join(err, n.Drain(ctx))
	}
	return err
}

// nodes returns the nodes of the rosters that are played, oldest first.
func (h *Host) nodes() (all []*Node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range slices.All(h.held) {
		if x.node != nil {
			all = append(all, x.node)
		}
	}
	return all
}
