package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"golang.org/x/time/rate"

	"synod.dev/synod"
	"synod.dev/synod/network/roster"
)

// A check of a signature takes some fifty microseconds, and a neighbour or caller that sends without end could have a
// node do nothing else. So what costs nothing is looked at first, and a check is paid for before it is made, from a
// budget that a member has over all its streams, and a caller over all its requests. A neighbour waits when it has
// spent its budget, and its stream with it. A caller is refused. A neighbour that sends a signature that is not valid
// is excluded for a time (strike), which grows, whether it opens its stream again or not.
const (
	checksPerSecond = 1000 // of one neighbour, and of one caller
	checkBurst      = 4000
	bytesPerCheck   = 8 << 10 // that a neighbour sends for a check: to decode and hash them takes as long
	begunCost       = 10      // checks that a frame isBegun costs: its receiver sends everything of a run again
)

// newChecks returns the budget of a neighbour or of a caller.
func newChecks() *rate.Limiter { return rate.NewLimiter(checksPerSecond, checkBurst) }

// pay waits until the neighbour has paid for checks of signatures, or ctx ends.
func (p *peer) pay(ctx context.Context, checks int) {
	if p.checks.WaitN(ctx, min(checks, checkBurst)) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checked += uint64(checks)
}

// verify checks a signature for which the neighbour pays.
func (p *peer) verify(slip roster.Slip, key, signature []byte) bool {
	p.pay(p.node.context, 1)
	return slip.VerifyKey(key, signature)
}

// checkMessage reports whether a message of the neighbour is read. What costs nothing is first: a message of a run that
// is over, one that was sent before, and one that is more than a member sends in a run, are not checked. The error is
// for a signature that is not valid.
func (p *peer) checkMessage(r *run, f *frame) (read bool, err error) {
	if r.over() {
		return false, nil
	}
	m := &synod.Message{From: p.id, Slot: synod.Slot{Name: f.Slot, Round: int(f.Round)}}
	key := receiptKey{p.id, m.Slot, sha256.Sum256(f.Body)}
	signature, known, many := audit{r}.sentBefore(key)
	switch {
	case known: // again, after a stream was opened again: the same signature, which is valid
		return bytes.Equal(signature, f.Signature), nil
	case many:
		return false, nil
	case !p.verify(p.node.slip(r.id, m, key.sum), p.node.roster.Members[p.id].Key, f.Signature):
		return false, errors.New("the signature of a message is not valid")
	}
	return true, nil
}
