package gateway

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// Inquiry is a question that comes by another protocol than the HTTP APIs. Keys, limits, accounting, journals
// and the joining of identical questions are the same.
type Inquiry struct {
	API    string      // the name under which it is recorded
	Header http.Header // has the API key, and the gateways that the request has passed
	Model  string      // a council; "": see DefaultCouncil
	Body   []byte      // the body of a chat completion
}

// Run is a question on its way. Its asker calls Leave once the answer is of no more use.
type Run struct {
	ID       string    // of this asker's request
	Request  string    // the request that is recorded: its own, or the one that it has joined
	Model    string    // the council
	Deadline time.Time // when the run ends at the latest

	g     *Gateway
	fl    *flight
	job   *job
	first bool
	leave sync.Once
	left  atomic.Bool // before the run had ended
}

// Inquire begins a question, or joins an identical one of the same key that is in flight.
func (g *Gateway) Inquire(ctx context.Context, q Inquiry) (*Run, *wire.Error) {
	key, e := g.Authorise(ctx, q.Header)
	if e != nil {
		return nil, e
	}
	if e := g.admit(keyID(key)); e != nil {
		return nil, e
	}
	j, e := g.inquiry(q, key)
	if e != nil {
		g.leave(keyID(key))
		return nil, e
	}
	r := &Run{ID: j.id, Model: j.served.ID, Deadline: j.begun.Add(j.longest(g.o.Settings.Deadline)), g: g, job: j}
	r.fl, r.first = g.flights.join(flightKey(j.req.Caller, q.API, "", sameBody(q.Body)), false,
		func(fl *flight) { g.start(fl, j) })
	if r.Request = r.fl.first; !r.first {
		j.release(g.o.Log)
	}
	return r, nil
}

// inquiry opens the council of a question of a key, and reads the question for it.
func (g *Gateway) inquiry(q Inquiry, key *store.Key) (*job, *wire.Error) {
	model := cmp.Or(q.Model, g.DefaultCouncil())
	served, e := g.acquire(key, model)
	if e != nil {
		return nil, e
	}
	now := time.Now()
	j := &job{id: newID(now), api: q.API, key: key, served: served, begun: now,
		policy: g.o.Settings.policy(served.ID)}
	via, e := via(q.Header, g.id)
	if e == nil && served.Council == nil {
		e = noModel(model)
		e.Message = "there is no model " + printable(model) + " that is a council; GET /v1/models lists the models"
	}
	if j.via = via; e == nil {
		e = g.read(j, direct{api: q.API}, q.Body)
	}
	if e != nil {
		j.release(g.o.Log)
		return nil, e
	}
	return j, nil
}

// DefaultCouncil is the council of questions that name none: synod, or the only council that there is.
func (g *Gateway) DefaultCouncil() string {
	only := ""
	for _, l := range g.o.Councils.List() {
		if l.ID == councils.Default {
			return councils.Default
		}
		if !strings.HasPrefix(l.ID, councils.Solo) {
			if only != "" {
				return councils.Default
			}
			only = l.ID
		}
	}
	return cmp.Or(only, councils.Default)
}

// Councils lists the councils, without single models, that the key in a header may ask.
func (g *Gateway) Councils(ctx context.Context, h http.Header) ([]string, *wire.Error) {
	key, e := g.Authorise(ctx, h)
	if e != nil {
		return nil, e
	}
	all := []string{}
	for _, l := range g.o.Councils.List() {
		if key.May(l.ID) && !strings.HasPrefix(l.ID, councils.Solo) {
			all = append(all, l.ID)
		}
	}
	return all, nil
}

// Done is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.fl.done }

// Now returns how far the run has come, and a channel that is closed when that changes.
func (r *Run) Now() (Progress, <-chan struct{}) { return r.fl.now() }

// Result returns the answer of a run that has ended, or the error.
func (r *Run) Result() (*Answer, *wire.Error) {
	if r.fl.err != nil {
		return nil, r.fl.err
	}
	return r.fl.answer.of(r.job, r.first), nil
}

// Caller is the id of the key that asks; "": none.
func (r *Run) Caller() string { return r.job.req.Caller }

// Leave says that the asker no longer waits. If nobody else does and the run has not ended, the calls of its
// members are cancelled.
func (r *Run) Leave() {
	r.leave.Do(func() {
		select {
		case <-r.fl.done:
		default:
			r.left.Store(true)
		}
		r.fl.leave(errGone)
		r.g.leave(keyID(r.job.key))
	})
}

// Left reports whether the asker has left before the run had ended.
func (r *Run) Left() bool { return r.left.Load() }

// Longest is the longest time of a request.
func (g *Gateway) Longest() time.Duration { return g.o.Settings.Deadline }

// MaxBody is how many bytes the body of a request has at most.
func (g *Gateway) MaxBody() int64 { return g.o.Settings.Body }
