package node

import (
	"crypto/sha256"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/node/call"
)

// What an own Byzantine node of a test sends about a run.

// MessageFrame is a message with a signature.
func MessageFrame(id sign.Instance, m *synod.Message, signature []byte) []byte {
	key := instanceKey(id)
	return canonical.Encode(batch{Run: key[:], Frames: []frame{{Kind: isMessage, Slot: m.Slot.Name,
		Round: uint64(m.Slot.Round), Body: m.Body, Signature: signature}}})
}

// ReceiptsFrame is a list of receipts.
func ReceiptsFrame(id sign.Instance, list []call.Receipt) []byte {
	key := instanceKey(id)
	return canonical.Encode(batch{Run: key[:], Frames: []frame{{Kind: isReceipts, Receipts: list}}})
}

// BegunFrame says that the sender has nothing of a run.
func BegunFrame(id sign.Instance) []byte {
	key := instanceKey(id)
	return canonical.Encode(batch{Run: key[:], Frames: []frame{{Kind: isBegun}}})
}

// VoteSlot is the slot of votes.
const VoteSlot = voteSlot

// ReceiptsAtOnce is how many receipts a frame has at most.
const ReceiptsAtOnce = receiptsAtOnce

// SumOf is the hash of a body in a receipt.
func SumOf(body []byte) []byte {
	sum := sha256.Sum256(body)
	return sum[:]
}

// ReceiptsOf are the receipts that a node has of a member in a run.
func ReceiptsOf(n *Node, id sign.Instance, of synod.NodeID) (all []call.Receipt) {
	r := n.running(instanceKey(id))
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for slot, known := range r.receipts {
		if slot.from == of {
			all = append(all, known...)
		}
	}
	return all
}
