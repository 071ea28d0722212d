package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
)

// read reads the frames of a neighbour's stream until it breaks or breaks a rule.
func (p *peer) read(ctx context.Context, conn *link.Conn) error {
	n := p.node
	var last []byte // the run of the batch before
	for ctx.Err() == nil {
		b, err := conn.ReceiveBytes(maxFrame, idleTime)
		if errors.Is(err, link.ErrTooLong) {
			return p.strike(err)
		}
		if err != nil {
			return err
		}
		p.alive()
		if !p.affords(1, len(b)) {
			return p.strike(errTooMuch)
		}
		p.pay(ctx, len(b)/bytesPerCheck)
		var x batch
		if err := canonical.Decode(b, maxFrame, &x); err != nil {
			return p.strike(err)
		}
		if len(x.Frames) == 0 || len(x.Frames) > batchFrames {
			return p.strike(fmt.Errorf("a batch has %d frames", len(x.Frames)))
		}
		if !p.affords(len(x.Frames)-1, 0) {
			return p.strike(errTooMuch)
		}
		if f := &x.Frames[0]; len(x.Run) == 0 && f.Kind == isPing {
			if err := conn.Send(pong{Sent: f.Clock, Clock: n.now().UnixMicro()}, helloTime); err != nil {
				return err
			}
			continue
		}
		if len(x.Run) == 0 {
			x.Run = last
		}
		if err := p.dispatch(&x); err != nil {
			return p.strike(err)
		}
		last = x.Run
	}
	return ctx.Err()
}

var errTooMuch = errors.New("it sends more than is read")

// affords takes frames and bytes from what is read of the neighbour in a second, over all its streams: one that opens
// others does not get more.
func (p *peer) affords(frames, bytes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames += uint64(frames)
	now := time.Now()
	return p.perSecond.AllowN(now, frames) && p.size.AllowN(now, bytes)
}

// strike excludes the neighbour for a time, which grows with every time.
func (p *peer) strike(err error) error {
	p.mu.Lock()
	p.strikes++
	excluded := min(50*time.Millisecond<<min(p.strikes, 10), 10*time.Second)
	p.excluded = time.Now().Add(excluded)
	p.mu.Unlock()
	p.node.log.Warn("a member is excluded for a time because of what it sent",
		"member", p.node.roster.Members[p.id].ID, "for", excluded, "reason", err)
	p.node.count(&p.node.stats.Junk)
	p.node.observer.Refused(RefusedStream, "", p.node.roster.Members[p.id].ID, err)
	return err
}

// dispatch hands the frames of a batch to their run. The error is for a batch that no honest node sends.
func (p *peer) dispatch(b *batch) error {
	if len(b.Run) != len(runKey{}) {
		return errors.New("a batch does not name its run")
	}
	key := runKey(b.Run)
	r := p.node.running(key) // nil: the question has not come yet, or the run is long over
	var forRun []frame
	for i := range b.Frames {
		f := &b.Frames[i]
		if !f.inRange() {
			return fmt.Errorf("a frame is out of range: kind %d, tick %d, round %d, a slot of %d bytes, a body of %d, "+
				"%d receipts", f.Kind, f.Tick, f.Round, len(f.Slot), len(f.Body), len(f.Receipts))
		}
		in, err := p.take(key, r, f)
		if err != nil {
			return err
		}
		if in {
			forRun = append(forRun, *f)
		}
	}
	if len(forRun) > 0 {
		r.put(input{from: p.id, frames: forRun})
	}
	return nil
}

// take handles a frame about a run, which is nil if this node does not have it in memory. forRun says that the run's
// goroutine has to have it.
func (p *peer) take(key runKey, r *run, f *frame) (forRun bool, err error) {
	n := p.node
	switch f.Kind {
	case isBegun:
		p.pay(n.context, begunCost)
		if r == nil && n.declined.has(key) {
			p.once(key, frame{Kind: isDecline})
		}
		p.tellHeld(key, r, true)
	case isHeld:
		return false, n.hearHeld(p.id, key, f)
	}
	if r == nil {
		return false, nil
	}
	switch f.Kind {
	case isMessage:
		return p.checkMessage(r, f)
	case isClosed, isDemand, isDecline:
		return true, nil
	case isBegun:
		p.again(r)
		return true, nil
	case isReceipts:
		return false, audit{r}.compareReceipts(p.id, f.Receipts)
	case isSummary:
		return false, audit{r}.hearSummary(p.id, f)
	case isPull:
		return false, audit{r}.answerPull(p.id, f)
	case isDigests:
		return false, audit{r}.hearDigests(p.id, f)
	}
	return false, errors.New("a frame of an unknown kind")
}
