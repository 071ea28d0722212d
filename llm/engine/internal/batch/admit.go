package batch

import "slices"

// worthWaiting is how many more tokens must be shared to make a job wait for
// another to compute them.
const worthWaiting = 8

// admit seats waiting jobs on free sequences, first come first served.
func (r *Runner) admit() {
	var left []*task
	for i, t := range r.waiting {
		if !slices.ContainsFunc(r.slots, func(s *slot) bool { return s.task == nil }) {
			left = append(left, r.waiting[i:]...)
			break
		}
		src, now := r.donor(t)
		if r.coming(t) >= now+worthWaiting {
			left = append(left, t)
			continue
		}
		now, ok := r.makeRoomFor(t, src, now)
		if !ok {
			left = append(left, r.waiting[i:]...) // keep the order: nobody starves
			break
		}
		r.seat(t, src, now)
	}
	r.waiting = left
}

// donor finds the sequence that has decoded most of the job's prompt. The last
// token is always decoded anew, for the scores after it.
func (r *Runner) donor(t *task) (src *slot, n int) {
	for _, s := range r.slots {
		if c := min(common(s.tokens, t.job.Prompt), len(t.job.Prompt)-1); c > n {
			src, n = s, c
		}
	}
	return src, n
}

// coming is how much of the prompt will be decoded by jobs still reading theirs.
func (r *Runner) coming(t *task) int {
	n := 0
	for _, s := range r.slots {
		if s.task != nil && len(s.tokens) < len(s.task.job.Prompt) {
			n = max(n, min(common(s.task.job.Prompt, t.job.Prompt), len(t.job.Prompt)-1))
		}
	}
	return n
}

// makeRoomFor makes room beside the donor, or, failing that, instead of it.
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

// makeRoom evicts idle sequences, least recently used first, until the job
// surely fits beside everything the admitted jobs may still take.
func (r *Runner) makeRoom(need int) bool {
	fits := func() bool {
		promised := 0
		for _, s := range r.slots {
			if s.task != nil {
				promised += s.task.outstanding(r.cfg, s)
			}
		}
		return r.pool.inUse+promised+need <= r.cfg.Cells
	}
	r.evict(fits)
	return fits()
}

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

// seat gives the job the free sequence that was used longest ago.
func (r *Runner) seat(t *task, src *slot, n int) {
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
			r.pool.share(dst, src, n)
		}
	}
	t.shared = len(dst.tokens)
	dst.task, dst.used = t, r.clock
}
