package robustness

// scratch is working memory that every search node overwrites.
type scratch struct {
	least1, least2 int   // least sizes of the two sets
	room1, room2   int   // slack of the two size rows
	slack          []int // by row: how many in-neighbours of its node may be outside the node's set
	a, b           []int // by node: price of keeping it out of S1, out of S2
	rise           []int // by node: how much its share of the bound rises with a new row; see prober
	pull           []int // by row: its component of the subgradient
}

// bound computes a Lagrangian bound. Its constraints, called rows, are: of the in-neighbours of a
// node in S1 that may be in S1, at most slack are kept out of S1; and of all nodes that may be in
// S1, at most their number less the least size are kept out. The same holds for S2. With a weight y
// ≥ 0 for each row,
//
//	L(y) = Σ over nodes that may be in S1 or in S2 of min(a, b)  -  Σ over rows of y·slack
//
// is at most 0 for every pair, because a node is kept out of at least one set. If L > 0 there is no pair, and open is
// false. Otherwise gap = -L, and the scratch memory holds the prices for the weights y.
func (s *searcher[H]) bound(d *domain[H], y []int32) (gap int, open bool) {
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

// rows computes the slack of the members' rows and gives new rows their first weight.
func (s *searcher[H]) rows(members, may nodeSet[H], y []int32) {
	for w := members; !w.empty(); w = w.rest() {
		i := w.first()
		s.scratch.slack[i] = s.in[i].and(may).count() - s.need[i]
		if y[i] < 0 {
			y[i] = unit
		}
	}
}

// price computes a and b of the open nodes and returns L(y).
func (s *searcher[H]) price(d *domain[H], inOne, inTwo nodeSet[H], y []int32) int {
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

// ascend changes the weights by one Polyak subgradient step. The component of a row is how far the cheapest choice of
// all nodes violates it.
func (s *searcher[H]) ascend(d *domain[H], inOne, inTwo nodeSet[H], y []int32, l int) {
	sc := &s.scratch
	var out1, out2 nodeSet[H] // kept out of S1, of S2 by the cheapest choice; ties alternate
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
	// Fixed-point arithmetic with a resolution of 1/256, so that all machines compute the same.
	step := (aim - l) * 256 / norm
	for w := inOne.or(inTwo); !w.empty(); w = w.rest() {
		s.move(y, w.first(), step)
	}
	s.move(y, s.n, step)
	s.move(y, s.n+1, step)
}

func (s *searcher[H]) move(y []int32, k, step int) {
	y[k] = int32(min(max(int(y[k])+(step*s.scratch.pull[k]+128)>>8, 0), weightCap))
}

// probe computes what each choice of each open node would add to the bound, removes choices that
// would raise it above 0, and picks the node to branch on: the one whose cheaper choice costs most.
// All costs are computed for the domain before any removal, because computing them for what is left
// would use the same gap twice.
func (s *searcher[H]) probe(d *domain[H], y []int32, gap int) (branch int, changed nodeSet[H]) {
	snap := *d
	p := prober[H]{s: s, d: &snap, inOne: snap.inOne(), inTwo: snap.inTwo(), gap: gap,
		y1: int(y[s.n]), y2: int(y[s.n+1])}
	p.both = snap.one.and(snap.two)
	p.prepare()
	branch, best := -1, -1<<62
	for w := snap.open(); !w.empty(); w = w.rest() {
		v := w.first()
		c := p.choices(v)
		if s.use.probing {
			if snap.one.has(v) && c.cost1 > gap {
				d.one, changed = d.one.without(v), changed.with(v)
			}
			if snap.two.has(v) && c.cost2 > gap {
				d.two, changed = d.two.without(v), changed.with(v)
			}
			if snap.none.has(v) && c.costNone > gap {
				d.none, changed = d.none.without(v), changed.with(v)
			}
		}
		if c.score > best {
			branch, best = v, c.score
		}
	}
	for w := changed; !w.empty(); w = w.rest() {
		changed = changed.or(s.out[w.first()])
	}
	return branch, changed
}

// prober is the state of one call of probe.
type prober[H high] struct {
	s            *searcher[H]
	d            *domain[H]
	inOne, inTwo nodeSet[H]
	both         nodeSet[H] // nodes that may be in either set, over which the bound sums
	gap          int
	y1, y2       int // weights of the size rows
	// With a new row of weight trial for set 1 (index 0) or set 2 (index 1), the share min(a, b) of
	// a node rises by trial (full), by less (part; the scratch memory has the amount), or not at
	// all.
	full, part [2]nodeSet[H]
}

// choices holds what each choice of a node adds to the bound at least, and the node's branching score.
type choices struct{ cost1, cost2, costNone, score int }

// prepare computes full and part.
func (p *prober[H]) prepare() {
	sc := &p.s.scratch
	for w := p.both; !w.empty(); w = w.rest() {
		v := w.first()
		switch lead := sc.b[v] - sc.a[v]; {
		case lead >= trial:
			p.full[0] = p.full[0].with(v)
		case lead > 0:
			p.part[0], sc.rise[v] = p.part[0].with(v), lead
		case lead <= -trial:
			p.full[1] = p.full[1].with(v)
		case lead < 0:
			p.part[1], sc.rise[v] = p.part[1].with(v), -lead
		}
	}
}

// row returns the value of the row that a node would add by being in set k: by how much the shares of its in-neighbours
// rise, less the weight of its slack.
func (p *prober[H]) row(inputs nodeSet[H], k, slack int) int {
	value := trial * (inputs.and(p.full[k]).count() - slack)
	for w := inputs.and(p.part[k]); !w.empty(); w = w.rest() {
		value += p.s.scratch.rise[w.first()]
	}
	return value
}

// choices computes the costs of the choices of node v.
func (p *prober[H]) choices(v int) (c choices) {
	s, sc := p.s, &p.s.scratch
	low := 0
	if p.both.has(v) {
		low = min(sc.a[v], sc.b[v])
	}
	inputs, need := s.in[v], s.need[v]
	var gain1, gain2 int
	if p.d.one.has(v) {
		cost := 0
		if p.both.has(v) {
			cost = sc.b[v] - low
		}
		cost += p.y1 * max(0, need+1+p.inOne.andNot(inputs).count()-sc.least1)
		row := p.row(inputs, 0, inputs.and(p.d.one).count()-need)
		c.cost1, gain1 = cost+max(0, row), cost+potential(row)
		c.costNone += sc.a[v]
	}
	if p.d.two.has(v) {
		cost := 0
		if p.both.has(v) {
			cost = sc.a[v] - low
		}
		cost += p.y2 * max(0, need+1+p.inTwo.andNot(inputs).count()-sc.least2)
		row := p.row(inputs, 1, inputs.and(p.d.two).count()-need)
		c.cost2, gain2 = cost+max(0, row), cost+potential(row)
		c.costNone += sc.b[v]
	}
	c.costNone -= low
	c.score = p.score(v, gain1, gain2, c.costNone)
	return c
}

// score rates a node for branching; higher is better. The first node is chosen by degree: a node
// with many in-neighbours needs many members in its set, and simplifies the rest most if it is in
// neither.
func (p *prober[H]) score(v, gain1, gain2, costNone int) int {
	switch one, two := p.d.one.has(v), p.d.two.has(v); {
	case p.inOne.empty() && p.inTwo.empty():
		return p.s.degree[v]
	case one && two && p.inTwo.empty():
		return 2*min(gain1, gain2) + max(gain1, gain2)
	case one && two:
		return spread*min(gain1, gain2) + max(gain1, gain2)
	case one:
		return spread*min(gain1, costNone) + max(gain1, costNone)
	default:
		return spread*min(gain2, costNone) + max(gain2, costNone)
	}
}
