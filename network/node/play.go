package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
)

// loop plays the run to its end.
func (r *run) loop(ctx context.Context) {
	if d := r.node.plan.Spec().Limits.Deadline; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, time.Now().Add(d-r.elapsed()))
		defer cancel()
	}
	defer r.release()
	stopped := r.play(ctx)
	if stopped == sim.Finished && len(r.suspects) == 0 && !r.resumed {
		r.node.usual.add(r.elapsed())
	}
	r.mu.Lock()
	calls := r.progress.Calls
	r.mu.Unlock()
	defer r.observer.End(stopped, calls)
	if stopped == outcome.Interrupted {
		r.journal.Abandon() // the next process goes on with it
		return
	}
	if r.failed != nil {
		r.journal.Abandon()
		r.fail(r.failed)
		return
	}
	r.finish(stopped)
}

func (r *run) play(ctx context.Context) (stopped string) {
	if wait := -r.elapsed(); wait > 0 {
		if !r.listen(ctx, wait) {
			return r.cut(ctx)
		}
	}
	if r.node.mayBeSigned(r.begins) {
		if stopped := r.vouch(ctx); stopped != "" {
			return stopped
		}
	}
	for !r.decided {
		r.drain(ctx)
		if r.failed != nil {
			return olderFolder
		}
		if err := r.journal.Err(); err != nil {
			r.node.log.Error("the journal cannot be written, so the seat has stopped", "run", r.short(), "error", err)
			return outcome.Unwritten
		}
		r.suspect()
		wait := r.schedule.wait(r.elapsed())
		if wait == 0 {
			t := r.schedule.next()
			r.step(t, r.schedule.take(t), false)
			continue
		}
		if r.closeIdle() {
			continue // an alarm may be due now
		}
		if r.schedule.next() == never && len(r.schedule.due) == 0 {
			if r.idle(ctx) {
				continue
			}
			return sim.Stalled
		}
		if !r.listenOnce(ctx, wait) {
			return r.cut(ctx)
		}
	}
	return sim.Finished
}

// idle waits for a message when nothing else can happen: a machine without an alarm waits for its
// neighbours. It reports whether something came before the run's longest pause.
func (r *run) idle(ctx context.Context) bool {
	return r.listenOnce(ctx, time.Duration(r.node.roster.Think+r.node.roster.Within)*time.Millisecond) &&
		r.schedule.next() != never
}

func (r *run) cut(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return outcome.PastTime
	}
	return outcome.Interrupted
}

// listen takes what comes for a time.
func (r *run) listen(ctx context.Context, for_ time.Duration) bool {
	r.flush()
	timer := time.NewTimer(for_)
	defer timer.Stop()
	for {
		select {
		case in := <-r.in:
			r.take(ctx, in)
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// listenOnce waits for one thing that comes, or for a time.
func (r *run) listenOnce(ctx context.Context, wait time.Duration) bool {
	r.flush()
	var expired <-chan time.Time
	if wait < forever {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case in := <-r.in:
		r.take(ctx, in)
	case <-expired:
	case <-ctx.Done():
		return false
	}
	return true
}

// drain takes all that has come.
func (r *run) drain(ctx context.Context) {
	for {
		select {
		case in := <-r.in:
			r.take(ctx, in)
		default:
			return
		}
	}
}

func (r *run) take(_ context.Context, in input) {
	s, elapsed := r.schedule, r.elapsed()
	switch {
	case in.presence:
		here := r.node.links[in.from].here()
		if p := s.peers[in.from]; here != p.present {
			p.present, p.behind, p.asked, p.opened = here, here && p.closed < s.closed, -1, elapsed
		}
	case in.vouched:
		r.vouchers[in.from] = true
	case in.older:
		r.failed = errOlder
	case in.reply != nil:
		s.replied(in.asked, in.due, *in.reply)
	}
	wanted := synod.Tick(-1) // the last tick for which the neighbour wants an answer
	for i := range in.frames {
		switch f := &in.frames[i]; f.Kind {
		case isMessage:
			r.heard(in.from, f, elapsed)
		case isClosed:
			s.heardClosed(in.from, synod.Tick(f.Tick), synod.Tick(f.Idle), elapsed)
		case isDecline, isBegun:
			s.peers[in.from].declined = f.Kind == isDecline
		case isDemand:
			if f.Idle == 1 {
				wanted = max(wanted, synod.Tick(f.Tick))
			}
			if f.Idle == 0 || s.over(synod.Tick(f.Tick), elapsed) {
				s.ask(synod.Tick(f.Tick), elapsed, r.node.within)
			}
		}
	}
	if r.closeIdle(); !r.decided && wanted >= 0 && s.mustAnswer(in.from, wanted) {
		r.queue([]synod.NodeID{in.from}, frame{Kind: isClosed, Tick: int64(s.closed), Idle: int64(s.idle())})
	}
}

// closeIdle closes ticks that neighbours have asked about, and asks them in turn. It reports whether it closed any.
func (r *run) closeIdle() (closed bool) {
	if r.decided {
		return false
	}
	s := r.schedule
	for s.close(r.elapsed()) || s.leap() {
		closed = true
		r.queue(nil, frame{Kind: isClosed, Tick: int64(s.closed), Idle: int64(s.idle())})
	}
	for id, t := range s.debtors(r.elapsed()) {
		r.queue([]synod.NodeID{id}, frame{Kind: isDemand, Tick: int64(t), Idle: 1})
	}
	if ids, t := r.schedule.questions(); len(ids) > 0 {
		r.queue(ids, frame{Kind: isDemand, Tick: int64(t)})
	}
	return closed
}

// suspect looks which neighbours seem to have crashed.
func (r *run) suspect() {
	s, elapsed := r.schedule, r.elapsed()
	for id, p := range s.peers {
		p.refused = r.node.links[id].refused.Load()
		p.heard = r.node.begun.Add(time.Duration(r.node.links[id].last.Load())).Sub(r.origin) - r.lead
	}
	for _, id := range s.suspect(elapsed) {
		if !r.suspects[id] {
			r.suspects[id] = true
			r.node.log.Info("a member seems to have crashed and is not waited for", "run", r.short(), "member",
				r.node.roster.Members[id].ID)
		}
	}
}

// heard takes a message whose signature was checked.
func (r *run) heard(from synod.NodeID, f *frame, elapsed time.Duration) {
	m := &synod.Message{From: from, Slot: synod.Slot{Name: f.Slot, Round: int(f.Round)}, Body: f.Body}
	p := r.schedule.peers[from]
	key := receiptKey{from, m.Slot, sha256.Sum256(m.Body)}
	if p.sent >= maxRunMessages || p.bytes+len(m.Body) > maxRunBytes {
		return
	}
	audit{r}.keep(key, f.Signature)
	if r.received[key] {
		return // it was sent again after a stream was opened again
	}
	if !r.hold(from, len(m.Body)) {
		return
	}
	r.received[key] = true
	if elapsed-time.Duration(f.Clock)*time.Millisecond > r.node.within {
		r.late++
		r.mu.Lock()
		r.progress.Late = r.late
		r.mu.Unlock()
	}
	r.schedule.heard(from, synod.Tick(f.Tick), m, elapsed, r.node.within)
}

// hold accounts bytes of a message of a neighbour until the run ends. It is false if the neighbour has too many
// already, in all runs together: then the message counts as not sent.
func (r *run) hold(from synod.NodeID, bytes int) bool {
	if r.node.links[from].held.Add(int64(bytes)) > maxPeerBytes || !r.grow(bytes) {
		r.node.links[from].held.Add(-int64(bytes))
		r.shrink(bytes)
		return false
	}
	r.held[from] += int64(bytes)
	return true
}

// release frees what an ended run needs no more: all but its record and the frames that it has sent, which neighbours
// that come late get. Only the run's own goroutine calls it, at its end.
func (r *run) release() {
	for id, bytes := range r.held {
		r.node.links[id].held.Add(-bytes)
	}
	r.freeAll()
	r.schedule, r.machine, r.desk, r.held, r.received, r.waiting = nil, nil, nil, nil, nil, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size = r.stored * receiptBytes
	for _, frames := range r.out {
		for _, f := range frames {
			r.size += len(f)
		}
	}
}

// mayBeSigned reports whether an earlier process may have signed values in a run that begins at a moment.
func (n *Node) mayBeSigned(begins time.Time) bool { return len(n.peers) > 0 && begins.Before(n.opened) }

// askAgain is how often a neighbour that has not told is asked.
const askAgain = 500 * time.Millisecond

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
