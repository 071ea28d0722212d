package batch

import "synod.dev/synod/llm/engine/internal/llama"

// use is a stretch of a batch that belongs to one sequence.
type use struct {
	slot   *slot
	at, n  int // entries[at:at+n]
	which  int // the continuation, when scoring
	branch int
	take   func(*Runner, use)
}

type plan struct {
	entries []llama.Entry
	uses    []use
}

// add puts tokens into the batch; states are wanted where scores are.
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

// plan makes the next batch: first one token for each job that generates, then
// continuations to score, then as much of the prompts as still fits.
func (r *Runner) plan() plan {
	var p plan
	for _, s := range r.slots {
		if s.task != nil && s.task.fed() {
			p.add(use{slot: s, take: (*Runner).took}, []llama.Token{s.task.next}, len(s.tokens), s.seq, always, s.task.job.Capture.answer())
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
		last := len(rest) - 1 // scores are wanted after the last token of the prompt only
		chunk -= n
		p.add(use{slot: s, take: (*Runner).read}, rest[:n], len(s.tokens), s.seq, func(i int) bool { return i == last }, s.task.job.Capture.query())
	}
	return p
}

// planScores puts continuations on branches: sequences that share the prompt's
// cells for this one batch.
func (r *Runner) planScores(p *plan, s *slot, branch *int) {
	for i, c := range s.task.job.Continuations {
		if s.task.scored(i) {
			continue
		}
		layers, last := s.task.job.Capture.answer(), len(c)-1
		if layers != nil {
			last++ // the scores do not need the last token decoded, its states do
		}
		if *branch == r.cfg.Branches || len(p.entries)+last > r.cfg.Batch {
			return
		}
		seq := r.cfg.Seqs + *branch
		*branch++
		n := len(s.tokens)
		u := use{slot: s, which: i, branch: seq, take: (*Runner).scored}
		if r.model.Copy(s.seq, seq, n) {
			p.add(u, c[:last], n, seq, always, layers)
			continue
		}
		r.failScore(s) // a recurrent memory cannot share a prefix
		return
	}
}

func always(int) bool { return true }
