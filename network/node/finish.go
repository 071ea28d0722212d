package node

import (
	"fmt"
	"os"
	"slices"

	"synod.dev/synod"
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
	f, err := r.node.finalOf(r.id, record, digest)
	if err != nil {
		r.fail(fmt.Errorf("the record cannot be encoded: %w", err))
		return
	}
	f.Vote = vote
	r.mu.Lock()
	f.Late = r.late
	var own []call.Receipt // the vote, which only this seat has
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
	f.Sign(r.node.secret)
	r.keepRecord(f, own)
	r.node.record(&r.question, f)
	r.mu.Lock()
	r.final = f
	r.mu.Unlock()
	close(r.ended)
	r.compareAll(f.Digests, own)
	r.node.log.Info("run ended", "run", r.short(), "stopped", stopped, "digest", digest[:min(12, len(digest))])
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
