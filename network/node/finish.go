package node

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/node/call"
)

// finish ends the journal and signs the record of the seat.
func (r *run) finish(stopped string) {
	now := r.schedule.closed
	if now < 0 {
		now = 0
	}
	r.journal.Event(now, r.node.seat, synod.Halt{})
	r.machine.Step(now, synod.Halt{})
	record := r.desk.Record(stopped, now)
	var vote []byte
	var refused error
	voted := make(chan struct{})
	go func() { defer close(voted); vote, refused = r.signVote(&record) }() // both wait for the disk
	digest, err := r.journal.Close(stopped)
	if err != nil {
		r.node.log.Error("the journal cannot be written", "run", r.short(), "error", err)
	}
	if <-voted; refused != nil {
		r.fail(refused)
		return
	}
	f, err := r.unsigned(record, digest)
	if err != nil {
		r.fail(fmt.Errorf("the record cannot be encoded: %w", err))
		return
	}
	f.Vote = vote
	own := r.addReceipts(f, stopped)
	f.Sign(r.node.secret)
	r.keepRecord(f, own)
	r.node.record(&r.question, f)
	r.mu.Lock()
	r.final = f
	r.mu.Unlock()
	close(r.ended)
	audit{r}.compareAll(f.Digests, own)
	r.node.log.Info("run ended", "run", r.short(), "stopped", stopped, "digest", digest[:min(12, len(digest))])
}

// addReceipts adds the receipts of a run that has stopped to its record. It returns those of the seat's vote, which
// only this seat has.
func (r *run) addReceipts(f *call.Final, stopped string) (own []call.Receipt) {
	r.mu.Lock()
	f.Late = r.late
	for slot, all := range r.receipts {
		if slot == (slotOf{r.node.seat, synod.Slot{Name: voteSlot}}) {
			own = all
			continue
		}
		f.Receipts = append(f.Receipts, all...)
	}
	r.progress.Stopped = stopped
	r.mu.Unlock()
	call.SortReceipts(f.Receipts)
	seats := len(r.node.roster.Members)
	f.Digests, f.Proved = call.Digests(f.Receipts, seats), call.Proved(f.Receipts, seats)
	return own
}

// keepRecord puts the record on disk, with the receipts and the caller's request. own is the seat's vote.
func (r *run) keepRecord(f *call.Final, own []call.Receipt) {
	start, _ := durable.ReadFile(r.node.startPath(r.id), call.MaxStart) // without it no certificate is signed
	kept := canonical.Encode(call.Kept{Final: *f, Receipts: slices.Concat(f.Receipts, own), Start: start})
	if err := writeRecord(r.node.finalPath(r.id), kept); err == nil {
		os.Remove(r.node.startPath(r.id)) // it is in the record
	} else {
		r.node.log.Error("the record cannot be written", "run", r.short(), "error", err)
	}
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
	audit{r}.keep(receiptKey{n.seat, m.Slot, sum}, slip.Sign(n.secret))
	return r.identity.Signer.Sign(b), nil
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

// unsigned returns the record of the seat without its signatures.
func (r *run) unsigned(record outcome.Record, digest string) (*call.Final, error) {
	text, err := call.EncodeRecord(record)
	if err != nil {
		return nil, err
	}
	return &call.Final{Roster: r.node.hash[:], Instance: string(r.id), Seat: uint64(r.node.seat), Record: text,
		Digest: digest, Skewed: r.node.wrongClock.Load()}, nil
}
