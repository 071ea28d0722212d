package robustness

import "synod.dev/synod/graph"

// domain holds, for each of the three choices of a node, the nodes that may still take it: being in S1 (one), in S2
// (two), or in neither set (none). A node with a single choice left is decided.
type domain[H high] struct{ one, two, none nodeSet[H] }

func (d *domain[H]) inOne() nodeSet[H] { return d.one.andNot(d.two.or(d.none)) }
func (d *domain[H]) inTwo() nodeSet[H] { return d.two.andNot(d.one.or(d.none)) }

// open returns the nodes with more than one choice left.
func (d *domain[H]) open() nodeSet[H] {
	return d.one.and(d.two).or(d.one.and(d.none)).or(d.two.and(d.none))
}

// searcher looks for two disjoint nonempty sets that are cohesive at the budget q: no member has more than q
// in-neighbours outside its own set. Such a pair proves that the graph is not (q+1)-robust. The search is a branch and
// bound over domains. It looks for maximal pairs only, in which each set is the largest cohesive set outside the other.
// This also restricts a node in neither set: each set has fewer of its in-neighbours than its need.
type searcher[H high] struct {
	n       int
	all     nodeSet[H]
	in, out []nodeSet[H]
	degree  []int
	need    []int // in-neighbours that a member needs inside its own set: degree - q; at least 1

	use     tactics
	orbits  []nodeSet[H] // sets of interchangeable nodes; empty if unknown
	weights [][]int32
	scratch scratch
	found   [2]nodeSet[H]
	nodes   int    // search nodes visited in this decision
	pollAt  int    // number of search nodes at which poll is called
	poll    func() // may call end
	over    bool   // poll has ended the decision
	ended   verdict
}

func newSearcher[H high](g graph.Graph, use tactics) *searcher[H] {
	n := g.N()
	s := &searcher[H]{n: n, all: all[H](n), use: use}
	s.in, s.out = make([]nodeSet[H], n), make([]nodeSet[H], n)
	ints := make([]int, 7*(n+2))
	cut := func() (part []int) { part, ints = ints[:n+2:n+2], ints[n+2:]; return part }
	s.degree, s.need = cut(), cut()
	s.scratch = scratch{slack: cut(), a: cut(), b: cut(), rise: cut(), pull: cut()}
	for i := range n {
		s.in[i], s.out[i] = fromRow[H](g.InBits(i)), fromRow[H](g.OutBits(i))
		s.degree[i] = s.in[i].count()
	}
	return s
}

// decide searches at the budget q, which must be below the smallest degree. It calls poll when pollAt search nodes have
// been visited; poll sets the next pollAt, or ends the decision with a verdict of its own.
func (s *searcher[H]) decide(q int, pollAt int, poll func()) verdict {
	for i := range s.n {
		s.need[i] = s.degree[i] - q
	}
	s.nodes, s.pollAt, s.poll, s.over = 0, pollAt, poll, false
	for i := range s.weightsAt(0) {
		s.weights[0][i] = -1
	}
	return s.solve(domain[H]{s.all, s.all, s.all}, s.all, 0)
}

func (s *searcher[H]) end(v verdict) { s.over, s.ended = true, v }

func (s *searcher[H]) weightsAt(depth int) []int32 {
	for len(s.weights) <= depth {
		s.weights = append(s.weights, make([]int32, s.n+2))
	}
	return s.weights[depth]
}

// solve decides the subtree of a domain. dirty are the nodes whose own choices or in-neighbours' choices have changed.
func (s *searcher[H]) solve(d domain[H], dirty nodeSet[H], depth int) verdict {
	if s.nodes++; s.nodes >= s.pollAt && !s.over {
		s.poll()
	}
	if s.over {
		return s.ended
	}
	y := s.weightsAt(depth)
	if depth > 0 {
		copy(y, s.weights[depth-1])
	}
	branch := -1
	for first := true; first || !dirty.empty(); first = false {
		if !s.propagate(&d, dirty) {
			return refuted
		}
		if v, closed := s.leaf(&d); closed {
			return v
		}
		gap, open := s.bound(&d, y)
		if !open {
			return refuted
		}
		branch, dirty = s.probe(&d, y, gap)
	}
	return s.branch(d, branch, depth)
}

// branch tries every choice of the node v. While both sets are empty they are interchangeable, and so are the nodes of
// an orbit: if v is in neither set, the search may assume the same of its whole orbit.
func (s *searcher[H]) branch(d domain[H], v, depth int) verdict {
	fresh := d.one == d.two && d.inOne().empty()
	verdict, touched := refuted, s.out[v].with(v)
	if d.one.has(v) {
		c := d
		c.two, c.none = c.two.without(v), c.none.without(v)
		verdict = s.solve(c, touched, depth+1)
	}
	if verdict == refuted && d.two.has(v) && !fresh {
		c := d
		c.one, c.none = c.one.without(v), c.none.without(v)
		verdict = s.solve(c, touched, depth+1)
	}
	if verdict == refuted && d.none.has(v) {
		gone := single[H](v)
		if fresh {
			gone = s.orbitOf(v)
		}
		for w := gone; !w.empty(); w = w.rest() {
			touched = touched.or(s.out[w.first()])
		}
		d.one, d.two = d.one.andNot(gone), d.two.andNot(gone)
		verdict = s.solve(d, touched.or(gone), depth+1)
	}
	return verdict
}

func (s *searcher[H]) orbitOf(v int) nodeSet[H] {
	for _, o := range s.orbits {
		if o.has(v) {
			return o
		}
	}
	return single[H](v)
}

// leaf closes a search node if the nodes decided into one set are already cohesive. A pair then exists exactly if the
// rest of the graph has a cohesive set, because a larger first set leaves fewer nodes for the second.
func (s *searcher[H]) leaf(d *domain[H]) (v verdict, closed bool) {
	for _, set := range [2]nodeSet[H]{d.inOne(), d.inTwo()} {
		if set.empty() || !s.cohesive(set) {
			continue
		}
		if other := s.core(s.all.andNot(set)); !other.empty() {
			s.found = [2]nodeSet[H]{set, other}
			return found, true
		}
		return refuted, true
	}
	return refuted, false
}

func (s *searcher[H]) cohesive(set nodeSet[H]) bool {
	for w := set; !w.empty(); w = w.rest() {
		if i := w.first(); s.in[i].and(set).count() < s.need[i] {
			return false
		}
	}
	return true
}

// core returns the largest cohesive subset. It exists because cohesive sets are closed under union, and is found by
// removing nodes that do not have what they need.
func (s *searcher[H]) core(set nodeSet[H]) nodeSet[H] {
	for again := true; again; {
		again = false
		for w := set; !w.empty(); w = w.rest() {
			if i := w.first(); s.in[i].and(set).count() < s.need[i] {
				set = set.without(i)
				again = true
			}
		}
	}
	return set
}

// propagate removes choices that contradict the choices of other nodes, starting at the dirty nodes, until nothing
// changes. It returns false if no pair is left.
func (s *searcher[H]) propagate(d *domain[H], dirty nodeSet[H]) bool {
	for {
		for !dirty.empty() {
			v := dirty.first()
			changed, ok := s.revise(d, v)
			if !ok {
				return false
			}
			dirty = dirty.without(v)
			for w := changed; !w.empty(); w = w.rest() {
				u := w.first()
				dirty = dirty.or(s.out[u].with(u))
			}
		}
		changed, ok := s.sizes(d)
		if !ok || changed.empty() {
			return ok
		}
		for w := changed; !w.empty(); w = w.rest() {
			u := w.first()
			dirty = dirty.or(s.out[u].with(u))
		}
	}
}

// revise applies the rules of one node and returns the nodes that lost a choice.
func (s *searcher[H]) revise(d *domain[H], v int) (changed nodeSet[H], ok bool) {
	inputs, need, self := s.in[v], s.need[v], single[H](v)
	one, two, none := inputs.and(d.one), inputs.and(d.two), inputs.and(d.none)
	if d.one.has(v) {
		switch c := one.count(); {
		case c < need: // too few in-neighbours can be in S1
			d.one, changed = d.one.without(v), self
		case c == need && !d.two.has(v) && !d.none.has(v): // all of them must be in S1
			changed = one.and(d.two.or(d.none))
			d.two, d.none = d.two.andNot(one), d.none.andNot(one)
		}
	}
	if d.two.has(v) {
		switch c := two.count(); {
		case c < need:
			d.two, changed = d.two.without(v), changed.or(self)
		case c == need && !d.one.has(v) && !d.none.has(v):
			changed = changed.or(two.and(d.one.or(d.none)))
			d.one, d.none = d.one.andNot(two), d.none.andNot(two)
		}
	}
	if d.none.has(v) {
		changed = changed.or(s.reviseNone(d, v, none.count()))
	}
	return changed, d.one.has(v) || d.two.has(v) || d.none.has(v)
}

// reviseNone applies the rule for nodes in neither set of a maximal pair: each set has fewer than need of the node's
// in-neighbours, so at least degree - 2·need + 2 of them are in neither set.
func (s *searcher[H]) reviseNone(d *domain[H], v, may int) (changed nodeSet[H]) {
	inputs, need := s.in[v], s.need[v]
	inOne, inTwo := inputs.and(d.inOne()).count(), inputs.and(d.inTwo()).count()
	if inOne >= need || inTwo >= need || may < s.degree[v]-2*need+2 {
		d.none = d.none.without(v)
		return single[H](v)
	}
	if d.one.has(v) || d.two.has(v) {
		return changed
	}
	if inOne == need-1 {
		lose := inputs.and(d.one).and(d.two.or(d.none))
		d.one, changed = d.one.andNot(lose), lose
	}
	if inTwo == need-1 {
		lose := inputs.and(d.two).and(d.one.or(d.none))
		d.two, changed = d.two.andNot(lose), changed.or(lose)
	}
	return changed
}

// sizes applies the counting bound: a set has at least as many members as one of its members needs, plus the members
// that are not in-neighbours of that one. This gives each set a least size, and both sets must fit into the graph.
func (s *searcher[H]) sizes(d *domain[H]) (changed nodeSet[H], ok bool) {
	inOne, inTwo := d.inOne(), d.inTwo()
	least1, least2 := s.leastSize(inOne, d.one), s.leastSize(inTwo, d.two)
	s.scratch.least1, s.scratch.least2 = least1, least2
	room := d.one.or(d.two).count()
	room1, room2 := min(d.one.count(), room-least2), min(d.two.count(), room-least1)
	if least1 > room1 || least2 > room2 {
		return changed, false
	}
	for w := d.one.andNot(inOne); !w.empty(); w = w.rest() {
		if v := w.first(); s.need[v]+1+inOne.andNot(s.in[v]).count() > room1 {
			d.one, changed = d.one.without(v), changed.with(v)
		}
	}
	for w := d.two.andNot(inTwo); !w.empty(); w = w.rest() {
		if v := w.first(); s.need[v]+1+inTwo.andNot(s.in[v]).count() > room2 {
			d.two, changed = d.two.without(v), changed.with(v)
		}
	}
	return changed, true
}

// leastSize returns a lower bound on the size of a set that has these members and draws the others from may. It is n+1
// if there are no members and may is empty.
func (s *searcher[H]) leastSize(members, may nodeSet[H]) int {
	if members.empty() {
		least := s.n + 1
		for w := may; !w.empty(); w = w.rest() {
			least = min(least, s.need[w.first()]+1)
		}
		return least
	}
	least := 0
	for w := members; !w.empty(); w = w.rest() {
		i := w.first()
		least = max(least, s.need[i]+members.andNot(s.in[i]).count())
	}
	return least
}
