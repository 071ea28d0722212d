package formula

import (
	"math/big"
	"slices"
	"strings"

	"synod.dev/synod/internal/order"
)

// piece is an interval of the real line. A set of real numbers is a list of pieces from left to right, no two
// of which touch: (-∞,1)∪[1,2) is the one piece (-∞,2).
type piece struct{ low, high end }

// end is an end of a piece.
type end struct {
	at     *node
	value  *big.Float // infinite where the piece is
	closed bool
}

// onLine returns the set that a node describes if all its members are real numbers.
func (j *judge) onLine(n *node) ([]piece, bool) {
	switch n.op {
	case opTuple:
		return j.interval(n)
	case opSet:
		var all []piece
		for _, a := range n.args {
			p, ok := endOf(a, true)
			if !ok || p.value.IsInf() {
				return nil, false
			}
			all = append(all, piece{p, p})
		}
		return j.merge(all), true
	case opRel:
		r, ok := region(n)
		if !ok {
			return nil, false
		}
		return j.onLine(r)
	case opUnion, opInter, opLess:
		a, ok := j.onLine(n.args[0])
		for _, m := range n.args[1:] {
			b, fine := j.onLine(m)
			if !ok || !fine || len(a)*len(b) > maxItems*maxItems {
				return nil, false
			}
			switch n.op {
			case opUnion:
				a = j.merge(append(a, b...))
			case opInter:
				a = j.intersect(a, b)
			default:
				a = j.intersect(a, j.complement(b))
			}
		}
		return a, ok
	}
	return nil, false
}

// interval returns the piece that a pair in brackets describes. It fails if the greater end comes first.
func (j *judge) interval(n *node) ([]piece, bool) {
	if len(n.args) != 2 {
		return nil, false
	}
	low, ok := endOf(n.args[0], n.open == '[')
	high, fine := endOf(n.args[1], n.shut == ']')
	if !ok || !fine || low.value.IsInf() && low.closed || high.value.IsInf() && high.closed {
		return nil, false
	}
	switch c := j.order(low, high); {
	case c > 0:
		return nil, false
	case c == 0 && !(low.closed && high.closed):
		return nil, true
	}
	return []piece{{low, high}}, true
}

// endOf returns a real number or an infinity as an end.
func endOf(n *node, closed bool) (end, bool) {
	if n.op == opName && n.name == "infty" {
		return end{n, new(big.Float).SetInf(false), closed}, true
	}
	if minus(n) && len(n.args) == 2 && n.args[1].op == opName && n.args[1].name == "infty" {
		return end{n, new(big.Float).SetInf(true), closed}, true
	}
	if !n.scalar() || free(n) || n.hasUnit() {
		return end{}, false
	}
	v := n.eval(nil)
	if v.none() || !v.almostReal() {
		return end{}, false
	}
	return end{n, v.re, closed}, true
}

// order compares the positions of two ends: by value, unless they are the same number.
func (j *judge) order(a, b end) int {
	c := a.value.Cmp(b.value)
	if c == 0 || a.value.IsInf() || b.value.IsInf() {
		return c
	}
	if realValue(a.value).close(realValue(b.value)) && j.scalars(a.at, b.at) {
		return 0
	}
	return c
}

// merge sorts pieces and joins those that touch.
func (j *judge) merge(all []piece) []piece {
	order.Stable(all, func(p, q piece) int {
		if c := j.order(p.low, q.low); c != 0 || p.low.closed == q.low.closed {
			return c
		} else if p.low.closed {
			return -1
		}
		return 1
	})
	var out []piece
	for _, p := range all {
		if len(out) == 0 {
			out = append(out, p)
			continue
		}
		last := &out[len(out)-1]
		if c := j.order(last.high, p.low); c < 0 || c == 0 && !last.high.closed && !p.low.closed {
			out = append(out, p)
			continue
		}
		last.high = j.later(last.high, p.high)
	}
	return out
}

// later returns the end that is further to the right.
func (j *judge) later(a, b end) end {
	if c := j.order(a, b); c > 0 || c == 0 && a.closed {
		return a
	}
	return b
}

// intersect returns what both sets contain: the complement of what either lacks.
func (j *judge) intersect(a, b []piece) []piece {
	return j.complement(j.merge(append(j.complement(a), j.complement(b)...)))
}

// complement returns the rest of the line.
func (j *judge) complement(all []piece) []piece {
	low := end{value: new(big.Float).SetInf(true)}
	var out []piece
	for _, p := range all {
		if !p.low.value.IsInf() {
			out = append(out, piece{low, end{p.low.at, p.low.value, !p.low.closed}})
		}
		low = end{p.high.at, p.high.value, !p.high.closed}
	}
	if len(all) == 0 || !low.value.IsInf() {
		out = append(out, piece{low, end{value: new(big.Float).SetInf(false)}})
	}
	return out
}

// samePieces compares sets of real numbers.
func (j *judge) samePieces(a, b []piece) bool {
	return slices.EqualFunc(a, b, func(p, q piece) bool {
		return j.order(p.low, q.low) == 0 && j.order(p.high, q.high) == 0 &&
			p.low.closed == q.low.closed && p.high.closed == q.high.closed
	})
}

// plain turns a list of inequalities, x < 2 or x > 3, into one region.
func plain(n *node) *node {
	if n.op == opList && len(n.args) > 1 {
		all := make([]*node, len(n.args))
		for i, a := range n.args {
			r, ok := region(a)
			if !ok {
				return n
			}
			all[i] = r
		}
		return &node{op: opUnion, args: all}
	}
	return n
}

// region returns the interval that an inequality for one variable describes; for x ≠ a, the rest of the line.
func region(n *node) (*node, bool) {
	if n.op != opRel {
		return nil, false
	}
	if len(n.rels) == 1 && n.rels[0] == "!=" && variable(n.args[0]) && !free(n.args[1]) {
		return &node{op: opLess, args: []*node{reals(), {op: opSet, args: n.args[1:]}}}, true
	}
	args, rels := rising(n)
	if args == nil {
		return nil, false
	}
	i := reals()
	switch {
	case len(args) == 3 && variable(args[1]):
		i.args[0], i.args[1] = args[0], args[2]
		if rels[0] == "<=" {
			i.open = '['
		}
		if rels[1] == "<=" {
			i.shut = ']'
		}
	case len(args) == 2 && variable(args[0]) && !free(args[1]):
		if i.args[1] = args[1]; rels[0] == "<=" {
			i.shut = ']'
		}
	case len(args) == 2 && variable(args[1]) && !free(args[0]):
		if i.args[0] = args[0]; rels[0] == "<=" {
			i.open = '['
		}
	default:
		return nil, false
	}
	return i, true
}

// rising returns an inequality written with < and ≤ only, or nil.
func rising(n *node) ([]*node, []string) {
	args, rels := n.args, n.rels
	if rels[0] == ">" || rels[0] == ">=" { // turn it round
		args, rels = slices.Clone(args), slices.Clone(rels)
		slices.Reverse(args)
		slices.Reverse(rels)
		for i, r := range rels {
			rels[i] = strings.Replace(r, ">", "<", 1)
		}
	}
	for _, r := range rels {
		if r != "<" && r != "<=" {
			return nil, nil
		}
	}
	return args, rels
}

func variable(n *node) bool { return n.op == opName && !constants[n.name] }

func free(n *node) bool {
	names := map[string]bool{}
	n.variables(names)
	return len(names) > 0
}
