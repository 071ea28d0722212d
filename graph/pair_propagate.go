// Code generated from word_propagate.go by go generate; DO NOT EDIT.

package graph

// propagate removes possibilities that the dirty nodes' surroundings rule out until nothing changes; false when no
// pair is left.
func (s *pairSearch) propagate(d *pairDomain, dirty pair) bool {
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

// revise applies the rules of one node and returns the nodes that lost a possibility.
func (s *pairSearch) revise(d *pairDomain, v int) (changed pair, ok bool) {
	heard, need, self := s.in[v], s.need[v], pairOf(v)
	one, two, none := heard.and(d.one), heard.and(d.two), heard.and(d.none)
	if d.one.has(v) {
		switch c := one.count(); {
		case c < need: // too few left to lean on in S1
			d.one, changed = d.one.without(v), self
		case c == need && !d.two.has(v) && !d.none.has(v): // needs every one of them
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

// reviseNone: a node in neither set of a maximal pair has fewer than need neighbours in each, so at least
// degree - 2·need + 2 of them are in neither.
func (s *pairSearch) reviseNone(d *pairDomain, v, may int) (changed pair) {
	heard, need := s.in[v], s.need[v]
	inOne, inTwo := heard.and(d.inOne()).count(), heard.and(d.inTwo()).count()
	if inOne >= need || inTwo >= need || may < s.degree[v]-2*need+2 {
		d.none = d.none.without(v)
		return pairOf(v)
	}
	if d.one.has(v) || d.two.has(v) {
		return changed
	}
	if inOne == need-1 {
		lose := heard.and(d.one).and(d.two.or(d.none))
		d.one, changed = d.one.andNot(lose), lose
	}
	if inTwo == need-1 {
		lose := heard.and(d.two).and(d.one.or(d.none))
		d.two, changed = d.two.andNot(lose), changed.or(lose)
	}
	return changed
}

// sizes is the counting bound: a member needs its need and everybody decided into its set whom it does not hear, so
// each set has a least size, and both must fit.
func (s *pairSearch) sizes(d *pairDomain) (changed pair, ok bool) {
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

// leastSize is the smallest size of a set with these members, drawn from those who may be in it; beyond all nodes when
// nobody may.
func (s *pairSearch) leastSize(members, may pair) int {
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
