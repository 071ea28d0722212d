package formula

import (
	"fmt"
	"strings"
)

// sum reads terms.
func (p *parser) sum() (*node, error) {
	var n *node
	for first := true; ; first = false {
		sign := p.sign()
		if sign == "" && !first {
			return n, nil
		}
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		if (!first || sign != "") && !t.scalar() && t.op != opMatrix {
			return nil, p.fail()
		}
		switch {
		case sign == "-" && t.op == opMatrix:
			t = scale(number(-1), t)
		case sign == "-":
			t = negate(t)
		case sign == "pm" || sign == "mp":
			if n == nil {
				n = number(0)
			}
			if !n.scalar() || !t.scalar() {
				return nil, p.fail()
			}
			n = &node{op: opPM, name: sign, args: []*node{n, t}}
			continue
		}
		switch {
		case n == nil:
			n = t
		case !n.scalar() || !t.scalar():
			return nil, p.fail()
		case n.op == opAdd:
			n.args = append(n.args, t)
		default:
			n = add(n, t)
		}
	}
}

// sign reads the sign before a term, if there is one.
func (p *parser) sign() string {
	switch {
	case p.is("+"), p.is("-"), p.named("pm"), p.named("mp"):
		p.at++
		return p.in[p.at-1].text
	}
	return ""
}

// term reads factors. Division and multiplication, written or not, go from left
// to right: 1/2x is (1/2)x.
func (p *parser) term() (*node, error) {
	n, err := p.factor()
	for err == nil {
		t := p.peek()
		switch {
		case p.take("*"):
			n, err = p.times(n, p.signed)
		case p.take("/"):
			var m *node
			if m, err = p.signed(); err == nil {
				if !n.scalar() || !m.scalar() {
					return nil, p.fail()
				}
				n = div(n, m)
			}
		case p.is(":"):
			n, err = p.ratio(n)
		case t.kind == kindWord:
			n, err = p.quantity(n)
		case p.starts(t):
			n, err = p.times(n, p.factor)
		default:
			return n, nil
		}
	}
	return nil, err
}

// ratio reads 3:2, a quotient, and 1:2:3, which is none: it has one more part.
func (p *parser) ratio(n *node) (*node, error) {
	parts := []*node{n}
	for p.take(":") {
		m, err := p.signed()
		if err != nil {
			return nil, err
		}
		parts = append(parts, m)
	}
	for _, part := range parts {
		if !part.scalar() {
			return nil, p.fail()
		}
	}
	if len(parts) == 2 {
		return div(parts[0], parts[1]), nil
	}
	return &node{op: opTuple, open: ':', shut: ':', args: parts}, nil
}

// times multiplies n by what next reads.
func (p *parser) times(n *node, next func() (*node, error)) (*node, error) {
	m, err := next()
	if err != nil {
		return nil, err
	}
	switch {
	case n.scalar() && m.scalar():
		if n.op == opMul {
			return &node{op: opMul, args: append(n.args[:len(n.args):len(n.args)], m)}, nil
		}
		return mul(n, m), nil
	case n.scalar() && m.op == opMatrix:
		return scale(n, m), nil
	}
	return nil, p.fail()
}

// scale multiplies a matrix by a number.
func scale(by, m *node) *node {
	c := *m
	c.args = make([]*node, len(m.args))
	for i, a := range m.args {
		c.args[i] = mul(by, a)
	}
	return &c
}

// starts reports whether a token begins a factor that stands beside another
// without a sign.
func (p *parser) starts(t token) bool {
	switch t.kind {
	case kindLetter:
		return true
	case kindName:
		return !notFactor[t.text] && !strings.HasPrefix(t.text, "end:")
	case kindSymbol:
		return t.text == "(" || t.text == "{" || t.text == "|" && p.bars == 0
	}
	return false
}

var notFactor = set(`pm mp cup cap in mid ne neq approx equiv sim to rfloor rceil rangle setminus circ ldots dots cdots hline backslash reals`)

// signed reads a factor that may have signs of its own: 2 * -3.
func (p *parser) signed() (*node, error) {
	negative := false
	for p.is("-") || p.is("+") {
		negative = negative != p.is("-")
		p.at++
	}
	n, err := p.factor()
	if err == nil && negative {
		if !n.scalar() {
			return nil, p.fail()
		}
		n = negate(n)
	}
	return n, err
}

// quantity reads the unit of n.
func (p *parser) quantity(n *node) (*node, error) {
	if !n.scalar() {
		return nil, p.fail()
	}
	words := ""
	for {
		if p.is("/") && words != "" && p.at+1 < len(p.in) && p.in[p.at+1].kind == kindWord { // miles/hour
			words += " per"
			p.at++
		}
		if p.peek().kind != kindWord {
			break
		}
		words += " " + p.peek().text
		p.at++
	}
	u, ok := readUnit(words)
	if !ok {
		return nil, fmt.Errorf("formula: %q is no unit", strings.TrimSpace(words))
	}
	if p.take("^") {
		e, err := p.exponent()
		if err != nil {
			return nil, err
		}
		u = power(u, e)
	}
	return mul(n, u), nil
}
