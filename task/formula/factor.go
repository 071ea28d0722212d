package formula

import (
	"strings"
)

// factor reads an atom with what is raised, lowered or set behind it.
func (p *parser) factor() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	n, err := p.atom()
	for err == nil {
		switch {
		case p.take("^"):
			n, err = p.raised(n)
		case p.take("!"):
			if !n.scalar() {
				return nil, p.fail()
			}
			n = function("factorial", n)
		case p.named("circ"):
			p.at++
			n = mul(n, unit("degree"))
		case p.named("cents"):
			p.at++
			n = mul(n, unit("cent"))
		case p.take("%"):
			n = mul(n, unit("percent"))
		case p.is("_") || p.is("'"):
			return nil, p.fail()
		default:
			return n, nil
		}
		if err == nil && !n.scalar() {
			return nil, p.fail()
		}
	}
	return nil, err
}

// raised reads the exponent of n, or its degree sign.
func (p *parser) raised(n *node) (*node, error) {
	if p.named("circ") {
		p.at++
		return mul(n, unit("degree")), nil
	}
	if p.at+2 < len(p.in) && p.is("{") && p.in[p.at+1].text == "circ" && p.in[p.at+2].text == "}" {
		p.at += 3
		return mul(n, unit("degree")), nil
	}
	e, err := p.exponent()
	if err != nil || !n.scalar() {
		return nil, p.fail()
	}
	return power(n, e), nil
}

// exponent reads what stands after ^: a group, a whole number, one factor.
func (p *parser) exponent() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	negative := p.take("-")
	if !negative {
		p.take("+")
	}
	n, err := p.single(true)
	if err != nil {
		return nil, err
	}
	if negative {
		n = negate(n)
	}
	return n, nil
}

// single reads the argument of a command or a ^: a group, or the one thing that
// comes next, which of a number is the first digit unless whole is set.
func (p *parser) single(whole bool) (*node, error) {
	t := p.peek()
	switch {
	case p.take("{"):
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		if _, err = p.expect("}"); err != nil || !n.scalar() {
			return nil, errUnreadable
		}
		return n, nil
	case t.kind == kindNumber && !whole && len(t.text) > 1:
		rest := t
		rest.text, rest.space = t.text[1:], false
		p.in = append([]token{rest}, p.in[p.at+1:]...)
		p.at = 0
		return digitsOf(t.text[:1])
	}
	n, err := p.atom()
	if err == nil && !n.scalar() {
		return nil, p.fail()
	}
	return n, err
}

// atom reads the smallest things.
func (p *parser) atom() (*node, error) {
	t := p.peek()
	switch t.kind {
	case kindNumber:
		p.at++
		return p.numeral(t)
	case kindTime:
		p.at++
		return timeOf(t.text), nil
	case kindLetter:
		p.at++
		return p.variable(t.text)
	case kindName:
		p.at++
		return p.command(t.text)
	case kindWord:
		if p.at == 0 || p.in[p.at-1].kind == kindAnd || p.in[p.at-1].text == "," || p.in[p.at-1].text == `\{` || p.in[p.at-1].text == "(" {
			p.at++
			return &node{op: opText, name: strings.ToLower(t.text)}, nil
		}
	case kindSymbol:
		p.at++
		n, err := p.bracketed(t.text)
		if err != nil {
			p.at = min(p.at, len(p.in))
		}
		return n, err
	}
	return nil, p.fail()
}

// variable reads a letter with its index.
func (p *parser) variable(name string) (*node, error) {
	if !p.take("_") {
		return named(name), nil
	}
	index := ""
	switch t := p.peek(); {
	case p.take("{"):
		for !p.is("}") {
			t := p.peek()
			if t.kind == kindEnd || t.text == "{" {
				return nil, p.fail()
			}
			index += t.text
			p.at++
		}
		p.at++
	case t.kind == kindNumber || t.kind == kindLetter:
		index = t.text
		p.at++
	default:
		return nil, p.fail()
	}
	return named(name + "_" + index), nil
}
