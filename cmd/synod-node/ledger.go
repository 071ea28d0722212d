package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/ledger"
	"synod.dev/synod/record/ledger/child"
	"synod.dev/synod/record/ledger/smartbft"
)

// recorder keeps the ledger of a roster for a node.
type recorder struct {
	*ledger.Keeper
	network *smartbft.Network // nil: the ledger does not talk over the node's links
	replica map[synod.NodeID]uint64
}

// ledgerOf returns how the ledger of a roster is opened. A replica's files are in the folder ledger of the node's.
func ledgerOf(kind, dir string, secret sign.Secret, within int, log *slog.Logger) func(*node.Node) (node.Recorder,
	error) {
	dir = filepath.Join(dir, "ledger")
	return func(n *node.Node) (node.Recorder, error) {
		switch kind {
		case plan.LedgerLog:
			return &recorder{Keeper: ledger.Keep(dir, func(context.Context) (ledger.Ledger, error) {
				return opened(ledger.Open(filepath.Join(dir, "log"), secret))
			}, log)}, nil
		case plan.LedgerSmartBFT:
			return replicate(n, dir, secret, within, log)
		case plan.LedgerCometBFT:
			return startComet(n, dir, secret, within, log)
		}
		return nil, fmt.Errorf("the roster's ledger is %q, which this version of synod-node does not know", kind)
	}
}

// opened returns a ledger as the interface, which is nil if there is none.
func opened[L ledger.Ledger](l L, err error) (ledger.Ledger, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// replicate starts this node's replica of a SmartBFT ledger, over the node's own links.
func replicate(n *node.Node, dir string, secret sign.Secret, within int, log *slog.Logger) (node.Recorder, error) {
	g, seats, own, err := n.Group()
	if err != nil {
		return nil, err
	}
	r := &recorder{replica: map[synod.NodeID]uint64{}}
	for i, seat := range seats {
		r.replica[seat] = uint64(i) + 1
	}
	r.network = smartbft.NewNetwork(uint64(own)+1, len(seats),
		func(ctx context.Context, to uint64) (*link.Conn, error) { return n.DialReplica(ctx, seats[to-1]) })
	r.Keeper = ledger.Keep(dir, func(context.Context) (ledger.Ledger, error) {
		l, err := smartbft.Open(smartbft.Config{ID: uint64(own) + 1, Group: *g, Secret: secret, Dir: dir,
			Transport: r.network, Timeout: timeoutOf(within), Check: n.CheckEntry})
		if err != nil {
			return nil, err
		}
		r.network.Attach(l)
		log.Info("the ledger is open", "replica", own+1, "of", len(seats), "entries", l.Head().Head.Size)
		return &attached{l, r.network}, nil
	}, log)
	return r, nil
}

// cometProgram keeps a replica of a CometBFT ledger. It lies beside synod-node.
const cometProgram = "synod-cometbft"

// cometSettings are those of a child process (package record/ledger/cometbft, which this program does not link).
type cometSettings struct {
	Name      string            `json:"name"`
	Keys      [][]byte          `json:"keys"`
	Secret    string            `json:"secret"`
	Dir       string            `json:"dir"`
	Listen    string            `json:"listen"`
	Addresses []string          `json:"addresses"`
	TimeoutMS int               `json:"timeout_ms"`
	Authors   map[string][]byte `json:"authors"`
	Least     int               `json:"least"`
	Names     []string          `json:"names"`
}

// startComet starts this node's replica of a CometBFT ledger in a child process, which is started again when it
// ends.
func startComet(n *node.Node, dir string, secret sign.Secret, within int, log *slog.Logger) (node.Recorder, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(filepath.Dir(self), cometProgram)
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("the roster's ledger needs the program %s beside synod-node, in %s: make comet "+
			"builds it", cometProgram, filepath.Dir(self))
	}
	s, err := settingsOf(n, dir, secret, within)
	if err != nil {
		return nil, err
	}
	return &recorder{Keeper: ledger.Keep(dir, func(ctx context.Context) (ledger.Ledger, error) {
		l, err := opened(child.Start(ctx, program, nil, s, os.Stderr))
		if err == nil {
			log.Info("the ledger is open", "replicas", len(s.Keys), "listening on", s.Listen)
		}
		return l, err
	}, log)}, nil
}

// settingsOf returns the settings of a replica. It listens two ports after its node's first address.
func settingsOf(n *node.Node, dir string, secret sign.Secret, within int) (s cometSettings, err error) {
	g, seats, own, err := n.Group()
	if err != nil {
		return s, err
	}
	s = cometSettings{Name: g.Name, Keys: g.Keys, Secret: secret.Reveal(), Dir: dir,
		TimeoutMS: int(timeoutOf(within).Milliseconds()), Authors: map[string][]byte{}, Least: g.Least, Names: g.Names}
	for i, seat := range seats {
		m := n.Member(seat)
		if len(m.Addresses) == 0 {
			return s, fmt.Errorf("member %s has no address in the roster, which its replica of the ledger needs", m.ID)
		}
		address, err := roster.LedgerAddress(m.Addresses[0])
		if err != nil {
			return s, err
		}
		if s.Addresses = append(s.Addresses, address); i == own {
			s.Listen = address
		}
		s.Authors[m.ID] = m.Key
	}
	return s, nil
}

// timeoutOf returns after how long replicas complain about a leader: some messages of the pace's bound, in
// milliseconds, and at least a second.
func timeoutOf(within int) time.Duration {
	return max(time.Second, 2*time.Duration(within)*time.Millisecond)
}

// attached is a replica that the network hands messages to until it is closed.
type attached struct {
	*smartbft.Replica
	network *smartbft.Network
}

// Close implements ledger.Ledger.
func (a *attached) Close() error {
	a.network.Attach(nil)
	return a.Replica.Close()
}

// Serve implements node.Recorder.
func (r *recorder) Serve(seat synod.NodeID, conn *link.Conn) error {
	if r.network == nil {
		return errors.New("the replicas of this ledger do not talk over the links of nodes")
	}
	return r.network.Serve(r.replica[seat], conn)
}

// Close implements node.Recorder.
func (r *recorder) Close() error {
	err := r.Keeper.Close()
	if r.network != nil {
		r.network.Close()
	}
	return err
}
