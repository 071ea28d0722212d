package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"synod.dev/synod/llm/engine/internal/llama"
)

// Model is the interface of a loaded model; *llama.Session implements it.
type Model interface {
	Decode([]llama.Entry) error
	Logits(i int) []float32
	State(i, layer int) ([]float32, error)
	Keep(seq, n int) bool
	Copy(src, dst, n int) bool
	Piece(llama.Token) []byte
	EOG(llama.Token) bool
}

// Grammar restricts the next token; *llama.Grammar implements it.
type Grammar interface {
	Allows(llama.Token) bool
	Mask(logits []float32)
	Accept(llama.Token)
	Close()
}

// Job is one request: a generation or, with Continuations, a scoring.
type Job struct {
	ID     uint64
	Prompt []llama.Token

	MaxTokens int
	Sampling  Sampling
	Grammar   Grammar // the runner closes it after Submit; nil: no restriction
	Stop      []string
	Logprobs  bool

	Continuations [][]llama.Token

	Capture Capture
}

// Outcome is the result of a job.
type Outcome struct {
	ID       uint64
	Err      error
	Text     string
	Finish   string // "stop" or "length"
	Tokens   int    // number of tokens generated or scored
	Shared   int    // number of prompt tokens shared with another sequence
	Logprobs []float64
	Scores   []LogProb
	States   []*States // nil without Capture; otherwise one, or one for each continuation
}

// LogProb is the log-probability of one continuation.
type LogProb struct {
	Sum    float64
	Tokens int
}

// ErrJob means that a job can never run.
var ErrJob = errors.New("request cannot be served")

// check returns an error for a job that can never fit, so that no job waits for ever.
func (j Job) check(cfg Config) error {
	need := len(j.Prompt) + j.MaxTokens
	for _, c := range j.Continuations {
		if len(c) == 0 {
			return fmt.Errorf("%w: empty continuation", ErrJob)
		}
		if len(c) > cfg.Batch-cfg.Seqs { // each other job needs one token of the batch
			return fmt.Errorf("%w: continuation of %d tokens, at most %d", ErrJob, len(c), cfg.Batch-cfg.Seqs)
		}
		need = max(need, len(j.Prompt)+len(c))
	}
	switch {
	case len(j.Prompt) == 0:
		return fmt.Errorf("%w: empty prompt", ErrJob)
	case len(j.Continuations) == 0 && j.MaxTokens <= 0:
		return fmt.Errorf("%w: max tokens must be positive", ErrJob)
	case need > cfg.Context:
		return fmt.Errorf("%w: prompt of %d tokens and up to %d more do not fit into the context of %d",
			ErrJob, len(j.Prompt), need-len(j.Prompt), cfg.Context)
	}
	return nil
}

// room returns the largest number of cells that the job uses in addition to its prompt.
func (j Job) room(cfg Config) int {
	n := j.MaxTokens
	for _, c := range j.Continuations {
		n += len(c)
	}
	if len(j.Continuations) > 0 {
		n = min(n, cfg.Batch)
	}
	return n
}

// canonical compares jobs by content; it sorts a wave so that the order of arrival has no effect.
func canonical(a, b *task) int {
	return cmp.Or(
		slices.Compare(a.job.Prompt, b.job.Prompt),
		cmp.Compare(a.job.Sampling.Seed, b.job.Sampling.Seed),
		cmp.Compare(a.job.Sampling.Temperature, b.job.Sampling.Temperature),
		cmp.Compare(a.job.MaxTokens, b.job.MaxTokens),
		slices.CompareFunc(a.job.Continuations, b.job.Continuations, slices.Compare[[]llama.Token]),
		slices.Compare(a.job.Capture.Layers, b.job.Capture.Layers),
	)
}

// task is the state of a submitted job.
type task struct {
	job     Job
	sampler sampler
	shared  int

	next     llama.Token // sampled, not yet decoded
	pending  bool        // next is valid
	scoring  bool
	tokens   int // generated or scored
	text     []byte
	logprobs []float64
	scores   []LogProb

	start   int    // offset of next in text
	stopped bool   // text was cut at a stop string
	closing string // finish reason to use after next has been decoded for its states
	poolers []*pooler
}

// scored reports whether continuation i is complete.
func (t *task) scored(i int) bool {
	return t.scores[i].Tokens == len(t.job.Continuations[i]) && (t.job.Capture.answer() == nil || t.poolers[i].n > 0)
}

func (t *task) close() {
	if t.job.Grammar != nil {
		t.job.Grammar.Close()
		t.job.Grammar = nil
	}
}

// outstanding returns the largest number of cells that the task may still use.
func (t *task) outstanding(cfg Config, s *slot) int {
	n := max(0, len(t.job.Prompt)-len(s.tokens))
	if len(t.job.Continuations) > 0 {
		return n + t.job.room(cfg)
	}
	if t.pending && t.job.Capture.answer() != nil {
		n++ // the last token is decoded as well
	}
	return n + t.job.MaxTokens - t.tokens
}

// addPrompt processes a decoded part of a prompt.
func (r *Runner) addPrompt(u use) {
	s, t := u.slot, u.slot.task
	r.cells.add(s, t.job.Prompt[len(s.tokens):len(s.tokens)+u.n]...)
	s.used = r.clock
	if len(s.tokens) < len(t.job.Prompt) {
		return
	}
	if err := r.captureQuery(t, u.at+u.n-1); err != nil {
		r.end(s, "", err)
		return
	}
	logits := r.model.Logits(u.at + u.n - 1)
	if len(t.job.Continuations) == 0 {
		r.choose(s, logits)
		return
	}
	norm := logNormaliser(logits)
	for i, c := range t.job.Continuations {
		t.scores[i] = LogProb{Sum: float64(logits[c[0]]) - norm, Tokens: 1}
	}
	t.scoring = true
	r.endScores(s)
}

// addGenerated processes a generated token that has been decoded.
func (r *Runner) addGenerated(u use) {
	t := u.slot.task
	r.cells.add(u.slot, t.next)
	u.slot.used = r.clock
	if err := r.captureGenerated(t, u.at); err != nil {
		r.end(u.slot, "", err)
		return
	}
	if t.closing != "" {
		r.end(u.slot, t.closing, nil)
		return
	}
	r.choose(u.slot, r.model.Logits(u.at))
}

// choose samples the next token of a task and ends the task at an end token, a stop string or
// the token limit.
func (r *Runner) choose(s *slot, logits []float32) {
	t := s.task
	t.pending = false
	tok := t.sampler.next(logits, t.job.Grammar)
	if tok < 0 {
		r.end(s, "", errors.New("batch: the grammar or the model allows no next token"))
		return
	}
	if r.model.EOG(tok) {
		r.end(s, "stop", nil)
		return
	}
	if t.job.Logprobs {
		t.logprobs = append(t.logprobs, float64(logits[tok])-logNormaliser(logits))
	}
	if t.job.Grammar != nil {
		t.job.Grammar.Accept(tok)
	}
	t.start = len(t.text)
	t.text = append(t.text, r.model.Piece(tok)...)
	t.tokens++
	t.next, t.pending = tok, true
	if cut, ok := stopAt(t.text, t.job.Stop); ok {
		t.text, t.stopped = cut, true
		r.last(s, "stop", t.start < len(cut))
	} else if t.tokens >= t.job.MaxTokens {
		r.last(s, "length", true)
	}
}

// last ends a task with the token just sampled. If states are captured and the token is
// part of the answer, it is decoded first.
func (r *Runner) last(s *slot, reason string, part bool) {
	t := s.task
	if part && t.job.Capture.answer() != nil {
		t.closing = reason
		return
	}
	t.pending = false
	r.end(s, reason, nil)
}

// addContinuation processes a decoded continuation.
func (r *Runner) addContinuation(u use) {
	t := u.slot.task
	if t == nil { // the error of another continuation in this batch ended it
		r.model.Keep(u.branch, 0)
		return
	}
	c := t.job.Continuations[u.index]
	for j := range len(c) - 1 {
		logits := r.model.Logits(u.at + j)
		t.scores[u.index].Sum += float64(logits[c[j+1]]) - logNormaliser(logits)
	}
	if err := r.captureContinuation(t, u); err != nil {
		r.model.Keep(u.branch, 0)
		r.end(u.slot, "", err)
		return
	}
	t.scores[u.index].Tokens = len(c)
	u.slot.used = r.clock
	r.model.Keep(u.branch, 0)
	r.endScores(u.slot)
}

// endScores ends a task if all its continuations are complete.
func (r *Runner) endScores(s *slot) {
	n := 0
	for i, c := range s.task.job.Continuations {
		if !s.task.scored(i) {
			return
		}
		n += len(c)
	}
	s.task.tokens = n
	r.end(s, "stop", nil)
}

func (r *Runner) end(s *slot, reason string, err error) {
	t := s.task
	s.task = nil
	r.finish(t, reason, err)
}

// stopAt cuts text before the first stop string and reports whether it contains one.
func stopAt(text []byte, stops []string) ([]byte, bool) {
	cut := -1
	for _, stop := range stops {
		if i := strings.Index(string(text), stop); stop != "" && i >= 0 && (cut < 0 || i < cut) {
			cut = i
		}
	}
	if cut < 0 {
		return text, false
	}
	return text[:cut], true
}

// validText removes an incomplete character at the end and replaces other invalid UTF-8.
func validText(b []byte) string {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				b = b[:len(b)-i]
			}
			break
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
