// Package council is the library's front door: it opens a council and puts questions to it.
//
//	spec, err := plan.Load("council.yaml")
//	p, err := plan.New(spec)                     // seats, graph, claim, cost
//	c, err := council.Open(p, council.Options{}) // opens the models
//	defer c.Close()
//	o, err := c.Decide(ctx, council.Ask{Question: question})
//
// What a council is stands in package plan: a Plan is everything that follows from the spec. A Council is a plan with
// open models. It plays a question's machines over a Runner, which hands back one outcome.Record per seat. What came
// out stands in package outcome: outcome.Judge makes the Outcome of the records. The decision is code over the
// members' own final answers (GR-3). None of these packages knows who is honest.
package council

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/grade"
)

// Council is a plan with open models. It may decide many questions, one after another
// or at once.
type Council struct {
	plan   *plan.Plan
	models map[string]llm.Model // by name in the council file
	seats  []seated
	prices llm.Prices
	record *llm.Recorder // nil: replies are not recorded
	runner Runner
	reuse  bool      // the memory of a question is used for later ones: it is SimRunner's, of simulated members
	spare  sync.Pool // of *session
}

// seated is the model of a seat.
type seated struct {
	model   llm.Model
	instant llm.Instant // replies to calls without a budget; nil: the model does
	free    bool        // calls cost neither time nor money
}

// Options determine how a council is opened. The zero value is usable.
type Options struct {
	Env    llm.Env   // what models may know of this machine
	Pool   *llm.Pool // the owner of limits, breakers and clients; nil: that of the process
	Runner Runner    // nil: that of the spec: a SimRunner, a ClockRunner, or what RegisterNodes has set
}

// Convene makes the plan of a spec and opens it.
func Convene(spec plan.Spec, env llm.Env) (*Council, error) {
	p, err := plan.New(spec)
	if err != nil {
		return nil, err
	}
	return Open(p, Options{Env: env})
}

// Open opens the models of a plan. It calls none of them. A model that cannot be opened
// or cannot do what the protocol needs is a *ConfigError. The caller closes the council.
func Open(p *plan.Plan, o Options) (*Council, error) {
	c := &Council{plan: p, models: map[string]llm.Model{}, prices: o.Env.Prices, record: o.Env.Record, runner: o.Runner}
	if c.prices == nil {
		c.prices = llm.Published()
	}
	if p.Full().Runner.Nodes() {
		return c, c.openElsewhere(o.Env)
	}
	if err := p.InOneProcess(); err != nil && c.runner == nil {
		return nil, err
	}
	switch {
	case c.runner != nil:
	case p.Full().Runner.Clock():
		c.runner = ClockRunner{}
	default:
		c.runner, c.reuse = SimRunner{}, p.Simulated()
	}
	if o.Pool == nil {
		o.Pool = llm.DefaultPool()
	}
	hedge, err := p.Full().Hedging()
	if err != nil {
		return nil, &plan.ConfigError{Section: "hedge", Err: err}
	}
	for _, s := range p.Seats() {
		if c.models[s.Model] != nil {
			continue
		}
		m, err := openModel(p.Full().Models[s.Model], o.Pool, llm.Options{Env: o.Env, Exact: p.Full().Exact == "paper",
			Hedge: hedge})
		if err != nil {
			err = &plan.ConfigError{Section: "models." + s.Model, Err: err}
			return nil, errors.Join(err, c.Close())
		}
		c.models[s.Model] = m
	}
	if c.plan, err = c.priced(p); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for i := range p.Seats() {
		m := c.models[p.Seats()[i].Model]
		c.seats = append(c.seats, seated{m, llm.InstantOf(m), plan.Free(p.Seats()[i].Kind)})
	}
	if err := errors.Join(p.CheckSupport(), c.checkPowers(), c.checkPrices(p.Full().Limits)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func openModel(settings plan.Params, pool *llm.Pool, o llm.Options) (llm.Model, error) {
	provider, decode := plan.Settings(settings)
	m, err := pool.Open(provider, decode, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", provider, err)
	}
	return m, nil
}

// OpenModel opens one model of the process's pool without a council, from settings as they stand under
// models in a council file.
func OpenModel(settings plan.Params, env llm.Env) (llm.Model, error) {
	provider, decode := plan.Settings(settings)
	if provider == "" {
		return nil, errors.New("it names no provider (example: provider: openai)")
	}
	if err := llm.Check(provider, decode); err != nil {
		return nil, err
	}
	return openModel(settings, llm.DefaultPool(), llm.Options{Env: env})
}

// checkPowers refuses a protocol that needs more of a model than it can do.
func (c *Council) checkPowers() error {
	for i := range c.plan.Seats() {
		s := &c.plan.Seats()[i]
		if err := checkPowers(c.plan.Protocol(), s, c.models[s.Model]); err != nil {
			return err
		}
	}
	return nil
}

func checkPowers(p protocol.Protocol, s *plan.Seat, m llm.Model) error {
	weighs, _ := p.(interface{ Weighs() bool })
	reader, _ := p.(interface{ ConfidenceMode() synod.ConfidenceMode })
	hidden := reader != nil && reader.ConfidenceMode() == synod.HiddenConfidence
	by := "score"
	if reader != nil && reader.ConfidenceMode() == synod.LikelihoodConfidence {
		by = "probe"
	}
	if w, can := m.(llm.Weigher); weighs != nil && weighs.Weighs() && !s.NonVoting && (!can || !w.CanWeigh()) {
		return &plan.ConfigError{Section: "protocol",
			Err: fmt.Errorf("%s: likelihood needs members that return the likelihood of a text, and model %q "+
				"does not; use %s: stated", by, s.Model, by)}
	}
	probed, can := m.(llm.ConfidenceModel)
	if hidden && (!can || !probed.GivesHiddenConfidence()) { // CP-2
		return &plan.ConfigError{Section: "protocol",
			Err: fmt.Errorf("probe: hidden needs members with a trained probe, and model %q has none; give it "+
				"probe: FILE (a model in the box can have one: synod research probe train), or use probe: stated",
				s.Model)}
	}
	return nil
}

// acceptsGrading returns an error if more than F members cannot grade, because they are recorded and the recording has
// no grades. A missing grade uses up F, so such a run would end undecided.
func (c *Council) acceptsGrading() error {
	if c.plan.Grading() == nil {
		return nil
	}
	var lacking []string
	for _, s := range c.plan.Seats() {
		if !llm.Replies(c.models[s.Model], grade.One) {
			lacking = append(lacking, s.ID)
		}
	}
	if f := c.plan.Full().F; len(lacking) > f {
		return fmt.Errorf("protocol %s has its members grade texts, and the recordings of %s have no grades; at most "+
			"F=%d members may lack them. Record a run of this protocol with synod ask --record, or use protocol: "+
			"{name: sac}, in which a recorded member scores its own text 1 and others 0", c.plan.Entry().Name,
			strings.Join(lacking, ", "), f)
	}
	return nil
}

// Accepts reports why a question cannot be put to the council; nil if it can. Beside what Plan.Accepts
// checks, every member must take every part of the question.
func (c *Council) Accepts(q *synod.Question) error {
	if err := c.plan.Accepts(q); err != nil || c.plan.Full().Runner.Nodes() { // nodes know their models
		return err
	}
	if err := c.acceptsGrading(); err != nil {
		return err
	}
	for _, p := range q.Attached() {
		for _, s := range c.plan.Seats() {
			if err := llm.TakesPart(c.models[s.Model], &p); err != nil {
				return fmt.Errorf("member %s (model %s) cannot take the %s %s: %w; leave the part out, or give the "+
					"seat another model", s.ID, s.Model, p.Kind, cmp.Or(p.Name, p.Media), err)
			}
		}
	}
	return nil
}

// Close closes the models and the runner: it ends child processes and connections, and completes recordings.
func (c *Council) Close() error {
	var errs []error
	for _, name := range sortedKeys(c.models) {
		if m, ok := c.models[name].(llm.Closer); ok {
			errs = append(errs, m.Close())
		}
	}
	if r, ok := c.runner.(llm.Closer); ok {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Plan returns the council's plan.
func (c *Council) Plan() *plan.Plan { return c.plan }

// Runner returns what plays the seats.
func (c *Council) Runner() Runner { return c.runner }

// Seats returns the seats in order, with the identities of their models.
func (c *Council) Seats() []plan.Seat {
	seats := slices.Clone(c.plan.Seats())
	for i := range seats {
		info := c.models[seats[i].Model].Info()
		seats[i].Kind, seats[i].Identity, seats[i].Server, seats[i].Served = info.Kind, info.Identity, info.Server,
			info.Model
	}
	return seats
}

// Ask is one question to a council.
type Ask struct {
	Question synod.Question
	Seed     uint64
	Sample   int              // which repeat of the question this is, from 0
	Journal  string           // path of the journal to write or, with Segment, the id of its run; "": none is kept
	Segment  *journal.Segment // the file that the journal is part of; nil: a file of its own
	Resume   *journal.Run     // a run that was cut off: no reply is asked for again; it goes on in its Journal
	Progress func(Progress)
	Noted    func(synod.NodeID, *synod.Opinion) // called with each opinion as a member notes it; may be nil
	// Replied is called with each reply of a member's model as it comes, one at a time; nil: nobody watches. A
	// council of nodes never calls it, nor Noted.
	Replied func(synod.NodeID, *synod.Reply)
	Program string      // the calling program, for the head of the journal
	Limits  plan.Limits // they only lower those of the council; 0: the council's
	// Draw asks for tokens and money as calls are to leave, beside Limits, with Granted at the beginning; nil: nobody
	// is asked. A council of nodes never calls it. With TokensOnly it grants no money, and prices need not be known.
	Draw       llm.Draw
	Granted    llm.Spent
	TokensOnly bool
	// a run that a breaker stops is complete: its journal has an end, and it cannot be resumed
	Final bool
	// Outage lets calls wait while their model is out of order; nil: they fail.
	Outage *llm.Outage
	Mark   func([]byte) string // marks the head of the journal as written by the user; nil: there is no mark
	Again  string              // the command that resumes a journal; "": synod ask --resume
}

// Progress is how far a question has come.
type Progress struct {
	Round   int // the last round that every live member has finished; -1: none
	Rounds  int // rounds at most; 0 if the protocol has no maximum
	Calls   int // requests made
	Planned int // requests at most, retries aside
	// Awaited lists the seats whose calls the run waits for, in their order.
	Awaited []string
}

// JournalError reports that the journal or the trace of a run could not be written.
type JournalError struct {
	Err error
	Cut bool // the run was stopped before its end, and no further call was made; false: the outcome is complete
}

// Error returns the cause, and what it means for the run.
func (e *JournalError) Error() string {
	if e.Cut {
		return fmt.Sprintf("the run was stopped, because its record could not be written: %v", e.Err)
	}
	return fmt.Sprintf("the journal could not be written, so this run cannot be replayed or resumed: %v", e.Err)
}

func (e *JournalError) Unwrap() error { return e.Err }

// Decide puts a question to the council. The outcome is complete whatever its status.
// The error is for a run that could not begin; a *JournalError or *EscalationError
// comes beside a complete outcome.
func (c *Council) Decide(ctx context.Context, ask Ask) (outcome.Outcome, error) {
	if err := cmp.Or(c.Accepts(&ask.Question), c.checkPrices(ask.Limits)); err != nil {
		return outcome.Outcome{}, err
	}
	if ask.Resume != nil {
		if err := c.resumable(&ask); err != nil {
			return outcome.Outcome{}, err
		}
	}
	start := time.Now()
	s, err := c.begin(ctx, ask)
	if err != nil {
		return outcome.Outcome{}, err
	}
	defer s.cancel()
	defer s.rest()
	records, err := c.runner.Play(s.ctx, c.plan, Run{Instance: s.instance, Limits: s.ask.Limits,
		Log: s.log(), Notes: s.notes, Watch: s.watch, crew: s.crew}, s)
	if err != nil {
		return outcome.Outcome{}, errors.Join(err, s.abandon())
	}
	if c.plan.Full().Runner.Nodes() {
		s.keep(records)
	} else {
		s.account(records)
		s.keepTimes(records)
		s.missed(ctx, start)
	}
	o := s.judge(records)
	c.completeIn(&o, records, s.uses)
	if s.journal != nil {
		o.Journal = s.journal.Path()
	}
	o.Charged = s.budget.Spent()
	o.Exceeded, o.Resume, o.Seconds = s.exceeded(), s.resume(&o), time.Since(start).Seconds()
	err = s.close(&o)
	if s.crew != nil {
		c.spare.Put(s)
	}
	return o, errors.Join(err, send(c.plan.Full().Breakers.Escalate, &o))
}

// ResumeError reports that a run cannot be resumed from a journal: it belongs to another
// run, or its lines do not follow from its replies.
type ResumeError struct{ Err error }

// Error returns the reason.
func (e *ResumeError) Error() string { return "the journal cannot be resumed: " + e.Err.Error() }

func (e *ResumeError) Unwrap() error { return e.Err }

// resumable checks the journal that a run is to be resumed from, before any call is made:
// it is of this run, the prompts have not changed, and the effects in it follow from the
// events and replies.
func (c *Council) resumable(ask *Ask) error {
	run := ask.Resume
	if c.plan.Full().Runner.Nodes() {
		if ask.Segment != nil { // nodes keep the replies of a run that was cut off; another one is begun
			ask.Resume = nil
			return nil
		}
		return &ResumeError{errors.New("nodes have played the run, and keep its replies; ask the question again")}
	}
	if c.plan.Full().Runner.Clock() {
		if ask.Segment != nil { // the time of a run that was cut off is not known; another one is begun
			ask.Resume = nil
			return nil
		}
		return &ResumeError{errors.New("it was played by the clock, and its time would not be known; ask the " +
			"question again")}
	}
	in := plan.Instance{Question: ask.Question, Seed: ask.Seed}
	if run.Head.Seed != ask.Seed || run.Head.Instance != string(c.plan.InstanceID(in)) {
		return &ResumeError{errors.New("it belongs to another run: the question, the council or the seed is another")}
	}
	if changes := plan.TemplateChanges(run.Head.Prompts, c.plan.DigestsFor(&ask.Question)); len(changes) > 0 {
		return fmt.Errorf("the run was begun with other prompts:\n  %s", strings.Join(changes, "\n  "))
	}
	if _, err := replay(c.plan, run); err != nil {
		return &ResumeError{err}
	}
	return nil
}

// complete adds what only the open models know.
func (c *Council) complete(o *outcome.Outcome, records []outcome.Record) {
	c.completeIn(o, records, nil)
}

// completeIn is complete with a buffer, or nil.
func (c *Council) completeIn(o *outcome.Outcome, records []outcome.Record, uses []llm.Use) {
	uses = slices.Grow(uses[:0], 2*len(records))[:len(records)]
	for i := range records {
		s := c.plan.Seats()[i]
		m := c.models[s.Model]
		uses[i] = records[i].Use
		uses[i].Model, uses[i].Info = s.Model, m.Info()
		o.Members[i].Kind = uses[i].Info.Kind
		if a, can := m.(llm.Adapter); can {
			o.Members[i].Adapted = a.Adapted()
		}
	}
	o.Given = c.plan.Full().Models
	o.Money = c.prices.Bill(uses)
	o.Cost = o.Money.Cost()
	c.bill(o, uses, uses[len(uses):])
}

// Replay plays a journal again without any model and returns the digest. The error is
// a *journal.Divergence where something differs, and a *ConfigError if the council in
// the journal cannot be built.
func Replay(run *journal.Run) (digest string, err error) {
	p, err := plan.Of(run)
	if err != nil {
		return "", err
	}
	return replay(p, run)
}

// Replay plays the journal of a run of this plan again without any model and returns the digest. The error is a
// *journal.Divergence where something differs.
func ReplayOf(p *plan.Plan, run *journal.Run) (digest string, err error) { return replay(p, run) }

// replay is Replay with the plan of the run.
func replay(p *plan.Plan, run *journal.Run) (digest string, err error) {
	if p.Full().Runner.Nodes() {
		return "", &plan.ConfigError{Section: "runner",
			Err: errors.New("nodes have played the run; the journal of each " +
				"node can be replayed, and this one has only what they reported")}
	}
	in := outcome.InstanceOf(run)
	keys, instance := p.Identities(in.Seed), p.SignedInstance(in)
	return journal.Replay(run, func(id synod.NodeID) (synod.Machine, error) {
		return p.Machine(keys.Identity(id, instance), &in.Question)
	})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
