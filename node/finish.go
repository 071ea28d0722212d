package node

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/node/call"
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
	for _, c := range r.receipts {
		f.Receipts = append(f.Receipts, c)
	}
	r.progress.Stopped = stopped
	r.mu.Unlock()
	order.Sort(f.Receipts, compareReceipts)
	f.Sign(r.node.secret)
	if err := writeRecord(r.node.finalPath(r.id), canonical.Encode(f)); err != nil {
		r.node.log.Error("the record cannot be written", "run", r.short(), "error", err)
	}
	r.node.record(&r.question, f)
	r.mu.Lock()
	r.final = f
	r.mu.Unlock()
	close(r.ended)
	for part := range slices.Chunk(f.Receipts, receiptsAtOnce) {
		r.tell(nil, frame{Kind: isReceipts, Receipts: part})
	}
	r.node.log.Info("run ended", "run", r.short(), "stopped", stopped, "digest", digest[:min(12, len(digest))])
}

func compareReceipts(a, b call.Receipt) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Round, b.Round),
		cmp.Compare(hex.EncodeToString(a.Sum), hex.EncodeToString(b.Sum)))
}
