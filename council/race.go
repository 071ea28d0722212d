package council

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
)

// early is a call that began before its member was to be asked (protocol.Racing). It is made in the name of the first
// call of the member's machine. When the machine makes that call, it gets this reply; if it never does, the call was
// needless and is paid all the same. No machine and no decision sees more of it.
type early struct {
	call   sim.Call // its prompt is nil in a run that goes on with what an earlier attempt has paid for
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when reply and took are set
	reply  synod.Reply
	took   time.Duration
}

// earlyCalls are those of which no machine has the reply, by seat. The zero value is ready.
type earlyCalls struct {
	mu     sync.Mutex
	bySeat map[synod.NodeID]*early
}

func (c *earlyCalls) has(id synod.NodeID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bySeat[id] != nil
}

func (c *earlyCalls) keep(e *early) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bySeat == nil {
		c.bySeat = map[synod.NodeID]*early{}
	}
	c.bySeat[e.call.Node] = e
}

// take removes and returns the early call of a member that makes this call now; nil: there is none.
func (c *earlyCalls) take(call *sim.Call) *early {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.bySeat[call.Node]
	if e == nil || e.call.ID != call.ID || e.call.Prompt != nil && !reflect.DeepEqual(*e.call.Prompt, *call.Prompt) {
		return nil
	}
	delete(c.bySeat, call.Node)
	return e
}

// all returns the calls in the order of seats.
func (c *earlyCalls) all() (list []*early) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.bySeat)) {
		list = append(list, c.bySeat[id])
	}
	return list
}

// racing returns the protocol of a run whose next members may be called early; nil: they may not. A bench does not
// race, because its figures must not depend on the time that calls take.
func racing(s *session) protocol.Racing {
	r, ok := s.council.plan.Protocol().(protocol.Racing)
	if !ok || !r.Races() || s.ask.Final {
		return nil
	}
	return r
}

// race begins the calls that will probably follow a batch. It returns a channel on which it hears when a call of the
// batch is late; nil: there is nothing to hear.
func (b *batch) race() <-chan time.Time {
	if b.racing == nil || len(b.waiting) == 0 {
		return nil
	}
	of := make([]synod.NodeID, len(b.calls))
	for i := range b.calls {
		of[i] = b.calls[i].Node
	}
	at, known := b.lateAt()
	wait := time.Until(at)
	if next := b.racing.Ahead(of, b.firstAnswers(), known && wait <= 0); next != nil {
		beginEarly(b.session, b.racing, next, of)
		b.racing = nil
		return nil
	}
	if !known || wait <= 0 {
		return nil
	}
	return time.After(wait)
}

// firstAnswers returns the first answers of all seats so far, those that the batch has among them.
func (b *batch) firstAnswers() []synod.Answer {
	s := b.session
	first := make([]synod.Answer, len(s.council.plan.Seats()))
	for i, o := range s.fixed.first {
		first[i] = outcome.AnswerOf(o)
	}
	for i, call := range b.calls {
		r := &b.replies[i]
		if slices.Contains(b.waiting, i) || call.Prompt.Purpose != synod.Answering || r.Status != synod.OK {
			continue
		}
		if given, ok := read.ConfidentAnswer(&s.ask.Question, r, call.Prompt.ConfidenceMode, false); ok {
			first[call.Node] = given.Answer
		}
	}
	return first
}

// lateAt returns when the first of the calls that have not returned is late: when it takes longer than 19 of 20 earlier
// calls of its model, or, where too few are known, half as long again as the first reply of the batch and half a second
// more.
func (b *batch) lateAt() (at time.Time, known bool) {
	for _, i := range b.waiting {
		usual := time.Duration(0)
		if h, ok := llm.HealthOf(b.session.council.seats[b.calls[i].Node].model); ok {
			usual = h.Slow
		}
		if usual == 0 && len(b.took) > 0 {
			first := slices.Min(b.took)
			usual = first + first/2 + grace
		}
		if late := b.start.Add(usual); usual > 0 && (!known || late.Before(at)) {
			at, known = late, true
		}
	}
	return at, known
}

// beginEarly begins the first calls of seats that were not asked yet. asked are those of the present batch.
func beginEarly(s *session, r protocol.Racing, next, asked []synod.NodeID) {
	for _, id := range next {
		seat := &s.council.seats[id]
		known := s.fixed.first[id] != nil || s.early.has(id) || slices.Contains(asked, id)
		// What an adversary asks its model is not known.
		if known || seat.free || s.council.plan.Seats()[id].Adversary != "" || s.absent(id, new(synod.Reply)) {
			continue
		}
		call, ok := firstCall(s, r, id)
		if !ok || answeredBefore(s, &call) {
			continue
		}
		ctx, cancel := context.WithCancelCause(s.ctx)
		e := &early{call: call, cancel: cancel, done: make(chan struct{})}
		s.early.keep(e)
		begun := time.Now()
		s.work(func() {
			obtain(ctx, s, seat, &e.call, true, &e.reply)
			e.took = time.Since(begun)
			close(e.done)
		})
	}
}

// firstCall returns the call that the machine of a seat will make when its turn has come.
func firstCall(s *session, r protocol.Racing, id synod.NodeID) (call sim.Call, ok bool) {
	p, in := s.council.plan, s.instance
	own := plan.Identities(p, in.Seed).Identity(id, plan.SignedInstance(p, in))
	m := plan.Join(p, plan.SeatOf(p, own, &s.instance.Question), r.Asking)
	for _, effect := range m.Step(0, synod.Begin{}) {
		if c, is := effect.(synod.Consult); is && !ok {
			call, ok = sim.Call{Node: id, ID: c.ID, Prompt: c.Prompt}, true
		}
	}
	m.Step(0, synod.Halt{})
	return call, ok
}

// answeredBefore reports whether the journal of an earlier attempt has the reply to a call.
func answeredBefore(s *session, call *sim.Call) (known bool) {
	if s.ask.Resume != nil {
		_, known = s.ask.Resume.Replies[journal.Key{Node: call.Node, ID: call.ID}]
	}
	return known
}

// restoreEarly takes the early calls of an attempt that was cut off, whose replies have come and were not needed.
func restoreEarly(s *session) {
	if s.ask.Resume == nil {
		return
	}
	for key, r := range s.ask.Resume.Replies {
		if !r.Needless || r.Status == synod.Dropped || r.Reread == synod.RereadPending {
			continue
		}
		e := &early{call: sim.Call{Node: key.Node, ID: key.ID}, cancel: func(error) {}, done: make(chan struct{})}
		e.reply = r
		e.reply.Needless = false
		close(e.done)
		s.early.keep(e)
	}
}

// adopt waits in the background for the reply to a call that began early. A request that the limits had no room for is
// sent again: one that is needed waits for room.
func (b *batch) adopt(i int, e *early, seat *seated, round int) {
	s := b.session
	ctx, cancel := context.WithCancelCause(s.ctx)
	b.cancel[i] = cancel
	b.waiting = append(b.waiting, i)
	s.work(func() {
		stop := context.AfterFunc(ctx, func() { e.cancel(context.Cause(ctx)) })
		defer stop()
		<-e.done
		r := &b.replies[i]
		switch *r = e.reply; {
		case ctx.Err() != nil:
		case r.Status == synod.Dropped:
			obtain(ctx, s, seat, &b.calls[i], false, r)
			*r = costing(*r, &e.reply, r)
		case r.Reread == synod.RereadPending:
			s.reread(ctx, seat, &b.calls[i], false, r)
		}
		settle(s, seat, &b.calls[i], round, r)
		b.times[i] = max(e.took, time.Since(b.start))
		cancel(nil)
		b.finished <- i
	})
}

// endEarly cancels the early calls that were not needed, and writes down what they cost.
func endEarly(s *session) {
	left := s.early.all()
	for _, e := range left {
		e.cancel(nil)
	}
	for _, e := range left {
		<-e.done
		e.reply.Needless = true
		s.write(&s.council.seats[e.call.Node], &e.call, &e.reply)
		s.mu.Lock()
		s.seats[e.call.Node].Add(s.council.plan.Seats()[e.call.Node].Kind, 0, e.call.ID, e.call.Prompt, &e.reply)
		s.made = synod.Sum(s.made, e.reply.Calls)
		if s.ask.Replied != nil {
			s.ask.Replied(e.call.Node, &e.reply)
		}
		s.mu.Unlock()
	}
}
