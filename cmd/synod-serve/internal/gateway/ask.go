package gateway

import (
	"net/http"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// ask answers a request of a dialect.
func (g *Gateway) ask(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := &asking{api: d.name(), id: requestID(w), begun: time.Now()}
		if e := g.serve(d, w, r, a); e != nil {
			errorHeaders(w.Header(), e)
			d.refuse(w, e)
			if a.settled == nil || !a.settled.Load() {
				g.refuse(a, e)
			}
		}
	}
}

// serve answers a request, or returns the error with which to answer it.
func (g *Gateway) serve(d dialect, w http.ResponseWriter, r *http.Request, a *asking) *wire.Error {
	key, e := g.Authorise(r.Context(), r.Header)
	if e != nil {
		return e
	}
	a.key = key
	if e := g.closing(); e != nil {
		return e
	}
	caller := keyID(key)
	body, held, e := g.body(w, r, caller)
	defer func() { g.bodies.give(caller, held) }()
	if e == nil {
		e = g.admit(caller)
	}
	if e != nil {
		return e
	}
	defer g.leave(caller)
	head, e := wire.ReadHead(body)
	if e != nil {
		return e
	}
	served, e := g.acquire(key, head.Model)
	if e != nil {
		return e
	}
	via, e := via(r.Header, g.id)
	if e != nil {
		served.Release()
		return e
	}
	j := &job{id: a.id, api: d.name(), key: key, served: served, via: via, begun: a.begun,
		parent: r.Header.Get("Traceparent"),
		policy: g.o.Settings.policy(served.ID)}
	a.model, a.settled = served.ID, &j.settled
	if served.Council == nil {
		defer served.Release()
		return g.solo(d, w, r, j, body, head)
	}
	if j.policy.Tools == ToolsPrimary && usesTools(head.Members) {
		defer served.Release()
		return g.primary(d, w, r, j, body, head)
	}
	if e := g.read(j, d, body); e != nil {
		j.release(g.o.Log)
		return e
	}
	return g.fly(d, w, r, j)
}

// fly joins or begins the council's run and answers with its result.
func (g *Gateway) fly(d dialect, w http.ResponseWriter, r *http.Request, j *job) *wire.Error {
	again := r.Header.Get("Idempotency-Key")
	same := again
	if again == "" && !repeats(j.req) {
		same = "only " + j.id
	}
	fl, first := g.flights.join(flightKey(j.req.Caller, d.name(), same, sameBody(j.req.Body)), again != "",
		func(fl *flight) { g.start(fl, j) })
	if !first {
		j.release(g.o.Log)
	}
	if j.req.Stream {
		return j.stream(d, w, r, fl, first)
	}
	select {
	case <-fl.done:
		fl.leave(nil)
	case <-r.Context().Done():
		fl.leave(errGone)
		return nil // nobody reads a response
	}
	if fl.err != nil {
		j.headers(w.Header(), nil, fl.err)
		return fl.err
	}
	a := fl.answer.of(j, first)
	j.headers(w.Header(), a, nil)
	writeJSON(w, http.StatusOK, d.whole(a, j.req))
	return nil
}

// repeats reports whether a client that sends the request twice wants the same answer. At another temperature it may
// want samples, which copies of one answer are not.
func repeats(r *wire.Request) bool {
	t, set := r.Sampling["temperature"]
	return r.Seed != nil || set && t == 0.0
}
