package council

import (
	"context"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
)

// bounded returns a context that ends with the time that a call may take by the clock.
func (s *session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.council.can.Measured {
		return context.WithTimeoutCause(ctx, s.council.plan.Full().Pace.Think, llm.ErrSlow)
	}
	return ctx, func() {}
}

// Ask starts the calls of a batch. A member that answers in this process is asked in
// place, because starting a goroutine would take longer than its answer.
func (s *session) Ask(calls []sim.Call) (wait func() []synod.Reply) {
	replies := s.newReplies(len(calls))
	var b *batch // of calls that do not return at once; nil: there is none
	for i := range calls {
		call := &calls[i]
		seat, round := &s.council.seats[call.Node], s.round[call.Node]
		if e := s.early.take(call); e != nil {
			if b == nil {
				b = newBatch(s, calls, replies)
			}
			b.adopt(i, e, seat, round)
			continue
		}
		if s.ask.Resume != nil && s.known(call, round, &replies[i]) {
			continue
		}
		if s.ending != "" {
			replies[i] = dropped
			continue
		}
		if !seat.free && s.absent(call.Node, &replies[i]) {
			s.write(seat, call, &replies[i])
			s.count(call, round, &replies[i])
			continue
		}
		if seat.free {
			s.complete(s.ctx, seat, call, round, &replies[i])
			continue
		}
		if b == nil {
			b = newBatch(s, calls, replies)
		}
		b.begin(i, seat, round)
	}
	if b != nil {
		return b.wait
	}
	if s.crew == nil {
		return func() []synod.Reply { return replies }
	}
	s.arrived = replies // sim.Run takes the replies of simulated members before it asks again
	if s.wait == nil {
		s.wait = func() []synod.Reply { return s.arrived }
	}
	return s.wait
}

// newReplies returns storage for the replies of a batch. Batches share one array. With simulated
// members the next question uses it again.
func (s *session) newReplies(n int) []synod.Reply {
	from := len(s.replies)
	if from+n > cap(s.replies) {
		if s.crew == nil {
			return make([]synod.Reply, n)
		}
		s.replies, from = make([]synod.Reply, 0, n+2*cap(s.replies)), 0
	}
	s.replies = s.replies[:from+n]
	return s.replies[from : from+n : from+n]
}

// growStack makes the stack of a goroutine large while it is nearly empty. A call through the
// layers, HTTP and JSON needs up to seventeen kilobytes, and a stack that grows later is copied each
// time with its content.
//
//go:noinline
func growStack(i int) byte {
	var room [18 << 10]byte
	return room[i%len(room)]
}

// batch is the calls that were started together.
type batch struct {
	session  *session
	calls    []sim.Call
	replies  []synod.Reply
	start    time.Time
	waiting  []int           // calls that have not returned
	took     []time.Duration // by call, in the order of their returns, without those that were cut off
	times    []time.Duration // by call: what it took; 0: it has not returned
	finished chan int
	cancel   []context.CancelCauseFunc
	racing   protocol.Racing // what says which calls begin early; nil: none, or they have begun
}

func newBatch(s *session, calls []sim.Call, replies []synod.Reply) *batch {
	return &batch{session: s, calls: calls, replies: replies, start: time.Now(), finished: make(chan int, len(calls)),
		cancel: make([]context.CancelCauseFunc, len(calls)), times: make([]time.Duration, len(calls)),
		racing: racing(s)}
}

// begin starts a call in the background.
func (b *batch) begin(i int, seat *seated, round int) {
	ctx, cancel := context.WithCancelCause(b.session.ctx)
	b.cancel[i] = cancel
	b.waiting = append(b.waiting, i)
	b.session.work(func() {
		ctx, release := b.session.bounded(ctx)
		defer release()
		b.session.complete(ctx, seat, &b.calls[i], round, &b.replies[i])
		b.times[i] = time.Since(b.start)
		cancel(nil)
		b.finished <- i
	})
}

// work plays a call in the background: in a goroutine that has ended an earlier call of the run, whose stack is large
// already, else in a new one. No call begins after rest.
func (s *session) work(call func()) {
	select {
	case s.calls <- call:
	default:
		go func(calls <-chan func()) {
			growStack(len(s.seats))
			call()
			if calls != nil {
				for next := range calls {
					next()
				}
			}
		}(s.calls)
	}
}

// rest ends the goroutines of work, those that are busy after their calls.
func (s *session) rest() {
	if s.calls != nil {
		close(s.calls)
		s.calls = nil
	}
}

// wait returns the replies when every call has returned or was cut off: by patience, or because it
// cannot change the decision.
func (b *batch) wait() []synod.Reply {
	for cut := false; len(b.waiting) > 0; {
		b.await()
		var over <-chan time.Time
		at, late := b.impatient()
		needless := false
		if !late || patienceOf(b.session).Unequal { // which waits long for what may be needless
			if soon, ok := b.needless(); ok {
				at, late, needless = soon, false, true
			}
		}
		if (late || needless) && !cut {
			timer := time.NewTimer(time.Until(at))
			over = timer.C
			defer timer.Stop()
		}
		tardy := b.race()
		select {
		case <-tardy:
		case i := <-b.finished:
			if r := &b.replies[i]; r.Status == synod.OK && r.Calls > 0 { // others are no measure
				b.took = append(b.took, b.times[i])
			}
			b.waiting = slices.DeleteFunc(b.waiting, func(w int) bool { return w == i })
		case <-over:
			cut = true
			var why error
			if late {
				why = llm.ErrLate
				b.inVain()
			} else {
				b.session.settled = b.session.settled || b.session.unanimous()
			}
			for _, i := range b.waiting {
				b.session.cut(b.calls[i].Node)
				b.cancel[i](why)
			}
		}
	}
	b.await()
	return b.replies
}

// known sets the reply in the journal of an earlier, cut-off run, if it has one. The journal of
// this run has it too (journal.Head.Known).
func (s *session) known(call *sim.Call, round int, into *synod.Reply) bool {
	r, ok := s.ask.Resume.Replies[journal.Key{Node: call.Node, ID: call.ID}]
	Incomplete := r.Reread == synod.RereadPending && s.ending == ""
	if ok = ok && r.Status != synod.Dropped && !Incomplete; ok {
		*into = r
		s.count(call, round, into)
	}
	return ok
}

// dropped is the reply to a call that is not sent because the run is ending.
var dropped = synod.Reply{Status: synod.Dropped, Detail: "the run was ending"}

// complete calls the model of a seat and sets the reply. A reply that cost something is in the
// journal before anybody sees it.
func (s *session) complete(ctx context.Context, seat *seated, call *sim.Call, round int, r *synod.Reply) {
	obtain(ctx, s, seat, call, false, r)
	settle(s, seat, call, round, r)
}

// obtain calls the model of a seat and sets the reply. A call that failed only because the run is ending is dropped: a
// resumed run asks again. A spare call may be needless (llm.Request.Spare).
func obtain(ctx context.Context, s *session, seat *seated, call *sim.Call, spare bool, r *synod.Reply) {
	first, Incomplete := unfinishedReply(s, call)
	switch {
	case Incomplete:
		*r = first
	case s.ctx.Err() != nil || s.lost() != nil:
		*r = dropped
	case seat.instant != nil && s.limited == nil:
		s.instant.Prompt, s.instant.Seat = call.Prompt, s.council.plan.Seats()[call.Node].ID
		s.ended(ctx, call.Node, r, seat.instant.Reply(&s.instant, r))
		s.check(call, r)
	default:
		s.asked(ctx, seat, call, spare, r)
	}
	if !seat.free {
		s.reread(ctx, seat, call, spare, r)
	}
}

// settle writes down the reply to a call that a member has made.
func settle(s *session, seat *seated, call *sim.Call, round int, r *synod.Reply) {
	s.write(seat, call, r)
	if s.lost() != nil {
		s.cancel() // also calls that wait for a retry
	}
	s.count(call, round, r)
}

// asked sets the reply of a model, or why there is none.
func (s *session) asked(ctx context.Context, seat *seated, call *sim.Call, spare bool, r *synod.Reply) {
	request := s.request
	request.Spare = spare
	request.Prompt, request.Seat = call.Prompt, s.council.plan.Seats()[call.Node].ID
	var begun time.Time
	if !seat.free {
		begun = time.Now()
		if s.journal != nil { // it is paid for even if this process does not live to see the reply
			request.Asked = func(most synod.Usage) error {
				return s.journal.Asked(call.Node, call.ID, journal.Cost{Calls: 1, Usage: most})
			}
		}
	}
	var err error
	*r, err = seat.model.Complete(ctx, request)
	read.SetVersion(r)
	if r.Calls > 0 && !seat.free {
		r.Took = int(max(time.Since(begun).Milliseconds(), 1))
	}
	s.ended(ctx, call.Node, r, err)
	s.check(call, r)
}

// ended sets how a call ended.
func (s *session) ended(ctx context.Context, seat synod.NodeID, r *synod.Reply, err error) {
	if r.Status = synod.OK; err == nil {
		return
	}
	f := llm.AsFailure(err)
	r.Status, r.Detail = f.Status, f.Reason()
	if f.Lasting && (s.request.Outage == nil || f.Status == synod.Auth) { // others wait until the outage ends
		s.leave(seat, f)
	}
	if context.Cause(ctx) == llm.ErrLate { // one text, wherever the call was when it was cancelled
		r.Status, r.Detail, r.Late = synod.Timeout, llm.ErrLate.Error(), true
	}
	if r.Status != synod.OK && s.ctx.Err() != nil {
		r.Status, r.Late = synod.Dropped, false
	}
}

// count adds a reply to the account of its seat.
func (s *session) count(call *sim.Call, round int, r *synod.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seat := &s.seats[call.Node]
	seat.Add(s.council.plan.Seats()[call.Node].Kind, round, call.ID, call.Prompt, r)
	s.watchFor(call.Node, r)
	if call.Prompt.Purpose == synod.Answering && (r.Late || r.Status == synod.OK) {
		s.unanswered[call.Node] = r.Late
	}
	if r.Status != synod.OK && (seat.Failure == "" ||
		call.ID < s.failed[call.Node]) { // the first: later ones may only repeat it
		seat.Failure, s.failed[call.Node] = r.Detail, call.ID
	}
	s.made += r.Calls
	if s.ask.Replied != nil {
		s.ask.Replied(call.Node, r)
	}
	s.progress()
}
