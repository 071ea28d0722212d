package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/journal"
	"synod.dev/synod/llm"
	"synod.dev/synod/report"
)

// Options control how Work runs; they do not change results.
type Options struct {
	Env      llm.Env
	Parallel int // questions in progress at the same time; below 1: 1
	Program  string
	Progress func(Progress) // may be nil; not called concurrently
}

// Progress counts the questions of a run.
type Progress struct {
	Total    int
	Finished int
	Failed   int    // in this call of Work; the next call tries again
	Now      int    // finished in this call of Work
	Calls    int    // made in this call of Work
	Cell     string // grids only: the current cell
}

// Left returns the number of questions that are neither finished nor failed.
func (p Progress) Left() int { return p.Total - p.Finished - p.Failed }

// Work asks the council every question that is not finished. It returns when all are
// finished or failed, when ctx ends, or when the folder cannot be written. Replies are
// kept in every case.
func (r *Run) Work(ctx context.Context, o Options) (p Progress, err error) {
	held, err := lock(r.dir)
	if err != nil {
		return p, err
	}
	if held != nil {
		defer held.Close()
	}
	spec, err := council.Parse([]byte(r.Council))
	if err != nil {
		return p, fmt.Errorf("lab: the run's council: %w", err)
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
	if err := r.ready(); err != nil {
		return p, err
	}
	log, err := openAttempts(r.dir)
	if err != nil {
		return p, err
	}
	defer log.file.Close()
	w := &work{run: r, council: c, options: o, log: log, now: Progress{Total: r.total()}}
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
	options Options
	log     *attempts

	mu  sync.Mutex
	now Progress
}

// all distributes the questions over the workers. The first worker that cannot write
// stops the others.
func (w *work) all(outer context.Context) error {
	ctx, stop := context.WithCancelCause(outer)
	defer stop(nil)
	jobs := make(chan job)
	var wait sync.WaitGroup
	for range max(w.options.Parallel, 1) {
		wait.Go(func() {
			for j := range jobs {
				if err := w.one(ctx, j); err != nil {
					stop(err)
				}
			}
		})
	}
	for k := range w.run.total() {
		j := w.run.job(k)
		done, err := w.run.finished(j)
		if err != nil {
			stop(err)
		}
		if done {
			w.count(func(p *Progress) { p.Finished++ })
			continue
		}
		select {
		case <-ctx.Done():
		case jobs <- j:
			continue
		}
		break
	}
	close(jobs)
	wait.Wait()
	if outer.Err() != nil {
		return errors.Join(outer.Err(), w.log.add(interruption))
	}
	return context.Cause(ctx)
}

func (w *work) count(change func(*Progress)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.now)
	if w.options.Progress != nil {
		w.options.Progress(w.now)
	}
}

// one puts one question. An error means that the run cannot go on.
func (w *work) one(ctx context.Context, j job) error {
	if ctx.Err() != nil {
		return nil
	}
	path, known, err := w.run.begin(j)
	if err != nil {
		return err
	}
	calls := callsIn(known) // they were made before
	o, err := w.council.Decide(ctx, council.Ask{
		Question: w.run.Items[j.item].Question, Seed: w.run.seed(j), Sample: j.repeat,
		Journal: path, Resume: known, Program: w.options.Program, Final: true,
		Progress: func(p council.Progress) {
			w.count(func(all *Progress) { all.Calls += max(p.Calls-calls, 0) })
			calls = max(calls, p.Calls)
		},
	})
	if unkept := new(council.JournalError); errors.As(err, &unkept) { // what is on file is kept, and the next attempt goes on with it
		return fmt.Errorf("lab: question %s: its journal could not be written: %w", w.run.id(j), unkept.Err)
	}
	if err != nil {
		return fmt.Errorf("lab: question %s: %w", w.run.id(j), err)
	}
	at := attempt{Question: w.run.id(j), Repeat: j.repeat, Stopped: o.Stopped, Seconds: o.Seconds}
	at.Failed, at.Reason = failed(&o, w.run.ending != nil)
	if err := w.log.add(at); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	switch {
	case o.Stopped == council.Interrupted:
		return nil
	case at.Failed:
		w.count(func(p *Progress) { p.Failed++ })
		if !cut(&o) { // what its members said without the others is no start for another attempt
			return w.run.forget(j)
		}
		return nil
	}
	w.count(func(p *Progress) { p.Finished, p.Now = p.Finished+1, p.Now+1 })
	return w.run.finish(j, path)
}

func callsIn(known *journal.Run) (n int) {
	if known != nil {
		for _, reply := range known.Replies {
			n += reply.Calls
		}
	}
	return n
}

// failed reports whether an outcome was caused by the infrastructure and not by the
// council (GR-2), and why: a limit or the deadline stopped it, or too few members
// answered because their calls failed. For protocols with endings, such as the game,
// one failed call is enough: a player with an unreachable model did not vote, so the
// ending says nothing about the players.
func failed(o *council.Outcome, ends bool) (bool, string) {
	switch {
	case o.Stopped == council.Interrupted:
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

// attempt is a line of attempts.jsonl: how one attempt at a question ended. It has only
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
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := []byte{'\n'}
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			f.Write([]byte{'\n'}) // the last writer died while writing a line
		}
	}
	return &attempts{file: f}, nil
}

func (a *attempts) add(at attempt) error {
	at.Ended = time.Now().UTC().Add(time.Millisecond - 1).Truncate(time.Millisecond) // rounded up, because the creation time of the run is rounded down
	b, err := json.Marshal(at)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err = a.file.Write(append(b, '\n'))
	return err
}

// history summarizes the attempts at a question.
type history struct {
	seconds float64
	last    attempt
}

// failure describes the last attempt, for a report.
func (h history) failure() report.Failure {
	return report.Failure{Question: h.last.Question, Repeat: h.last.Repeat, Stopped: h.last.Stopped, Reason: h.last.Reason}
}

// histories reads attempts.jsonl. Incomplete lines, left by a process that died, are
// skipped.
func histories(dir string) (map[string]history, error) {
	b, err := os.ReadFile(attemptsFile(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("lab: %w", err)
	}
	all := map[string]history{}
	for line := range bytes.Lines(b) {
		var at attempt
		if json.Unmarshal(line, &at) != nil {
			continue
		}
		key := at.key()
		h := all[key]
		all[key] = history{h.seconds + at.Seconds, at}
	}
	return all, nil
}

func (a attempt) key() string { return fmt.Sprintf("%d %s", a.Repeat, a.Question) }

// finished reports whether the journal of a job is complete: it has its final name and
// an end line. A journal with the final name but without an end line, for example an
// incomplete copy, counts as an unfinished attempt.
func (r *Run) finished(j job) (bool, error) {
	path := r.journal(j)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lab: %w", err)
	}
	defer f.Close()
	const tail = 4 << 10 // an end line is much shorter
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("lab: %w", err)
	}
	b := make([]byte, min(tail, info.Size()))
	if _, err := f.ReadAt(b, info.Size()-int64(len(b))); err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("lab: %w", err)
	}
	whole, ok := bytes.CutSuffix(b, []byte("\n"))
	return ok && bytes.HasPrefix(whole[bytes.LastIndexByte(whole, '\n')+1:], []byte(`{"k":"end"`)), nil
}

// part returns the path of the journal of attempt k, from 1, while it is unfinished.
func (r *Run) part(j job, k int) string { return fmt.Sprintf("%s.part-%d", r.journal(j), k) }

// parts returns the number of unfinished attempts with a journal.
func (r *Run) parts(j job) int {
	for k := 1; ; k++ {
		if _, err := os.Lstat(r.part(j, k)); err != nil {
			return k - 1
		}
	}
}

// begin prepares an attempt. It returns the path of its journal and the replies of
// earlier attempts; known is nil if there are none.
func (r *Run) begin(j job) (path string, known *journal.Run, err error) {
	left := r.parts(j)
	if _, err := os.Stat(r.journal(j)); err == nil {
		if err := os.Rename(r.journal(j), r.part(j, left+1)); err != nil {
			return "", nil, fmt.Errorf("lab: %w", err)
		}
		left++
	}
	for k := range left {
		run, err := journal.Load(r.part(j, k+1))
		if err != nil || run.Head.Seed != r.seed(j) {
			continue // its first line is incomplete, or it belongs to another question: ask again
		}
		if known == nil {
			known = run
		} else {
			maps.Copy(known.Replies, run.Replies)
		}
	}
	return r.part(j, left+1), known, nil
}

// finish gives a complete journal its final name and removes earlier attempts.
func (r *Run) finish(j job, path string) error {
	if err := os.Rename(path, r.journal(j)); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	return r.forget(j)
}

// forget removes the journals of unfinished attempts, the last one first, so that their
// numbers have no gap if it is interrupted.
func (r *Run) forget(j job) error {
	for k := r.parts(j); k > 0; k-- {
		if err := os.Remove(r.part(j, k)); err != nil {
			return fmt.Errorf("lab: %w", err)
		}
	}
	return nil
}
