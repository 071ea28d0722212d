package bench

import (
	"context"
	"errors"
	"fmt"
	"os"

	"synod.dev/synod"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// opened is a run whose council is convened, so that it can ask its models.
type opened struct {
	run     *Run
	council *council.Council
	endings bool        // the protocol has named endings
	outage  *llm.Outage // nil: calls do not wait
}

// open opens the models of the run. It fails with a *ChangedError if a model or a prompt has changed since the run was
// created. The caller closes the council.
func (r *Run) open(o Options) (opened, error) {
	spec, err := r.Spec()
	if err != nil {
		return opened{}, err
	}
	o.Env.Truth = r.truth()
	c, err := council.Convene(spec, o.Env)
	if err != nil {
		return opened{}, err
	}
	if err := r.sameModels(c); err != nil {
		return opened{}, errors.Join(err, c.Close())
	}
	p := opened{run: r, council: c}
	_, p.endings = c.Plan().Protocol().(protocol.Ending)
	if o.Outage > 0 {
		p.outage = &llm.Outage{Limit: o.Outage}
	}
	return p, nil
}

// asker asks a council the questions of a run for Work, and writes nothing but their journals to a segment. The owner
// of the segment forgets the journals that are finished. Methods may be called concurrently.
type asker struct {
	opened
	segment *journal.Segment
	options Options
}

func (p *asker) close() error { return p.council.Close() }

// sameModels fails if a model or a prompt template has changed since the run was
// created.
func (m *RunManifest) sameModels(c *council.Council) error {
	var changes []string
	if n := len(c.Seats()); n != len(m.Seats) {
		return &ChangedError{Changes: []string{fmt.Sprintf("seats: %d there, %d now", len(m.Seats), n)}}
	}
	for i, s := range c.Seats() {
		if was := m.Seats[i]; was.Identity != s.Identity {
			changes = append(changes, fmt.Sprintf("model %s: %s there, %s now", s.Model, was.Identity, s.Identity))
		}
	}
	changes = append(changes, plan.TemplateChanges(m.Prompts, c.Plan().TemplateDigests())...)
	if len(changes) > 0 {
		return &ChangedError{Changes: unique(changes)}
	}
	return nil
}

// done is how an attempt at a question ended.
type done struct {
	stopped string
	failed  bool   // it ended without a valid outcome because of the infrastructure
	reason  string // of a failure
	seconds float64
	body    store.Body // the journal; without Text: the attempt has finished nothing
	outcome outcome.Outcome
}

// ask asks a question. Replies of earlier attempts that the segment holds are not asked for again. calls is called
// with the number of requests so far, those of earlier attempts not included. An error means that the run cannot go on.
func (p *asker) ask(ctx context.Context, j job, calls func(int)) (*done, error) {
	known, err := p.known(j)
	if err != nil {
		return nil, err
	}
	before := callsIn(known)
	o, err := p.council.Decide(ctx, council.Ask{
		Question: p.run.Items[j.item].Question, Seed: p.run.seed(j), Sample: j.repeat,
		Segment: p.segment, Journal: p.run.working(j), Resume: known, Program: p.options.Program, Final: true,
		Outage: p.outage, Progress: func(now council.Progress) { calls(now.Calls - before) },
	})
	if lost := new(council.JournalError); errors.As(err, &lost) { // the next attempt resumes from what is in the file
		return nil, fmt.Errorf("bench: question %s: its journal could not be written: %w", p.run.id(j), lost.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: question %s: %w", p.run.id(j), err)
	}
	if p.council.Plan().Full().Runner.Capabilities().Owned { // nodes report their calls at the end
		calls(o.Calls.Made - before)
	}
	return p.settle(j, o)
}

// settle takes the journal of a finished question, or drops what is not resumed.
func (p *asker) settle(j job, o outcome.Outcome) (*done, error) {
	d := &done{stopped: o.Stopped, seconds: o.Seconds, outcome: o}
	d.failed, d.reason = failed(&o, p.endings)
	switch {
	case o.Stopped == outcome.Interrupted, d.failed && cut(&o):
		return d, nil
	case d.failed:
		return d, p.segment.Drop(p.run.working(j)) // replies of only some members are not resumed
	}
	f, err := p.segment.Take(p.run.working(j))
	if err != nil {
		return nil, err
	}
	d.body = bodyOf(f)
	f.Release()
	return d, nil
}

// known returns the replies of earlier attempts at a job; nil if there are none. Replies
// that belong to another run are an error: they were paid for, and somebody has moved
// them here.
func (p *asker) known(j job) (*journal.Run, error) {
	id := p.run.working(j)
	run, err := p.segment.Load(id)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("bench: question %s: %w", p.run.id(j), err)
	case run.Head.Seed != p.run.seed(j) || run.Head.Question.ID != p.run.id(j):
		return nil, fmt.Errorf("bench: %s: %w: question %s with the seed %d", p.segment.Path(id), errMoved,
			run.Head.Question.ID, run.Head.Seed)
	}
	return run, nil
}

// working is the id of the journal of a job while it is being asked: the cell, ID-R.
func (r *Run) working(j job) string { return fmt.Sprintf("%d/%s", r.cell, r.key(j)) }

// figures returns the figures of a finished question that the store has beside its journal.
func (r *Run) figures(j job, o *outcome.Outcome, seconds float64) (store.Result, error) {
	res := store.Result{Key: r.at(j), Answered: o.Answered(), Calls: o.Calls.Made, Prompt: o.Tokens.Prompt,
		Completion: o.Tokens.Completion, Ms: int(seconds * 1e3)}
	if usd := o.Money.AtLeast; usd > 0 || o.Cost != nil {
		res.USD = &usd
	}
	it := &r.Items[j.item]
	if it.Ungraded {
		return res, nil
	}
	right := false
	if o.Answered() {
		item, err := it.Item()
		if err != nil {
			return res, fmt.Errorf("bench: question %s: %w", r.id(j), err)
		}
		switch item.Grade(o.Decision).Verdict {
		case task.Right:
			right = true
		case task.Wrong:
		default:
			return res, nil
		}
	}
	res.Right = &right
	return res, nil
}

func callsIn(known *journal.Run) (n int) {
	if known != nil {
		for _, reply := range known.Replies {
			n = synod.Sum(n, reply.Calls)
		}
		for _, u := range known.Unanswered {
			n = synod.Sum(n, u.Calls)
		}
	}
	return n
}

// failed reports whether an outcome was caused by the infrastructure and not by the
// council (GR-2), and why: a limit or the deadline stopped it, or too few members
// answered because their calls failed. For protocols with endings, such as the game,
// one failed call is enough: a player with an unreachable model did not vote, so the
// ending does not depend on the players.
func failed(o *outcome.Outcome, ends bool) (bool, string) {
	switch {
	case o.Stopped == outcome.Interrupted:
		return false, ""
	case o.Answered() && !ends:
		return false, ""
	case cut(o), ends && o.Stopped == outcome.Tripped: // a game that was stopped early
		return true, o.Reason + raise(o)
	case !ends && o.Status != outcome.Degraded:
		return false, ""
	}
	for _, m := range o.Members {
		for _, s := range []synod.Status{synod.Timeout, synod.RateLimited, synod.Auth, synod.Unavailable} {
			if m.Calls.Of(s) > 0 && (ends || m.Final == nil) {
				return true, fmt.Sprintf("%s; %s: %s", o.Reason, m.ID, m.Trouble)
			}
		}
	}
	return false, ""
}

// raise says which limits are to be raised so that a run can go on; "" where no limit ended it.
func raise(o *outcome.Outcome) (text string) {
	for _, e := range o.Exceeded {
		text += fmt.Sprintf("; raise %s, which is %s, or ask shorter questions", e.Name, e.Is)
	}
	return text
}

// cut reports whether a limit or the deadline stopped a run, so that it can be resumed.
func cut(o *outcome.Outcome) bool {
	return o.Stopped == outcome.PastTime || o.Stopped == outcome.OverBudget
}
