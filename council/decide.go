package council

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// keepTimes writes the measured times into the journal.
func (s *session) keepTimes(records []outcome.Record) {
	if s.journal == nil || !s.council.can.Measured {
		return
	}
	for i := range records {
		a := records[i].Account()
		a.Said = nil // the journal has the replies
		s.journal.Report(records[i].Seat, "", a)
	}
}

// Decide puts a question to the council. The outcome is complete whatever its status.
// The error is for a run that could not begin; a *JournalError or *EscalationError
// comes beside a complete outcome.
func (c *Council) Decide(ctx context.Context, ask Ask) (outcome.Outcome, error) {
	if err := cmp.Or(plan.Put(c.plan, &ask.Question), c.Accepts(&ask.Question), c.checkPrices(ask.Limits)); err != nil {
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
	ended := false
	defer func() {
		s.rest()
		s.cancel()
		if ended { // nothing of this question touches the session any more
			c.spare.Put(s)
		}
	}()
	played, err := c.runner.Play(s.ctx, c.plan, Run{Instance: s.instance, Limits: s.ask.Limits,
		Log: s.log(), Notes: s.notes, Watch: s.watch, crew: s.crew}, s)
	endEarly(s)
	records := played.Records
	if err != nil {
		return outcome.Outcome{}, errors.Join(err, s.abandon())
	}
	if c.can.Owned {
		s.keep(records)
	} else {
		s.account(records)
		s.keepTimes(records)
		s.missed(ctx, start)
	}
	o := s.judge(records)
	o.Proof = played.Proof
	c.completeIn(&o, records, s.uses)
	if s.journal != nil {
		o.Journal = s.journal.Path()
	}
	o.Charged = s.budget.Spent()
	o.Exceeded, o.Seconds = exceededLimits(s), time.Since(start).Seconds()
	o.Resumable, o.Past = outcome.WasCutOff(o.Stopped), pastSettings(s, &o)
	err = s.close(&o)
	ended = s.crew != nil
	return o, errors.Join(err, send(c.plan.Full().Breakers.Escalate, &o, ask.Again))
}

// resumable checks the journal that a run is to be resumed from, before any call is made:
// it is of this run, the prompts have not changed, and the effects in it follow from the
// events and replies.
func (c *Council) resumable(ask *Ask) error {
	run := ask.Resume
	if c.can.NoResume != "" {
		if ask.Segment != nil { // another run is begun
			ask.Resume = nil
			return nil
		}
		return &ResumeError{errors.New(c.can.NoResume)}
	}
	in := plan.Instance{Question: ask.Question, Seed: ask.Seed}
	if run.Head.Seed != ask.Seed || run.Head.Instance != string(c.plan.InstanceID(in)) {
		return &ResumeError{errors.New("it belongs to another run: the question, the council or the seed is another")}
	}
	if changes := plan.TemplateChanges(run.Head.Prompts, c.plan.DigestsFor(&ask.Question)); len(changes) > 0 {
		return fmt.Errorf("the run was begun with other prompts:\n  %s", strings.Join(changes, "\n  "))
	}
	if _, err := ReplayOf(c.plan, run); err != nil {
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
	c.compare(o, records, uses)
	c.bill(o, uses, uses[len(uses):])
}

// Recall returns the outcome of the complete run in a journal, as it was printed then. No model is
// asked. Seconds is 0.
func (c *Council) Recall(run *journal.Run, path string) outcome.Outcome {
	records := outcome.RecordsOf(c.plan, run)
	o := outcome.Judge(c.plan, outcome.InstanceOf(run), records)
	c.complete(&o, records)
	o.Journal, o.Digest = path, run.Digest()
	return o
}

// recordsTime is how long after the deadline, at which nodes end their runs, their records are waited for.
const recordsTime = 10 * time.Second

// keep writes what the nodes have reported into the journal.
func (s *session) keep(records []outcome.Record) {
	if s.journal == nil {
		return
	}
	for i := range records {
		r := &records[i]
		for _, o := range r.Opinions {
			s.journal.Effect(o.Tick, r.Seat, synod.Note{Opinion: o.Opinion})
		}
		if r.Opened != nil {
			s.journal.Effect(r.Ticks, r.Seat, synod.Opened{First: r.Opened})
		}
		if r.Decided != nil {
			s.journal.Effect(r.Ticks, r.Seat, synod.Decide{Answer: *r.Decided})
		}
		s.journal.Report(r.Seat, string(r.Instance), r.Account())
	}
}

// missed tells the breakers of models that were cut off, and have replied to nothing, that this question was late.
func (s *session) missed(ctx context.Context, begun time.Time) {
	for model := range s.cutOff {
		replied := false
		for i := range s.seats {
			replied = replied || s.council.plan.Seats()[i].Model == model && s.seats[i].Statuses.Of(synod.OK) > 0
		}
		if !replied {
			llm.Missed(ctx, s.council.models[model], begun)
		}
	}
}

// bill adds to each model what only the open models know. of is a buffer.
func (c *Council) bill(o *outcome.Outcome, uses, of []llm.Use) {
	for k := range o.Models {
		r, seats := &o.Models[k], c.plan.Models()[k].Seats
		info := &uses[seats[0]].Info
		if r.Kind, r.Served, r.Server = info.Kind, info.Model, info.Server; info.Kind != llm.Endpoint {
			r.Cost = &llm.Cost{} // nothing
			continue
		}
		of = of[:0]
		for _, i := range seats {
			of = append(of, uses[i])
		}
		money := c.prices.Bill(of)
		r.Cost = money.Cost()
	}
}

// begin makes the session of a question: its journal, its limits and its deadline.
func (c *Council) begin(ctx context.Context, ask Ask) (*session, error) {
	p := c.plan
	s := c.session()
	s.ask, s.instance, s.ctx, s.outer = ask, plan.Instance{Question: ask.Question, Seed: ask.Seed}, ctx, ctx
	if ask.Journal != "" {
		var err error
		if s.journal, err = c.create(&ask, s.instance); err != nil {
			return nil, err
		}
	}
	limits := p.Full().Limits.Lowered(ask.Limits)
	s.setBudget(limits)
	if limits.Deadline > 0 && c.can.Owned {
		limits.Deadline += recordsTime
	}
	switch {
	case limits.Deadline > 0:
		s.ctx, s.cancel = context.WithTimeout(ctx, limits.Deadline)
	case s.journal != nil || c.record != nil || !plan.Simulated(p):
		s.ctx, s.cancel = context.WithCancel(ctx)
	}
	s.request = llm.Request{Templates: p.Templates(), Sample: ask.Sample, Run: ask.Seed, Budget: s.limited,
		Outage: ask.Outage}
	if s.instant = s.request; !plan.Simulated(p) {
		s.request.Rendered, s.calls = &llm.Renderings{}, make(chan func())
	}
	s.fixed.merges = plan.Merging(p, &ask.Question)
	s.charge()
	restoreEarly(s)
	return s, nil
}

// create creates the journal of a run, or goes on with the one of a run that was cut off.
func (c *Council) create(ask *Ask, in plan.Instance) (*journal.Writer, error) {
	head := journal.Head{
		Program: ask.Program, Spec: c.plan.Record(), Question: ask.Question, Seed: ask.Seed,
		Prompts:  c.plan.DigestsFor(&ask.Question),
		Instance: string(c.plan.InstanceID(in)), Identities: journal.DerivedIdentities,
	}
	if ask.Resume != nil {
		head.Unanswered, head.Known = ask.Resume.Lost(), ask.Resume.Answered()
	}
	if ask.Mark != nil {
		head.Origin = ask.Mark(head.Content())
	}
	switch {
	case ask.Segment != nil:
		return ask.Segment.Create(ask.Journal, head)
	case ask.Resume != nil && ask.Resume.Continues(ask.Journal):
		return ask.Resume.Continue(head)
	}
	return journal.Create(ask.Journal, head)
}

// setBudget sets what the calls of the question may spend.
func (s *session) setBudget(limits plan.Limits) {
	ask, prices := &s.ask, s.council.prices
	s.budget = llm.NewBudget(limits.Calls, limits.Tokens).WithMoney(limits.USD, prices)
	if ask.Draw != nil {
		if ask.TokensOnly {
			prices = nil
		}
		s.budget.Drawing(ask.Draw, ask.Granted, prices)
	}
	if limits.Calls > 0 || limits.Tokens > 0 || limits.USD > 0 || ask.Draw != nil {
		s.limited = s.budget
	}
}

// session returns the session of a new question. It may be that of an earlier question, and its
// memory may be used for a later one.
func (c *Council) session() *session {
	if c.reuse {
		if old, ok := c.spare.Get().(*session); ok {
			old.reset()
			return old
		}
	}
	p, n := c.plan, len(c.plan.Seats())
	s := &session{
		council: c, fixed: newFixedPoint(p), breaker: outcome.NewBreaker(p),
		round: make([]int, n), seats: make([]outcome.Record, n), uses: make([]llm.Use, 2*n),
		unanswered: make([]bool, n), tardy: make([]int, n),
		lacked: make([][]int, n), failed: make([]synod.ConsultID, n),
	}
	if c.reuse {
		s.crew = newCrew(n)
	}
	s.reset()
	return s
}

// charge counts what the earlier part of the run has spent: a limit is one on the
// question, however often it was cut off.
func (s *session) charge() {
	if s.ask.Resume == nil {
		return
	}
	info := func(seat synod.NodeID) (m llm.Info, ok bool) {
		if seat < 0 || int(seat) >= len(s.seats) {
			return m, false
		}
		return s.council.models[s.council.plan.Seats()[seat].Model].Info(), true
	}
	for at, r := range s.ask.Resume.Replies {
		if m, ok := info(at.Node); ok && r.Calls > 0 && r.Status != synod.Dropped {
			s.budget.Charge(m, r.Calls, r.Spent())
		}
	}
	for _, u := range s.ask.Resume.Lost() {
		if m, ok := info(u.Node); ok {
			s.budget.Charge(m, u.Calls, u.Usage)
			s.seats[u.Node].Use.Lose(u.Calls)
			s.made = synod.Sum(s.made, u.Calls)
		}
	}
}

// judge is Judge. With a crew the outcome keeps nothing of the records.
func (s *session) judge(records []outcome.Record) outcome.Outcome {
	if s.crew == nil {
		return outcome.Judge(s.council.plan, s.instance, records)
	}
	return s.judging.Judge(s.council.plan, s.instance, records)
}

// account adds what was counted of the seats' calls to their records.
func (s *session) account(records []outcome.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range records {
		r := &s.seats[i]
		records[i].Took, records[i].Said, records[i].Reported = r.Took, r.Said, r.Reported
		records[i].Statuses, records[i].Use, records[i].Failure = r.Statuses, r.Use, r.Failure
		records[i].Misreports, records[i].Late, records[i].Rereads = r.Misreports, r.Late, r.Rereads
		records[i].Unread, records[i].Passed, records[i].Needless = r.Unread, r.Passed, r.Needless
	}
}

func (s *session) abandon() error {
	if s.journal == nil {
		return nil
	}
	_, err := s.journal.Abandon()
	return err
}

// close completes the journal. In a segment a run that was cut off without a decision gets
// no end, and counts as unfinished.
func (s *session) close(o *outcome.Outcome) error {
	lost := s.lost()
	if s.journal == nil && lost == nil {
		return nil
	}
	var err error
	switch {
	case s.journal == nil:
	case o.Stopped == outcome.Unwritten,
		s.ask.Segment != nil && !o.Answered() && outcome.Incomplete(o.Stopped) && !(o.Stopped == outcome.Tripped &&
			s.ask.Final):
		o.Digest, err = s.journal.Abandon()
	default:
		o.Digest, err = s.journal.Close(o.Stopped)
	}
	if err = cmp.Or(lost, err); err != nil {
		return &JournalError{err, o.Stopped == outcome.Unwritten}
	}
	return nil
}

// exceededLimits says which limits the first refused call would have exceeded.
func exceededLimits(s *session) (all []outcome.Exceeded) {
	limits, spent, short := s.budget.Limits(), s.budget.Spent(), s.budget.Short()
	if short.Calls > 0 {
		all = append(all, outcome.Exceeded{Name: "limits.calls", Is: fmt.Sprint(limits.Calls), Needs: fmt.Sprintf(
			"%d were made, and the next call makes %d", spent.Calls, max(short.Calls, spent.Calls+1))})
	}
	if short.Tokens > 0 {
		all = append(all, outcome.Exceeded{Name: "limits.tokens", Is: fmt.Sprint(limits.Tokens), Needs: fmt.Sprintf(
			"%d were used, and with the next call it may become %d", spent.Tokens, short.Tokens)})
	}
	if short.USD > 0 {
		all = append(all, outcome.Exceeded{Name: "limits.usd", Is: fmt.Sprintf("%.2g", limits.USD), Needs: fmt.Sprintf(
			"$%.2g was spent, and with the next call it may become $%.2g", spent.USD, short.USD)})
	}
	return all
}

// pastSettings are the settings with which a resumed run gets past what has cut it off.
func pastSettings(s *session, o *outcome.Outcome) (settings []string) {
	if !outcome.WasCutOff(o.Stopped) {
		return nil
	}
	if o.Trip != nil {
		settings = append(settings, o.Trip.Continue)
	}
	short := s.budget.Short()
	if short.Calls > 0 {
		settings = append(settings, fmt.Sprintf("limits.calls=%d", 2*short.Calls))
	}
	if short.Tokens > 0 {
		settings = append(settings, fmt.Sprintf("limits.tokens=%d", 2*short.Tokens))
	}
	if short.USD > 0 {
		settings = append(settings, fmt.Sprintf("limits.usd=%.2g", 2*short.USD))
	}
	return settings
}
