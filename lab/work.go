package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/journal"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/report"
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
	held, err := lock(r.dir)
	if err != nil {
		return p, err
	}
	if held != nil {
		defer held.Close()
	}
	if o.Budget != (Budget{}) {
		if o.meter, err = newMeter(o.Budget, r); err != nil {
			return p, err
		}
	}
	spec, err := r.Spec()
	if err != nil {
		return p, err
	}
	o.Env.Truth = r.truth()
	c, err := council.Convene(spec, o.Env)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := r.sameModels(c); err != nil {
		return p, err
	}
	segment, err := journal.OpenSegment(r.journals())
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, segment.Close()) }()
	log, err := openAttempts(r.dir)
	if err != nil {
		return p, err
	}
	defer log.file.Close()
	_, endings := c.Plan().Protocol().(protocol.Ending)
	w := &work{run: r, council: c, segment: segment, endings: endings, options: o, log: log,
		now: Progress{Total: r.total()}}
	if o.Outage > 0 {
		w.outage = &llm.Outage{Limit: o.Outage}
		w.outage.Changed = func() { w.count(func(p *Progress) { p.Waiting = w.outage.Waiting() }) }
	}
	err = w.all(ctx)
	return w.now, err
}

// sameModels fails if a model or a prompt template has changed since the run was
// created.
func (r *Run) sameModels(c *council.Council) error {
	var changes []string
	if n := len(c.Seats()); n != len(r.Seats) {
		return &ChangedError{Changes: []string{fmt.Sprintf("seats: %d there, %d now", len(r.Seats), n)}}
	}
	for i, s := range c.Seats() {
		if was := r.Seats[i]; was.Identity != s.Identity {
			changes = append(changes, fmt.Sprintf("model %s: %s there, %s now", s.Model, was.Identity, s.Identity))
		}
	}
	changes = append(changes, council.TemplateChanges(r.Prompts, c.Plan().TemplateDigests())...)
	if len(changes) > 0 {
		return &ChangedError{Changes: unique(changes)}
	}
	return nil
}

type work struct {
	run     *Run
	council *council.Council
	segment *journal.Segment
	endings bool // the protocol has named endings
	options Options
	log     *attempts
	outage  *llm.Outage // nil: calls do not wait

	mu    sync.Mutex
	now   Progress
	again []job // failed because of the infrastructure, to be asked again
}

// all asks all questions that are not finished, and those that failed again.
func (w *work) all(outer context.Context) error {
	ctx, stop := context.WithCancelCause(outer)
	defer stop(nil)
	var open []job
	for k := range w.run.total() {
		if j := w.run.job(k); w.segment.Finished(w.run.key(j)) {
			w.now.Finished++
		} else {
			open = append(open, j)
		}
	}
	w.count(func(*Progress) {})
	for first := true; ; first = false {
		finished := w.now.Now
		w.each(ctx, stop, open)
		if ctx.Err() != nil || len(w.again) == 0 || !first && w.now.Now == finished {
			break
		}
		open, w.again = w.again, nil
		w.count(func(p *Progress) { p.Failed, p.Again = p.Failed-len(open), true })
	}
	if outer.Err() != nil {
		return errors.Join(outer.Err(), w.log.add(interruption))
	}
	return context.Cause(ctx)
}

// each distributes questions over the workers. The first worker that cannot write stops
// the others.
func (w *work) each(ctx context.Context, stop context.CancelCauseFunc, open []job) {
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
	for _, j := range open {
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
	if w.council.Plan().Spec().Runner.Clock() && w.run.writes() {
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
	id := w.run.key(j)
	known, err := w.known(j)
	if err != nil {
		return err
	}
	calls := callsIn(known) // they were made before
	o, err := w.council.Decide(ctx, council.Ask{
		Question: w.run.Items[j.item].Question, Seed: w.run.seed(j), Sample: j.repeat,
		Segment: w.segment, Journal: id, Resume: known, Program: w.options.Program, Final: true,
		Outage: w.outage,
		Progress: func(p council.Progress) {
			w.count(func(all *Progress) { all.Calls += max(p.Calls-calls, 0) })
			calls = max(calls, p.Calls)
		},
	})
	if lost := new(council.JournalError); errors.As(err, &lost) { // the next attempt resumes from what is in the file
		return fmt.Errorf("lab: question %s: its journal could not be written: %w", w.run.id(j), lost.Err)
	}
	if err != nil {
		return fmt.Errorf("lab: question %s: %w", w.run.id(j), err)
	}
	if spec := w.council.Plan().Spec(); spec.Runner.Nodes() { // nodes report their calls at the end
		w.count(func(all *Progress) { all.Calls += max(o.Calls.Made-calls, 0) })
	}
	return w.settle(j, &o)
}

// settle logs an attempt at a question and keeps its journal, or drops what is not resumed.
func (w *work) settle(j job, o *council.Outcome) error {
	w.options.meter.add(w.run.dir+" "+w.run.key(j), o)
	at := attempt{Question: w.run.id(j), Repeat: j.repeat, Stopped: o.Stopped, Seconds: o.Seconds}
	at.Failed, at.Reason = failed(o, w.endings)
	if err := w.log.add(at); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	switch {
	case o.Stopped == council.Interrupted:
		return nil
	case at.Failed:
		w.count(func(p *Progress) {
			p.Failed++
			if o.Stopped != council.OverBudget && o.Stopped != council.Tripped {
				w.again = append(w.again, j)
			}
		})
		if cut(o) {
			return nil
		}
		return w.segment.Drop(w.run.key(j)) // replies of only some members are not resumed
	}
	if err := w.segment.Keep(w.run.key(j)); err != nil {
		return err
	}
	w.count(func(p *Progress) { p.Finished, p.Now = p.Finished+1, p.Now+1 })
	return nil
}

// known returns the replies of earlier attempts at a job; nil if there are none. Replies
// that belong to another run are an error: they were paid for, and somebody has moved
// them here.
func (w *work) known(j job) (*journal.Run, error) {
	run, err := w.segment.Load(w.run.key(j))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("lab: question %s: %w", w.run.id(j), err)
	case run.Head.Seed != w.run.seed(j) || run.Head.Question.ID != w.run.id(j):
		return nil, fmt.Errorf("lab: %s: %w: question %s with the seed %d", w.segment.Path(w.run.key(j)), errMoved,
			run.Head.Question.ID, run.Head.Seed)
	}
	return run, nil
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
func failed(o *council.Outcome, ends bool) (bool, string) {
	switch {
	case o.Stopped == council.Interrupted:
		return false, ""
	case o.Answered() && !ends:
		return false, ""
	case cut(o), ends && o.Stopped == council.Tripped: // a game that was stopped early
		return true, o.Reason
	case !ends && o.Status != council.Degraded:
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

// cut reports whether a limit or the deadline stopped a run, so that it can be resumed.
func cut(o *council.Outcome) bool {
	return o.Stopped == council.PastTime || o.Stopped == council.OverBudget
}

// attempt is a line of attempts.jsonl, before its checksum: how one attempt at a question ended. It has only
// what the journal does not contain.
type attempt struct {
	Question string  `json:"question"`
	Repeat   int     `json:"repeat"`
	Stopped  string  `json:"stopped"`
	Failed   bool    `json:"failed,omitempty"` // it ended without a valid outcome
	Reason   string  `json:"reason,omitempty"`
	Seconds  float64 `json:"seconds"`

	Ended time.Time `json:"ended,omitzero"`
}

// interruption is the line that is written when a run is interrupted. It names no
// question, because the interruption may come between two.
var interruption = attempt{Stopped: council.Interrupted}

// attempts appends to attempts.jsonl.
type attempts struct {
	mu   sync.Mutex
	file *os.File
}

func attemptsFile(dir string) string { return filepath.Join(dir, "attempts.jsonl") }

func openAttempts(dir string) (*attempts, error) {
	f, err := os.OpenFile(attemptsFile(dir), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	if err := repair(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lab: %s: %w", f.Name(), err), f.Close())
	}
	return &attempts{file: f}, nil
}

// repair completes or removes a last line without its newline: the last writer died while
// it wrote the line.
func repair(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	from := max(info.Size()-maxAttempt, 0)
	b, err := io.ReadAll(io.NewSectionReader(f, from, maxAttempt))
	if err != nil {
		return err
	}
	at := bytes.LastIndexByte(b, '\n') + 1
	switch {
	case at == len(b):
		return nil
	case at == 0 && from > 0:
		return fmt.Errorf("the last line is too long: %w", journal.ErrChanged)
	}
	switch err := unsealLine(b[at:], new(attempt)); {
	case errors.Is(err, errTorn):
		return f.Truncate(from + int64(at))
	case err != nil:
		return err
	}
	_, err = f.Write([]byte{'\n'})
	return err
}

// maxAttempt bounds a line of attempts.jsonl, in bytes.
const maxAttempt = 1 << 20

func (a *attempts) add(at attempt) error {
	// rounded up, because the creation time of the run is rounded down
	at.Ended = time.Now().UTC().Add(time.Millisecond - 1).Truncate(time.Millisecond)
	b, err := json.Marshal(at)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err = a.file.Write(sealLine(b))
	return err
}

// history summarizes the attempts at a question.
type history struct {
	seconds float64
	last    attempt
}

// failure describes the last attempt, for a report.
func (h history) failure() report.Failure {
	return report.Failure{Question: h.last.Question, Repeat: h.last.Repeat, Stopped: h.last.Stopped,
		Reason: h.last.Reason}
}

// histories reads attempts.jsonl. A last line that was being written when the process
// died is left out.
func histories(dir string) (map[string]history, error) {
	all := map[string]history{}
	f, err := os.Open(attemptsFile(dir))
	if errors.Is(err, os.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, maxAttempt)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("lab: %s: line %d: %w", f.Name(), n, err)
		}
		if len(line) == 0 {
			return all, nil
		}
		var at attempt
		if err := unsealLine(line, &at); errors.Is(err, errTorn) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("lab: %s: line %d: %w", f.Name(), n, err)
		}
		h := all[at.key()]
		all[at.key()] = history{h.seconds + at.Seconds, at}
	}
}

func (a attempt) key() string { return key(a.Question, a.Repeat) }
