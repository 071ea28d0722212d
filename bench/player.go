package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

// Job is one repeat of one question of a run.
type Job struct {
	Question string `json:"question"`
	Repeat   int    `json:"repeat"` // from 0
}

// Jobs returns all jobs of the run, in the order in which Work does them.
func (r *Run) Jobs() []Job {
	all := make([]Job, r.total())
	for k := range all {
		j := r.byQuestion(k)
		all[k] = Job{r.id(j), j.repeat}
	}
	return all
}

// Player plays jobs of a run outside its folder, each with a journal file of its own. It is for workers on other
// machines. Its methods may be called concurrently.
type Player struct {
	opened
	index   *index
	program string
}

// Player opens the models of the run. It fails with a *ChangedError if they or the prompts are not those that the run
// was created with. The caller closes it.
func (r *Run) Player(o Options) (*Player, error) {
	p, err := r.open(o)
	if err != nil {
		return nil, err
	}
	return &Player{p, newIndex(r), o.Program}, nil
}

// Close closes the models.
func (p *Player) Close() error { return p.council.Close() }

// Attempt is how an attempt at a job ended.
type Attempt struct {
	Finished bool    `json:"finished"` // the journal is complete and counts
	Resumes  bool    `json:"resumes"`  // the journal is kept, and another attempt goes on with it
	Stopped  string  `json:"stopped"`
	Reason   string  `json:"reason,omitempty"` // of a failure
	Seconds  float64 `json:"seconds"`
}

// Play plays a job and writes its journal to the file. If the file has the journal of an earlier attempt that was cut
// off, its replies are not asked for again. The file of an attempt that failed is removed, unless the next attempt goes
// on with it.
func (p *Player) Play(ctx context.Context, of Job, path string) (a Attempt, err error) {
	j, err := p.index.find(of)
	if err != nil {
		return a, err
	}
	known, held, err := p.known(path)
	if err != nil {
		return a, err
	}
	defer held.Close() // the journal has closed it, unless the question could not be asked
	o, err := p.council.Decide(ctx, council.Ask{
		Question: p.run.Items[j.item].Question, Seed: p.run.seed(j), Sample: j.repeat, Journal: path, Resume: known,
		Program: p.program, Final: true, Outage: p.outage,
	})
	if lost := new(council.JournalError); errors.As(err, &lost) {
		return a, fmt.Errorf("bench: question %s: its journal could not be written: %w", of.Question, lost.Err)
	}
	if err != nil {
		return a, fmt.Errorf("bench: question %s: %w", of.Question, err)
	}
	a = Attempt{Stopped: o.Stopped, Seconds: o.Seconds}
	var fails bool
	fails, a.Reason = failed(&o, p.endings)
	a.Resumes = o.Stopped == outcome.Interrupted || fails && cut(&o)
	a.Finished = !fails && !a.Resumes
	if fails && !a.Resumes {
		err = os.Remove(path)
	}
	return a, err
}

// known returns the journal of an earlier attempt, for Resume, and its lock; nil if there is none. An attempt that
// cannot be resumed, because nodes or the clock played it, begins again.
func (p *Player) known(path string) (*journal.Run, io.Closer, error) {
	if p.council.Plan().Full().Runner.Capabilities().NoResume != "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf("bench: %w", err)
		}
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, io.NopCloser(nil), nil
	}
	return journal.Resume(path)
}

// Examiner checks journals that came from another machine.
type Examiner struct {
	run     *Run
	plan    *plan.Plan
	index   *index
	endings bool
}

// Examiner returns the examiner of a run. It needs no model.
func (r *Run) Examiner() (*Examiner, error) {
	spec, err := r.Spec()
	if err != nil {
		return nil, err
	}
	plan, err := plan.Read(spec)
	if err != nil {
		return nil, fmt.Errorf("bench: the run's council: %w", err)
	}
	e := &Examiner{run: r, plan: plan, index: newIndex(r)}
	_, e.endings = plan.Protocol().(protocol.Ending)
	return e, nil
}

// Has reports whether a job is one of the run.
func (e *Examiner) Has(of Job) bool {
	_, err := e.index.find(of)
	return err == nil
}

// Examine checks that a journal is one of a finished job of the run: it has the council, the question, the seed and
// the prompts, it is complete, its digests are those of its lines, the effects in it follow from its events and
// replies, and its outcome is no failure of the infrastructure. Whether the replies are those of the models it cannot
// tell.
func (e *Examiner) Examine(of Job, run *journal.Run) error {
	j, err := e.index.find(of)
	if err != nil {
		return err
	}
	q, seed := e.run.Items[j.item].Question, e.run.seed(j)
	in := plan.Instance{Question: q, Seed: seed}
	id, said := e.plan.InstanceID(in), e.plan.InstanceID(plan.Instance{Question: run.Head.Question, Seed: seed})
	switch {
	case run.End == nil:
		return fmt.Errorf("bench: question %s: the journal has no end", of.Question)
	case run.Head.Seat != nil, run.Head.Seed != seed, run.Head.Instance != string(id), said != id,
		string(run.Head.Spec) != string(e.plan.Record()):
		return fmt.Errorf("bench: question %s: %w", of.Question, errMoved)
	}
	for name, digest := range e.run.Prompts {
		if run.Head.Prompts[name] != digest {
			return fmt.Errorf("bench: question %s: the journal has another prompt %s", of.Question, name)
		}
	}
	digest, err := council.ReplayOf(e.plan, run)
	if err != nil {
		return fmt.Errorf("bench: question %s: the journal cannot be replayed: %w", of.Question, err)
	}
	if digest != run.End.Digest {
		return fmt.Errorf("bench: question %s: the journal has another digest than its lines", of.Question)
	}
	o := outcome.Judge(e.plan, in, outcome.RecordsOf(e.plan, run))
	if fails, why := failed(&o, e.endings); fails || o.Stopped == outcome.Interrupted {
		return fmt.Errorf("bench: question %s: the journal is of an attempt that did not finish: %s", of.Question,
			o.Stopped+" "+why)
	}
	return nil
}
