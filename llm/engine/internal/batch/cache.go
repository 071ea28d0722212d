package batch

import (
	"slices"

	"synod.dev/synod/llm/engine/internal/llama"
)

// minShared is the number of additional shared tokens for which a job waits until another
// job has computed them.
const minShared = 8

// admit assigns waiting jobs to free sequences in the order of arrival.
func (r *Runner) admit() {
	var left []*task
	for i, t := range r.waiting {
		if !slices.ContainsFunc(r.slots, func(s *slot) bool { return s.task == nil }) {
			left = append(left, r.waiting[i:]...)
			break
		}
		src, shared := r.donor(t)
		if r.upcoming(t) >= shared+minShared {
			left = append(left, t)
			continue
		}
		shared, ok := r.makeRoomFor(t, src, shared)
		if !ok {
			left = append(left, r.waiting[i:]...) // later jobs must not overtake this one
			break
		}
		r.assign(t, src, shared)
	}
	r.waiting = left
}

// donor returns the sequence that shares the most tokens with the job's prompt, and their
// number. The last token is always decoded again, because the logits after it are needed.
func (r *Runner) donor(t *task) (src *slot, n int) {
	for _, s := range r.slots {
		if c := min(common(s.tokens, t.job.Prompt), len(t.job.Prompt)-1); c > n {
			src, n = s, c
		}
	}
	return src, n
}

// upcoming returns how many of the prompt's tokens will be decoded by jobs whose own prompts
// are not complete.
func (r *Runner) upcoming(t *task) int {
	n := 0
	for _, s := range r.slots {
		if s.task != nil && len(s.tokens) < len(s.task.job.Prompt) {
			n = max(n, min(common(s.task.job.Prompt, t.job.Prompt), len(t.job.Prompt)-1))
		}
	}
	return n
}

// makeRoomFor makes room and keeps the donor if possible. It returns the number of tokens
// that can still be shared.
func (r *Runner) makeRoomFor(t *task, src *slot, n int) (shared int, ok bool) {
	if src != nil {
		src.used = r.clock // evicted last
	}
	ok = r.makeRoom(len(t.job.Prompt) - n + t.job.room(r.cfg))
	if src != nil && len(src.tokens) < n {
		n = len(src.tokens)
		ok = r.makeRoom(len(t.job.Prompt) - n + t.job.room(r.cfg))
	}
	return n, ok
}

// makeRoom evicts idle sequences, least recently used first, until need cells are free in
// addition to the cells that the running jobs may still use. It reports whether they are.
func (r *Runner) makeRoom(need int) bool {
	fits := func() bool {
		reserved := 0
		for _, s := range r.slots {
			if s.task != nil {
				reserved += s.task.outstanding(r.cfg, s)
			}
		}
		return r.cells.inUse+reserved+need <= r.cfg.Cells
	}
	r.evict(fits)
	return fits()
}

// evict clears idle sequences, least recently used first, until enough returns true.
func (r *Runner) evict(enough func() bool) {
	idle := slices.Clone(r.slots)
	idle = slices.DeleteFunc(idle, func(s *slot) bool { return s.task != nil || len(s.tokens) == 0 })
	slices.SortStableFunc(idle, func(a, b *slot) int { return a.used - b.used })
	for _, s := range idle {
		if enough() {
			return
		}
		r.drop(s, 0)
	}
}

// assign gives the job the least recently used free sequence and shares n cells of src.
func (r *Runner) assign(t *task, src *slot, n int) {
	var dst *slot
	for _, s := range r.slots {
		if s.task == nil && (dst == nil || s.used < dst.used) {
			dst = s
		}
	}
	switch {
	case src == dst:
		r.drop(dst, n)
	default:
		r.drop(dst, 0)
		if n > 0 && r.model.Copy(src.seq, dst.seq, n) {
			r.cells.share(dst, src, n)
		}
	}
	t.shared = len(dst.tokens)
	dst.task, dst.used = t, r.clock
}

// slot is one sequence of the key-value cache: the tokens that it has decoded and the task
// that uses it. A slot without a task keeps its tokens for later jobs with the same prefix.
type slot struct {
	seq    int
	tokens []llama.Token
	cells  []*int // for each token, the number of slots that share its cell
	used   int    // Runner.clock at the last use
	task   *task
}

// cellCount counts the cells in use. A shared cell counts once.
type cellCount struct{ inUse int }

func (p *cellCount) add(s *slot, tokens ...llama.Token) {
	for _, t := range tokens {
		one := 1
		s.tokens, s.cells = append(s.tokens, t), append(s.cells, &one)
		p.inUse++
	}
}

func (p *cellCount) truncate(s *slot, n int) {
	for _, c := range s.cells[n:] {
		if *c--; *c == 0 {
			p.inUse--
		}
	}
	s.tokens, s.cells = s.tokens[:n], s.cells[:n]
}

func (p *cellCount) share(dst, src *slot, n int) {
	dst.tokens = append(dst.tokens[:0], src.tokens[:n]...)
	dst.cells = append(dst.cells[:0], src.cells[:n]...)
	for _, c := range dst.cells {
		*c++
	}
}

// common returns the length of the longest common prefix.
func common(a, b []llama.Token) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
