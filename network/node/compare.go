package node

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/network/node/call"
)

// At the end of a run, neighbours look whether a member has sent different messages to them. Each says the hash of its
// digests (call.Digests), one for each member. Where two hashes differ, the digests are pulled, and of the members
// whose digests differ the receipts. So nothing but a hash is sent as long as all have the same messages.
//
// A neighbour can make this node pull, and answer, maxPulls times in a run.
const maxPulls = 4

// compareAll begins to compare: the receipts of the seat are complete.
func (r audit) compareAll(digests []byte, vote []call.Receipt) {
	root := sha256.Sum256(digests)
	r.mu.Lock()
	r.compared.digests = digests
	var differ []synod.NodeID
	for id, theirs := range r.compared.roots {
		if !bytes.Equal(theirs, root[:]) {
			differ = append(differ, id)
		}
	}
	r.mu.Unlock()
	r.queue(nil, frame{Kind: isSummary, Body: root[:], Receipts: vote})
	r.flush()
	for _, id := range differ {
		r.pull(id)
	}
}

// hearSummary takes what a neighbour says at its end.
func (r audit) hearSummary(from synod.NodeID, f *frame) error {
	if len(f.Body) != sha256.Size || len(f.Receipts) > 1 {
		return errors.New("a summary is out of range")
	}
	if err := r.compareReceipts(from, f.Receipts); err != nil {
		return err
	}
	r.mu.Lock()
	r.compared.roots[from] = f.Body
	own := sha256.Sum256(r.compared.digests)
	differs := len(r.compared.digests) > 0 && !bytes.Equal(own[:], f.Body)
	r.mu.Unlock()
	if differs {
		r.pull(from)
	}
	return nil
}

// pull asks a neighbour for its digests.
func (r audit) pull(from synod.NodeID) {
	r.mu.Lock()
	allowed := r.compared.pulls[from] < maxPulls
	if allowed {
		r.compared.pulls[from]++
		r.compared.waits[from]++
	}
	r.mu.Unlock()
	if allowed {
		r.once(from, frame{Kind: isPull})
	}
}

// answerPull sends a neighbour what it has asked for.
func (r audit) answerPull(to synod.NodeID, f *frame) error {
	if len(f.Body) > call.SetSize(len(r.node.roster.Members)) {
		return errors.New("a set of seats is out of range")
	}
	r.mu.Lock()
	digests := r.compared.digests
	allowed := len(digests) > 0 && r.compared.answers[to] < 2*maxPulls
	if allowed {
		r.compared.answers[to]++
	}
	r.mu.Unlock()
	switch {
	case !allowed:
	case len(f.Body) == 0:
		r.once(to, frame{Kind: isDigests, Body: digests})
	default:
		for part := range slices.Chunk(r.receiptsOf(f.Body), receiptsAtOnce) {
			r.once(to, frame{Kind: isReceipts, Receipts: part})
		}
	}
	return nil
}

// hearDigests pulls the receipts of members of whom a neighbour has other messages than this node.
func (r audit) hearDigests(from synod.NodeID, f *frame) error {
	if len(f.Body) != len(r.node.roster.Members)*sha256.Size {
		return errors.New("a list of digests is out of range")
	}
	r.mu.Lock()
	asked := r.compared.waits[from] > 0
	if asked {
		r.compared.waits[from]--
	}
	seats := call.Differ(r.compared.digests, f.Body)
	r.mu.Unlock()
	if asked && seats != nil {
		r.once(from, frame{Kind: isPull, Body: seats})
	}
	return nil
}

// receiptsOf returns the receipts of the members of a set, ordered.
func (r audit) receiptsOf(seats []byte) (list []call.Receipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for slot, all := range r.receipts {
		if call.InSet(seats, int(slot.from)) {
			list = append(list, all...)
		}
	}
	call.SortReceipts(list)
	return list
}
