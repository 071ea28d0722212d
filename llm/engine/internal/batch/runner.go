package batch

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/llm/engine/internal/llama"
)

// Config sizes a Runner. The model must have been opened with Seqs+Branches
// sequences and Cells cells.
type Config struct {
	Seqs     int // jobs at once
	Branches int // further sequences, for continuations being scored
	Context  int // most tokens of one job
	Cells    int // tokens in the cache, over all jobs
	Batch    int // most tokens in one decode call
	Chunk    int // most prompt tokens in one: a longer chunk makes the others, and Cancel, wait
}

// Runner decodes jobs together. It is not safe for concurrent use.
type Runner struct {
	model   Model
	cfg     Config
	emit    func(Outcome)
	slots   []*slot
	waiting []*task
	pool    pool
	clock   int
}

// New makes a Runner; emit is called for every job that ends unless cancelled.
func New(m Model, cfg Config, emit func(Outcome)) *Runner {
	r := &Runner{model: m, cfg: cfg, emit: emit}
	for i := range cfg.Seqs {
		r.slots = append(r.slots, &slot{seq: i})
	}
	return r
}

// Submit takes a wave of jobs that arrived together.
func (r *Runner) Submit(wave ...Job) {
	var ts []*task
	for _, j := range wave {
		t := &task{job: j, sampler: sampler{Sampling: j.Sampling}, scores: make([]Score, len(j.Continuations))}
		if err := j.check(r.cfg); err != nil {
			r.finish(t, "", err)
			continue
		}
		t.openPools()
		ts = append(ts, t)
	}
	slices.SortStableFunc(ts, canonical)
	r.waiting = append(r.waiting, ts...)
}

// Cancel forgets a job; nothing is emitted for it.
func (r *Runner) Cancel(id uint64) {
	r.waiting = slices.DeleteFunc(r.waiting, func(t *task) bool {
		if t.job.ID == id {
			t.close()
		}
		return t.job.ID == id
	})
	for _, s := range r.slots {
		if s.task != nil && s.task.job.ID == id {
			s.task.close()
			s.task = nil
		}
	}
}

// Busy reports whether any job is unfinished.
func (r *Runner) Busy() bool {
	return len(r.waiting) > 0 || slices.ContainsFunc(r.slots, func(s *slot) bool { return s.task != nil })
}

// Step decodes one batch.
func (r *Runner) Step() {
	r.clock++
	r.admit()
	p := r.plan()
	if len(p.entries) == 0 {
		if len(r.waiting) > 0 && !slices.ContainsFunc(r.slots, func(s *slot) bool { return s.task != nil }) {
			panic("batch: a job that passed its checks cannot be admitted")
		}
		return
	}
	err := r.model.Decode(p.entries)
	if errors.Is(err, llama.ErrFull) { // fragmentation: give up what is only cached
		r.evict(func() bool { return false })
		err = r.model.Decode(p.entries)
	}
	if err != nil {
		r.failAll(fmt.Errorf("batch: %w", err))
		return
	}
	for _, u := range p.uses {
		u.take(r, u)
	}
}

// failAll ends every admitted job and clears the cache, whose state is unknown
// after a failed decode.
func (r *Runner) failAll(err error) {
	for _, s := range r.slots {
		r.drop(s, 0)
		if t := s.task; t != nil {
			s.task = nil
			r.finish(t, "", err)
		}
	}
	for b := range r.cfg.Branches {
		r.model.Keep(r.cfg.Seqs+b, 0)
	}
}

// finish reports a job.
func (r *Runner) finish(t *task, how string, err error) {
	t.close()
	o := Outcome{ID: t.job.ID, Err: err, Finish: how, Shared: t.shared, Tokens: t.made, Logprobs: t.logprobs, Scores: t.scores}
	if err == nil {
		o.Text, o.States = tidy(t.text), t.pooled()
	}
	r.emit(o)
}

// drop shortens a slot to n tokens, in the model and in our books.
func (r *Runner) drop(s *slot, n int) {
	if !r.model.Keep(s.seq, n) {
		n = 0
	}
	r.pool.truncate(s, n)
}
