package cometbft

import (
	"bytes"
	"context"
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
func (s *waitingState) read(b []byte, g *ledger.Replicas) error {
	if g.Least == 0 {
		return canonical.Decode(b, maxState, &s.State)
	}
	return canonical.Decode(b, maxState, s)
}

// application is what the library asks of a replica.
type application struct {
	abci.BaseApplication
	machine *ledger.StateMachine
	config  Config
	grown   chan struct{}
	peers   map[string]bool // the ids of the replicas

	mu    sync.Mutex
	state state
	next  state // after the block that is being applied; only the library's goroutine uses it
}

func openApplication(c Config) (*application, error) {
	a := &application{config: c, grown: make(chan struct{}, 1), peers: map[string]bool{}}
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
	rules := ledger.Rules{Group: c.Group, MaxEntry: MaxEntry, Check: c.Check}
	a.machine, err = ledger.OpenStateMachine(filepath.Join(c.Dir, "log"), rules, a.state.Size, kept.Waiting)
	if err != nil {
		return nil, err
	}
	root, err := a.machine.RootOf(a.state.Size)
	if err == nil && a.state.Height > 0 && !bytes.Equal(root, a.state.Root) {
		err = fmt.Errorf("%w: its %d entries do not have the root of block %d", ledger.ErrDamaged, a.state.Size,
			a.state.Height)
	}
	if err != nil {
		return nil, errors.Join(err, a.machine.Close())
	}
	return a, nil
}

func (a *application) path() string { return filepath.Join(a.config.Dir, "data", "applied.cbor") }

// headToSign returns the transaction with this replica's signature under the head of the log; nil: there is none to
// sign.
func (a *application) headToSign() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.state
	if s.Size <= a.machine.Head().Head.Size {
		return nil
	}
	return append([]byte{isHead}, canonical.Encode(headSignature{Size: s.Size, Root: s.Root,
		Signature: a.config.Group.Sign(a.config.Secret, s.Size, s.Root)})...)
}

// read checks a transaction by itself, which all replicas do alike. Of a head, only the signature is looked at.
func (a *application) read(tx []byte) (entry []byte, head *headSignature, err error) {
	if len(tx) == 0 {
		return nil, nil, errors.New("cometbft: the transaction is empty")
	}
	switch b := tx[1:]; tx[0] {
	case isEntry:
		return b, nil, a.machine.Allow(b)
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
	root, err := a.machine.RootOf(0)
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
	if err == nil && head != nil && head.Size <= a.machine.Head().Head.Size {
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
	if err := a.apply(q.Height, bodies, heads); err != nil {
		a.machine.Fail(err)
		return nil, err
	}
	return &abci.ResponseFinalizeBlock{TxResults: results, AppHash: a.next.Root}, nil
}

// apply applies the entries and the signatures of a block.
func (a *application) apply(height int64, bodies [][]byte, heads []*headSignature) error {
	if err := a.machine.Apply(bodies); err != nil {
		return err
	}
	for _, h := range heads {
		if err := a.machine.AddSignature(h.Size, h.Root, h.Signature); err != nil {
			return err
		}
	}
	a.next = state{Height: height, Size: a.machine.Size()}
	var err error
	a.next.Root, err = a.machine.RootOf(a.next.Size)
	return err
}

// Commit implements abci.Application.
func (a *application) Commit(context.Context, *abci.RequestCommit) (*abci.ResponseCommit, error) {
	b := canonical.Encode(a.next)
	if a.config.Group.Least > 0 {
		b = canonical.Encode(waitingState{State: a.next, Waiting: a.machine.Held()})
	}
	if err := durable.WriteFile(a.path(), b); err != nil {
		a.machine.Fail(err)
		return nil, err
	}
	a.mu.Lock()
	grown := a.next.Size > a.state.Size
	a.state = a.next
	a.mu.Unlock()
	if grown {
		select {
		case a.grown <- struct{}{}:
		default:
		}
	}
	a.machine.Commit()
	return &abci.ResponseCommit{}, nil
}
