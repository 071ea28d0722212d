package bench

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/bench/store"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
)

// Writer is the folder of a run or a grid, open for writing by this process alone. Put and the readers of the
// folder may be called concurrently.
//
// What is durable when: a reply that was paid for is in working.jsonl, with the operating system, before its
// machine sees it. A finished journal with such replies is on disk there when it has come to its end, and stays
// until its row is committed. Put commits in batches, at the latest after about a second (store.Store); what was
// put is on disk after Flush, and the journal leaves working.jsonl then. A process that dies before the commit
// finds finished journals in working.jsonl when the folder is opened next and puts them; questions that cost
// nothing are asked again. A question is put once: a second Put of it is ignored.
type Writer struct {
	dir     string
	runs    []*Run
	store   *store.Store
	working *journal.Segment
	held    io.Closer

	mu      sync.Mutex
	readers map[int64]*reader // by cell, to grade journals of other processes
	indexes map[*Run]*index   // for jobs of other processes
}

// Write opens the folder of the run for writing.
func (r *Run) Write() (*Writer, error) { return openWriter(r.dir, []*Run{r}) }

// Write opens the folder of the grid for writing.
func (g *Grid) Write() (*Writer, error) { return openWriter(g.dir, g.Runs) }

func openWriter(dir string, runs []*Run) (*Writer, error) {
	held, err := lock(dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, runs: runs, held: held, readers: map[int64]*reader{},
		indexes: map[*Run]*index{}}
	if w.store, err = store.OpenWriting(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("bench: %w", err), held.Close())
	}
	w.working, err = journal.OpenSegment(filepath.Join(dir, "working.jsonl"))
	if err != nil {
		return nil, errors.Join(err, w.store.Close(), held.Close())
	}
	w.working.Pack = true
	if err := w.recover(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// recover puts the finished journals that a process which died has left, and removes those that it has committed.
func (w *Writer) recover() error {
	for _, r := range w.runs {
		prefix := fmt.Sprintf("%d/", r.cell)
		for _, id := range w.working.IDs() {
			if !strings.HasPrefix(id, prefix) {
				continue
			}
			j, ok := w.index(r).byKey(strings.TrimPrefix(id, prefix))
			if !ok {
				return fmt.Errorf("bench: %s: it has the journal of %s, and the run has no such question: %w",
					w.working.Path(id), id, journal.ErrChanged)
			}
			there, err := w.store.Has(r.at(j))
			switch {
			case err != nil:
				return fmt.Errorf("bench: %w", err)
			case there: // it was committed before the process died
				if err := w.working.Forget(id); err != nil {
					return err
				}
				continue
			case !w.working.Finished(id):
				continue
			}
			lines, err := w.working.Lines(id)
			if err != nil {
				return err
			}
			if _, err := w.judge(r, j, &done{body: bodyOf(&journal.Finished{Lines: lines})}); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// index finds jobs of a run that another process names.
func (w *Writer) index(r *Run) *index {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.indexes[r] == nil {
		w.indexes[r] = newIndex(r)
	}
	return w.indexes[r]
}

// Put adds a finished question that another process or machine has played: its journal, as in a journal file, and how
// the attempt ended. The journal is read, checked as that of the question, and graded; whether its effects follow from
// its replies is for an Examiner. Put reports whether the question is new.
func (w *Writer) Put(r *Run, of Job, text []byte, a Attempt) (bool, error) {
	j, err := w.index(r).find(of)
	if err != nil {
		return false, err
	}
	lines, run, err := journal.Finish(text)
	if err != nil {
		return false, fmt.Errorf("bench: question %s: %w", of.Question, err)
	}
	f := &journal.Finished{Lines: lines}
	if !r.writes() {
		f.Packed = journal.Pack(run)
	}
	return w.judge(r, j, &done{stopped: a.Stopped, seconds: a.Seconds, body: bodyOf(f)})
}

// Attempted adds an attempt at a question that has not finished it.
func (w *Writer) Attempted(r *Run, of Job, a Attempt) error {
	j, err := w.index(r).find(of)
	if err == nil {
		_, err = w.put(r, j, &done{stopped: a.Stopped, failed: !a.Resumes, reason: a.Reason, seconds: a.Seconds})
	}
	return err
}

// judge adds a journal whose outcome is not known.
func (w *Writer) judge(r *Run, j job, d *done) (bool, error) {
	res, err := w.grade(r, j, d.body)
	if err != nil {
		return false, err
	}
	d.outcome = res.outcome
	uses := r.uses()
	for i, u := range res.uses {
		uses[i].Plus(u)
	}
	d.outcome.Money = r.prices().Bill(uses)
	d.outcome.Cost = d.outcome.Money.Cost()
	return w.put(r, j, d)
}

// grade reads and grades a journal.
func (w *Writer) grade(r *Run, j job, b store.Body) (*result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.readers[r.cell]
	if x == nil {
		var err error
		if x, err = readFrom(r, w.store); err != nil {
			return nil, err
		}
		w.readers[r.cell] = x
	}
	return x.judged(j, b)
}

// put adds what this process knows of an attempt.
func (w *Writer) put(r *Run, j job, d *done) (bool, error) {
	if len(d.body.Text) == 0 {
		return false, w.store.Attempted(store.Attempt{Key: r.at(j), Stopped: d.stopped, Failed: d.failed,
			Reason: d.reason, Seconds: d.seconds, Ended: time.Now()})
	}
	figures, err := r.figures(j, &d.outcome, d.seconds)
	if err != nil {
		return false, err
	}
	var forget func() error
	id := r.working(j)
	if w.working.Holds(id) {
		forget = func() error { return w.working.Forget(id) }
	}
	return w.store.Put(figures, r.about(j), d.body, forget)
}

// interrupted notes that the work on a run was interrupted.
func (w *Writer) interrupted(r *Run) error {
	return w.store.Attempted(store.Attempt{Key: store.Key{Cell: r.cell}, None: true, Stopped: outcome.Interrupted,
		Ended: time.Now()})
}

// Flush returns when everything that was put before is on disk.
func (w *Writer) Flush() error { return w.store.Flush() }

// Close commits what was put, and closes the folder.
func (w *Writer) Close() error {
	var errs []error
	for _, x := range w.readers {
		if x.played != nil {
			errs = append(errs, x.played.Close())
		}
	}
	errs = append(errs, w.store.Close(), w.working.Close(), w.held.Close())
	return errors.Join(errs...)
}

// left is a set of jobs of a run.
type left []uint64

func (l left) has(k int) bool { return l[k/64]&(1<<(k%64)) != 0 }

func (l left) count() (n int) {
	for _, word := range l {
		n += bits.OnesCount64(word)
	}
	return n
}

// left returns the jobs that are not finished.
func (w *Writer) left(r *Run) (left, error) {
	open := make(left, (r.total()+63)/64)
	for k := range r.total() {
		done, err := w.store.Has(r.at(r.byQuestion(k)))
		if err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
		if !done {
			open[k/64] |= 1 << (k % 64)
		}
	}
	return open, nil
}

// Unfinished yields the jobs of a run that are neither finished nor put, in the order in which Work does them.
func (w *Writer) Unfinished(r *Run) (iter.Seq[Job], error) {
	open, err := w.left(r)
	return func(yield func(Job) bool) {
		for k := range r.total() {
			if j := r.byQuestion(k); open.has(k) && !yield(Job{r.id(j), j.repeat}) {
				return
			}
		}
	}, err
}

// meter counts what the finished questions of the folder have used; nil if there is no budget.
func (w *Writer) meter(b Budget) (*meter, error) {
	if b == (Budget{}) {
		return nil, nil
	}
	counts, err := w.store.Count()
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	m := &meter{budget: b, now: map[string]Budget{}}
	for _, r := range w.runs {
		c := counts[r.cell]
		m.base = m.base.plus(Budget{c.Calls, c.Prompt + c.Completion, c.USD})
	}
	return m, nil
}
