// Package batch decodes several requests to one model together: continuous
// batching with shared prompt prefixes.
//
// A [Runner] is a state machine. Each [Runner.Step] assigns waiting jobs to free
// sequences, makes one batch of the next tokens of all jobs, decodes it and
// processes the results. It has no goroutine and no clock, so the tests drive it
// with a toy model.
//
// Sharing: if a sequence has decoded the same first tokens as a new job, the new
// sequence shares its key-value cells and does not compute them again. A job whose
// prefix is being computed by another job waits for it. Finished sequences keep
// their cells until the space is needed, so that the next round of a conversation
// can reuse its beginning.
//
// Reproducibility: tokens are sampled with noise that is a pure function of (seed,
// position, token) and does not depend on other requests. The model's logits are
// less reproducible: kernels round differently for batches of different shape. The
// same seed therefore gives the same text if the same jobs are decoded in the same
// waves, and nearly always otherwise. A wave (one call of [Runner.Submit]) is
// sorted into a canonical order, so the order of arrival within it has no effect.
package batch

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/llm/engine/internal/llama"
)

// Config has the sizes of a Runner. The model must have been opened with Seqs+Branches
// sequences and Cells cells.
type Config struct {
	Seqs     int // number of jobs decoded at the same time
	Branches int // further sequences, for scoring continuations
	Context  int // largest number of tokens of one job
	Cells    int // tokens in the cache, of all jobs together
	Batch    int // largest number of tokens in one decode call
	Chunk    int // largest number of prompt tokens in one decode call; larger chunks delay other jobs and Cancel
}

// Runner decodes jobs together. It is not safe for concurrent use.
type Runner struct {
	model   Model
	cfg     Config
	emit    func(Outcome)
	slots   []*slot
	waiting []*task
	cells   cellCount
	clock   int
}

// New returns a Runner. It calls emit for every job that ends and was not cancelled.
func New(m Model, cfg Config, emit func(Outcome)) *Runner {
	r := &Runner{model: m, cfg: cfg, emit: emit}
	for i := range cfg.Seqs {
		r.slots = append(r.slots, &slot{seq: i})
	}
	return r
}

// Submit adds a wave of jobs. It emits an error for a job that can never run.
func (r *Runner) Submit(wave ...Job) {
	var ts []*task
	for _, j := range wave {
		t := &task{job: j, sampler: sampler{Sampling: j.Sampling}, scores: make([]LogProb, len(j.Continuations))}
		if err := j.check(r.cfg); err != nil {
			r.finish(t, "", err)
			continue
		}
		t.makePoolers()
		ts = append(ts, t)
	}
	slices.SortStableFunc(ts, canonical)
	r.waiting = append(r.waiting, ts...)
}

// Cancel removes a job without emitting an outcome.
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

// Step decodes one batch and processes its results.
func (r *Runner) Step() {
	r.clock++
	r.admit()
	p := r.plan()
	if len(p.entries) == 0 {
		if len(r.waiting) > 0 && !slices.ContainsFunc(r.slots, func(s *slot) bool { return s.task != nil }) {
			panic("batch: a valid job cannot be admitted to an empty cache")
		}
		return
	}
	err := r.model.Decode(p.entries)
	if errors.Is(err, llama.ErrFull) { // the cache is fragmented: evict the idle sequences
		r.evict(func() bool { return false })
		err = r.model.Decode(p.entries)
	}
	if err != nil {
		r.failAll(fmt.Errorf("batch: %w", err))
		return
	}
	for _, u := range p.uses {
		u.process(r, u)
	}
}

// failAll ends every running job with an error and clears the cache, because its
// state is unknown after a failed decode.
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

// finish emits the outcome of a job.
func (r *Runner) finish(t *task, reason string, err error) {
	t.close()
	o := Outcome{
		ID: t.job.ID, Err: err, Finish: reason, Shared: t.shared,
		Tokens: t.tokens, Logprobs: t.logprobs, Scores: t.scores,
	}
	if err == nil {
		o.Text, o.States = validText(t.text), t.states()
	}
	r.emit(o)
}

// drop shortens a slot to n tokens, in the model and in the count of used cells. It drops
// all tokens if the model cannot keep a part.
func (r *Runner) drop(s *slot, n int) {
	if !r.model.Keep(s.seq, n) {
		n = 0
	}
	r.cells.truncate(s, n)
}

// use is a part of a batch that belongs to one sequence.
type use struct {
	slot    *slot
	at, n   int // entries[at:at+n]
	index   int // of the continuation
	branch  int // its sequence
	process func(*Runner, use)
}

type plan struct {
	entries []llama.Entry
	uses    []use
}

// add appends tokens to the batch. States are captured for the tokens whose logits are wanted.
func (p *plan) add(u use, tokens []llama.Token, pos, seq int, logits func(i int) bool, layers []int) {
	u.at, u.n = len(p.entries), len(tokens)
	for i, t := range tokens {
		e := llama.Entry{Token: t, Pos: pos + i, Seq: seq, Logits: logits(i)}
		if e.Logits {
			e.Layers = layers
		}
		p.entries = append(p.entries, e)
	}
	p.uses = append(p.uses, u)
}

// plan makes the next batch: one token for each generating job, then continuations to
// score, then as many prompt tokens as fit.
func (r *Runner) plan() plan {
	var p plan
	for _, s := range r.slots {
		if s.task != nil && s.task.pending {
			u := use{slot: s, process: (*Runner).addGenerated}
			p.add(u, []llama.Token{s.task.next}, len(s.tokens), s.seq, always, s.task.job.Capture.answer())
		}
	}
	branch := 0
	for _, s := range r.slots {
		if s.task != nil && s.task.scoring {
			r.planScores(&p, s, &branch)
		}
	}
	chunk := r.cfg.Chunk
	for _, s := range r.slots {
		if s.task == nil || len(s.tokens) >= len(s.task.job.Prompt) {
			continue
		}
		rest := s.task.job.Prompt[len(s.tokens):]
		n := min(len(rest), chunk, r.cfg.Batch-len(p.entries))
		if n <= 0 {
			break
		}
		last := len(rest) - 1 // logits are needed after the last token of the prompt only
		chunk -= n
		u := use{slot: s, process: (*Runner).addPrompt}
		p.add(u, rest[:n], len(s.tokens), s.seq, func(i int) bool { return i == last }, s.task.job.Capture.query())
	}
	return p
}

// planScores adds continuations to the batch. Each uses a branch: a sequence that shares the
// cells of the prompt during this batch.
func (r *Runner) planScores(p *plan, s *slot, branch *int) {
	for i, c := range s.task.job.Continuations {
		if s.task.scored(i) {
			continue
		}
		layers, last := s.task.job.Capture.answer(), len(c)-1
		if layers != nil {
			last++ // the last token must be decoded for its states only
		}
		if *branch == r.cfg.Branches || len(p.entries)+last > r.cfg.Batch {
			return
		}
		seq := r.cfg.Seqs + *branch
		*branch++
		n := len(s.tokens)
		u := use{slot: s, index: i, branch: seq, process: (*Runner).addContinuation}
		if r.model.Copy(s.seq, seq, n) {
			p.add(u, c[:last], n, seq, always, layers)
			continue
		}
		// a recurrent memory cannot share a prefix
		r.end(s, "", errors.New("batch: this model's memory cannot score several continuations of one prefix"))
		return
	}
}

func always(int) bool { return true }
