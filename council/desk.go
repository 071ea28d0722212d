package council

import (
	"context"
	"slices"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
)

// Desk answers the model calls of one seat and keeps its record, for a runner that plays only this
// seat because the others have other owners. Its methods may be called concurrently.
type Desk struct {
	plan    *Plan
	model   llm.Model
	journal *journal.Writer
	budget  *llm.Budget
	known   journal.Replies

	mu     sync.Mutex
	record Record
	round  int // that the next note is for
	failed synod.ConsultID
	first  bool // a call has failed
}

// NewDesk returns the desk of a seat. Calls are written to the journal before they leave, and are
// charged to the budget. Replies in known, of an earlier attempt at the run, are not asked for
// again.
func NewDesk(
	p *Plan, seat synod.NodeID, m llm.Model, w *journal.Writer, budget *llm.Budget, known journal.Replies,
) *Desk {
	return &Desk{plan: p, model: m, journal: w, budget: budget, known: known, record: Record{Seat: seat}}
}

// OpenSeat opens the model of one seat. settings replace those of the plan, which everybody in the
// council knows; nil: the plan's are used. The caller closes a model that is an llm.Closer.
func OpenSeat(p *Plan, seat synod.NodeID, settings Params, o Options) (llm.Model, error) {
	if o.Pool == nil {
		o.Pool = llm.DefaultPool()
	}
	hedge, err := p.spec.hedge()
	if err != nil {
		return nil, &ConfigError{Section: "hedge", Err: err}
	}
	s := p.seats[seat]
	if settings == nil {
		settings = p.spec.Models[s.Model]
	}
	m, err := openModel(settings, o.Pool, llm.Options{Env: o.Env, Exact: p.spec.Exact == "paper", Hedge: hedge})
	if err != nil {
		return nil, &ConfigError{Section: "models." + s.Model, Err: err}
	}
	alone := &Council{plan: &Plan{protocol: p.protocol, seats: []Seat{s}}, models: map[string]llm.Model{s.Model: m}}
	if err := alone.checkPowers(); err != nil {
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
	if again := d.plan.secondChance(kind, prompt, &r); again != nil && ctx.Err() == nil {
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
	if r.Calls == 0 || free(kind) {
		d.journal.Free(call.Node, call.ID, r)
	} else {
		d.journal.Reply(call.Node, call.ID, r)
	}
}

func (d *Desk) asked(ctx context.Context, call sim.Call, kind llm.Kind) synod.Reply {
	if ctx.Err() != nil || d.journal.Err() != nil {
		return dropped
	}
	request := llm.Request{Prompt: call.Prompt, Templates: d.plan.templates, Seat: d.plan.seats[call.Node].ID,
		Budget: d.budget}
	if !free(kind) {
		request.Asked = func(most synod.Usage) error {
			return d.journal.Asked(call.Node, call.ID, journal.Cost{Calls: 1, Usage: most})
		}
	}
	begun := time.Now()
	r, err := d.model.Complete(ctx, request)
	read.SetVersion(&r)
	if r.Calls > 0 && !free(kind) {
		r.Took = int(max(time.Since(begun).Milliseconds(), 1))
	}
	if r.Status = synod.OK; err != nil {
		f := llm.AsFailure(err)
		r.Status, r.Detail = f.Status, f.Reason()
	}
	return r
}

// count adds a reply to the seat's record.
func (d *Desk) count(call sim.Call, r *synod.Reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.count(r)
	d.record.Misreports.add(call.ID, r)
	d.record.say(call.Prompt.Question, d.round, call.ID, call.Prompt.Purpose, r)
	d.record.unread(d.model.Info().Kind, call.Prompt, call.ID, r)
	if r.Status != synod.OK && (!d.first || call.ID < d.failed) {
		d.record.Failure, d.failed, d.first = r.Detail, call.ID, true
	}
}

// Note adds an opinion to the seat's record.
func (d *Desk) Note(now synod.Tick, o *synod.Opinion) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.round = o.Round + 1
	d.record.Opinions = append(d.record.Opinions, Noted{now, o})
}

// Open keeps what the seat has opened.
func (d *Desk) Open(first []synod.Given) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.open(slices.Clone(first))
}

// Decide sets the answer with which the seat's machine ended.
func (d *Desk) Decide(a synod.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.Decided = &a
}

// Record returns the record of the seat when its run has ended.
func (d *Desk) Record(stopped string, ticks synod.Tick) Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.Stopped, d.record.Ticks = stopped, ticks
	return d.record
}

// CallTicks returns how much virtual time a model call takes.
func (p *Plan) CallTicks() synod.Tick { return p.callTicks() }

// Signs reports whether the seats sign their messages, as in protocols that promise agreement.
func (p *Plan) Signs() bool { return p.signs() }

// Linked returns the adversary at the links of a seat that is a node; nil if there is none.
func (p *Plan) Linked(seat synod.NodeID) *adversary.Linked {
	a, _ := p.adversaries[seat].(*adversary.Linked)
	return a
}

// Adversary reports whether the experimenter has put an adversary at a seat.
func (p *Plan) Adversary(seat synod.NodeID) bool { return p.adversaries[seat] != nil }

// Peers returns the seats that a seat hears, ascending. The slice must not be changed.
func (p *Plan) Peers(seat synod.NodeID) []synod.NodeID { return p.peers[seat] }

// Pace returns the longest times of model calls and messages.
func (p *Plan) Pace() synod.Pace { return p.pace }
