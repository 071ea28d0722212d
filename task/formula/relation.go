package formula

import "slices"

// relations compares where at least one side is an equation, an inequality or x ∈ S.
func (j *judge) relations(a, b *node) bool {
	x, label := j.solved(a)
	y, other := j.solved(b)
	if label != "" && other != "" && label != other && label != anyName && other != anyName {
		return false
	}
	if x.op != opRel && y.op != opRel && j.same(x, y) {
		return true
	}
	return a.op == opRel && b.op == opRel && j.equations(a, b)
}

// anyName is the label of f(x) = …, which goes with every other.
const anyName = "()"

// solved is what an equation or inequality says of its one unknown: of x = 5 it is
// 5, of 2 < x an interval, of 3 + 4 = 7 the 7. The label is the unknown's name.
func (j *judge) solved(n *node) (*node, string) {
	if n.op != opRel {
		return n, ""
	}
	if r, ok := region(n); ok {
		return r, ""
	}
	last := n.args[len(n.args)-1]
	if len(n.rels) == 1 && n.rels[0] == "in" {
		return last, ""
	}
	if slices.ContainsFunc(n.rels, func(r string) bool { return r != "=" }) {
		return n, ""
	}
	first := n.args[0]
	switch {
	case variable(first):
		return last, first.name
	case called(first):
		return last, anyName
	case variable(last):
		return first, last.name
	case !slices.ContainsFunc(n.args, free) && j.chained(n.args):
		return last, ""
	}
	return n, ""
}

// called reports that a node is f(x), which reads like a product.
func called(n *node) bool {
	return n.op == opMul && len(n.args) == 2 && variable(n.args[0]) && variable(n.args[1])
}

// chained reports that all parts of a = b = c are equal.
func (j *judge) chained(all []*node) bool {
	for _, a := range all[1:] {
		if !j.same(all[0], a) {
			return false
		}
	}
	return true
}

// equations compares a = b and c = d as conditions: the differences of their sides
// are multiples of one another by a constant, which for inequalities is positive.
func (j *judge) equations(a, b *node) bool {
	if len(a.rels) != 1 || len(b.rels) != 1 {
		return false
	}
	x, equality := difference(a)
	y, other := difference(b)
	if x == nil || y == nil || equality != other {
		return false
	}
	j.basis = Numeric
	var factor *value
	same, ok := everywhere(x, y, func(p, q value) bool {
		if p.zero() || q.zero() {
			return p.zero() == q.zero()
		}
		f, err := p.over(q)
		if err != nil || equality != "=" && f.re.Sign() <= 0 {
			return false
		}
		if factor == nil {
			factor = &f
		}
		return factor.close(f)
	})
	return same && ok && factor != nil
}

// difference is the left side less the right one of =, or the greater less the
// lesser of an inequality.
func difference(n *node) (*node, string) {
	a, b, rel := n.args[0], n.args[1], n.rels[0]
	if !a.scalar() || !b.scalar() || a.hasUnit() || b.hasUnit() {
		return nil, ""
	}
	switch rel {
	case "<", "<=":
		a, b, rel = b, a, map[string]string{"<": ">", "<=": ">="}[rel]
	case "in":
		return nil, ""
	}
	return add(a, negate(b)), rel
}
