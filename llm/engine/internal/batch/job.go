package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/llm/engine/internal/llama"
)

// Model is what a Runner needs of a loaded model; *llama.Session is one.
type Model interface {
	Decode([]llama.Entry) error
	Logits(i int) []float32
	State(i, layer int) ([]float32, error)
	Keep(seq, n int) bool
	Copy(src, dst, n int) bool
	Piece(llama.Token) []byte
	EOG(llama.Token) bool
}

// Grammar narrows what may come next; *llama.Grammar is one.
type Grammar interface {
	Allows(llama.Token) bool
	Mask(logits []float32)
	Accept(llama.Token)
	Close()
}

// Job is one request: a generation, or, with Continuations, a scoring.
type Job struct {
	ID     uint64
	Prompt []llama.Token

	MaxTokens int
	Sampling  Sampling
	Grammar   Grammar // owned by the runner from Submit on; nil means anything goes
	Stop      []string
	Logprobs  bool

	Continuations [][]llama.Token

	Capture Capture
}

// Outcome is what became of a job.
type Outcome struct {
	ID       uint64
	Err      error
	Text     string
	Finish   string // "stop" or "length"
	Tokens   int    // generated, or scored
	Shared   int    // prompt tokens taken over from another sequence
	Logprobs []float64
	Scores   []Score
	States   []*States // nil without Capture; one, or one a continuation
}

// Score is the log-probability of one continuation.
type Score struct {
	Sum    float64
	Tokens int
}

// ErrJob marks a job that can never run.
var ErrJob = errors.New("request cannot be served")

// check rejects what can never fit, so that nothing waits for ever.
func (j Job) check(cfg Config) error {
	need := len(j.Prompt) + j.MaxTokens
	for _, c := range j.Continuations {
		if len(c) == 0 {
			return fmt.Errorf("%w: empty continuation", ErrJob)
		}
		if len(c) > cfg.Batch-cfg.Seqs { // beside one token for everybody else
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
		return fmt.Errorf("%w: prompt of %d tokens and %d to come do not fit the context of %d",
			ErrJob, len(j.Prompt), need-len(j.Prompt), cfg.Context)
	}
	return nil
}

// room is how many cells the job takes beyond its prompt, at most.
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

// canonical orders a wave by content, so that arrival order does not matter.
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
