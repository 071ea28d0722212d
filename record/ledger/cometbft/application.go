package cometbft

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	abci "github.com/cometbft/cometbft/abci/types"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/record/ledger"
)

// The first byte of a transaction.
const (
	isEntry = 1 + iota // an encoded ledger.Entry follows
	isHead             // an encoded headSignature follows
)

// headSignature is a replica's signature under the head of the log.
type headSignature struct {
	_         struct{} `cbor:",toarray"`
	Size      uint64
	Root      []byte
	Signature ledger.Signature
}

// state is what the application has of the chain.
type state struct {
	_      struct{} `cbor:",toarray"`
	Height int64
	Size   uint64 // entries of the log
	Root   []byte
}

// waitingState is a state with the entries that wait for more holders (ledger.Claims), as the state of a group with
// Least is stored.
type waitingState struct {
	_       struct{} `cbor:",toarray"`
	State   state
	Waiting [][]byte
}

// maxState bounds the file of a state in bytes.
const maxState = 256 << 20

// read reads the state as it is stored.
func (s *waitingState) read(b []byte, g *ledger.Group) error {
	if g.Least == 0 {
		return canonical.Decode(b, maxState, &s.State)
	}
	return canonical.Decode(b, maxState, s)
}

// application is what the library asks of a replica.
type application struct {
	abci.BaseApplication
	config Config
	log    *ledger.Log
	claims *ledger.Claims
	grown  chan struct{}
	peers  map[string]bool // the ids of the replicas

	mu      sync.Mutex
	state   state
	next    state // after the block that is being applied
	failed  error
	heads   map[uint64]*ledger.SignedHead // those that no quorum has signed yet, by size
	waiting map[[sha256.Size]byte][]chan uint64
	decided map[[sha256.Size]byte]uint64 // of the block that is being applied
}

func openApplication(c Config) (*application, error) {
	a := &application{config: c, grown: make(chan struct{}, 1), heads: map[uint64]*ledger.SignedHead{},
		waiting: map[[sha256.Size]byte][]chan uint64{}, peers: map[string]bool{}}
	for _, key := range slices.Concat(c.Group.Keys, c.admits) {
		a.peers[string(idOf(key))] = true
	}
	var kept waitingState
	b, err := durable.ReadFile(a.path(), maxState)
	switch {
	case err == nil:
		err = kept.read(b, &c.Group)
	case errors.Is(err, os.ErrNotExist):
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("cometbft: %s: %w", a.path(), err)
	}
	a.state = kept.State
	if a.log, err = ledger.OpenReplica(filepath.Join(c.Dir, "log"), &a.config.Group, a.state.Size); err != nil {
		return nil, err
	}
	root, err := a.log.RootOf(a.state.Size)
	if err == nil && a.state.Height > 0 && !bytes.Equal(root, a.state.Root) {
		err = fmt.Errorf("%w: its %d entries do not have the root of block %d", ledger.ErrDamaged, a.state.Size,
			a.state.Height)
	}
	if err == nil {
		a.claims, err = a.restore(kept.Waiting)
	}
	if err != nil {
		return nil, errors.Join(err, a.log.Close())
	}
	return a, nil
}

// restore returns the claims as they were after the last block that was applied.
func (a *application) restore(waiting [][]byte) (*ledger.Claims, error) {
	var entries []*ledger.Entry
	for at := range a.state.Size {
		if a.config.Group.Least == 0 {
			break
		}
		e, err := a.log.Entry(at)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return ledger.Restore(&a.config.Group, entries, waiting)
}

func (a *application) path() string { return filepath.Join(a.config.Dir, "data", "applied.cbor") }

func (a *application) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

// wait returns a channel that gets the index of an entry, or its index if it is decided.
func (a *application) wait(key [sha256.Size]byte, e *ledger.Entry) (done chan uint64, at uint64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok = a.log.Find(e); ok && at < a.state.Size {
		return nil, at, true
	}
	done = make(chan uint64, 1)
	a.waiting[key] = append(a.waiting[key], done)
	return done, 0, false
}

// headToSign returns the transaction with this replica's signature under the head of the log; nil: there is none to
// sign.
func (a *application) headToSign() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.state
	if s.Size <= a.log.Head().Head.Size {
		return nil
	}
	return append([]byte{isHead}, canonical.Encode(headSignature{Size: s.Size, Root: s.Root,
		Signature: a.config.Group.Sign(a.config.Secret, s.Size, s.Root)})...)
}

// allowed checks an entry.
func (a *application) allowed(b []byte, e *ledger.Entry) error {
	if len(b) > MaxEntry {
		return fmt.Errorf("cometbft: the entry has %d bytes; at most %d are allowed: keep hashes only", len(b),
			MaxEntry)
	}
	if err := a.config.Group.Allows(e); err != nil || a.config.Check == nil {
		return err
	}
	return a.config.Check(e)
}

// read checks a transaction by itself, which all replicas do alike. Of a head, only the signature is looked at.
func (a *application) read(tx []byte) (entry []byte, head *headSignature, err error) {
	if len(tx) == 0 {
		return nil, nil, errors.New("cometbft: the transaction is empty")
	}
	switch b := tx[1:]; tx[0] {
	case isEntry:
		e, err := ledger.DecodeEntry(b)
		if err == nil {
			err = a.allowed(b, e)
		}
		return b, nil, err
	case isHead:
		s := new(headSignature)
		if err := canonical.Decode(b, 1<<12, s); err != nil {
			return nil, nil, err
		}
		h := ledger.SignedHead{Head: ledger.Head{Log: a.config.Group.Log(), Size: s.Size, Root: s.Root}}
		if !a.peers[string(idOf(s.Signature.Key))] {
			return nil, nil, errors.New("cometbft: it is no replica that signed the head")
		}
		return nil, s, h.Add(s.Signature)
	}
	return nil, nil, errors.New("cometbft: the transaction is of no kind")
}

// Info implements abci.Application.
func (a *application) Info(context.Context, *abci.RequestInfo) (*abci.ResponseInfo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &abci.ResponseInfo{LastBlockHeight: a.state.Height, LastBlockAppHash: a.state.Root}, nil
}

// InitChain implements abci.Application.
func (a *application) InitChain(context.Context, *abci.RequestInitChain) (*abci.ResponseInitChain, error) {
	root, err := a.log.RootOf(0)
	return &abci.ResponseInitChain{AppHash: root}, err
}

// Query implements abci.Application: the library asks who may connect.
func (a *application) Query(_ context.Context, q *abci.RequestQuery) (*abci.ResponseQuery, error) {
	if id, ok := strings.CutPrefix(q.Path, "/p2p/filter/id/"); ok && !a.peers[id] {
		return &abci.ResponseQuery{Code: 1, Log: "it is no replica"}, nil
	}
	return &abci.ResponseQuery{}, nil
}

// CheckTx implements abci.Application. Heads that are signed already need no further signature.
func (a *application) CheckTx(_ context.Context, q *abci.RequestCheckTx) (*abci.ResponseCheckTx, error) {
	_, head, err := a.read(q.Tx)
	if err == nil && head != nil && head.Size <= a.log.Head().Head.Size {
		err = errors.New("cometbft: the head is signed")
	}
	if err != nil {
		return &abci.ResponseCheckTx{Code: 1, Log: err.Error()}, nil
	}
	return &abci.ResponseCheckTx{}, nil
}

// ProcessProposal implements abci.Application: a block with a transaction that no honest replica submits is
// not voted for.
func (a *application) ProcessProposal(_ context.Context,
	q *abci.RequestProcessProposal) (*abci.ResponseProcessProposal, error) {
	for _, tx := range q.Txs {
		if _, _, err := a.read(tx); err != nil {
			return &abci.ResponseProcessProposal{Status: abci.ResponseProcessProposal_REJECT}, nil
		}
	}
	return &abci.ResponseProcessProposal{Status: abci.ResponseProcessProposal_ACCEPT}, nil
}

// FinalizeBlock implements abci.Application. It may be called again for a block that was not committed: entries
// that the log has are not appended again.
func (a *application) FinalizeBlock(_ context.Context,
	q *abci.RequestFinalizeBlock) (*abci.ResponseFinalizeBlock, error) {
	var bodies [][]byte
	var heads []*headSignature
	results := make([]*abci.ExecTxResult, len(q.Txs))
	for i, tx := range q.Txs {
		results[i] = &abci.ExecTxResult{}
		b, head, err := a.read(tx)
		switch {
		case err != nil:
			results[i].Code = 1
		case head != nil:
			heads = append(heads, head)
		default:
			bodies = append(bodies, b)
		}
	}
	entries, err := a.claims.Take(bodies)
	var at []uint64
	if err == nil {
		at, err = a.log.Extend(entries)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.next = state{Height: q.Height, Size: a.log.Size()}
		a.next.Root, err = a.log.RootOf(a.next.Size)
	}
	for _, h := range heads {
		if err == nil {
			err = a.collect(h)
		}
	}
	if err != nil {
		a.failed = err
		return nil, err
	}
	a.decided = map[[sha256.Size]byte]uint64{}
	for _, b := range bodies {
		a.decided[sha256.Sum256(b)] = ledger.Waits
	}
	for i, b := range entries {
		a.decided[sha256.Sum256(b)] = at[i]
	}
	return &abci.ResponseFinalizeBlock{TxResults: results, AppHash: a.next.Root}, nil
}

// collect adds a signature under a head, and sets the head when a quorum has signed it. One that is not of this log
// at its size is ignored: its signer is Byzantine.
func (a *application) collect(s *headSignature) error {
	if s.Size <= a.log.Head().Head.Size || s.Size > a.log.Size() {
		return nil
	}
	root, err := a.log.RootOf(s.Size)
	if err != nil || !bytes.Equal(root, s.Root) {
		return err
	}
	h := a.heads[s.Size]
	if h == nil {
		h = &ledger.SignedHead{Head: ledger.Head{Log: a.config.Group.Log(), Size: s.Size, Root: s.Root},
			Operator: []byte{}}
		a.heads[s.Size] = h
	}
	if err := h.Add(s.Signature); err != nil {
		return err
	}
	if h.VerifyGroup(&a.config.Group) != nil {
		return nil
	}
	for size := range a.heads {
		if size <= s.Size {
			delete(a.heads, size)
		}
	}
	return a.log.SetHead(h)
}

// Commit implements abci.Application.
func (a *application) Commit(context.Context, *abci.RequestCommit) (*abci.ResponseCommit, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := canonical.Encode(a.next)
	if a.config.Group.Least > 0 {
		b = canonical.Encode(waitingState{State: a.next, Waiting: a.claims.Waiting()})
	}
	if err := durable.WriteFile(a.path(), b); err != nil {
		a.failed = err
		return nil, err
	}
	if a.next.Size > a.state.Size {
		select {
		case a.grown <- struct{}{}:
		default:
		}
	}
	a.state = a.next
	for key, at := range a.decided {
		for _, done := range a.waiting[key] {
			done <- at
		}
		delete(a.waiting, key)
	}
	return &abci.ResponseCommit{}, nil
}
