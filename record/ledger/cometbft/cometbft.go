// Package cometbft is a ledger that several replicas keep by the consensus of CometBFT: the same log
// as that of package smartbft, for more replicas and slower networks. It is meant to run in a child
// process (the command synod-cometbft and package record/ledger/child).
//
// An entry is a transaction. After a block with new entries every replica signs the head of the log
// and submits its signature as a transaction too, so that all replicas collect the same signatures;
// a quorum of them makes the head. So an entry is under a signed head one block after it was decided.
//
// The validators' keys are those of the replicas. There is no RPC, no peer exchange, and only the
// replicas may connect.
//
// It is a module of its own, so that nothing else downloads or links the library.
package cometbft

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	cfg "github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/crypto/ed25519"
	"github.com/cometbft/cometbft/libs/log"
	"github.com/cometbft/cometbft/mempool"
	"github.com/cometbft/cometbft/node"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/proxy"
	"github.com/cometbft/cometbft/types"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/record/ledger"
)

// Config describes a replica.
type Config struct {
	Group     ledger.Replicas
	Secret    sign.Secret // of one of the group's keys
	Dir       string
	Listen    string                    // HOST:PORT
	Addresses []string                  // HOST:PORT, by replica
	Timeout   time.Duration             // of a step of a round; 0: 1 s
	Check     func(*ledger.Entry) error // what entries may be appended, the same for all replicas; nil: all
	Log       log.Logger                // nil: nothing is logged

	// Tests set these to make a replica Byzantine.
	link    *sign.Secret  // the key of its connections; nil: Secret
	admits  [][]byte      // the keys of others that may connect
	options []node.Option // of the library
}

// linkKey returns the key of the replica's connections.
func (c *Config) linkKey() ed25519.PrivKey {
	if c.link != nil {
		return ed25519.PrivKey(c.link.LinkKey())
	}
	return ed25519.PrivKey(c.Secret.LinkKey())
}

// Replica is one replica. It implements ledger.Ledger.
type Replica struct {
	*ledger.StateMachine

	app    *application
	node   *node.Node
	lock   interface{ Close() error }
	cancel context.CancelFunc
	signed chan struct{} // closed when the signer has ended
}

// MaxEntry is the largest size of an entry in bytes. Larger ones must keep hashes only.
const MaxEntry = 1 << 20

// Open starts a replica from its folder, which it makes if there is none.
func Open(c Config) (*Replica, error) {
	g := &c.Group
	if !slices.ContainsFunc(g.Keys, func(k []byte) bool { return bytes.Equal(k, c.Secret.PublicKey()) }) {
		return nil, fmt.Errorf("cometbft: no replica has the key %x", c.Secret.PublicKey())
	}
	if len(c.Addresses) != len(g.Keys) {
		return nil, fmt.Errorf("cometbft: there are %d addresses for %d replicas", len(c.Addresses), len(g.Keys))
	}
	for _, sub := range []string{"config", "data"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("cometbft: %w", err)
		}
	}
	lock, err := filelock.Lock(filepath.Join(c.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("cometbft: %s: %w", c.Dir, err)
	}
	if c.Log == nil {
		c.Log = log.NewNopLogger()
	}
	r := &Replica{lock: lock}
	if r.app, err = openApplication(c); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	r.StateMachine = r.app.machine
	if err := r.start(&c); err != nil {
		return nil, errors.Join(err, r.StateMachine.Close(), lock.Close())
	}
	return r, nil
}

// start starts the node, and the goroutine that signs heads.
func (r *Replica) start(c *Config) error {
	pv, err := validator(c.Secret, filepath.Join(c.Dir, "data", "signed.json"))
	if err != nil {
		return err
	}
	settings := c.settings()
	r.node, err = node.NewNode(settings, pv, &p2p.NodeKey{PrivKey: c.linkKey()},
		proxy.NewLocalClientCreator(r.app), func() (*types.GenesisDoc, error) { return genesis(&c.Group), nil },
		cfg.DefaultDBProvider, node.DefaultMetricsProvider(settings.Instrumentation), c.Log, c.options...)
	if err == nil {
		err = r.node.Start()
	}
	if err != nil {
		return fmt.Errorf("cometbft: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.signed = cancel, make(chan struct{})
	go r.signHeads(ctx)
	return nil
}

// settings returns the library's settings: the profile of times that the tests run with.
func (c *Config) settings() *cfg.Config {
	t := c.Timeout
	if t <= 0 {
		t = time.Second
	}
	s := cfg.DefaultConfig()
	s.SetRoot(c.Dir)
	s.DBBackend, s.FilterPeers = "goleveldb", true
	s.RPC.ListenAddress, s.TxIndex.Indexer = "", "null"
	s.P2P.ListenAddress, s.P2P.PexReactor, s.P2P.AddrBookStrict = "tcp://"+c.Listen, false, false
	s.P2P.AllowDuplicateIP, s.P2P.FlushThrottleTimeout = true, 2*time.Millisecond
	s.P2P.MaxNumInboundPeers, s.P2P.MaxNumOutboundPeers = 2*len(c.Addresses), 2*len(c.Addresses)
	s.P2P.HandshakeTimeout, s.P2P.DialTimeout = 5*time.Second, 3*time.Second
	s.P2P.PersistentPeersMaxDialPeriod = 2 * time.Second
	s.P2P.PersistentPeers = c.peers()
	s.Mempool.MaxTxBytes, s.Mempool.Size, s.Mempool.CacheSize = MaxEntry+1024, 2000, 4000
	s.Mempool.KeepInvalidTxsInCache = false
	k := s.Consensus
	k.TimeoutPropose, k.TimeoutProposeDelta = t, t/2
	k.TimeoutPrevote, k.TimeoutPrevoteDelta = t/4, t/4
	k.TimeoutPrecommit, k.TimeoutPrecommitDelta = t/4, t/4
	k.TimeoutCommit, k.SkipTimeoutCommit = 5*time.Millisecond, true
	k.CreateEmptyBlocks = false
	k.PeerGossipSleepDuration, k.PeerQueryMaj23SleepDuration = 5*time.Millisecond, 250*time.Millisecond
	return s
}

// peers returns the addresses of the other replicas as the library wants them.
func (c *Config) peers() string {
	text := ""
	for i, key := range c.Group.Keys {
		if !bytes.Equal(key, c.Secret.PublicKey()) {
			text += "," + string(idOf(key)) + "@" + c.Addresses[i]
		}
	}
	return text[min(1, len(text)):]
}

func idOf(key []byte) p2p.ID { return p2p.PubKeyToID(ed25519.PubKey(key)) }

// genesis is the same for all replicas of a group.
func genesis(g *ledger.Replicas) *types.GenesisDoc {
	d := &types.GenesisDoc{ChainID: "synod-" + hex.EncodeToString(g.Log())[:32], InitialHeight: 1,
		GenesisTime: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), ConsensusParams: types.DefaultConsensusParams()}
	d.ConsensusParams.Block.MaxBytes = 4 << 20
	for _, key := range g.Keys {
		public := ed25519.PubKey(key)
		d.Validators = append(d.Validators, types.GenesisValidator{Address: public.Address(), PubKey: public, Power: 1})
	}
	return d
}

// again is after how long a signature that is not under a head is submitted again.
const again = time.Second

// Append implements ledger.Ledger. It returns when this replica has the block with the entry, which more than two
// thirds of the replicas have signed.
func (r *Replica) Append(ctx context.Context, e *ledger.Entry) (uint64, error) {
	return r.Decide(ctx, e, func(body []byte) error {
		// An error means that it is known, or that the pool is full: it is submitted again.
		_ = r.node.Mempool().CheckTx(append([]byte{isEntry}, body...), nil, mempool.TxInfo{})
		return r.Failed()
	})
}

// signHeads signs the head of the log after each block with new entries, until a quorum has.
func (r *Replica) signHeads(ctx context.Context) {
	defer close(r.signed)
	for {
		if tx := r.app.headToSign(); tx != nil {
			_ = r.node.Mempool().CheckTx(tx, nil, mempool.TxInfo{}) // an error is as in Append
		}
		select {
		case <-r.app.grown:
		case <-time.After(again):
		case <-ctx.Done():
			return
		}
	}
}

// Failed implements ledger.Failing: the library ends its consensus when it cannot go on.
func (r *Replica) Failed() error {
	if !r.node.IsRunning() {
		return errors.New("cometbft: the node has stopped")
	}
	return r.StateMachine.Failed()
}

// Connected returns the number of replicas that this one is connected to.
func (r *Replica) Connected() int { return r.node.Switch().Peers().Size() }

// Close stops the replica.
func (r *Replica) Close() error {
	r.cancel()
	<-r.signed
	err := r.node.Stop()
	r.node.Wait()
	return errors.Join(err, r.StateMachine.Close(), r.lock.Close())
}

var (
	_ ledger.Ledger  = (*Replica)(nil)
	_ ledger.Failing = (*Replica)(nil)
)
