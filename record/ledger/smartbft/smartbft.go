// Package smartbft is a ledger that several replicas keep by consensus: every decision of a
// council is in the log of every honest replica, at the same place, if at most f of n ≥ 3f+1
// replicas are Byzantine. It embeds hyperledger-labs/SmartBFT.
//
// Every replica has the log of the group (ledger.StateMachine) and a folder of blocks. A block
// has the entries of one decision of the consensus and the signatures of a quorum, under the
// block and under the head of the log after it. So a replica that was away takes blocks from
// any other after it has verified these (Sync), and everybody who knows the replicas' keys
// verifies a proof without asking one.
//
// Settings that differ from the library's: the leader does not rotate; a panic that the
// library logs, or that one of its functions lets out while this package calls it, ends the
// replica's part in the consensus and not the process (Replica.Failed).
//
// It is a module of its own, so that synod neither downloads nor links the library.
package smartbft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hyperledger-labs/SmartBFT/pkg/consensus"
	"github.com/hyperledger-labs/SmartBFT/pkg/types"
	"github.com/hyperledger-labs/SmartBFT/pkg/wal"
	"github.com/hyperledger-labs/SmartBFT/smartbftprotos"
	"google.golang.org/protobuf/proto"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/record/ledger"
)

// Transport carries messages between replicas, which it has authenticated. Send must not
// block for long, and may lose messages. Network is one.
type Transport interface {
	Send(to uint64, message []byte)
	// Blocks returns the blocks of a replica from a height on; nil if it cannot be reached.
	Blocks(of uint64, from uint64) [][]byte
}

// Config describes a replica.
type Config struct {
	ID        uint64          // from 1; the key of replica i is at i-1 in the group
	Group     ledger.Replicas // the replicas
	Secret    sign.Secret
	Dir       string
	Transport Transport
	Batch     time.Duration // how long a leader waits for more entries; 0: 2 ms
	// Timeout is after how long replicas complain about a leader that does not propose an entry that they
	// have. Other time limits are in proportion to it. 0: 1 s.
	Timeout time.Duration
	Check   func(*ledger.Entry) error // what entries may be appended, the same for all replicas; nil: all
}

// Replica is one replica. It implements ledger.Ledger and ledger.Failing.
type Replica struct {
	*ledger.StateMachine

	config    Config
	consensus *consensus.Consensus
	wal       *wal.WriteAheadLogFile
	ticks     []*time.Ticker

	mu     sync.Mutex
	height uint64 // blocks
	last   types.Decision
}

// stall is after how many time limits without a block, while an entry waits, a replica counts as failed: the
// library was seen to block for ever after changes of the leader, and a replica that is opened again goes on.
// Without a quorum it is opened again for nothing.
const stall = 10

// MaxEntry is the largest size of an entry in bytes. Larger ones must keep hashes only.
const MaxEntry = 2 << 20

// Open starts a replica from its folder, which it makes if there is none.
func Open(c Config) (*Replica, error) {
	r := &Replica{config: c}
	keys := c.Group.Keys
	if c.ID == 0 || c.ID > uint64(len(keys)) || !bytes.Equal(keys[c.ID-1], c.Secret.PublicKey()) {
		return nil, fmt.Errorf("smartbft: replica %d does not have its key among the %d", c.ID, len(keys))
	}
	if err := os.MkdirAll(filepath.Join(c.Dir, "blocks"), 0o700); err != nil {
		return nil, fmt.Errorf("smartbft: %w", err)
	}
	var err error
	rules := ledger.Rules{Group: c.Group, MaxEntry: MaxEntry, Check: c.Check}
	if r.StateMachine, err = ledger.OpenStateMachine(filepath.Join(c.Dir, "log"), rules, 0, nil); err != nil {
		return nil, err
	}
	if err := r.recover(); err != nil {
		return nil, errors.Join(err, r.Log.Close())
	}
	if err := r.start(); err != nil {
		return nil, errors.Join(err, r.Log.Close())
	}
	return r, nil
}

// recover reads the blocks on disk, and appends to the log what a crash kept from it.
func (r *Replica) recover() error {
	for {
		b, err := durable.ReadFile(r.path(r.height), maxBlock)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("smartbft: %w", err)
		}
		d, err := r.decode(b)
		if err != nil {
			return fmt.Errorf("smartbft: block %d: %w", r.height, err)
		}
		if err := r.extend(d); err != nil {
			return err
		}
	}
}

func (r *Replica) path(height uint64) string {
	return filepath.Join(r.config.Dir, "blocks", fmt.Sprintf("%012d", height))
}

func (r *Replica) timeout() time.Duration {
	if r.config.Timeout > 0 {
		return r.config.Timeout
	}
	return time.Second
}

// timing returns the settings of the library.
func (r *Replica) timing() types.Configuration {
	t := r.timeout()
	c := types.DefaultConfig
	c.SelfID, c.LeaderRotation, c.DecisionsPerLeader = r.config.ID, false, 0
	c.RequestBatchMaxInterval = max(r.config.Batch, 2*time.Millisecond)
	c.RequestMaxBytes, c.RequestBatchMaxBytes = MaxEntry, 2*MaxEntry
	c.RequestForwardTimeout, c.RequestComplainTimeout = 3*t/10, t
	c.ViewChangeResendInterval, c.ViewChangeTimeout = t/2, 2*t
	c.LeaderHeartbeatTimeout, c.CollectTimeout = 2*t, t/5
	c.SyncOnStart = r.height > 0
	return c
}

func (r *Replica) start() error {
	w, entries, err := wal.InitializeAndReadAll(logger{r}, filepath.Join(r.config.Dir, "wal"), wal.DefaultOptions())
	if err != nil {
		return fmt.Errorf("smartbft: %w", err)
	}
	r.wal = w
	clock, changer := time.NewTicker(50*time.Millisecond), time.NewTicker(50*time.Millisecond)
	r.ticks = []*time.Ticker{clock, changer}
	metadata := &smartbftprotos.ViewMetadata{}
	if err := proto.Unmarshal(r.last.Proposal.Metadata, metadata); err != nil {
		return errors.Join(fmt.Errorf("smartbft: %w", err), w.Close())
	}
	a := &application{r}
	r.consensus = &consensus.Consensus{
		Config: r.timing(), Application: a, Assembler: a, Comm: a, Signer: a, Verifier: a, MembershipNotifier: a,
		RequestInspector: a, Synchronizer: a, Logger: logger{r}, WAL: w, WALInitialContent: entries, Metadata: metadata,
		LastProposal: r.last.Proposal, LastSignatures: r.last.Signatures, Scheduler: clock.C,
		ViewChangerTicker: changer.C,
	}
	if err := r.consensus.Start(); err != nil {
		return errors.Join(fmt.Errorf("smartbft: %w", err), w.Close())
	}
	return nil
}

// stopTime is how long Close waits for a library that does not stop: after a failure it may not.
const stopTime = 5 * time.Second

// Close stops the replica. What it acknowledged is on disk.
func (r *Replica) Close() error {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		defer r.contain()
		r.consensus.Stop()
	}()
	var err error
	select {
	case <-stopped:
	case <-time.After(stopTime):
		if r.Failed() == nil { // of one that has failed it is known
			err = errors.New("smartbft: the library does not stop")
		}
	}
	for _, t := range r.ticks {
		t.Stop()
	}
	return errors.Join(err, r.wal.Close(), r.Log.Close())
}

// fail marks the replica as failed.
func (r *Replica) fail(err error) { r.Fail(fmt.Errorf("smartbft: replica %d: %w", r.config.ID, err)) }

// contain ends a panic of the library and marks the replica as failed. It is deferred.
func (r *Replica) contain() {
	if p := recover(); p != nil {
		r.fail(fmt.Errorf("the library panicked: %v", p))
	}
}

// Append implements ledger.Ledger: it hands the entry to the consensus and returns when it is in this replica's
// log, under a head that a quorum has signed. A client that does not trust this replica appends at all, and believes
// an index that f+1 of them return.
func (r *Replica) Append(ctx context.Context, e *ledger.Entry) (uint64, error) {
	return r.Decide(ctx, e, r.submit)
}

// submit hands an encoded entry to the consensus.
func (r *Replica) submit(b []byte) error {
	if limit := stall * r.timeout(); r.Stalled() > limit {
		r.fail(fmt.Errorf("no block came for %v, although an entry waits", limit))
	}
	if err := r.Failed(); err != nil {
		return err
	}
	defer r.contain()
	_ = r.consensus.SubmitRequest(b) // an error means that it is known, or that no leader is: it is submitted again
	for id := range r.config.Group.Keys {
		if to := uint64(id) + 1; to != r.config.ID { // a leader takes it; the library would wait to forward it
			r.config.Transport.Send(to, append([]byte{isRequest}, b...))
		}
	}
	return nil
}

// The first byte of a message between replicas.
const (
	isConsensus = iota
	isRequest
)

// Receive takes a message of another replica, which the transport has authenticated.
func (r *Replica) Receive(from uint64, message []byte) {
	if len(message) == 0 || r.Failed() != nil {
		return
	}
	defer r.contain()
	if message[0] == isRequest {
		r.consensus.HandleRequest(from, message[1:])
		return
	}
	m := new(smartbftprotos.Message)
	if proto.Unmarshal(message[1:], m) == nil {
		r.consensus.HandleMessage(from, m)
	}
}

var (
	_ ledger.Ledger  = (*Replica)(nil)
	_ ledger.Failing = (*Replica)(nil)
)
