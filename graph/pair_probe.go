// Code generated from word_probe.go by go generate; DO NOT EDIT.

package graph

// probe asks of each open node what each of its possibilities would add to the bound, drops those that would lift it
// above 0, and names the node to branch on: where even the cheaper choice costs most. All figures are taken on a
// snapshot of the domain: dropping one possibility and pricing the next on what is left would count the same gap twice.
func (s *pairSearch) probe(d *pairDomain, y []int32, gap int) (branch int, changed pair) {
	snap := *d
	p := pairProbe{s: s, d: &snap, inOne: snap.inOne(), inTwo: snap.inTwo(), gap: gap, y1: int(y[s.n]), y2: int(y[s.n+1])}
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

// pairProbe is one probing of a domain.
type pairProbe struct {
	s            *pairSearch
	d            *pairDomain
	inOne, inTwo pair
	both         pair // open to either set: the nodes the bound sums over
	gap          int
	y1, y2       int // weights of the size rows
	// Under a new row of weight trial in set 1 (0) or 2 (1), a node's share min(a, b) of the bound rises by all of it, by a
	// part of it, which the scratch holds, or not at all.
	full, part [2]pair
}

// pairChoices is what each possibility of a node adds to the bound at least, and how much branching on it promises.
type pairChoices struct{ cost1, cost2, costNone, score int }

// prepare sorts the nodes by how much their share rises under a new row.
func (p *pairProbe) prepare() {
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

// row is the value of the row that a node in set k would bring: how much the shares of those it hears rise, less the
// weight of its slack.
func (p *pairProbe) row(heard pair, k, slack int) int {
	value := trial * (heard.and(p.full[k]).count() - slack)
	for w := heard.and(p.part[k]); !w.empty(); w = w.rest() {
		value += p.s.scratch.rise[w.first()]
	}
	return value
}

func (p *pairProbe) choices(v int) (c pairChoices) {
	s, sc := p.s, &p.s.scratch
	low := 0
	if p.both.has(v) {
		low = min(sc.a[v], sc.b[v])
	}
	heard, need := s.in[v], s.need[v]
	var gain1, gain2 int
	if p.d.one.has(v) {
		cost := 0
		if p.both.has(v) {
			cost = sc.b[v] - low
		}
		cost += p.y1 * max(0, need+1+p.inOne.andNot(heard).count()-sc.least1)
		row := p.row(heard, 0, heard.and(p.d.one).count()-need)
		c.cost1, gain1 = cost+max(0, row), cost+promise(row)
		c.costNone += sc.a[v]
	}
	if p.d.two.has(v) {
		cost := 0
		if p.both.has(v) {
			cost = sc.a[v] - low
		}
		cost += p.y2 * max(0, need+1+p.inTwo.andNot(heard).count()-sc.least2)
		row := p.row(heard, 1, heard.and(p.d.two).count()-need)
		c.cost2, gain2 = cost+max(0, row), cost+promise(row)
		c.costNone += sc.b[v]
	}
	c.costNone -= low
	c.score = p.score(v, gain1, gain2, c.costNone)
	return c
}

// score says how much branching on a node promises. The first node goes by degree: one that hears many needs many, and
// leaves less to the search once it is in neither set.
func (p *pairProbe) score(v, gain1, gain2, costNone int) int {
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
