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

// Options say how a run is worked on; they change no result.
type Options struct {
	Env      llm.Env
	Parallel int // questions at once; below 1: 1
	Program  string
	Progress func(Progress) // may be nil; called by one goroutine at a time
}

// Progress is how far a run has come.
type Progress struct {
	Total    int
	Finished int
	Failed   int    // by this Work; the next one tries again
	Now      int    // finished by this Work
	Calls    int    // made by this Work
	Cell     string // of a grid: the one that is worked on
}

// Left is how many questions are neither finished nor failed.
func (p Progress) Left() int { return p.Total - p.Finished - p.Failed }

// Work puts to the council every question that is not finished. It returns when
// all are finished or failed, when ctx ends, or when the folder cannot be written;
// whatever has been answered is kept.
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
	if err := r.endings(); err != nil {
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

// sameModels refuses to go on with members that answer differently or are asked in
// other words.
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
	changes = append(changes, council.ChangedPrompts(r.Prompts, c.Prompts())...)
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

// all hands the questions to as many goroutines as may work at once. The first
// that cannot write stops the others.
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

// failed says whether an outcome is one of the infrastructure and not of the
// council (GR-2): a limit or the deadline cut it off, or too few members were live
// because their calls did not get through. Where it is the way in which a run ends
// that counts, as in a game, every call counts: a player whose model was out of reach
// did not vote, and nothing that comes of that says anything about the players.
func failed(o *council.Outcome, ends bool) (bool, string) {
	switch {
	case o.Stopped == council.Interrupted:
		return false, ""
	case cut(o), ends && o.Stopped == council.Tripped: // a game that was not played to its end
		return true, o.Reason
	case !ends && o.Status != council.Degraded:
		return false, ""
	}
	for _, m := range o.Members {
		for _, s := range []synod.Status{synod.Timeout, synod.RateLimited, synod.Auth, synod.Unavailable} {
			if m.Calls[s] > 0 && (ends || m.Final == nil) {
				return true, fmt.Sprintf("%s; %s: %s", o.Reason, m.ID, m.Trouble)
			}
		}
	}
	return false, ""
}

// cut reports whether a limit or the deadline cut a run off: then it can go on.
func cut(o *council.Outcome) bool {
	return o.Stopped == council.PastTime || o.Stopped == council.OverBudget
}

// attempt is a line of attempts.jsonl: how an attempt at a question ended. What
// the journal says is not said again.
type attempt struct {
	Question string  `json:"question"`
	Repeat   int     `json:"repeat"`
	Stopped  string  `json:"stopped"`
	Failed   bool    `json:"failed,omitempty"` // it ended without an outcome that counts
	Reason   string  `json:"reason,omitempty"`
	Seconds  float64 `json:"seconds"`

	Ended time.Time `json:"ended,omitzero"`
}

// interruption is the line that a run's owner leaves by interrupting it: of no
// question, since it may come between two.
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
			f.Write([]byte{'\n'}) // the last writer died within its line
		}
	}
	return &attempts{file: f}, nil
}

func (a *attempts) add(at attempt) error {
	at.Ended = time.Now().UTC().Add(time.Millisecond - 1).Truncate(time.Millisecond) // rounded up: it did not begin before its run, which is rounded down
	b, err := json.Marshal(at)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err = a.file.Write(append(b, '\n'))
	return err
}

// history is what attempts.jsonl says of a question.
type history struct {
	seconds float64
	last    attempt
}

// failure is how the last attempt failed, for a report.
func (h history) failure() report.Failure {
	return report.Failure{Question: h.last.Question, Repeat: h.last.Repeat, Stopped: h.last.Stopped, Reason: h.last.Reason}
}

// histories reads attempts.jsonl. A line that was being written when its writer
// died says nothing.
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

// finished says whether a question's journal is whole: it has its final name and
// its end line. One that has the name and not the end, which only a copy can, is
// taken for what an attempt left.
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
	const tail = 4 << 10 // an end line is far shorter
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

// part is where attempt k at a question, from 1, keeps its journal until it is
// whole.
func (r *Run) part(j job, k int) string { return fmt.Sprintf("%s.part-%d", r.journal(j), k) }

// parts is how many attempts at a question have left something.
func (r *Run) parts(j job) int {
	for k := 1; ; k++ {
		if _, err := os.Lstat(r.part(j, k)); err != nil {
			return k - 1
		}
	}
}

// begin makes ready for an attempt: where its journal goes, and what is known of
// it already.
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
			continue // cut off before its first line was whole, or no journal of this question: it is asked again
		}
		if known == nil {
			known = run
		} else {
			maps.Copy(known.Replies, run.Replies)
		}
	}
	return r.part(j, left+1), known, nil
}

// finish gives a whole journal its name, and lets go of what led to it.
func (r *Run) finish(j job, path string) error {
	if err := os.Rename(path, r.journal(j)); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	return r.forget(j)
}

// forget removes what attempts left, the last first: there is never a gap.
func (r *Run) forget(j job) error {
	for k := r.parts(j); k > 0; k-- {
		if err := os.Remove(r.part(j, k)); err != nil {
			return fmt.Errorf("lab: %w", err)
		}
	}
	return nil
}
