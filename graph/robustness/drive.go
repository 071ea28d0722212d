package robustness

import (
	"math/rand/v2"

	"synod.dev/synod/graph"
)

// driver improves the bounds of a result until they meet. It searches at the budget Upper-1: a
// pair found lowers Upper, a search that finds none raises Lower to Upper.
type driver[H high] struct {
	*searcher[H]
	g       graph.Graph
	res     Result
	stop    func() bool
	stopped bool
	q       int // budget being decided
	stage   int // number of stages that this decision has passed
	deep    int // number of stages whose one-time work is done
}

// improve improves the bounds of a result until they meet or, with a goal above 0, until they say whether the graph is
// goal-robust.
func improve[H high](g graph.Graph, res Result, goal int, use tactics, stop func() bool) Result {
	d := driver[H]{searcher: newSearcher[H](g, use), g: g, res: res, stop: stop}
	d.improve(goal)
	return d.res.settled()
}

func (d *driver[H]) improve(goal int) {
	for d.res.Lower < d.res.Upper && !d.stopped && (goal == 0 || d.res.Lower < goal && goal <= d.res.Upper) {
		d.q, d.stage = d.res.Upper-1, 0
		if goal > 0 {
			d.q = goal - 1
		}
		switch d.decide(d.q, stages[0].nodes, d.pause) {
		case found:
			d.lower()
		case refuted:
			d.res.Lower = max(d.res.Lower, d.q+1)
		}
	}
}

// pause is the poll function of the search: it checks stop, and at each stage tries the other methods.
func (d *driver[H]) pause() {
	if d.stop() {
		d.stopped = true
		d.end(gaveUp)
		return
	}
	if d.stage < len(stages) && d.nodes >= stages[d.stage].nodes {
		d.stage++
		d.otherMethods(d.stage - 1)
	}
	d.pollAt = d.nodes + pollEvery
	if d.stage < len(stages) {
		d.pollAt = min(d.pollAt, stages[d.stage].nodes)
	}
}

// otherMethods looks for a pair by local search. Once each, it also computes the spectral bound,
// looks for symmetries, and searches at smaller budgets: these searches end much faster, and raise
// Lower in case the caller stops this one.
func (d *driver[H]) otherMethods(stage int) {
	if d.use.upper && d.localSearch(stages[stage].tries, stages[stage].steps*d.n) {
		d.end(found)
		return
	}
	if stage >= d.deep && !d.stopped {
		d.deep = stage + 1
		switch stage {
		case 0:
			d.spectral()
		case 1:
			d.symmetries()
		case 2:
			d.raise()
		}
	}
	if d.stopped {
		d.end(gaveUp)
	}
}

func (d *driver[H]) localSearch(tries, steps int) bool {
	for k := 0; k < tries && !d.stopped; k++ {
		if d.newTabu(uint64(k)).run(steps, d.checkStop) {
			return true
		}
	}
	return false
}

func (d *driver[H]) checkStop() bool {
	d.stopped = d.stopped || d.stop()
	return d.stopped
}

func (d *driver[H]) spectral() {
	if d.use.lower && !d.g.Directed() {
		if d.res.Lower = max(d.res.Lower, spectralBound(d.g)); d.res.Lower > d.q {
			d.end(refuted)
		}
	}
}

// symmetries looks for orbits. They help from the root of the search tree on, so finding some restarts the decision.
func (d *driver[H]) symmetries() {
	if !d.use.orbits {
		return
	}
	for _, o := range orbits(d.g) {
		var set nodeSet[H]
		for _, i := range o {
			set = set.with(i)
		}
		d.orbits = append(d.orbits, set)
	}
	if len(d.orbits) > 0 {
		d.end(gaveUp)
	}
}

// raise looks for pairs at smaller budgets, in a search of its own, to raise Lower.
func (d *driver[H]) raise() {
	for q := d.res.Lower; q < d.q && !d.stopped; q++ {
		lower := newSearcher[H](d.g, d.use)
		lower.orbits = d.orbits
		switch lower.decide(q, pollEvery, func() {
			if lower.pollAt += pollEvery; d.checkStop() {
				lower.end(gaveUp)
			}
		}) {
		case found:
			d.found = lower.found
			d.end(found)
			return
		case refuted:
			d.res.Lower = q + 1
		}
	}
}

// lower sets Upper to the larger reach of the two sets found, which may be less than the budget.
func (d *driver[H]) lower() {
	reach := 0
	for k, set := range d.found {
		for w := set; !w.empty(); w = w.rest() {
			reach = max(reach, d.in[w.first()].andNot(set).count())
		}
		d.res.Witness[k] = graph.AppendBits(nil, set.row())
	}
	d.res.Upper = reach
}

// tabu looks for a pair by tabu search: it moves one node at a time between S1, S2 and neither,
// so that the shortfall of the members (the in-neighbours missing from their own set) shrinks, and
// does not move the same node again for a while. It has found a pair when no member is short. If it
// finds none, this proves nothing.
type tabu[H high] struct {
	*searcher[H]
	rng    *rand.Rand
	set    [2]nodeSet[H] // S1, S2
	inside [2][]int      // by node: how many of its in-neighbours are in each set
	short  [2]nodeSet[H] // members with fewer in-neighbours in their set than they need
	tight  [2]nodeSet[H] // members that are short or would be with one fewer
	until  []int         // step before which a node may not move
	least  int           // smallest size of a cohesive set
}

func (s *searcher[H]) newTabu(seed uint64) *tabu[H] {
	t := &tabu[H]{searcher: s, rng: rand.New(rand.NewPCG(seed, uint64(s.n))), until: make([]int, s.n), least: s.n}
	for k := range t.inside {
		t.inside[k] = make([]int, s.n)
	}
	for _, need := range s.need[:s.n] {
		t.least = min(t.least, need+1)
	}
	return t
}

// run makes a number of steps from a random bipartition, or fewer if stop returns true. It reports whether a pair was
// found.
func (t *tabu[H]) run(steps int, stop func() bool) bool {
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

func (t *tabu[H]) scatter() {
	t.set = [2]nodeSet[H]{}
	for i, v := range t.rng.Perm(t.n) {
		t.set[i&1] = t.set[i&1].with(v)
		t.until[v] = 0
	}
	t.recount(0, t.all)
	t.recount(1, t.all)
}

// recount updates inside, short and tight of set k for the given nodes.
func (t *tabu[H]) recount(k int, nodes nodeSet[H]) {
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

// choose finds the move that lowers the shortfall most; to is 0 or 1 for a set, 2 for neither. Ties
// are broken at random.
func (t *tabu[H]) choose(step int) (v, to int) {
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
