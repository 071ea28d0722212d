package node

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/network/node/call"
)

// audit is what a run does with the signed messages that its seat has sent and got: it keeps receipts of them, compares
// these with those of neighbours, and proves equivocation.
type audit struct{ *run }

// keep keeps the receipt of a signed message, and reports equivocation.
func (r audit) keep(key receiptKey, signature []byte) {
	c := call.Receipt{From: uint64(key.from), Slot: key.slot.Name, Round: uint64(key.slot.Round), Sum: key.sum[:],
		Signature: signature}
	slot := slotOf{key.from, key.slot}
	r.mu.Lock()
	known := r.receipts[slot]
	if has(known, c.Sum) || len(known) == 2 || r.stored >= maxReceipts {
		r.mu.Unlock()
		return
	}
	r.receipts[slot] = append(known, c)
	r.stored++
	r.grow(receiptBytes)
	var proof *call.Equivocation
	if len(known) > 0 && key.from != r.node.seat {
		proof = &call.Equivocation{Roster: r.node.hash[:], Instance: string(r.id), A: known[0], B: c}
		r.proofs++
	}
	r.mu.Unlock()
	if proof != nil {
		r.node.convict(proof)
	}
}

// has reports whether receipts of a slot have a hash.
func has(receipts []call.Receipt, sum []byte) bool {
	return slices.ContainsFunc(receipts, func(c call.Receipt) bool { return bytes.Equal(c.Sum, sum) })
}

const (
	maxReceipts  = 1 << 14
	receiptBytes = 512 // that a receipt takes in memory, twice, about
)

// sentBefore returns the signature of a message that the run has, and counts one that it does not have. many says that
// its sender has sent as many as are read in a run.
func (r audit) sentBefore(key receiptKey) (signature []byte, known, many bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.receipts[slotOf{key.from, key.slot}] {
		if bytes.Equal(c.Sum, key.sum[:]) {
			return c.Signature, true, false
		}
	}
	if many = r.fresh[key.from] >= maxRunMessages; !many {
		r.fresh[key.from]++
	}
	return nil, false, many
}

// proved reports whether the run has two values that a member has signed for one slot: a third one says nothing more.
func (r audit) proved(key receiptKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.receipts[slotOf{key.from, key.slot}]) > 1
}

// compareReceipts looks for equivocation in what a neighbour has got, and keeps the neighbour's vote. The error is for
// a signature that is not valid: honest nodes pass on what they have checked.
func (r audit) compareReceipts(by synod.NodeID, list []call.Receipt) error {
	kept := r.node.keptFor(by, r.id)
	for _, c := range list {
		if c.From >= uint64(len(r.node.roster.Members)) || len(c.Sum) != sha256.Size || c.Round > 1<<31-1 {
			return errors.New("a receipt is out of range")
		}
		key := receiptKey{synod.NodeID(c.From), synod.Slot{Name: c.Slot, Round: int(c.Round)}, [sha256.Size]byte(c.Sum)}
		if key.from == r.node.seat && !r.node.ownReceipt(by, r.id, &c, kept) {
			return errForged
		}
		valid := true
		if key.from == by && key.slot.Name == voteSlot {
			valid = r.keepVote(key, &c)
		} else if key.from != r.node.seat && r.contradicts(key) {
			if valid = r.signedFor(by, key, c.Signature); valid {
				r.keep(key, c.Signature)
			}
		}
		if !valid {
			return errForged
		}
	}
	return nil
}

// errForged is the error of a neighbour that passes on a signature that is not valid.
var errForged = errors.New("the signature of a receipt is not valid")

// signedFor is signed, for a neighbour that pays for it.
func (r audit) signedFor(by synod.NodeID, key receiptKey, signature []byte) bool {
	if p := r.node.links[by]; p != nil {
		p.pay(r.node.context, 1)
	}
	return r.signed(key, signature)
}

// signed reports whether a member has signed what a receipt says.
func (r audit) signed(key receiptKey, signature []byte) bool {
	slip := r.node.slip(r.id, &synod.Message{From: key.from, Slot: key.slot}, key.sum)
	return slip.VerifyKey(r.node.roster.Members[key.from].Key, signature)
}

// contradicts reports whether this node has one other message of the slot, and not this one. More than two prove
// nothing that two do not.
func (r audit) contradicts(key receiptKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.receipts[slotOf{key.from, key.slot}]
	return len(known) == 1 && !has(known, key.sum[:])
}

// voteSlot names the slot of the vote of a seat: its first and last answer, which it signs with its record. No
// protocol has a slot with a colon.
const voteSlot = "node:vote"

// keepVote keeps the vote of a neighbour. Two that differ, and that it has signed, are proof of equivocation. It is
// false if a signature is not valid.
func (r audit) keepVote(key receiptKey, c *call.Receipt) bool {
	r.mu.Lock()
	first, voted := r.votes[key.from]
	if !voted {
		r.votes[key.from] = vote{*c}
	}
	r.mu.Unlock()
	if !voted || first.key() == key || r.proved(key) {
		return true
	}
	for _, v := range []vote{first, {*c}} {
		if !r.signedFor(key.from, v.key(), v.Signature) {
			return false
		}
		r.keep(v.key(), v.Signature)
	}
	return true
}
