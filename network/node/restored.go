package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/network/node/call"
)

// A folder that was restored from a backup does not have what its key has signed since, so a node that went on from
// it could sign a second value for a slot. Neighbours keep what it has signed, and tell it: when a stream is opened,
// and when it goes on with a run. A run that may have been played before this process began signs nothing new until
// all neighbours but F have told (vouched). Own signatures that are not among the signed slots end the run: nothing
// more is signed in it, for ever. A neighbour cannot invent them, because they have this node's signature.

// voteSlot names the slot of the vote of a seat: its first and last answer, which it signs with its record. No
// protocol has a slot with a colon.
const voteSlot = "node:vote"

// olderFolder is why a run has ended in which this key has signed what the node's folder does not have.
const olderFolder = "older-folder"

// errOlder is the error of a run in which this key has signed what the node's folder does not have.
var errOlder = errors.New("this node's folder is older than what its key has signed in the run, so it signs nothing " +
	"more in it")

// askAgain is how often a neighbour that has not told is asked.
const askAgain = 500 * time.Millisecond

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
		if voted && r.signed(c.key(), c.Signature) {
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

// mayBeSigned reports whether an earlier process may have signed values in a run that begins at a moment.
func (n *Node) mayBeSigned(begins time.Time) bool { return len(n.peers) > 0 && begins.Before(n.opened) }

// vouch waits until all neighbours but F, and at least one, have told what they hold that this seat has signed in the
// run. It returns why the run has to stop; "": it may go on.
func (r *run) vouch(ctx context.Context) (stopped string) {
	ctx, cancel := context.WithTimeout(ctx, r.node.longest()-r.elapsed())
	defer cancel()
	peers := r.node.peers
	need := max(len(peers)-int(r.node.roster.F), 1)
	asked := time.Now()
	for len(r.vouchers) < need && r.failed == nil {
		if !r.listenOnce(ctx, time.Until(asked.Add(askAgain))) {
			return r.cut(ctx)
		}
		if time.Since(asked) < askAgain {
			continue
		}
		asked = time.Now()
		for _, id := range peers {
			if !r.vouchers[id] {
				r.once(id, frame{Kind: isBegun})
			}
		}
	}
	return ""
}

// signVote signs the first and the last answer of the seat, after the pair is on disk. Neighbours keep the signed slip,
// so that a second pair would be proof of equivocation.
func (r *run) signVote(record *outcome.Record) ([]byte, error) {
	n := r.node
	b := call.Vote(n.hash[:], &r.question, record)
	sum := sha256.Sum256(b)
	m := &synod.Message{From: n.seat, Slot: synod.Slot{Name: voteSlot}}
	if !n.plan.Adversary(n.seat) {
		if err := n.slots.commit([]signing{{slotKey{string(r.id), m.Slot}, sum}}); err != nil {
			return nil, err
		}
	}
	slip := n.slip(r.id, m, sum)
	r.keep(receiptKey{n.seat, m.Slot, sum}, slip.Sign(n.secret))
	return r.identity.Signer.Sign(b), nil
}

// vote is the signed vote of a neighbour. Its signature is checked when the vote is needed.
type vote struct{ call.Receipt }

func (v *vote) key() receiptKey {
	return receiptKey{synod.NodeID(v.From), synod.Slot{Name: v.Slot, Round: int(v.Round)}, [sha256.Size]byte(v.Sum)}
}

// keepVote keeps the vote of a neighbour. Two that differ, and that it has signed, are proof of equivocation. It is
// false if a signature is not valid.
func (r *run) keepVote(key receiptKey, c *call.Receipt) bool {
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

// fail ends a run without a record.
func (r *run) fail(err error) {
	r.mu.Lock()
	r.progress.Stopped = err.Error()
	r.mu.Unlock()
	r.failed = fmt.Errorf("run %s: %w", r.short(), err)
	r.node.log.Error("a run has ended without a record", "run", r.short(), "error", err)
	close(r.ended)
}
