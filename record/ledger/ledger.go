package ledger

import (
	"context"
	"iter"
)

// Ledger is a list of decisions, however it is kept. Its methods may be called by many goroutines.
type Ledger interface {
	// Append appends an entry and returns its index. It is durable when Append returns: on disk,
	// and with replicas in the log of a quorum. An entry that is there already is not appended
	// again, so a caller that does not know whether an Append succeeded repeats it. ErrWaits: replicas have the
	// entry, and it enters the log when enough of them hold its record.
	Append(ctx context.Context, e *Entry) (uint64, error)
	// Head returns the last signed head. With replicas it may be some entries behind.
	Head() *SignedHead
	// Entry returns an entry under the head by its index.
	Entry(index uint64) (*Entry, error)
	// Prove returns the proof that an entry is under the head.
	Prove(index uint64) (*Proof, error)
	// Consistency returns the path that shows that the head extends one of an earlier size.
	Consistency(size uint64) ([][]byte, error)
	Close() error
}

// Export returns all entries under the head of a ledger, in order. An error is the last element.
func Export(l Ledger) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for at := range l.Head().Head.Size {
			e, err := l.Entry(at)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
