package batch

import (
	"errors"
	"strings"
	"unicode/utf8"

	"synod.dev/synod/llm/engine/internal/llama"
)

// task is a job under way.
type task struct {
	job     Job
	sampler sampler
	shared  int

	next     llama.Token // chosen, not yet decoded
	pending  bool        // next is valid
	scoring  bool
	made     int
	text     []byte
	logprobs []float64
	scores   []Score

	start   int    // where in the text next begins
	cut     bool   // a stop string cut the text
	closing string // how it ends once the states of next are there
	pools   []*pooler
}

// scored reports whether nothing more is wanted of a continuation.
func (t *task) scored(i int) bool {
	return t.scores[i].Tokens == len(t.job.Continuations[i]) && (t.job.Capture.answer() == nil || t.pools[i].n > 0)
}

func (t *task) fed() bool { return t.pending }

func (t *task) close() {
	if t.job.Grammar != nil {
		t.job.Grammar.Close()
		t.job.Grammar = nil
	}
}

// outstanding is how many cells the task may still take.
func (t *task) outstanding(cfg Config, s *slot) int {
	n := max(0, len(t.job.Prompt)-len(s.tokens))
	if len(t.job.Continuations) > 0 {
		return n + t.job.room(cfg)
	}
	if t.pending && t.job.Capture.answer() != nil {
		n++ // the last token is decoded as well
	}
	return n + t.job.MaxTokens - t.made
}

// read takes up a stretch of prompt.
func (r *Runner) read(u use) {
	s, t := u.slot, u.slot.task
	r.pool.add(s, t.job.Prompt[len(s.tokens):len(s.tokens)+u.n]...)
	s.used = r.clock
	if len(s.tokens) < len(t.job.Prompt) {
		return
	}
	if err := r.asked(t, u.at+u.n-1); err != nil {
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
		t.scores[i] = Score{Sum: float64(logits[c[0]]) - norm, Tokens: 1}
	}
	t.scoring = true
	r.endScores(s)
}

// took takes up a generated token that has now been decoded.
func (r *Runner) took(u use) {
	t := u.slot.task
	r.pool.add(u.slot, t.next)
	u.slot.used = r.clock
	if err := r.answered(t, u.at); err != nil {
		r.end(u.slot, "", err)
		return
	}
	if t.closing != "" {
		r.end(u.slot, t.closing, nil)
		return
	}
	r.choose(u.slot, r.model.Logits(u.at))
}

// choose picks the next token of a generating task and ends it when due.
func (r *Runner) choose(s *slot, logits []float32) {
	t := s.task
	t.pending = false
	tok := t.sampler.next(logits, t.job.Grammar)
	if tok < 0 {
		r.end(s, "", errors.New("batch: no token can follow (grammar or model exhausted)"))
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
	t.made++
	t.next, t.pending = tok, true
	if cut, ok := stopAt(t.text, t.job.Stop); ok {
		t.text, t.cut = cut, true
		r.last(s, "stop", t.start < len(cut))
	} else if t.made >= t.job.MaxTokens {
		r.last(s, "length", true)
	}
}

// last ends a task with the token just chosen. Where states are wanted and the
// token is part of the answer, it is decoded first.
func (r *Runner) last(s *slot, how string, part bool) {
	t := s.task
	if part && t.job.Capture.answer() != nil {
		t.closing = how
		return
	}
	t.pending = false
	r.end(s, how, nil)
}

// scored takes up a continuation.
func (r *Runner) scored(u use) {
	t := u.slot.task
	if t == nil { // another of its continuations in this batch ended it
		r.model.Keep(u.branch, 0)
		return
	}
	c := t.job.Continuations[u.which]
	for j := range len(c) - 1 {
		logits := r.model.Logits(u.at + j)
		t.scores[u.which].Sum += float64(logits[c[j+1]]) - logNormaliser(logits)
	}
	if err := r.weighed(t, u); err != nil {
		r.model.Keep(u.branch, 0)
		r.end(u.slot, "", err)
		return
	}
	t.scores[u.which].Tokens = len(c)
	u.slot.used = r.clock
	r.model.Keep(u.branch, 0)
	r.endScores(u.slot)
}

func (r *Runner) endScores(s *slot) {
	made := 0
	for i, c := range s.task.job.Continuations {
		if !s.task.scored(i) {
			return
		}
		made += len(c)
	}
	s.task.made = made
	r.end(s, "stop", nil)
}

func (r *Runner) failScore(s *slot) {
	r.end(s, "", errors.New("batch: this model's memory cannot score several continuations of one prefix"))
}

func (r *Runner) end(s *slot, how string, err error) {
	t := s.task
	s.task = nil
	r.finish(t, how, err)
}

// stopAt cuts text before the first of the stop strings.
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

// tidy drops a character that was cut in half at the end, and replaces what is
// not UTF-8 elsewhere.
func tidy(b []byte) string {
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
