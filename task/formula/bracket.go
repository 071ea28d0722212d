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

// bracketed reads what an opening bracket begins.
func (p *parser) bracketed(open string) (*node, error) {
	bars := p.bars
	p.bars = 0
	defer func() { p.bars = bars }()
	switch open {
	case "|":
		p.bars = 1
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		if _, err := p.expect("|"); err != nil || !n.scalar() {
			return nil, errUnreadable
		}
		return function("abs", n), nil
	case "$":
		return p.money("dollar")
	case `\{`:
		if p.take(`\}`) {
			return &node{op: opSet}, nil
		}
		all, err := p.items()
		if err != nil {
			return nil, err
		}
		_, err = p.expect(`\}`)
		return &node{op: opSet, args: all}, err
	case "(", "[":
		all, err := p.items()
		if err != nil {
			return nil, err
		}
		shut, err := p.expect(")", "]")
		if err != nil {
			return nil, err
		}
		if len(all) == 1 {
			if (open == "(") != (shut == ")") {
				return nil, errUnreadable
			}
			return all[0], nil
		}
		return &node{op: opTuple, open: open[0], shut: shut[0], args: all}, nil
	case "{":
		all, err := p.items()
		if err != nil {
			return nil, err
		}
		if _, err := p.expect("}"); err != nil {
			return nil, err
		}
		if len(all) > 1 { // a set whose backslashes were lost
			return &node{op: opSet, args: all}, nil
		}
		return all[0], nil
	}
	p.at--
	return nil, p.fail()
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
