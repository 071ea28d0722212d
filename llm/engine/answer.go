//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod/llm/engine/internal/batch"
	"synod.dev/synod/llm/engine/internal/llama"
)

// submit turns commands into jobs and submits them together.
func (s *server) submit(wave []toChild) {
	var jobs []batch.Job
	for _, m := range wave {
		if m.Cancel {
			s.runner.Cancel(m.ID)
			s.forget(m.ID)
			jobs = slices.DeleteFunc(jobs, func(j batch.Job) bool {
				if j.ID == m.ID && j.Grammar != nil {
					j.Grammar.Close()
				}
				return j.ID == m.ID
			})
			continue
		}
		j, err := s.job(m)
		if err != nil {
			s.send(fromChild{ID: m.ID, Err: toWire(err)})
			continue
		}
		s.prompts[m.ID] = len(j.Prompt)
		if c := m.capture(); c != nil {
			s.wanted[m.ID] = *c
			j.Capture = c.forBatch()
		}
		jobs = append(jobs, j)
	}
	s.runner.Submit(jobs...)
}

func (s *server) forget(id uint64) {
	delete(s.prompts, id)
	delete(s.wanted, id)
}

// capture returns the hidden states that a message asks for, or nil.
func (m *toChild) capture() *Capture {
	if m.Generate != nil {
		return m.Generate.Capture
	}
	return m.Capture
}

// canCapture returns an error if hidden states are not available.
func (s *server) canCapture(c *Capture, answers int) error {
	switch {
	case c == nil:
		return nil
	case !s.session.Ordered():
		return fmt.Errorf("engine: %w: models of the architecture %s have no separate hidden states for each token",
			ErrRequest, s.session.Meta("general.architecture"))
	case !s.opts.Hidden:
		return fmt.Errorf("engine: %w: this engine was started without hidden states", ErrRequest)
	}
	return c.check(s.session.Layers(), s.session.Width(), answers)
}

func (s *server) job(m toChild) (batch.Job, error) {
	if err := s.canCapture(m.capture(), max(1, len(m.Continuations))); err != nil {
		return batch.Job{}, err
	}
	if m.Generate != nil {
		return s.generation(m.ID, *m.Generate)
	}
	prefix, err := s.chat.plain(m.Prefix)
	if err != nil {
		return batch.Job{}, err
	}
	j := batch.Job{ID: m.ID, Prompt: prefix}
	for _, c := range m.Continuations {
		tokens, err := s.continuation(m.Prefix, prefix, c)
		if err != nil {
			return batch.Job{}, err
		}
		j.Continuations = append(j.Continuations, tokens)
	}
	return j, nil
}

// continuation tokenises c as it would be after prefix. If a token would span the
// boundary, prefix and c are tokenised separately, so that all continuations are scored
// after the same prefix.
func (s *server) continuation(prefix string, head []llama.Token, c string) ([]llama.Token, error) {
	whole, err := s.chat.plain(prefix + c)
	if err != nil {
		return nil, err
	}
	if len(whole) > len(head) && slices.Equal(whole[:len(head)], head) {
		return whole[len(head):], nil
	}
	return s.session.Tokenize(c, false)
}

func (s *server) generation(id uint64, req Request) (batch.Job, error) {
	if (req.Prompt == "") == (len(req.Messages) == 0) {
		return batch.Job{}, fmt.Errorf("engine: %w: set either messages or a prompt", ErrRequest)
	}
	if math.IsNaN(req.Temperature) || req.Temperature < 0 || req.Temperature > 10 || req.TopP < 0 || req.TopP > 1 ||
		req.MaxTokens < 0 {
		return batch.Job{}, fmt.Errorf("engine: %w: want temperature 0 to 10, top p 0 to 1, max tokens from 0",
			ErrRequest)
	}
	j := batch.Job{
		ID: id, MaxTokens: req.MaxTokens, Stop: slices.Clone(req.Stop), Logprobs: req.Logprobs,
		Sampling: batch.Sampling{Temperature: req.Temperature, TopP: req.TopP, Seed: req.Seed},
	}
	if j.MaxTokens == 0 {
		j.MaxTokens = 256
	}
	var err error
	if req.Prompt != "" {
		j.Prompt, err = s.chat.plain(req.Prompt)
	} else {
		j.Prompt, err = s.chat.render(req.Messages)
		j.Stop = append(j.Stop, s.chat.stop...)
	}
	if err != nil {
		return j, err
	}
	if req.Grammar != "" {
		g, err := s.session.NewGrammar(req.Grammar)
		if err != nil {
			return j, fmt.Errorf("engine: %w: %w", ErrRequest, err)
		}
		j.Grammar = g
	}
	return j, nil
}

// report sends the result of a job.
func (s *server) report(o batch.Outcome) {
	u := Usage{PromptTokens: s.prompts[o.ID], CompletionTokens: o.Tokens, Shared: o.Shared}
	var states []*States
	for _, pooled := range o.States {
		states = append(states, s.wanted[o.ID].pack(pooled, s.session.Width()))
	}
	s.forget(o.ID)
	switch {
	case errors.Is(o.Err, batch.ErrJob):
		s.send(fromChild{ID: o.ID, Err: &wireError{Kind: "request", Text: "engine: " + o.Err.Error()}})
	case o.Err != nil:
		s.send(fromChild{ID: o.ID, Err: toWire(o.Err)})
	case len(o.Scores) > 0:
		m := fromChild{ID: o.ID, Usage: &u, States: states}
		for _, x := range o.Scores {
			sum := finite(x.Sum)
			m.Scores = append(m.Scores, LogProb{Sum: sum, Mean: sum / float64(x.Tokens), Tokens: x.Tokens})
		}
		s.send(m)
	default:
		for i, p := range o.Logprobs {
			o.Logprobs[i] = finite(p)
		}
		r := &Result{Usage: u, Text: o.Text, Finish: o.Finish, Logprobs: o.Logprobs}
		if len(states) > 0 {
			r.States = states[0]
		}
		s.send(fromChild{ID: o.ID, Result: r})
	}
}

// finite replaces values that JSON cannot encode by a very low log-probability.
func finite(x float64) float64 {
	if math.IsNaN(x) || x < -1e9 {
		return -1e9
	}
	return min(x, 0)
}

func (s *server) send(m fromChild) {
	if err := writeFrame(s.out, m); err != nil && s.failed == nil {
		s.failed = err
	}
}
