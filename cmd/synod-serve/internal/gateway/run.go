package gateway

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/record/certificate"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// start begins the run of a job. What it may cost has been reserved when it returns without an error.
func (g *Gateway) start(fl *flight, j *job) {
	ctx, cancel := context.WithCancelCause(g.life)
	fl.cancel, fl.first = cancel, j.id
	fl.progress.Seats = len(j.served.Council.Plan().Seats())
	g.running.Add(1)
	go func() {
		defer g.running.Done()
		defer cancel(nil)
		defer j.release(g.o.Log)
		a, e := (&deciding{Gateway: g, job: j}).decide(ctx, fl)
		fl.finish(a, e)
	}()
}

// deciding is a question of which a council decides the answer.
type deciding struct {
	*Gateway
	job   *job
	grant store.Grant
}

// decide reserves, asks the council and settles.
func (d *deciding) decide(ctx context.Context, fl *flight) (*Answer, *wire.Error) {
	j := d.job
	want, priced, e := d.want()
	if e != nil {
		return nil, e
	}
	r := store.Request{ID: j.id, Key: j.key, API: j.api, Model: j.served.ID, Want: want}
	if d.o.Journals != "" {
		r.Kept, r.Question = j.id, j.question.Text
	}
	if d.grant, e = d.begin(ctx, r); e != nil {
		return nil, e
	}
	ask := d.asked(fl)
	if !j.owned() && (priced && want.Money > 0 || d.grant.Limit.Tokens > 0) {
		ask.Draw, ask.Granted, ask.TokensOnly = d.drawing(), granted(d.grant.Want), !priced
	}
	o, err := j.council().Decide(j.outgoing(ctx), ask)
	torn, disk := new(council.JournalError), new(os.PathError)
	unwritten := errors.As(err, &torn) || errors.As(err, &disk)
	if unwritten {
		d.o.Log.Error("a journal cannot be written", "request", j.id, "error", err.Error())
	}
	if err != nil && !errors.As(err, &torn) {
		e := wire.Invalid("messages", "the council does not take the question: %v", err)
		if unwritten {
			e = &wire.Error{HTTP: 503, Code: "journal_unwritten", RetryAfter: 5 * time.Second,
				Message: "the gateway cannot write the journal of the run, so it does not begin it; its disk may be " +
					"full"}
		}
		d.settle(d.grant, store.Result{Status: e.Code, HTTP: e.HTTP}, j, "")
		return nil, e
	}
	return d.conclude(ctx, &o)
}

// asked is the question as the library takes it.
func (d *deciding) asked(fl *flight) council.Ask {
	j := d.job
	b := j.req.Synod.Budget
	limits := plan.Limits{Calls: b.Calls, Tokens: b.Tokens, USD: b.USD, Deadline: d.o.Settings.Deadline}
	if own := time.Duration(j.req.Synod.Deadline); own > 0 && own < limits.Deadline {
		limits.Deadline = own
	}
	if j.owned() { // they cannot draw more
		if usd := d.grant.Limit.Money.USD(); usd > 0 && (limits.USD == 0 || usd < limits.USD) {
			limits.USD = usd
		}
		if n := int(d.grant.Limit.Tokens); n > 0 && (limits.Tokens == 0 || n < limits.Tokens) {
			limits.Tokens = n
		}
	}
	ask := council.Ask{Question: j.question, Seed: seedOf(j.req), Program: "synod-serve", Limits: limits,
		Again: d.o.Again}
	if d.o.Journals != "" {
		ask.Journal = filepath.Join(d.o.Journals, d.grant.Begun.UTC().Format("2006-01-02"), j.id+".jsonl")
	}
	ask.Noted = j.watch.Noted
	answered := map[synod.NodeID]bool{}
	ask.Replied = func(seat synod.NodeID, r *synod.Reply) {
		if r.Status == synod.OK && !r.Needless {
			answered[seat] = true
			fl.note(func(p *Progress) { p.Answered = len(answered) })
		}
		if d.o.Calls {
			j.called(seat, r)
		}
		if j.watch.Replied != nil {
			j.watch.Replied(seat, r)
		}
	}
	ask.Progress = func(now council.Progress) {
		if j.watch.Progress != nil {
			j.watch.Progress(now)
		}
		fl.note(func(p *Progress) {
			p.Round, p.Rounds, p.Calls, p.Planned = max(now.Round, 0), now.Rounds, now.Calls, now.Planned
		})
	}
	return ask
}

// conclude settles an outcome and makes the answer of it, or the error.
func (d *deciding) conclude(ctx context.Context, o *outcome.Outcome) (*Answer, *wire.Error) {
	j := d.job
	for _, m := range o.Members {
		if m.Trouble != "" {
			d.o.Log.Log(ctx, troubleLevel(m.Trouble), "a member has failed", "request", j.id,
				"member", m.ID, "reason", m.Trouble)
		}
	}
	o.Members = hidden(o.Members)
	j.members = o.Members
	r := report(o, j.req.Ignored)
	if o.Proof != nil {
		d.accuse(j, o.Proof.Equivocations(), r)
	}
	d.unread.warn(d.o.Log, j.served.ID, o)
	if j.req.Synod.Certificate {
		d.certify(o, r)
	}
	a := &Answer{ID: j.id, Created: d.grant.Begun, Model: j.served.ID, Fingerprint: j.fingerprint(),
		Usage: Usage{o.Tokens.Prompt, o.Tokens.Completion}, Cost: o.Cost, Synod: r, Choices: choices(o, j.id, j.req.N)}
	e := d.undecided(ctx, o, a)
	res := d.result(o)
	if e != nil {
		res.Status, res.HTTP = e.Code, e.HTTP
	}
	switch context.Cause(ctx) {
	case errGone:
		res.Status, res.HTTP = "client_gone", 499
	case errStopped:
		if e != nil {
			e = stopped(r)
			res.Status, res.HTTP = e.Code, e.HTTP
		}
	}
	text := ""
	if len(a.Choices) > 0 {
		text = a.Choices[0].Text
	}
	d.settle(d.grant, res, j, text)
	return a, e
}

// undecided is the error of an outcome without a decision, unless the policy has a text in its place, which the answer
// then gets; nil if the council has decided.
func (d *deciding) undecided(ctx context.Context, o *outcome.Outcome, a *Answer) *wire.Error {
	if o.Answered() {
		return nil
	}
	e := failure(o, a.Synod, d.job.drained.Load())
	switch {
	case e.HTTP == 503 || context.Cause(ctx) == errGone:
	case d.job.policy.OnNoConsensus == wire.BestEffort && len(a.Choices) > 0:
		return nil
	case d.job.policy.OnNoConsensus == wire.Refuse:
		a.Choices, a.Refusal = []Choice{{}}, "The council did not decide: "+e.Message
		return nil
	}
	return e
}

// result is how a request ended whose council has decided.
func (d *deciding) result(o *outcome.Outcome) store.Result {
	res := store.Result{Status: o.Status, HTTP: 200, Spent: store.USD(o.Money.AtLeast), Unpriced: o.Cost == nil,
		Calls: o.Calls.Made, Prompt: o.Tokens.Prompt, Completion: o.Tokens.Completion}
	if r := o.Reference; r != nil && r.USD != nil && o.Cost != nil {
		res.Alone, res.Compared = store.USD(*r.USD), true
	}
	if d.grant.Limit != (store.Amount{}) { // also what servers did not report
		res.Spent, res.Tokens = max(res.Spent, store.USD(o.Charged.USD)), int64(o.Charged.Tokens)
	}
	if o.Journal != "" {
		res.Journal = journalID(o.Journal)
		if info, err := os.Stat(o.Journal); err == nil {
			res.Bytes = info.Size()
		}
	}
	if o.Answer != nil {
		res.Answer = o.Text
	}
	return res
}

// certify adds the certificate of a decision to its report.
func (d *deciding) certify(o *outcome.Outcome, r *Report) {
	if o.Answer == nil {
		r.Uncertified = "the council did not decide"
		return
	}
	file, err := func() ([]byte, error) {
		secret, err := d.o.Owner()
		if err != nil {
			return nil, err
		}
		in := plan.Instance{Question: d.job.question, Seed: o.Seed}
		s, err := outcome.Owned(d.job.council().Plan(), in, o, secret.PublicKey())
		if err != nil {
			return nil, err
		}
		c, err := certificate.Signed(&s, secret)
		if err != nil {
			return nil, err
		}
		return c.File()
	}()
	if r.Certificate = string(file); err != nil {
		r.Uncertified = "the gateway could not sign it; its log says why"
		d.o.Log.Error("a certificate cannot be made", "request", d.job.id, "error", err.Error())
	}
}

// errStopped is the cause of a run that its user has stopped.
var errStopped = errors.New("the run was stopped")

// stopped is the error of a run that its user has stopped.
func stopped(r *Report) *wire.Error {
	return &wire.Error{HTTP: 499, Code: "stopped", Final: true, Synod: r, Message: "the run was stopped by its user"}
}
