package graph

import "math/rand/v2"

// wordTabu looks for a pair by local search: it moves one node at a time between S1, S2 and neither so that the
// members' shortfall (neighbours missing from their own set) falls, may not undo a move for a while, and is done when
// nobody is short. It proves nothing when it fails.
type wordTabu struct {
	*wordSearch
	rng    *rand.Rand
	set    [2]word // S1, S2
	inside [2][]int
	short  [2]word // members with fewer neighbours inside than they need
	tight  [2]word // members who would be short if they lost one more
	until  []int   // step before which a node may not move
	least  int     // smallest size of a cohesive set
}

func (s *wordSearch) newTabu(seed uint64) *wordTabu {
	t := &wordTabu{wordSearch: s, rng: rand.New(rand.NewPCG(seed, uint64(s.n))), until: make([]int, s.n), least: s.n}
	for k := range t.inside {
		t.inside[k] = make([]int, s.n)
	}
	for _, need := range s.need[:s.n] {
		t.least = min(t.least, need+1)
	}
	return t
}

// run makes a number of steps from a random bipartition, fewer if stop says so.
func (t *wordTabu) run(steps int, stop func() bool) bool {
	t.scatter()
	for step := range steps {
		if t.short[0].empty() && t.short[1].empty() {
			t.found = t.set
			return true
		}
		if step&255 == 255 && stop() {
			return false
		}
		v, to := t.choose(step)
		if v < 0 {
			continue
		}
		for k := range t.set {
			if t.set[k].has(v) {
				t.set[k] = t.set[k].without(v)
				t.recount(k, t.out[v].with(v))
			} else if k == to {
				t.set[k] = t.set[k].with(v)
				t.recount(k, t.out[v].with(v))
			}
		}
		t.until[v] = step + 4 + t.rng.IntN(4+t.n/4)
	}
	return false
}

func (t *wordTabu) scatter() {
	t.set = [2]word{}
	for i, v := range t.rng.Perm(t.n) {
		t.set[i&1] = t.set[i&1].with(v)
		t.until[v] = 0
	}
	t.recount(0, t.all)
	t.recount(1, t.all)
}

// recount refreshes what is known of the nodes about set k.
func (t *wordTabu) recount(k int, nodes word) {
	set := t.set[k]
	t.short[k], t.tight[k] = t.short[k].andNot(nodes), t.tight[k].andNot(nodes)
	for w := nodes; !w.empty(); w = w.rest() {
		i := w.first()
		c := t.in[i].and(set).count()
		t.inside[k][i] = c
		if !set.has(i) {
			continue
		}
		if c < t.need[i] {
			t.short[k] = t.short[k].with(i)
		}
		if c <= t.need[i] {
			t.tight[k] = t.tight[k].with(i)
		}
	}
}

// choose finds the move that lowers the shortfall most; to is 0 or 1 for a set, 2 for neither. Ties fall at random.
func (t *wordTabu) choose(step int) (v, to int) {
	v, best, ties := -1, 1<<30, 0
	movable := [2]bool{t.set[0].count() > t.least, t.set[1].count() > t.least}
	for i := range t.n {
		if t.until[i] > step {
			continue
		}
		from, leave := 2, 0
		for k := range t.set {
			if t.set[k].has(i) {
				from = k
				leave = t.out[i].and(t.tight[k]).count() - max(0, t.need[i]-t.inside[k][i])
			}
		}
		if from < 2 && !movable[from] {
			continue
		}
		for dest := range 3 {
			if dest == from {
				continue
			}
			delta := leave
			if dest < 2 {
				delta += max(0, t.need[i]-t.inside[dest][i]) - t.out[i].and(t.short[dest]).count()
			}
			switch {
			case delta < best:
				v, to, best, ties = i, dest, delta, 1
			case delta == best:
				if ties++; t.rng.IntN(ties) == 0 {
					v, to = i, dest
				}
			}
		}
	}
	return v, to
}
