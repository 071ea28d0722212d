// Code generated from word_bound.go by go generate; DO NOT EDIT.

package graph

// pairScratch is working memory of a search node, rewritten at each.
type pairScratch struct {
	least1, least2 int   // least sizes of the two sets
	room1, room2   int   // slack of the two size rows
	slack          []int // of each row: how many of its node's neighbours may yet go elsewhere
	a, b           []int // price of a node being kept out of S1, out of S2
	rise           []int // how much a node's share of the bound rises under a new row: see pairProbe
	pull           []int // subgradient of each row
}

// bound is the Lagrangian bound. Rows: every node decided into S1 lets at most slack of its possible S1-neighbours be
// kept out of S1 (S2 alike), and at most |may be in S1| - least size may be kept out of S1 in all (S2 alike). With a
// weight y ≥ 0 on each row,
//
//	L(y) = Σ over nodes that may be in S1 or in S2 of min(a, b)  -  Σ over rows of y·slack
//
// is at most 0 at every pair, since a node is kept out of at least one set. L > 0 refutes (open false); otherwise gap = -L
// and the scratch holds the prices at the weights y.
func (s *pairSearch) bound(d *pairDomain, y []int32) (gap int, open bool) {
	inOne, inTwo := d.inOne(), d.inTwo()
	s.rows(inOne, d.one, y)
	s.rows(inTwo, d.two, y)
	sc := &s.scratch
	sc.room1, sc.room2 = d.one.count()-sc.least1, d.two.count()-sc.least2
	for _, k := range [2]int{s.n, s.n + 1} {
		if y[k] < 0 {
			y[k] = unit
		}
	}
	l := s.price(d, inOne, inTwo, y)
	for range s.use.steps {
		if l > 0 {
			break
		}
		s.ascend(d, inOne, inTwo, y, l)
		l = s.price(d, inOne, inTwo, y)
	}
	return -l, l <= 0
}

// rows notes the slack of the members' rows and gives new rows their first weight.
func (s *pairSearch) rows(members, may pair, y []int32) {
	for w := members; !w.empty(); w = w.rest() {
		i := w.first()
		s.scratch.slack[i] = s.in[i].and(may).count() - s.need[i]
		if y[i] < 0 {
			y[i] = unit
		}
	}
}

// price fills a and b for the open nodes and returns L(y).
func (s *pairSearch) price(d *pairDomain, inOne, inTwo pair, y []int32) int {
	sc := &s.scratch
	open1, open2 := d.one.andNot(inOne), d.two.andNot(inTwo)
	y1, y2 := int(y[s.n]), int(y[s.n+1])
	l := -y1*sc.room1 - y2*sc.room2
	for w := open1; !w.empty(); w = w.rest() {
		sc.a[w.first()] = y1
	}
	for w := open2; !w.empty(); w = w.rest() {
		sc.b[w.first()] = y2
	}
	for w := inOne; !w.empty(); w = w.rest() {
		if i := w.first(); y[i] > 0 {
			l -= int(y[i]) * sc.slack[i]
			for u := s.in[i].and(open1); !u.empty(); u = u.rest() {
				sc.a[u.first()] += int(y[i])
			}
		}
	}
	for w := inTwo; !w.empty(); w = w.rest() {
		if i := w.first(); y[i] > 0 {
			l -= int(y[i]) * sc.slack[i]
			for u := s.in[i].and(open2); !u.empty(); u = u.rest() {
				sc.b[u.first()] += int(y[i])
			}
		}
	}
	for w := open1.and(open2); !w.empty(); w = w.rest() {
		v := w.first()
		l += min(sc.a[v], sc.b[v])
	}
	return l
}

// ascend takes one Polyak subgradient step on the weights: each row is pulled by how far the cheapest choice of all
// nodes overdraws it.
func (s *pairSearch) ascend(d *pairDomain, inOne, inTwo pair, y []int32, l int) {
	sc := &s.scratch
	var out1, out2 pair // kept out of S1, of S2 in the cheapest choice; ties go to either in turn
	tie := false
	for w := d.one.and(d.two); !w.empty(); w = w.rest() {
		v := w.first()
		first := sc.a[v] < sc.b[v]
		if sc.a[v] == sc.b[v] {
			first, tie = tie, !tie
		}
		if first {
			out1 = out1.with(v)
		} else {
			out2 = out2.with(v)
		}
	}
	norm := 0
	note := func(k, pull int) {
		if y[k] <= 0 && pull < 0 {
			pull = 0
		}
		sc.pull[k], norm = pull, norm+pull*pull
	}
	for w := inOne; !w.empty(); w = w.rest() {
		i := w.first()
		note(i, s.in[i].and(out1).count()-sc.slack[i])
	}
	for w := inTwo; !w.empty(); w = w.rest() {
		i := w.first()
		note(i, s.in[i].and(out2).count()-sc.slack[i])
	}
	note(s.n, out1.count()-sc.room1)
	note(s.n+1, out2.count()-sc.room2)
	if norm == 0 {
		return
	}
	// In fixed point: 1/256 of a weight is resolved, and no rounding differs between machines.
	step := (aim - l) * 256 / norm
	for w := inOne.or(inTwo); !w.empty(); w = w.rest() {
		s.move(y, w.first(), step)
	}
	s.move(y, s.n, step)
	s.move(y, s.n+1, step)
}

func (s *pairSearch) move(y []int32, k, step int) {
	y[k] = int32(min(max(int(y[k])+(step*s.scratch.pull[k]+128)>>8, 0), weightCap))
}
