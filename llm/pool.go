package llm

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod/core/param"
)

// Options determine how one user of a pool opens a model. The zero value is usable.
type Options struct {
	Env   Env
	Exact bool  // use the papers' sampling where the settings give no others
	Hedge Hedge // send slow calls a second time; 0: never
}

// Pool owns what the users of one model of one provider account share, where a
// user is a council or anything else that opened the model:
//
//   - the concurrency limit and the rate limit. Where users set different
//     limits, the lowest of those that are open counts.
//   - the circuit breaker. Users with different time limits have breakers of
//     their own, because what is too slow for one is not for another.
//   - the observed latencies, for Hedge.
//   - the client and its connections, where all settings are equal.
//   - the reply cache of a folder. Identical concurrent requests of models with
//     cache: true are sent once.
//
// An account is a provider, an address and the identity of a key. Limits,
// breakers and latencies outlive their users for an hour, so that a council that
// is opened for each question starts no new allowance.
//
// The zero value is an empty pool. A pool is safe for concurrent use.
type Pool struct {
	mu     sync.Mutex
	models map[modelKey]*shared
	caches map[string]*cache
	habits map[string]*habits // by file
	swept  time.Time
	tended atomic.Int64 // how many Tend run
	given  atomic.Int64 // how many models Given has wrapped

	breaker breakerConfig // zero but in tests
}

var defaultPool Pool

// DefaultPool returns the pool of this process. A program that opens models in
// several pools has their limits once for each pool.
func DefaultPool() *Pool { return &defaultPool }

// modelKey is a model of a provider account.
type modelKey struct{ provider, account, model string }

// clientKey is a client that several users may share.
type clientKey struct {
	identity string
	timeout  time.Duration
	alone    *handle // the only user of a client that is not shared; else nil
}

// shared is what the users of one model of an account share.
type shared struct {
	limiter  limiter
	latency  latencies
	breakers map[time.Duration]*breaker // by time limit
	clients  map[clientKey]*client
	users    int
	left     time.Time // when the last user left
}

// client is an open model of a provider and how many users it has.
type client struct {
	model  Model
	habits *habits
	users  int
}

// idleTime is how long limits and breakers outlive their last user.
const idleTime = time.Hour

// Check reads a model's settings as Open does, and opens nothing.
func Check(provider string, decode func(into any) error) error {
	p, err := Providers.Find(provider)
	if err != nil {
		return err
	}
	return checked(decode)(p.Settings())
}

// checked returns decode with a check of the decoded settings against the ranges that their tags describe.
func checked(decode func(into any) error) func(into any) error {
	return func(into any) error {
		if err := decode(into); err != nil {
			return err
		}
		return param.Verify(into)
	}
}

// Open opens a model of a provider with its layers. decode writes the model's
// settings over the defaults in the struct that into points to, and fails for
// settings that the struct does not have. Nothing is sent. The caller closes the
// model if it is a Closer.
//
// The layers, outermost first:
//
//	habit     short answers are asked for as JSON or as text, by what the server does
//	record    every answer, the cached ones too, so that a trace is complete
//	cache     a reply that is known costs nothing of what follows
//	breaker   counts calls given up, not attempts
//	retry     waits outside the limits, so that a waiting call holds no slot
//	hedge     sends a slow attempt a second time
//	limits    concurrency and rate, shared by all users of the model
//	gate      the breaker again, for calls that waited while it opened
//	permit    of Env.Permits, where limits hold over several processes
//	spend     each request that leaves is reserved in the budget, repeated ones too
//	bound     the time limit of one request
//	client    the provider's model
//
// Models that call nobody (recorded, simulated) have only record and spend.
func (p *Pool) Open(provider string, decode func(into any) error, o Options) (Model, error) {
	entry, err := Providers.Find(provider)
	if err != nil {
		return nil, err
	}
	opened, err := entry.Open(Opening{Decode: checked(decode), Exact: o.Exact, Env: o.Env})
	if err != nil {
		return nil, err
	}
	return p.wrap(provider, opened, o)
}

// wrap puts the layers around an opened model.
func (p *Pool) wrap(provider string, opened Opened, o Options) (Model, error) {
	var layers []layer
	if o.Env.Record != nil {
		layers = append(layers, o.Env.Record.layer())
	}
	info := opened.Model.Info()
	if info.Kind == Recorded || info.Kind == Simulated {
		return stack(opened.Model, append(layers, spend(opened))...), nil
	}
	if opened.Cache {
		c, err := p.cache(o.Env.Cache)
		if err != nil {
			return nil, errors.Join(err, layered{opened.Model}.Close())
		}
		layers = append(layers, c.layer())
	}
	key := modelKey{provider, opened.Account, cmp.Or(info.Model, info.Name)}
	h := &handle{
		pool: p, key: key, client: clientKey{identity: info.Identity, timeout: opened.Timeout},
		limits: limits{opened.Concurrency, opened.PerMinute}, habits: p.habitsIn(o.Env.Habits),
	}
	s, b := p.join(h, opened.Model)
	if info.Kind == Endpoint {
		layers = append([]layer{habit(h)}, layers...)
	}
	layers = append(layers, b.layer(), retry(retryConfig{attempts: opened.Attempts}))
	if o.Hedge > 0 && info.Kind == Endpoint {
		layers = append(layers, o.Hedge.layer(&s.latency, b))
	}
	inner := []layer{s.limiter.layer(), b.gate()}
	if o.Env.Permits != nil && info.Kind == Endpoint {
		inner = append(inner, permit(o.Env.Permits, Wanted{Provider: provider, Account: opened.Account,
			Model: key.model, Concurrency: opened.Concurrency, PerMinute: opened.PerMinute}, opened, o.Env.prices()))
	}
	inner = append(inner, spend(opened), bound(opened.Timeout, &s.latency))
	if h.tested = stack(h, inner...); info.Kind == Endpoint {
		h.breaker = b
		b.use(h.tested, true)
	}
	return stack(h.tested, layers...), nil
}

func (p *Pool) cache(dir string) (*cache, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.caches[dir]; c != nil {
		return c, nil
	}
	c, err := newCache(dir)
	if err != nil {
		return nil, err
	}
	if p.caches == nil {
		p.caches = map[string]*cache{}
	}
	p.caches[dir] = c
	return c, nil
}

// habitsIn returns the habits in a file, which all users of it share; "": new ones.
func (p *Pool) habitsIn(path string) *habits {
	if path == "" {
		return openHabits("")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.habits == nil {
		p.habits = map[string]*habits{}
	}
	if p.habits[path] == nil {
		p.habits[path] = openHabits(path)
	}
	return p.habits[path]
}

// handle is one user's hold on a client. It is the innermost model of the
// user's stack, and closing it leaves the pool.
type handle struct {
	layered
	pool   *Pool
	key    modelKey
	client clientKey
	limits limits
	habits *habits
	once   sync.Once

	tested  Model    // the model as a test in the background calls it
	breaker *breaker // that tests through it; nil: none does
}

// Close leaves the pool. The last user of a client closes it.
func (h *handle) Close() (err error) {
	h.once.Do(func() { err = h.pool.leave(h) })
	return err
}

// join makes h a user of its model, with an equal client that is open already
// if there is one, and returns what the users share.
func (p *Pool) join(h *handle, m Model) (*shared, *breaker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep()
	s := p.models[h.key]
	if s == nil {
		s = &shared{breakers: map[time.Duration]*breaker{}, clients: map[clientKey]*client{}}
		if p.models == nil {
			p.models = map[modelKey]*shared{}
		}
		p.models[h.key] = s
	}
	s.users++
	if info := m.Info(); info.Kind != Endpoint || info.Identity == "" {
		h.client.alone = h
	}
	c := s.clients[h.client]
	if c == nil {
		c = &client{model: m, habits: h.habits}
		s.clients[h.client] = c
	} else {
		_ = layered{m}.Close() // nothing has been sent
	}
	c.users++
	h.Model, h.habits = c.model, c.habits
	s.limiter.join(&h.limits)
	b := s.breakers[h.client.timeout]
	if b == nil {
		b = newBreaker(p.breaker)
		b.tended = &p.tended
		s.breakers[h.client.timeout] = b
	}
	return s, b
}

func (p *Pool) leave(h *handle) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.breaker != nil {
		h.breaker.use(h.tested, false)
	}
	s := p.models[h.key]
	s.limiter.leave(&h.limits)
	if s.users--; s.users == 0 {
		s.left = time.Now()
	}
	c := s.clients[h.client]
	if c.users--; c.users > 0 {
		return nil
	}
	delete(s.clients, h.client)
	return h.layered.Close()
}

// sweep forgets, at most once a minute, models that nobody has used for long.
func (p *Pool) sweep() {
	now := time.Now()
	if now.Sub(p.swept) < time.Minute {
		return
	}
	p.swept = now
	for key, s := range p.models {
		if s.users == 0 && now.Sub(s.left) > idleTime {
			delete(p.models, key)
		}
	}
}
