package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
)

// Options control how Work runs; they do not change results.
type Options struct {
	Env      llm.Env
	Parallel int // questions in progress at the same time; below 1: 1
	Program  string
	Progress func(Progress) // may be nil; not called concurrently
	// Outage is how long calls wait for a model that has replied before and is out of
	// order (llm.Outage); 0: they fail at once.
	Outage time.Duration

	Budget Budget // of this run alone, finished questions included; a grid has its own

	meter *meter // of Budget or of the grid that the run is in; nil: there is no budget
}

// DefaultOutage is a usual Options.Outage.
const DefaultOutage = 5 * time.Minute

// Progress counts the questions of a run.
type Progress struct {
	Total    int
	Finished int
	Failed   int    // in this call of Work; the next call tries again
	Now      int    // finished in this call of Work
	Calls    int    // made in this call of Work
	Cell     string // grids only: the current cell
	Again    bool   // the questions that failed are asked again

	ToCompute, Computed int // grids only, while figures are computed: cells without a run, and those computed

	Waiting []llm.Waiting // models that are out of order and waited for
}

// Left returns the number of questions that are neither finished nor failed.
func (p Progress) Left() int { return p.Total - p.Finished - p.Failed }

// Work asks the council every question that is not finished. While a model is out of
// order, its calls wait (Options.Outage). Questions that failed all the same are asked
// again at the end, as long as that finishes any. Work returns when all are finished or
// failed, when ctx ends, or when the folder cannot be written. Replies are kept in every
// case.
func (r *Run) Work(ctx context.Context, o Options) (p Progress, err error) {
	w, err := r.Write()
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if o.Budget != (Budget{}) {
		if o.meter, err = w.meter(o.Budget); err != nil {
			return p, err
		}
	}
	return r.work(ctx, o, w)
}

// work is Work with an open folder.
func (r *Run) work(ctx context.Context, o Options, to *Writer) (p Progress, err error) {
	opened, err := r.open(o)
	if err != nil {
		return p, err
	}
	asker := &asker{opened, to.working, o}
	defer func() { err = errors.Join(err, asker.close()) }()
	w := &work{run: r, asker: asker, to: to, options: o, now: Progress{Total: r.total()}}
	if asker.outage != nil {
		asker.outage.Changed = func() { w.count(func(p *Progress) { p.Waiting = asker.outage.Waiting() }) }
	}
	err = w.all(ctx)
	return w.now, errors.Join(err, to.Flush())
}

type work struct {
	run     *Run
	asker   *asker
	to      *Writer
	options Options

	mu    sync.Mutex
	now   Progress
	again []job // failed because of the infrastructure, to be asked again
}

// all asks all questions that are not finished, and those that failed again.
func (w *work) all(outer context.Context) error {
	ctx, stop := context.WithCancelCause(outer)
	defer stop(nil)
	left, err := w.to.left(w.run)
	if err != nil {
		return err
	}
	open := func(yield func(job) bool) {
		for k := range w.run.total() {
			if j := w.run.byQuestion(k); left.has(k) && !yield(j) {
				return
			}
		}
	}
	w.now.Finished = w.run.total() - left.count()
	w.count(func(*Progress) {})
	for first := true; ; first = false {
		finished := w.now.Now
		w.each(ctx, stop, open)
		if ctx.Err() != nil || len(w.again) == 0 || !first && w.now.Now == finished {
			break
		}
		failed := w.again
		open, w.again = slices.Values(failed), nil
		w.count(func(p *Progress) { p.Failed, p.Again = p.Failed-len(failed), true })
	}
	if outer.Err() != nil {
		return errors.Join(outer.Err(), w.to.interrupted(w.run))
	}
	return context.Cause(ctx)
}

// each distributes questions over the workers. The first worker that cannot write stops
// the others.
func (w *work) each(ctx context.Context, stop context.CancelCauseFunc, open iter.Seq[job]) {
	jobs := make(chan job)
	var wait sync.WaitGroup
	for range w.parallel() {
		wait.Go(func() {
			for j := range jobs {
				if err := w.one(ctx, j); err != nil {
					stop(err)
				}
			}
		})
	}
	for j := range open {
		select {
		case <-ctx.Done():
		case jobs <- j:
			continue
		}
		break
	}
	close(jobs)
	wait.Wait()
}

// parallel returns how many questions are in progress at the same time. Where the clock measures
// members that share a machine or a server, it is one: others would make them slower.
func (w *work) parallel() int {
	if w.asker.council.Plan().Full().Runner.Capabilities().Measured && w.run.writes() {
		return 1
	}
	return max(w.options.Parallel, 1)
}

func (w *work) count(change func(*Progress)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.now)
	if w.options.Progress != nil {
		w.options.Progress(w.now)
	}
}

// one asks one question. An error means that the run cannot continue.
func (w *work) one(ctx context.Context, j job) error {
	if ctx.Err() != nil {
		return nil
	}
	if err := w.options.meter.check(); err != nil {
		return err
	}
	calls := 0
	d, err := w.asker.ask(ctx, j, func(made int) {
		w.count(func(all *Progress) { all.Calls += max(made-calls, 0) })
		calls = max(calls, made)
	})
	if err != nil {
		return err
	}
	w.options.meter.add(fmt.Sprint(w.run.cell, " ", w.run.key(j)), &d.outcome)
	added, err := w.to.put(w.run, j, d)
	switch {
	case err != nil:
		return err
	case d.stopped == outcome.Interrupted:
	case d.failed:
		w.count(func(p *Progress) {
			p.Failed++
			if d.stopped != outcome.OverBudget && d.stopped != outcome.Tripped {
				w.again = append(w.again, j)
			}
		})
	case added:
		w.count(func(p *Progress) { p.Finished, p.Now = p.Finished+1, p.Now+1 })
	}
	return nil
}
