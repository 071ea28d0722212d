package formula

import (
	"strings"
)

// until reads an expression up to a closing command.
func (p *parser) until(closing, name string) (*node, error) {
	n, err := p.sum()
	if err != nil {
		return nil, err
	}
	if !p.named(closing) || !n.scalar() {
		return nil, p.fail()
	}
	p.at++
	return function(name, n), nil
}

// bracketed reads the expression that an opening bracket begins.
func (p *parser) bracketed(open string) (*node, error) {
	bars := p.bars
	p.bars = 0
	defer func() { p.bars = bars }()
	switch open {
	case "|":
		return p.absolute()
	case "$":
		return p.money("dollar")
	case `\{`:
		return p.set()
	case "(", "[":
		return p.tuple(open)
	case "{":
		return p.group()
	}
	p.at--
	return nil, p.fail()
}

// absolute reads the rest of |x|.
func (p *parser) absolute() (*node, error) {
	p.bars = 1
	n, err := p.sum()
	if err != nil {
		return nil, err
	}
	if _, err := p.expect("|"); err != nil || !n.scalar() {
		return nil, errUnreadable
	}
	return function("abs", n), nil
}

// set reads the rest of {a, b} and of {x | x > a}.
func (p *parser) set() (*node, error) {
	if p.take(`\}`) {
		return &node{op: opSet}, nil
	}
	if p.builder() {
		n, err := p.condition()
		if err == nil {
			_, err = p.expect(`\}`)
		}
		return n, err
	}
	all, err := p.items()
	if err != nil {
		return nil, err
	}
	_, err = p.expect(`\}`)
	return &node{op: opSet, args: all}, err
}

// builder skips "x |", "x :" or "x ∈ ℝ |", which begin a set that is given by a condition.
func (p *parser) builder() bool {
	at := p.at
	if p.peek().kind == kindLetter {
		if p.at++; p.named("in") {
			if p.at++; p.named("reals") {
				p.at++
			}
		}
		if p.take("|") || p.take(":") {
			return true
		}
		if p.named("mid") {
			p.at++
			return true
		}
	}
	p.at = at
	return false
}

// condition reads inequalities for one variable. A comma means and.
func (p *parser) condition() (*node, error) {
	var all *node
	kind := opInter
	for {
		r, err := p.relation()
		if err != nil {
			return nil, err
		}
		n, ok := region(r)
		if !ok {
			return nil, errUnreadable
		}
		if all == nil {
			all = n
		} else {
			all = &node{op: kind, args: []*node{all, n}}
		}
		kind = opInter
		switch t := p.peek(); {
		case t.kind == kindAnd:
			if t.text == "or" {
				kind = opUnion
			}
			p.at++
		case p.take(","):
		default:
			return all, nil
		}
	}
}

// tuple reads the rest of a tuple, of an interval, or of brackets around one thing.
func (p *parser) tuple(open string) (*node, error) {
	all, err := p.items()
	if err != nil {
		return nil, err
	}
	shut, err := p.expect(")", "]")
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return &node{op: opTuple, open: open[0], shut: shut[0], args: all}, nil
	}
	if (open == "(") != (shut == ")") {
		return nil, errUnreadable
	}
	return all[0], nil
}

// group reads the rest of a TeX group.
func (p *parser) group() (*node, error) {
	all, err := p.items()
	if err != nil {
		return nil, err
	}
	if _, err := p.expect("}"); err != nil {
		return nil, err
	}
	if len(all) > 1 { // a set that lost its backslashes
		return &node{op: opSet, args: all}, nil
	}
	return all[0], nil
}

// matrix reads rows up to \end.
func (p *parser) matrix(kind string) (*node, error) {
	if !strings.HasSuffix(kind, "matrix") && kind != "array" || kind == "vmatrix" {
		return nil, errUnreadable
	}
	m := &node{op: opMatrix}
	row := 0
	for {
		for p.named("hline") {
			p.at++
		}
		if p.named("end:" + kind) {
			p.at++
			break
		}
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		if !n.scalar() {
			return nil, errUnreadable
		}
		m.args = append(m.args, n)
		row++
		if p.take("&") {
			continue
		}
		if !p.take(`\\`) && !p.named("end:"+kind) {
			return nil, p.fail()
		}
		if m.cols == 0 {
			m.cols = row
		}
		if row != m.cols {
			return nil, errUnreadable
		}
		row = 0
	}
	if len(m.args) == 0 || row != 0 {
		return nil, errUnreadable
	}
	return m, nil
}
