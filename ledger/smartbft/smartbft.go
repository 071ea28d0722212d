// Package smartbft is a ledger that several replicas keep by consensus: every decision of a
// council is in the log of every honest replica, at the same place, if at most f of n ≥ 3f+1
// replicas are Byzantine. It embeds hyperledger-labs/SmartBFT.
//
// Every replica has a ledger.Log of its own, with the same entries and the same root, and a
// folder of blocks. A block has the entries of one decision of the consensus and the
// signatures of a quorum, so a replica that was away takes blocks from any other after it
// has verified these (Sync).
//
// Settings that differ from the library's: the leader does not rotate; a panic of the
// library ends the replica's goroutine and marks the replica as failed, and not the process.
//
// It is a module of its own, so that synod neither downloads nor links the library.
package smartbft

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/hyperledger-labs/SmartBFT/pkg/consensus"
	"github.com/hyperledger-labs/SmartBFT/pkg/types"
	"github.com/hyperledger-labs/SmartBFT/pkg/wal"
	"github.com/hyperledger-labs/SmartBFT/smartbftprotos"
	"google.golang.org/protobuf/proto"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/ledger"
	"synod.dev/synod/sign"
)

// The types of what replicas sign.
const (
	blockType = "application/vnd.synod.block+cbor"
	viewType  = "application/vnd.synod.view"
)

// Transport carries messages between replicas, which it has authenticated. Send must not
// block for long, and may lose messages.
type Transport interface {
	Send(to uint64, message []byte)
	// Blocks returns the blocks of a replica from a height on; nil if it cannot be reached.
	Blocks(of uint64, from uint64) [][]byte
}

// Config describes a replica.
type Config struct {
	ID        uint64   // from 1
	Keys      [][]byte // Ed25519 keys of all replicas; that of replica i is at i-1
	Secret    sign.Secret
	Dir       string
	Transport Transport
	Batch     time.Duration // how long a leader waits for more entries; 0: 2 ms
}

// Replica is one replica.
type Replica struct {
	config    Config
	log       *ledger.Log
	consensus *consensus.Consensus
	wal       *wal.WriteAheadLogFile
	ticks     []*time.Ticker

	mu      sync.Mutex
	height  uint64 // blocks
	last    types.Decision
	waiting map[[sha256.Size]byte][]chan uint64
	failed  error
}

// block is one decision of the consensus, as it is stored and sent.
type block struct {
	_          struct{} `cbor:",toarray"`
	Header     []byte
	Payload    []byte
	Metadata   []byte
	Signatures []signature
}

type signature struct {
	_     struct{} `cbor:",toarray"`
	ID    uint64
	Value []byte
	Msg   []byte
}

// signedBlock is what a replica signs of a block.
type signedBlock struct {
	_      struct{} `cbor:",toarray"`
	Digest []byte
	Aux    []byte
}

const maxBlock = 64 << 20

// Open starts a replica from its folder, which it makes if there is none.
func Open(c Config) (*Replica, error) {
	r := &Replica{config: c, waiting: map[[sha256.Size]byte][]chan uint64{}}
	if c.ID == 0 || c.ID > uint64(len(c.Keys)) || !bytes.Equal(c.Keys[c.ID-1], c.Secret.PublicKey()) {
		return nil, fmt.Errorf("smartbft: replica %d does not have its key among the %d", c.ID, len(c.Keys))
	}
	if err := os.MkdirAll(filepath.Join(c.Dir, "blocks"), 0o700); err != nil {
		return nil, fmt.Errorf("smartbft: %w", err)
	}
	var err error
	if r.log, err = ledger.Open(filepath.Join(c.Dir, "log"), c.Secret); err != nil {
		return nil, err
	}
	if err := r.recover(); err != nil {
		return nil, errors.Join(err, r.log.Close())
	}
	if err := r.start(); err != nil {
		return nil, errors.Join(err, r.log.Close())
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
		d, err := r.check(b)
		if err != nil {
			return fmt.Errorf("smartbft: block %d: %w", r.height, err)
		}
		if err := r.append(d); err != nil {
			return err
		}
	}
}

func (r *Replica) path(height uint64) string {
	return filepath.Join(r.config.Dir, "blocks", fmt.Sprintf("%012d", height))
}

func (r *Replica) start() error {
	w, entries, err := wal.InitializeAndReadAll(logger{r}, filepath.Join(r.config.Dir, "wal"), wal.DefaultOptions())
	if err != nil {
		return fmt.Errorf("smartbft: %w", err)
	}
	r.wal = w
	config := types.DefaultConfig
	config.SelfID, config.LeaderRotation, config.DecisionsPerLeader = r.config.ID, false, 0
	config.RequestBatchMaxInterval = max(r.config.Batch, 2*time.Millisecond)
	config.RequestMaxBytes = 1 << 20
	config.RequestForwardTimeout, config.RequestComplainTimeout = 300*time.Millisecond, time.Second
	config.ViewChangeResendInterval, config.ViewChangeTimeout = 500*time.Millisecond, 2*time.Second
	config.LeaderHeartbeatTimeout, config.CollectTimeout = 2*time.Second, 200*time.Millisecond
	config.SyncOnStart = r.height > 0
	clock, changer := time.NewTicker(50*time.Millisecond), time.NewTicker(50*time.Millisecond)
	r.ticks = []*time.Ticker{clock, changer}
	metadata := &smartbftprotos.ViewMetadata{}
	if err := proto.Unmarshal(r.last.Proposal.Metadata, metadata); err != nil {
		return fmt.Errorf("smartbft: %w", err)
	}
	r.consensus = &consensus.Consensus{
		Config: config, Application: r, Assembler: r, Comm: r, Signer: r, Verifier: r, MembershipNotifier: r,
		RequestInspector: r, Synchronizer: r, Logger: logger{r}, WAL: w, WALInitialContent: entries, Metadata: metadata,
		LastProposal: r.last.Proposal, LastSignatures: r.last.Signatures, Scheduler: clock.C,
		ViewChangerTicker: changer.C,
	}
	if err := r.consensus.Start(); err != nil {
		return fmt.Errorf("smartbft: %w", err)
	}
	return nil
}

// Close stops the replica. What it acknowledged is on disk.
func (r *Replica) Close() error {
	r.consensus.Stop()
	for _, t := range r.ticks {
		t.Stop()
	}
	return errors.Join(r.wal.Close(), r.log.Close())
}

// Log returns the replica's log, for proofs.
func (r *Replica) Log() *ledger.Log { return r.log }

// Failed returns why the replica stopped taking part; nil if it has not.
func (r *Replica) Failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// Submit hands an entry to the consensus and returns a channel that gets its index in this
// replica's log. An entry that is there already has its index at once. A client submits to
// all replicas, and believes an index that f+1 of them report.
func (r *Replica) Submit(e *ledger.Entry) (<-chan uint64, error) {
	b, err := e.Encode()
	if err != nil {
		return nil, err
	}
	done := make(chan uint64, 1)
	r.mu.Lock()
	if at, ok := r.log.Find(e); ok {
		r.mu.Unlock()
		done <- at
		return done, nil
	}
	key := sha256.Sum256(b)
	r.waiting[key] = append(r.waiting[key], done)
	failed := r.failed
	r.mu.Unlock()
	if failed != nil {
		return nil, failed
	}
	_ = r.consensus.SubmitRequest(b) // an error means that it is known, or that no leader is: the client repeats it
	return done, nil
}

// Receive takes a message of another replica, which the transport has authenticated.
func (r *Replica) Receive(from uint64, message []byte) {
	if len(message) == 0 || r.Failed() != nil {
		return
	}
	if message[0] == 1 {
		r.consensus.HandleRequest(from, message[1:])
		return
	}
	m := new(smartbftprotos.Message)
	if proto.Unmarshal(message[1:], m) == nil {
		r.consensus.HandleMessage(from, m)
	}
}

// Blocks returns the replica's blocks from a height on, at most 64.
func (r *Replica) Blocks(from uint64) (blocks [][]byte) {
	r.mu.Lock()
	height := r.height
	r.mu.Unlock()
	for h := from; h < height && len(blocks) < 64; h++ {
		b, err := durable.ReadFile(r.path(h), maxBlock)
		if err != nil {
			break
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// faulty returns f, and the number of signatures that a block needs.
func (r *Replica) faulty() (f, quorum int) {
	n := len(r.config.Keys)
	f = (n - 1) / 3
	return f, (n + f + 2) / 2
}

// check decodes a block and verifies its place and its signatures.
func (r *Replica) check(b []byte) (types.Decision, error) {
	var k block
	if err := canonical.Decode(b, maxBlock, &k); err != nil {
		return types.Decision{}, err
	}
	d := types.Decision{Proposal: types.Proposal{Header: k.Header, Payload: k.Payload, Metadata: k.Metadata}}
	if _, err := r.VerifyProposal(d.Proposal); err != nil {
		return d, err
	}
	seen := map[uint64]bool{}
	for _, s := range k.Signatures {
		sig := types.Signature{ID: s.ID, Value: s.Value, Msg: s.Msg}
		if _, err := r.VerifyConsenterSig(sig, d.Proposal); err != nil {
			return d, err
		}
		seen[s.ID] = true
		d.Signatures = append(d.Signatures, sig)
	}
	if _, quorum := r.faulty(); len(seen) < quorum {
		return d, fmt.Errorf("%d replicas signed it; %d must", len(seen), quorum)
	}
	return d, nil
}

// append adds the entries of a decision to the log.
func (r *Replica) append(d types.Decision) error {
	requests, err := requestsOf(d.Proposal)
	if err != nil {
		return err
	}
	for _, b := range requests {
		e, err := ledger.DecodeEntry(b)
		if err != nil {
			return err
		}
		at, err := r.log.Append(e)
		if err != nil {
			return err
		}
		key := sha256.Sum256(b)
		r.mu.Lock()
		for _, done := range r.waiting[key] {
			done <- at
		}
		delete(r.waiting, key)
		r.mu.Unlock()
	}
	r.mu.Lock()
	r.height, r.last = r.height+1, d
	r.mu.Unlock()
	return nil
}

// store writes a decision to disk, then to the log.
func (r *Replica) store(d types.Decision) error {
	k := block{Header: d.Proposal.Header, Payload: d.Proposal.Payload, Metadata: d.Proposal.Metadata}
	for _, s := range d.Signatures {
		k.Signatures = append(k.Signatures, signature{ID: s.ID, Value: s.Value, Msg: s.Msg})
	}
	if err := durable.WriteFile(r.path(r.height), canonical.Encode(k)); err != nil {
		return err
	}
	return r.append(d)
}

func requestsOf(p types.Proposal) (requests [][]byte, err error) {
	err = canonical.Decode(p.Payload, maxBlock, &requests)
	return requests, err
}

// header returns the header of the next block: its height and the digest of the one before.
func (r *Replica) header() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := binary.BigEndian.AppendUint64(nil, r.height)
	if r.height > 0 {
		b = append(b, r.last.Proposal.Digest()...)
	}
	return b
}

// fail marks the replica as failed.
func (r *Replica) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = fmt.Errorf("smartbft: replica %d: %w", r.config.ID, err)
	}
}

// Deliver implements api.Application.
func (r *Replica) Deliver(p types.Proposal, signatures []types.Signature) types.Reconfig {
	if err := r.store(types.Decision{Proposal: p, Signatures: signatures}); err != nil {
		r.fail(err) // it must not acknowledge further decisions
		runtime.Goexit()
	}
	return types.Reconfig{}
}

// Sync implements api.Synchronizer: it takes the blocks of others whose signatures verify.
func (r *Replica) Sync() types.SyncResponse {
	for id := range uint64(len(r.config.Keys)) {
		if id+1 == r.config.ID {
			continue
		}
		for {
			blocks := r.config.Transport.Blocks(id+1, r.height)
			taken := 0
			for _, b := range blocks {
				d, err := r.check(b)
				if err != nil {
					break
				}
				if err := r.store(d); err != nil {
					r.fail(err)
					runtime.Goexit()
				}
				taken++
			}
			if taken == 0 {
				break
			}
		}
	}
	return types.SyncResponse{Latest: r.last}
}

// AssembleProposal implements api.Assembler.
func (r *Replica) AssembleProposal(metadata []byte, requests [][]byte) types.Proposal {
	return types.Proposal{Header: r.header(), Payload: canonical.Encode(requests), Metadata: metadata}
}

// SendConsensus implements api.Comm.
func (r *Replica) SendConsensus(to uint64, m *smartbftprotos.Message) {
	if b, err := proto.Marshal(m); err == nil {
		r.config.Transport.Send(to, append([]byte{0}, b...))
	}
}

// SendTransaction implements api.Comm.
func (r *Replica) SendTransaction(to uint64, request []byte) {
	r.config.Transport.Send(to, append([]byte{1}, request...))
}

// Nodes implements api.Comm.
func (r *Replica) Nodes() (ids []uint64) {
	for i := range r.config.Keys {
		ids = append(ids, uint64(i)+1)
	}
	return ids
}

// Sign implements api.Signer.
func (r *Replica) Sign(b []byte) []byte { return r.config.Secret.SignEnvelope(viewType, b) }

// SignProposal implements api.Signer.
func (r *Replica) SignProposal(p types.Proposal, aux []byte) *types.Signature {
	msg := canonical.Encode(signedBlock{Digest: []byte(p.Digest()), Aux: aux})
	return &types.Signature{ID: r.config.ID, Msg: msg, Value: r.config.Secret.SignEnvelope(blockType, msg)}
}

// VerifyProposal implements api.Verifier.
func (r *Replica) VerifyProposal(p types.Proposal) ([]types.RequestInfo, error) {
	requests, err := requestsOf(p)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(p.Header, r.header()) || p.VerificationSequence != 0 {
		return nil, errors.New("smartbft: the block does not follow the last one")
	}
	infos := []types.RequestInfo{}
	for _, b := range requests {
		info, err := r.VerifyRequest(b)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// VerifyRequest implements api.Verifier.
func (r *Replica) VerifyRequest(b []byte) (types.RequestInfo, error) {
	_, err := ledger.DecodeEntry(b)
	return r.RequestID(b), err
}

// VerifyConsenterSig implements api.Verifier.
func (r *Replica) VerifyConsenterSig(s types.Signature, p types.Proposal) ([]byte, error) {
	var signed signedBlock
	if err := canonical.Decode(s.Msg, maxBlock, &signed); err != nil {
		return nil, err
	}
	if string(signed.Digest) != p.Digest() || !r.signed(blockType, s) {
		return nil, fmt.Errorf("smartbft: the signature of replica %d under the block is not valid", s.ID)
	}
	return signed.Aux, nil
}

// VerifySignature implements api.Verifier.
func (r *Replica) VerifySignature(s types.Signature) error {
	if !r.signed(viewType, s) {
		return fmt.Errorf("smartbft: the signature of replica %d is not valid", s.ID)
	}
	return nil
}

func (r *Replica) signed(kind string, s types.Signature) bool {
	return s.ID > 0 && s.ID <= uint64(len(r.config.Keys)) && sign.VerifyEnvelope(r.config.Keys[s.ID-1], kind, s.Msg,
		s.Value)
}

// VerificationSequence implements api.Verifier: the replicas do not change.
func (r *Replica) VerificationSequence() uint64 { return 0 }

// RequestsFromProposal implements api.Verifier.
func (r *Replica) RequestsFromProposal(p types.Proposal) (infos []types.RequestInfo) {
	requests, err := requestsOf(p)
	if err != nil {
		return nil
	}
	for _, b := range requests {
		infos = append(infos, r.RequestID(b))
	}
	return infos
}

// AuxiliaryData implements api.Verifier.
func (r *Replica) AuxiliaryData(msg []byte) []byte {
	var signed signedBlock
	if canonical.Decode(msg, maxBlock, &signed) != nil {
		return nil
	}
	return signed.Aux
}

// MembershipChange implements api.MembershipNotifier.
func (r *Replica) MembershipChange() bool { return false }

// RequestID implements api.RequestInspector.
func (r *Replica) RequestID(b []byte) types.RequestInfo {
	sum := sha256.Sum256(b)
	return types.RequestInfo{ClientID: "synod", ID: hex.EncodeToString(sum[:])}
}

// logger contains the library's panics: the goroutine ends, and the replica has failed.
type logger struct{ r *Replica }

// Debugf implements api.Logger.
func (logger) Debugf(string, ...any) {}

// Infof implements api.Logger.
func (logger) Infof(string, ...any) {}

// Warnf implements api.Logger.
func (logger) Warnf(string, ...any) {}

// Errorf implements api.Logger.
func (logger) Errorf(string, ...any) {}

// Panicf implements api.Logger.
func (l logger) Panicf(format string, args ...any) {
	l.r.fail(fmt.Errorf(format, args...))
	runtime.Goexit()
}
