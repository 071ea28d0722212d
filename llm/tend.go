package llm

import (
	"context"
	"errors"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// Tended tells what became of a model that is tested in the background.
type Tended struct {
	Model  Info
	Out    bool          // it is not called for questions
	Reason string        // why it is, by its last call
	Gone   bool          // it was out, and nobody uses it any more, so it is not tested again
	Tested bool          // a call in the background has just ended; false: a call for a question has changed Out
	Usage  synod.Usage   // of that call
	Took   time.Duration // likewise
}

// testTime bounds a call in the background.
const testTime = 30 * time.Second

// tendEvery is how often a pool looks for models to be tested.
const tendEvery = 250 * time.Millisecond

// Tend tests, until ctx ends, the models behind a network that are out of order, in the background. A model whose
// breaker is open is then called for no question, and no question tests it: a call of a few words does, which no caller
// has written. If it succeeds the breaker closes. One call is made at a time, at the end of each cool-down, so a model
// gets one in 30 seconds at most, and one in ten minutes while it stays out or does not answer a question in between.
//
// Where the calls of one caller fail, a call in the background decides at once whether the model is out for all. So no
// caller, and no two of them, can take a model from others by their prompts.
//
// told, which may be nil, is called for every change and after every test, from one goroutine at a time.
func (p *Pool) Tend(ctx context.Context, told func(Tended)) {
	p.tended.Add(1)
	defer p.tended.Add(-1)
	t := tender{told: told, was: map[*breaker]standing{}}
	defer t.tests.Wait()
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done(): // what has changed since is told
		case <-tick.C:
		}
		for _, b := range p.breakers() {
			t.look(ctx, b)
		}
	}
}

// breakers returns the breakers of all models.
func (p *Pool) breakers() (all []*breaker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.models {
		for _, b := range s.breakers {
			all = append(all, b)
		}
	}
	return all
}

// tender is the work of one Tend.
type tender struct {
	tests sync.WaitGroup
	mu    sync.Mutex
	told  func(Tended)
	was   map[*breaker]standing // when told was last called
}

// standing is what is told of a breaker.
type standing int

const (
	isUsed standing = iota // questions call the model
	isOut
	isGone // it is open, and nobody uses the model any more
)

// look tells whether a breaker has opened or closed, and begins its test if that is due.
func (t *tender) look(ctx context.Context, b *breaker) {
	h, model := b.due(ctx.Err() == nil)
	if model.Kind != Endpoint {
		return
	}
	t.tell(b, Tended{Model: model})
	if h == nil {
		return
	}
	t.tests.Go(func() {
		begun := time.Now()
		limited, cancel := context.WithTimeoutCause(ctx, testTime, slowError{testTime})
		defer cancel()
		reply, err := h.tested.Complete(limited, Request{Prompt: &synod.Prompt{}, ticket: &ticket{b: b, probe: true},
			Given: &prompt.Chat{User: "Reply with the word ok."}})
		f := AsFailure(err)
		if ctx.Err() != nil {
			f = &Failure{Status: synod.Dropped, Err: errStopped}
		}
		b.judged(h, f)
		if ctx.Err() == nil {
			t.tell(b, Tended{Model: model, Tested: true, Usage: reply.Usage, Took: time.Since(begun)})
		}
	})
}

// tell calls told after a test, or if the breaker has opened or closed.
func (t *tender) tell(b *breaker, now Tended) {
	if f := b.refusal(); f != nil {
		now.Out, now.Reason = true, f.Reason()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	was, is := t.was[b], isUsed
	switch {
	case now.Out && b.unused():
		is = isGone
	case now.Out:
		is = isOut
	}
	if t.was[b] = is; t.told == nil {
		return
	}
	if now.Tested || was == isUsed && now.Out || is == isOut && was == isGone || was == isOut && is == isUsed {
		t.told(now)
	}
	if is == isGone && was != isGone { // also where it went out and was left since the last look
		t.told(Tended{Model: now.Model, Gone: true})
	}
}

// unused reports whether nobody uses the model any more.
func (b *breaker) unused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.users) == 0
}

// tending reports whether the model is tested in the background, and not by calls for questions. The caller holds
// the lock.
func (b *breaker) tending() bool {
	return b.pool != nil && b.pool.tended.Load() > 0 && len(b.users) > 0
}

// use adds or removes a handle through which the model can be tested.
func (b *breaker) use(h *handle, uses bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users == nil {
		b.users = map[*handle]bool{}
	}
	if uses {
		b.users[h], b.info = true, h.Info()
	} else {
		delete(b.users, h)
	}
}

// due returns the model, and if it is to be tested now and may be, a handle for that; then the test has begun.
func (b *breaker) due(may bool) (*handle, Info) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	switch {
	case b.testing || !may:
		return nil, b.info
	case b.wanted && (b.began.IsZero() || !now.Before(b.began.Add(b.cool))):
	case !b.open || now.Before(b.until):
		return nil, b.info
	}
	for h := range b.users {
		b.wanted, b.testing, b.began, b.tested = false, true, now, now
		return h, b.info
	}
	return nil, b.info
}

// judged records how a test in the background ended: nil, a failure that shows that the server works, or one that
// shows that it does not.
func (b *breaker) judged(h *handle, f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.testing = false
	switch {
	case !b.users[h]: // its client was closed
	case f != nil && b.worked.After(b.began): // the test waited for its turn, and a question has told more
	case f != nil && (f.Status == synod.RateLimited || f.Status == synod.Dropped):
		b.until = time.Now().Add(b.cool)
	case f != nil && (f.Status == synod.Unavailable || f.Status == synod.Timeout || f.Status == synod.Auth):
		b.failed, b.last = b.failed+1, f
		b.remember(f)
		if b.open {
			b.cool = min(2*b.cool, maxCoolDown)
		}
		b.trip()
	default:
		b.back()
	}
}

// back closes the breaker after a test. The cool-down stays and doubles with the next opening, until a call for a
// question succeeds. Questions that were late say nothing until it is over, because the model is slow and not out.
func (b *breaker) back() {
	if b.open {
		b.callers = nil // their calls failed because the model was out
	}
	for _, own := range b.callers {
		own.mu.Lock()
		if own.open && own.late {
			own.close()
		}
		own.slow = time.Now().Add(b.cool)
		own.mu.Unlock()
	}
	cool := b.cool
	b.close()
	b.slow, b.cool = time.Now().Add(cool), min(2*cool, maxCoolDown)
}

var errMissed = errors.New("no reply before the others had answered and waiting for it ended")

// Missed counts a question in which a model that was opened by a Pool has replied to no call before they were cut off
// because of ErrLate or because they could not change the decision. It counts as a failed call, for the caller of ctx,
// unless the model has replied to somebody since the question was begun.
func Missed(ctx context.Context, m Model, begun time.Time) {
	for {
		switch l := m.(type) {
		case *breaking:
			l.b.missed(callerOf(ctx), begun)
			return
		case interface{ Within() Model }:
			m = l.Within()
		default:
			return
		}
	}
}

func (b *breaker) missed(caller string, begun time.Time) {
	b.mu.Lock()
	replied := b.worked.After(begun)
	b.mu.Unlock()
	if replied {
		return
	}
	f := &Failure{Status: synod.Timeout, Err: errMissed}
	own := b.of(caller)
	if own == nil {
		b.miss(f)
		return
	}
	own.miss(f)
	b.agree(f)
}

// miss counts a question that was late.
func (b *breaker) miss(f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Before(b.slow) || b.open && now.Before(b.until) {
		return
	}
	b.remember(f)
	if b.open { // the question was a test
		b.cool = min(2*b.cool, maxCoolDown)
		b.trip()
		return
	}
	b.failed, b.last = b.failed+1, f
	if b.failed >= b.cfg.failures {
		b.trip()
		b.late, b.wanted = true, true
	}
}
