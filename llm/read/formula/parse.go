package formula

import (
	"fmt"
	"strings"

	"synod.dev/synod/llm/read/notation"
)

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

// items reads what is separated by commas, semicolons, and or or.
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

// alike refuses lists in which only some members are words: prose.
func (p *parser) alike(all []*node) error {
	for _, n := range all {
		if (n.op == opText) != (all[0].op == opText) {
			return errUnreadable
		}
	}
	return nil
}

var relations = map[string]string{"=": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "in": "in", "ne": "!=",
	"neq": "!="}

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

// maxNesting bounds how deep brackets and powers are nested.
const maxNesting = 40

// parser reads a formula from its tokens by recursive descent: one method reads one rule of the notation.
type parser struct {
	tokens
	depth int
	bars  int // absolute values that are open
}

// enter counts nesting.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxNesting {
		return fmt.Errorf("formula: nested more than %d deep", maxNesting)
	}
	return nil
}

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

// sign reads the sign before a term; "" if there is none.
func (p *parser) sign() string {
	switch {
	case p.is("+"), p.is("-"), p.named("pm"), p.named("mp"):
		p.at++
		return p.in[p.at-1].text
	}
	return ""
}

// term reads factors. Division and multiplication, written or not, go from left to right: 1/2x is (1/2)x.
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

// ratio reads 3:2, a quotient, and 1:2:3, which is a tuple of its parts.
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

// starts reports whether a token begins a factor that stands beside another one without a sign.
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

var notFactor = notation.Set(`pm mp cup cap in mid ne neq approx equiv sim to rfloor rceil rangle setminus circ ldots dots cdots hline backslash reals`)

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
		return nil, fmt.Errorf("formula: %q is not a unit", strings.TrimSpace(words))
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
