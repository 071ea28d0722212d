package formula

// whole reads all tokens.
func (p *parser) whole() (*node, error) {
	items, err := p.items()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.in) {
		return nil, p.fail()
	}
	if len(items) == 1 {
		return items[0], nil
	}
	return &node{op: opList, args: items}, nil
}

// items reads what commas, semicolons, and/or part.
func (p *parser) items() ([]*node, error) {
	var all []*node
	for {
		n, err := p.relation()
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		more := false
		for p.take(",") || p.take(";") || p.peek().kind == kindAnd {
			if p.peek().kind == kindAnd {
				p.at++
			}
			more = true
		}
		if !more {
			return all, p.alike(all)
		}
	}
}

// alike refuses lists of which some members are words and some are not: prose.
func (p *parser) alike(all []*node) error {
	for _, n := range all {
		if (n.op == opText) != (all[0].op == opText) {
			return errUnreadable
		}
	}
	return nil
}

var relations = map[string]string{"=": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "in": "in", "ne": "!=", "neq": "!="}

// relation reads a = b, a ≤ x < b, x ∈ S.
func (p *parser) relation() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	n := &node{op: opRel}
	for {
		part, err := p.union()
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, part)
		t := p.peek()
		rel := relations[t.text]
		if rel == "" || t.kind != kindSymbol && t.kind != kindName {
			break
		}
		p.at++
		n.rels = append(n.rels, rel)
	}
	if len(n.args) == 1 {
		return n.args[0], nil
	}
	return n, nil
}

// joins are the signs between sets.
var joins = map[string]op{"cup": opUnion, "cap": opInter, "setminus": opLess, "backslash": opLess}

// union reads sets and intervals joined by ∪, ∩ or ∖, from left to right.
func (p *parser) union() (*node, error) {
	n, err := p.sum()
	for err == nil && p.peek().kind == kindName {
		kind, ok := joins[p.peek().text]
		if !ok {
			break
		}
		p.at++
		var m *node
		if m, err = p.sum(); err == nil {
			n = &node{op: kind, args: []*node{n, m}}
		}
	}
	return n, err
}
