package formula

import (
	"errors"
	"math/big"
	"slices"
	"strings"
)

// Same reports whether got is the same answer as want, and how that was decided. If got has two possible
// meanings, as 1,234 has, either may match; the key has one meaning.
func Same(want, got Formula) (bool, Basis) {
	if want.root == nil || got.root == nil {
		return false, Exact
	}
	j := &judge{basis: Exact, left: maxCompared}
	if j.same(want.root, got.root) {
		return true, j.basis
	}
	if got.loose != nil {
		again := &judge{basis: Exact, left: maxCompared}
		if again.same(want.root, got.loose) {
			return true, again.basis
		}
	}
	return false, j.basis
}

// maxCompared bounds how many pairs of scalars are compared for one question.
const maxCompared = 400

// judge compares two formulas.
type judge struct {
	basis Basis
	left  int
}

func (j *judge) same(a, b *node) bool {
	if a.op == opRel || b.op == opRel {
		return j.relations(a, b)
	}
	a, b = plain(a), plain(b)
	switch {
	case a.op == opText || b.op == opText:
		return sameText(a, b)
	case a.op == opBased || b.op == opBased:
		return sameBased(a, b)
	case a.op == opTime || b.op == opTime:
		return j.times(a, b)
	case joined(a) || joined(b):
		if x, ok := j.onLine(a); ok {
			if y, ok := j.onLine(b); ok {
				return j.samePieces(x, y)
			}
		}
		return a.op == b.op && a.op != opLess && j.unordered(flat(a, a.op), flat(b, a.op))
	case collection(a) || collection(b):
		return j.unordered(members(a), members(b))
	case a.op == opTuple && a.open == ':' && b.op == opTuple && b.open == ':':
		return j.proportional(a.args, b.args)
	case a.op == opTuple && b.op == opTuple:
		return a.open == b.open && a.shut == b.shut && j.ordered(a.args, b.args)
	case a.op == opMatrix && b.op == opMatrix:
		return a.cols == b.cols && j.ordered(a.args, b.args)
	case a.op == opMatrix && a.cols == 1 && b.op == opTuple: // a vector may be written as a tuple
		return b.open == '(' && b.shut == ')' && j.ordered(a.args, b.args)
	case b.op == opMatrix && b.cols == 1 && a.op == opTuple:
		return a.open == '(' && a.shut == ')' && j.ordered(a.args, b.args)
	case a.scalar() && b.scalar():
		return j.quantities(a, b)
	}
	return false
}

// joined reports that a node is a union, intersection or difference of sets.
func joined(n *node) bool { return n.op == opUnion || n.op == opInter || n.op == opLess }

func collection(n *node) bool { return n.op == opSet || n.op == opList }

// members returns the members of a set or list, or the one thing itself.
func members(n *node) []*node {
	if collection(n) {
		return n.args
	}
	return []*node{n}
}

// flat lists the operands of nested operations of one kind.
func flat(n *node, by op) []*node {
	if n.op != by {
		return []*node{n}
	}
	var all []*node
	for _, a := range n.args {
		all = append(all, flat(a, by)...)
	}
	return all
}

func (j *judge) ordered(a, b []*node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !j.same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// proportional compares the parts of two ratios.
func (j *judge) proportional(a, b []*node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		for k := range i {
			if !j.scalars(mul(a[i], b[k]), mul(b[i], a[k])) {
				return false
			}
		}
	}
	return true
}

// unordered pairs members. Apart from missing units, equality is transitive, so taking the first match is
// enough.
func (j *judge) unordered(a, b []*node) bool {
	if len(a) != len(b) || len(a) > maxItems {
		return false
	}
	taken := make([]bool, len(b))
	for _, x := range a {
		i := slices.IndexFunc(b, func(y *node) bool { return !taken[slices.Index(b, y)] && j.same(x, y) })
		if i < 0 {
			return false
		}
		taken[i] = true
	}
	return true
}

// sameText compares words without letter case and repeated spaces. Single letters side by side may be a word
// too.
func sameText(a, b *node) bool {
	x, ok := spelled(a)
	y, fine := spelled(b)
	return ok && fine && strings.Join(strings.Fields(x), " ") == strings.Join(strings.Fields(y), " ")
}

func spelled(n *node) (string, bool) {
	switch n.op {
	case opText, opName:
		return strings.ToLower(n.name), true
	case opMul:
		s := ""
		for _, a := range n.args {
			if a.op != opName || len(a.name) != 1 {
				return "", false
			}
			s += a.name
		}
		return strings.ToLower(s), true
	}
	return "", false
}

// sameBased compares numbers in a base. A number without a base must have the digits of that base; the same
// value in another base is another answer.
func sameBased(a, b *node) bool {
	if a.op != opBased {
		a, b = b, a
	}
	if b.op == opBased {
		return a.base == b.base && a.num.Cmp(b.num) == 0
	}
	return b.op == opNum && b.num.RatString() == a.name
}

// quantities compares scalars that may have units.
func (j *judge) quantities(a, b *node) bool {
	x, y := a.hasUnit(), b.hasUnit()
	switch {
	case !x && !y:
		return j.scalars(a, b)
	case x && y:
		return j.scalars(a.converted(), b.converted()) ||
			j.scalars(a.lettersAsUnits().converted(), b.lettersAsUnits().converted())
	case y:
		a, b = b, a
	}
	if c := b.lettersAsUnits(); c != b && j.scalars(a.converted(), c.converted()) { // 5 m
		return true
	}
	return j.scalars(a.stripped(), b) || a.pure() && (j.scalars(a.converted(), b) || a.op == opFunc &&
		j.scalars(a.bare(), b)) // cos 58 for cos 58°
}

// scalars compares scalars without units.
func (j *judge) scalars(a, b *node) bool {
	if j.left--; j.left < 0 {
		return false
	}
	x, err := a.normal(&work{maxWork})
	if errors.Is(err, errUndefined) {
		return false
	}
	y, other := b.normal(&work{maxWork})
	if errors.Is(other, errUndefined) {
		return false
	}
	if err == nil && other == nil {
		w := &work{4 * maxWork}
		left, err := x.n.times(y.d, w)
		right, other := y.n.times(x.d, w)
		if err == nil && other == nil {
			equal := left.name() == right.name()
			if equal || x.exact && y.exact {
				return equal
			}
		}
	}
	j.basis = Numeric
	same, ok := everywhere(a, b, value.close)
	return same && ok
}

// relations compares two nodes of which at least one is an equation, an inequality or x ∈ S.
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

// anyName is the label of f(x) = …, which matches every other.
const anyName = "()"

// solved returns what an equation or inequality states about its one unknown, and the unknown's name as the
// label: for x = 5 the node 5, for 2 < x an interval, for 3 + 4 = 7 the node 7.
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

// called reports that a node is f(x), which is read like a product.
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

// equations compares a = b and c = d as conditions: the difference of the sides of one is a constant multiple
// of the other's; for inequalities the constant must be positive.
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
		f := p.over(q)
		if f.none() || equality != "=" && f.re.Sign() <= 0 {
			return false
		}
		if factor == nil {
			factor = &f
		}
		return factor.close(f)
	})
	return same && ok && factor != nil
}

// difference returns the left side minus the right side of an equation, or the greater minus the lesser side
// of an inequality.
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

// times compares two nodes of which at least one is a time of day.
func (j *judge) times(a, b *node) bool {
	if a.op != opTime || a.name == "" && b.op == opTime {
		a, b = b, a
	}
	switch {
	case b.op == opTime && a.name != "" && b.name != "":
		return a.minutes(true) == b.minutes(true)
	case b.op == opTime:
		return a.minutes(false) == b.minutes(false) || a.minutes(true) == b.minutes(true) && b.ofTheDay()
	case a.name != "" || !b.scalar():
		return false
	}
	return a.args[1].num.Cmp(new(big.Rat)) != 0 && j.scalars(div(a.args[0], a.args[1]), b)
}
