package node

import (
	"encoding/hex"
	"maps"
	"slices"
	"time"
)

// Status returns the node's status.
func (n *Node) Status() Status {
	s := Status{Version: 1, Council: n.roster.Name, Roster: hex.EncodeToString(n.hash[:]), Serial: n.roster.Serial,
		Seat: n.roster.Members[n.seat].ID, Key: hex.EncodeToString(n.secret.PublicKey()), Listen: n.transport.Address(),
		Model: n.model.Info().Name, Kind: n.model.Info().Kind,
		Up: time.Since(n.begun).Seconds(), Draining: n.draining.Load(), Skewed: n.wrongClock.Load()}
	n.daily.mu.Lock()
	n.daily.today()
	s.Today = Today{n.daily.Day, n.daily.Calls, n.daily.Tokens, n.daily.USD}
	n.daily.mu.Unlock()
	if n.recorder != nil {
		s.Ledger = &LedgerStatus{n.roster.Ledger.Kind, n.recorder.Status()}
	}
	for _, p := range n.sortedPeers() {
		s.Peers = append(s.Peers, p.status())
	}
	for _, r := range n.active() {
		r.mu.Lock()
		s.Runs = append(s.Runs, RunStatus{Run: string(r.id), Form: r.question.Form, Tick: r.progress.Tick,
			Round: r.progress.Round, Answer: r.progress.Answer, Calls: r.progress.Calls, Late: r.progress.Late,
			Stopped: r.progress.Stopped, Seconds: max(r.elapsed().Seconds(), 0)})
		r.mu.Unlock()
	}
	s.Stats = *n.figuresNow()
	n.figures.Lock()
	s.Older = slices.Clone(n.older)
	n.figures.Unlock()
	return s
}

// figuresNow returns a copy of the node's figures.
func (n *Node) figuresNow() *Stats {
	n.figures.Lock()
	defer n.figures.Unlock()
	s := n.stats
	return &s
}

// sortedPeers returns the streams in the order of seats.
func (n *Node) sortedPeers() (all []*peer) {
	for _, id := range slices.Sorted(maps.Keys(n.links)) {
		all = append(all, n.links[id])
	}
	return all
}
