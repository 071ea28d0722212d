package smartbft

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/hyperledger-labs/SmartBFT/pkg/types"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/record/ledger"
)

// The types of what replicas sign, besides heads.
const (
	blockType = "application/vnd.synod.block+cbor"
	viewType  = "application/vnd.synod.view"
)

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
	Msg   []byte // encoding of a signedBlock
}

// signedBlock is what a replica signs of a block: its digest, and the head of the log after it, which has a
// signature of its own that is valid without the block.
type signedBlock struct {
	_      struct{} `cbor:",toarray"`
	Digest []byte
	Aux    []byte
	Size   uint64
	Root   []byte
	Head   []byte // the signature under the head
}

// The bounds of blocks, and of an answer to a replica that was away.
const (
	maxBlock  = 8 << 20
	maxAnswer = 16 << 20
	maxBlocks = 64
)

// Blocks returns the replica's blocks from a height on, at most 64 and 16 MiB.
func (r *Replica) Blocks(from uint64) (blocks [][]byte) {
	r.mu.Lock()
	height := r.height
	r.mu.Unlock()
	size := 0
	for h := from; h < height && len(blocks) < maxBlocks; h++ {
		b, err := durable.ReadFile(r.path(h), maxBlock)
		if size += len(b); err != nil || size > maxAnswer {
			break
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// decode decodes the next block and verifies its place and its signatures.
func (r *Replica) decode(b []byte) (types.Decision, error) {
	var k block
	if err := canonical.Decode(b, maxBlock, &k); err != nil {
		return types.Decision{}, err
	}
	d := types.Decision{Proposal: types.Proposal{Header: k.Header, Payload: k.Payload, Metadata: k.Metadata}}
	if err := r.follows(d.Proposal); err != nil {
		return d, err
	}
	if _, err := r.requests(d.Proposal); err != nil {
		return d, err
	}
	seen := map[uint64]bool{}
	for _, s := range k.Signatures {
		sig := types.Signature{ID: s.ID, Value: s.Value, Msg: s.Msg}
		if _, err := r.verify(sig, d.Proposal); err != nil {
			return d, err
		}
		seen[s.ID] = true
		d.Signatures = append(d.Signatures, sig)
	}
	if quorum := r.config.Group.Quorum(); len(seen) < quorum {
		return d, fmt.Errorf("%d replicas signed it; %d must", len(seen), quorum)
	}
	return d, nil
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
	return r.extend(d)
}

// extend appends the entries of a decision to the log, with the head that its signatures sign.
func (r *Replica) extend(d types.Decision) error {
	bodies, err := r.requests(d.Proposal)
	if err == nil {
		err = r.Apply(bodies)
	}
	if err == nil {
		err = r.setHead(d.Signatures)
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.height, r.last = r.height+1, d
	r.mu.Unlock()
	r.Commit()
	return nil
}

// setHead sets the head that the signatures of a block sign.
func (r *Replica) setHead(signatures []types.Signature) error {
	size := uint64(0)
	for _, s := range signatures {
		var b signedBlock
		if err := canonical.Decode(s.Msg, maxBlock, &b); err != nil {
			return err
		}
		if s.ID == 0 || s.ID > uint64(len(r.config.Group.Keys)) {
			return fmt.Errorf("there is no replica %d", s.ID)
		}
		size = max(size, b.Size)
		err := r.AddSignature(b.Size, b.Root, ledger.Signature{Key: r.config.Group.Keys[s.ID-1], Signature: b.Head})
		if err != nil {
			return err
		}
	}
	if r.Head().Head.Size < size {
		return errors.New("no quorum has signed the head of the log after the block")
	}
	return nil
}

// requests returns the entries of a proposal, each of which may be appended.
func (r *Replica) requests(p types.Proposal) (bodies [][]byte, err error) {
	if err = canonical.Decode(p.Payload, maxBlock, &bodies); err != nil {
		return nil, err
	}
	for _, b := range bodies {
		if err := r.Allow(b); err != nil {
			return nil, err
		}
	}
	return bodies, nil
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

// follows checks that a proposal is the next block.
func (r *Replica) follows(p types.Proposal) error {
	if !bytes.Equal(p.Header, r.header()) || p.VerificationSequence != 0 {
		return errors.New("smartbft: the block does not follow the last one")
	}
	return nil
}

// sign signs the next block and the head after it.
func (r *Replica) sign(p types.Proposal, aux []byte) (*types.Signature, error) {
	bodies, err := r.requests(p)
	if err != nil {
		return nil, err
	}
	size, root, err := r.After(bodies)
	if err != nil {
		return nil, err
	}
	head := r.config.Group.Sign(r.config.Secret, size, root)
	msg := canonical.Encode(signedBlock{Digest: []byte(p.Digest()), Aux: slices.Clone(aux), Size: size, Root: root,
		Head: head.Signature})
	return &types.Signature{ID: r.config.ID, Msg: msg, Value: r.config.Secret.SignEnvelope(blockType, msg)}, nil
}

// verify checks the signature of a replica under a block. If that is the next one, the head must be that of the log
// after it; of older blocks, whose signatures are shown when the leader changes, the head is not looked at.
func (r *Replica) verify(s types.Signature, p types.Proposal) (*signedBlock, error) {
	b := new(signedBlock)
	if err := canonical.Decode(s.Msg, maxBlock, b); err != nil {
		return nil, err
	}
	if string(b.Digest) != p.Digest() || !r.signed(blockType, s) {
		return nil, fmt.Errorf("smartbft: the signature of replica %d under the block is not valid", s.ID)
	}
	if r.follows(p) != nil {
		return b, nil
	}
	bodies, err := r.requests(p)
	if err != nil {
		return nil, err
	}
	size, root, err := r.after(b, bodies)
	if err != nil {
		return nil, err
	}
	h := ledger.SignedHead{Head: ledger.Head{Log: r.config.Group.Log(), Size: size, Root: root}}
	if b.Size != size || !bytes.Equal(b.Root, root) {
		return nil, fmt.Errorf("smartbft: replica %d signed another head after the block", s.ID)
	}
	if err := h.Add(ledger.Signature{Key: r.config.Group.Keys[s.ID-1], Signature: b.Head}); err != nil {
		return nil, err
	}
	return b, nil
}

// after returns size and root of the log after the next block. When the replica starts, the log may have the entries
// of blocks that are read again.
func (r *Replica) after(b *signedBlock, bodies [][]byte) (size uint64, root []byte, err error) {
	if r.consensus == nil && b.Size <= r.Log.Size() {
		root, err = r.Log.RootOf(b.Size)
		return b.Size, root, err
	}
	return r.After(bodies)
}

func (r *Replica) signed(kind string, s types.Signature) bool {
	keys := r.config.Group.Keys
	return s.ID > 0 && s.ID <= uint64(len(keys)) && sign.VerifyEnvelope(keys[s.ID-1], kind, s.Msg, s.Value)
}
