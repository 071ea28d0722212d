package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"synod.dev/synod/llm"
)

// permits are those that a hub has granted, and those that workers wait for.
type permits struct {
	accounts *llm.Accounts
	ledger   *ledger
	broken   func(error) // the ledger cannot be written
	used     func()      // the budget is used

	mu  sync.Mutex
	all map[string]*held
}

// held is a permit of a worker.
type held struct {
	worker  string
	wanted  llm.Wanted
	granted llm.Permit // nil: the worker waits for it
	since   time.Time
	cancel  context.CancelFunc
	ask     *nats.Msg // the last request for it
}

func newPermits(budget *llm.Budget, l *ledger, open map[string]entry) *permits {
	p := &permits{accounts: llm.NewAccounts(budget), ledger: l, all: map[string]*held{}}
	for id, e := range open {
		p.all[id] = &held{worker: e.Worker, wanted: e.Wanted, granted: p.accounts.Restore(e.Wanted), since: time.Now()}
	}
	return p
}

// workers returns the workers that hold permits.
func (p *permits) workers() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.all {
		if !slices.Contains(all, h.worker) {
			all = append(all, h.worker)
		}
	}
	return all
}

// request answers a request for a permit as soon as it is granted. A worker repeats a request whose answer does not
// come, with the same id.
func (p *permits) request(ctx context.Context, m *nats.Msg, r *permitRequest) error {
	if !isID.MatchString(r.ID) || len(r.Wanted.Provider)+len(r.Wanted.Account)+len(r.Wanted.Model) > maxEntry/16 ||
		r.Wanted.Most.Calls != 1 || r.Wanted.Most.Tokens < 0 || !(r.Wanted.Most.USD >= 0) ||
		r.Wanted.Concurrency < 0 || r.Wanted.PerMinute < 0 {
		return refuse("the request for a permit makes no sense")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.all[r.ID]
	switch {
	case h == nil:
		if p.count(r.Worker) >= maxPlaying {
			return refuse("a worker may hold %d permits", maxPlaying)
		}
		waiting, cancel := context.WithCancel(ctx)
		h = &held{worker: r.Worker, wanted: r.Wanted, since: time.Now(), cancel: cancel, ask: m}
		p.all[r.ID] = h
		go p.acquire(waiting, r.ID, h)
	case h.worker != r.Worker:
		return refuse("the permit is another worker's")
	case h.granted == nil:
		h.ask = m
	default:
		respond(m, permitReply{true}, nil)
	}
	return nil
}

func (p *permits) count(worker string) (n int) {
	for _, h := range p.all {
		if h.worker == worker {
			n++
		}
	}
	return n
}

func (p *permits) acquire(ctx context.Context, id string, h *held) {
	defer h.cancel()
	granted, err := p.accounts.Acquire(ctx, h.wanted)
	if err == nil {
		if err = p.ledger.granted(id, h.worker, h.wanted); err != nil {
			granted.Release(llm.Spent{}, 0)
			p.broken(err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case errors.Is(err, llm.ErrNoBudget):
		delete(p.all, id)
		respond(h.ask, permitReply{false}, nil)
		p.used()
	case err != nil: // the worker or the hub ends
		delete(p.all, id)
	case p.all[id] != h: // the worker does not want it any more
		granted.Release(llm.Spent{}, 0)
		if err := p.ledger.released(id, llm.Spent{}); err != nil {
			p.broken(err)
		}
	default:
		h.granted = granted
		respond(h.ask, permitReply{true}, nil)
	}
}

// longestServerPause is how long a server may keep an account from being called, as a worker reports it.
const longestServerPause = time.Hour

// release ends a permit. What is not known is over already.
func (p *permits) release(r *releaseRequest) error {
	p.mu.Lock()
	h := p.all[r.ID]
	if h != nil && h.worker == r.Worker {
		delete(p.all, r.ID)
	}
	p.mu.Unlock()
	if h == nil || h.worker != r.Worker {
		return nil
	}
	spent := r.Spent
	if spent.Calls < 0 || spent.Tokens < 0 || !(spent.USD >= 0) { // a worker that miscounts lowers no sum
		spent = h.wanted.Most
	}
	return p.end(r.ID, h, spent, min(max(r.Pause, 0), longestServerPause))
}

// end releases a permit that was taken out of the list.
func (p *permits) end(id string, h *held, spent llm.Spent, pause time.Duration) error {
	if h.granted == nil {
		h.cancel()
		return nil
	}
	h.granted.Release(spent, pause)
	return p.ledger.released(id, spent)
}

// drop ends the permits of a worker that is gone, or those that it had before it was started again: they are older
// than an age, and it does not name them. What the requests may have cost at most counts as spent.
func (p *permits) drop(worker string, but []string, age time.Duration) (lost llm.Spent, err error) {
	p.mu.Lock()
	gone := map[string]*held{}
	for id, h := range p.all {
		if h.worker == worker && time.Since(h.since) >= age && !slices.Contains(but, id) {
			gone[id] = h
			delete(p.all, id)
		}
	}
	p.mu.Unlock()
	for id, h := range gone {
		if h.granted != nil {
			lost.Calls, lost.Tokens = lost.Calls+h.wanted.Most.Calls, lost.Tokens+h.wanted.Most.Tokens
			lost.USD += h.wanted.Most.USD
		}
		err = errors.Join(err, p.end(id, h, h.wanted.Most, 0))
	}
	return lost, err
}
