package formula

// maxItems is how many members a list or set may have.
const maxItems = 64

// spread makes two members of what has a ±: 1 ± √5 is the list 1+√5, 1−√5. All the
// signs of one expression go together.
func spread(n *node) (*node, error) {
	hasPM := func(n *node) bool { return n.any(func(n *node) bool { return n.op == opPM }) }
	if !hasPM(n) {
		return n, nil
	}
	switch n.op {
	case opList, opSet:
		c := *n
		c.args = nil
		for _, a := range n.args {
			b, err := spread(a)
			if err != nil {
				return nil, err
			}
			if b.op == opList && a.op != opList {
				c.args = append(c.args, b.args...)
			} else {
				c.args = append(c.args, b)
			}
			if len(c.args) > maxItems {
				return nil, errUnreadable
			}
		}
		return &c, nil
	case opUnion, opInter, opLess:
		return nil, errUnreadable
	}
	return &node{op: opList, args: []*node{signed(n, "pm"), signed(n, "mp")}}, nil
}

// signed takes the upper signs (pm) or the lower ones (mp).
func signed(n *node, upper string) *node {
	return n.rewrite(func(n *node) *node {
		switch {
		case n.op != opPM:
			return n
		case n.name == upper:
			return add(n.args[0], n.args[1])
		}
		return add(n.args[0], negate(n.args[1]))
	})
}
