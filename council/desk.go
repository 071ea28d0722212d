package council

import (
	"context"
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
)

// Desk answers the model calls of one seat and keeps its record, for a runner that plays only this
// seat because the others have other owners. Its methods may be called concurrently.
type Desk struct {
	plan    *plan.Plan
	model   llm.Model
	journal *journal.Writer
	budget  *llm.Budget
	known   journal.Replies

	mu     sync.Mutex
	record outcome.Record
	round  int // that the next note is for
	failed synod.ConsultID
	first  bool // a call has failed
}

// NewDesk returns the desk of a seat. Calls are written to the journal before they leave, and are
// charged to the budget. Replies in known, of an earlier attempt at the run, are not asked for
// again.
func NewDesk(
	p *plan.Plan, seat synod.NodeID, m llm.Model, w *journal.Writer, budget *llm.Budget, known journal.Replies,
) *Desk {
	return &Desk{plan: p, model: m, journal: w, budget: budget, known: known, record: outcome.Record{Seat: seat}}
}

// OpenSeat opens the model of one seat. settings replace those of the plan, which everybody in the
// council knows; nil: the plan's are used. The caller closes a model that is an llm.Closer.
func OpenSeat(p *plan.Plan, seat synod.NodeID, settings plan.Params, o Options) (llm.Model, error) {
	if o.Pool == nil {
		o.Pool = llm.DefaultPool()
	}
	s := p.Seats()[seat]
	if settings == nil {
		settings = p.Full().Models[s.Model]
	}
	m, err := o.open(p, s.Model, settings)
	if err != nil {
		return nil, err
	}
	if err := checkPowers(p.Protocol(), &s, m); err != nil {
		return nil, err
	}
	return m, nil
}

// Ask calls the model and waits for its reply. A reply that cost something is in the journal before
// Ask returns.
func (d *Desk) Ask(ctx context.Context, id synod.ConsultID, prompt *synod.Prompt) synod.Reply {
	call := sim.Call{Node: d.record.Seat, ID: id, Prompt: prompt}
	kind := d.model.Info().Kind
	r, known := d.known[journal.Key{Node: call.Node, ID: id}]
	if known = known && r.Status != synod.Dropped; !known {
		r = d.asked(ctx, call, kind)
	}
	if again := secondChance(d.plan, kind, prompt, &r); again != nil && ctx.Err() == nil {
		r, known = pending(r), false
		d.keep(call, kind, r)
		r = second(prompt, r, d.asked(ctx, sim.Call{Node: call.Node, ID: id, Prompt: again}, kind))
	}
	if !known {
		d.keep(call, kind, r)
	}
	d.count(call, &r)
	return r
}

// keep writes a reply into the journal.
func (d *Desk) keep(call sim.Call, kind llm.Kind, r synod.Reply) {
	if r.Calls == 0 || plan.Free(kind) {
		d.journal.Free(call.Node, call.ID, r)
	} else {
		d.journal.Reply(call.Node, call.ID, r)
	}
}

func (d *Desk) asked(ctx context.Context, call sim.Call, kind llm.Kind) synod.Reply {
	if ctx.Err() != nil || d.journal.Err() != nil {
		return dropped
	}
	request := llm.Request{Prompt: call.Prompt, Templates: d.plan.Templates(), Seat: d.plan.Seats()[call.Node].ID,
		Budget: d.budget}
	if !plan.Free(kind) {
		request.Asked = func(most synod.Usage) error {
			return d.journal.Asked(call.Node, call.ID, journal.Cost{Calls: 1, Usage: most})
		}
	}
	begun := time.Now()
	r, err := d.model.Complete(ctx, request)
	read.SetVersion(&r)
	if r.Calls > 0 && !plan.Free(kind) {
		r.Took = int(max(time.Since(begun).Milliseconds(), 1))
	}
	if r.Status = synod.OK; err != nil {
		f := llm.AsFailure(err)
		r.Status, r.Detail = f.Status, f.Reason()
	}
	if r.Status == synod.OK && len(call.Prompt.Question.Checks) > 0 {
		_, r.Failed = read.FailedReply(call.Prompt, &r)
	}
	return r
}

// count adds a reply to the seat's record.
func (d *Desk) count(call sim.Call, r *synod.Reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.Add(d.model.Info().Kind, d.round, call.ID, call.Prompt, r)
	if r.Status != synod.OK && (!d.first || call.ID < d.failed) {
		d.record.Failure, d.failed, d.first = r.Detail, call.ID, true
	}
}

// Note adds an opinion to the seat's record.
func (d *Desk) Note(now synod.Tick, o *synod.Opinion) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.round = o.Round + 1
	d.record.Opinions = append(d.record.Opinions, outcome.Noted{Tick: now, Opinion: o})
}

// Open keeps what the seat has opened.
func (d *Desk) Open(first []synod.Given) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.Open(slices.Clone(first))
}

// Decide sets the answer with which the seat's machine ended.
func (d *Desk) Decide(a synod.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.Decided = &a
}

// Record returns the record of the seat when its run has ended.
func (d *Desk) Record(stopped string, ticks synod.Tick) outcome.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.Stopped, d.record.Ticks = stopped, ticks
	return d.record
}
