package graph

// wordDomain says where each node may still go: into S1, into S2, into neither. A node with one possibility left is
// decided.
type wordDomain struct{ one, two, none word }

func (d *wordDomain) inOne() word { return d.one.andNot(d.two.or(d.none)) }
func (d *wordDomain) inTwo() word { return d.two.andNot(d.one.or(d.none)) }

// open are the nodes with more than one possibility.
func (d *wordDomain) open() word {
	return d.one.and(d.two).or(d.one.and(d.none)).or(d.two.and(d.none))
}

// wordSearch looks for two disjoint nonempty sets that are cohesive at the budget q, that is, in which nobody hears
// more than q nodes outside its own set: the proof that a graph is not (q+1)-robust. It is a branch and bound over
// domains. Only maximal pairs are looked for (each set the largest cohesive one outside the other), so a node in
// neither set is constrained too: neither set may hold need of its neighbours.
type wordSearch struct {
	n       int
	all     word
	in, out []word
	degree  []int
	need    []int // in-neighbours that a member must have inside its set: degree - q; at least 1

	use     tactics
	orbits  []word // sets of interchangeable nodes, empty when unknown
	weights [][]int32
	scratch wordScratch
	found   [2]word
	nodes   int // visited in this decision
	wakeAt  int // node count at which wake is called
	wake    func()
	over    bool // wake ended the decision
	ended   verdict
}

func newWordSearch(g Graph, use tactics) *wordSearch {
	s := &wordSearch{n: g.n, all: wordAll(g.n), use: use}
	s.in, s.out = make([]word, g.n), make([]word, g.n)
	ints := make([]int, 7*(g.n+2))
	cut := func() (part []int) { part, ints = ints[:g.n+2:g.n+2], ints[g.n+2:]; return part }
	s.degree, s.need = cut(), cut()
	s.scratch = wordScratch{slack: cut(), a: cut(), b: cut(), rise: cut(), pull: cut()}
	for i := range g.n {
		s.in[i], s.out[i] = wordRow(g.in.row(i)), wordRow(g.out.row(i))
		s.degree[i] = s.in[i].count()
	}
	return s
}

// decide searches at budget q, which must be below the least degree. After every so many nodes wake may end it with a
// verdict of its own.
func (s *wordSearch) decide(q int, wakeAt int, wake func()) verdict {
	for i := range s.n {
		s.need[i] = s.degree[i] - q
	}
	s.nodes, s.wakeAt, s.wake, s.over = 0, wakeAt, wake, false
	for i := range s.weightsAt(0) {
		s.weights[0][i] = -1
	}
	return s.solve(wordDomain{s.all, s.all, s.all}, s.all, 0)
}

func (s *wordSearch) end(v verdict) { s.over, s.ended = true, v }

func (s *wordSearch) weightsAt(depth int) []int32 {
	for len(s.weights) <= depth {
		s.weights = append(s.weights, make([]int32, s.n+2))
	}
	return s.weights[depth]
}

// solve decides the subtree of a domain; dirty are the nodes whose surroundings changed.
func (s *wordSearch) solve(d wordDomain, dirty word, depth int) verdict {
	if s.nodes++; s.nodes >= s.wakeAt && !s.over {
		s.wake()
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

// branch tries every possibility of the node. As long as nothing is in S1 or S2 the two are interchangeable, and so
// are the nodes of an orbit: when the one chosen is in no set, none of its orbit need be.
func (s *wordSearch) branch(d wordDomain, v, depth int) verdict {
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
		gone := wordOf(v)
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

func (s *wordSearch) orbitOf(v int) word {
	for _, o := range s.orbits {
		if o.has(v) {
			return o
		}
	}
	return wordOf(v)
}

// leaf closes a node when what is decided to be in one set is cohesive already: the pair exists then exactly when
// the rest of the graph has a cohesive set, since a larger first set only leaves less to the second.
func (s *wordSearch) leaf(d *wordDomain) (v verdict, closed bool) {
	for _, set := range [2]word{d.inOne(), d.inTwo()} {
		if set.empty() || !s.cohesive(set) {
			continue
		}
		if other := s.core(s.all.andNot(set)); !other.empty() {
			s.found = [2]word{set, other}
			return found, true
		}
		return refuted, true
	}
	return refuted, false
}

func (s *wordSearch) cohesive(set word) bool {
	for w := set; !w.empty(); w = w.rest() {
		if i := w.first(); s.in[i].and(set).count() < s.need[i] {
			return false
		}
	}
	return true
}

// core is the largest cohesive subset, found by peeling; cohesive sets are closed under union, so there is one.
func (s *wordSearch) core(set word) word {
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
