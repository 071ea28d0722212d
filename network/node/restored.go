package node

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/node/call"
)

// A folder that was restored from a backup does not have what its key has signed since, so a node that went on from
// it could sign a second value for a slot. Neighbours keep what it has signed, and tell it: when a stream is opened,
// and when it goes on with a run. A run that may have been played before this process began signs nothing new until
// all neighbours but F have told (vouched). Own signatures that are not among the signed slots end the run: nothing
// more is signed in it, for ever. A neighbour cannot invent them, because they have this node's signature.

// olderFolder is why a run has ended in which this key has signed what the node's folder does not have.
const olderFolder = "older-folder"

// tellHeld tells the neighbour what this node holds that the neighbour has signed in a run. r is nil for a run that
// this node does not have. asked says that the neighbour waits for the end of the list.
func (p *peer) tellHeld(key runKey, r *run, asked bool) {
	var list []call.Receipt
	instance := ""
	if r != nil {
		instance = string(r.id)
		r.mu.Lock()
		for k, all := range r.receipts {
			if k.from == p.id {
				list = append(list, all...)
			}
		}
		c, voted := r.votes[p.id]
		r.mu.Unlock()
		if voted && (audit{r}).signed(c.key(), c.Signature) {
			list = append(list, c.Receipt)
		}
	}
	for part := range slices.Chunk(list, receiptsAtOnce) {
		p.once(key, frame{Kind: isHeld, Slot: instance, Receipts: part})
	}
	if asked {
		p.once(key, frame{Kind: isHeld, Tick: lastHeld})
	}
}

// lastHeld is the tick of the last isHeld frame of a list.
const lastHeld = 1

// tellAllHeld tells the neighbour what this node holds that the neighbour has signed in the runs in memory.
func (p *peer) tellAllHeld() {
	for _, r := range p.node.active() {
		p.tellHeld(r.key, r, false)
	}
}

// hearHeld compares what a neighbour holds of this node with what this node has signed. The error is for a frame that
// no honest node sends.
func (n *Node) hearHeld(from synod.NodeID, key runKey, f *frame) error {
	id := sign.Instance(f.Slot)
	if len(f.Receipts) > 0 && (!plainID(id) || instanceKey(id) != key) {
		return errors.New("a list of signed messages does not name its run")
	}
	kept := n.keptFor(from, id)
	for i := range f.Receipts {
		c := &f.Receipts[i]
		if c.From != uint64(n.seat) || len(c.Sum) != sha256.Size || c.Round > 1<<31-1 {
			return errors.New("a list of this node's signed messages has others")
		}
		if !n.ownReceipt(from, id, c, kept) {
			return errors.New("a signature that is said to be this node's is not valid")
		}
	}
	if r := n.running(key); r != nil && f.Tick == lastHeld {
		r.put(input{from: from, vouched: true})
	}
	return nil
}

// ownReceipt raises the alarm if a signed message of this node is not among its signed slots. It reports whether the
// message may be this node's. kept returns what is on disk of the run (keptFor).
func (n *Node) ownReceipt(by synod.NodeID, id sign.Instance, c *call.Receipt, kept func() *call.Kept) bool {
	v := signing{slotKey{string(id), synod.Slot{Name: c.Slot, Round: int(c.Round)}}, [sha256.Size]byte(c.Sum)}
	if n.hasSigned(v, kept) || n.plan.Adversary(n.seat) {
		return true
	}
	slip := c.Slip(n.hash[:], string(id))
	if !n.links[by].verify(slip, n.secret.PublicKey(), c.Signature) {
		return false
	}
	fresh, err := n.slots.disown(v)
	if err != nil {
		n.log.Error("what this key has signed elsewhere cannot be written", "error", err)
	}
	if fresh {
		n.figures.Lock()
		n.stats.Older++
		n.older = append(n.older, string(id))
		n.figures.Unlock()
		n.log.Error(errOlder.Error(), "run", string(id), "slot", c.Slot, "round", c.Round, "advice", olderAdvice)
	}
	if r := n.running(instanceKey(id)); r != nil {
		r.put(input{older: true})
	}
	return true
}

const olderAdvice = "if the folder was restored from a backup, go on: it plays new questions; if another process has " +
	"this key, end it and make a new key and roster"

// hasSigned reports whether the folder has a value that is said to be this node's. kept returns what is on disk of its
// run.
func (n *Node) hasSigned(v signing, kept func() *call.Kept) bool {
	settled, gone := n.slots.forgotten(v.key.instance)
	if !settled || n.slots.holds(v) {
		return gone || n.slots.holds(v)
	}
	k := kept()
	return k != nil && slices.ContainsFunc(k.Receipts, func(c call.Receipt) bool {
		return c.From == uint64(n.seat) && c.Slot == v.key.slot.Name && c.Round == uint64(v.key.slot.Round) &&
			bytes.Equal(c.Sum, v.sum[:])
	})
}

// keptFor returns a function that reads once what is on disk of a run that has ended, for a neighbour, which pays as if
// it had sent the record.
func (n *Node) keptFor(by synod.NodeID, id sign.Instance) func() *call.Kept {
	return sync.OnceValue(func() *call.Kept {
		info, err := os.Stat(n.finalPath(id))
		if err != nil {
			return nil
		}
		n.links[by].pay(n.context, int(min(1+info.Size()/bytesPerCheck, checkBurst)))
		return n.keptOf(id)
	})
}
