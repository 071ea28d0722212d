package llm

import (
	"context"
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
	m, model := b.due(ctx.Err() == nil)
	if model.Kind != Endpoint {
		return
	}
	t.tell(b, Tended{Model: model})
	if m == nil {
		return
	}
	t.tests.Go(func() {
		begun := time.Now()
		limited, cancel := context.WithTimeoutCause(ctx, testTime, slowError{testTime})
		defer cancel()
		reply, err := m.Complete(limited, Request{Prompt: &synod.Prompt{}, ticket: ticket{b: b, probe: true},
			Given: &prompt.Chat{User: "Reply with the word ok."}})
		f := AsFailure(err)
		if ctx.Err() != nil {
			f = &Failure{Status: synod.Dropped, Err: errStopped}
		}
		b.judged(m, f)
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
