package gateway

import (
	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// Running is a question that this process has put by Begin.
type Running struct {
	ID    string
	Plan  *plan.Plan
	Seats []plan.Seat // with the servers of their models
	Form  synod.Form  // of the answer, guessed if the request named none
	Text  string      // of the question
	fl    *flight
}

// direct is the API of requests that do not come over HTTP. They are read as those of chat completions.
type direct struct {
	chat
	api string
}

func (d direct) name() string { return d.api }

// Begin puts a question as POST /v1/chat/completions does with the same body, and returns at once. The run
// goes on until it ends or Stop is called. api names the front that asks, in the store and in metrics. watch,
// if it is not nil, is called before the run begins and says who watches it.
func (g *Gateway) Begin(api string, key *store.Key, body []byte, watch func(*Running) Watch) (*Running, *wire.Error) {
	if e := g.admit(keyID(key)); e != nil {
		return nil, e
	}
	leave := func() { g.leave(keyID(key)) }
	head, e := wire.ReadHead(body)
	var j *job
	if e == nil {
		j, e = g.inquiry(Inquiry{API: api, Model: head.Model, Body: body}, key)
	}
	if e != nil {
		leave()
		return nil, e
	}
	fl := &flight{done: make(chan struct{}), changed: make(chan struct{}), waiting: 1, landed: leave}
	r := &Running{ID: j.id, Plan: j.council().Plan(), Seats: j.council().Seats(), Form: j.question.Form,
		Text: j.question.Text, fl: fl}
	if watch != nil {
		j.watch = watch(r)
	}
	g.start(fl, j)
	return r, nil
}

// Done is closed when the run has ended.
func (r *Running) Done() <-chan struct{} { return r.fl.done }

// Result returns the answer, or why there is none, of a run that has ended.
func (r *Running) Result() (*Answer, *wire.Error) { return r.fl.answer, r.fl.err }

// Stop cancels the calls of a run. What they have cost is settled.
func (r *Running) Stop() {
	r.fl.mu.Lock()
	defer r.fl.mu.Unlock()
	r.fl.cancel(errStopped)
}

// ReportOf returns the object synod of a response for an outcome.
func ReportOf(o *outcome.Outcome) *Report { return report(o, nil) }
