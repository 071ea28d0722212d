package formula

import (
	"math/big"
	"strings"
)

// op is the kind of a node.
type op int

const (
	opNum    op = iota // num
	opName             // name: a variable, or pi, e, i, infty
	opUnit             // name: a unit
	opAdd              // args
	opMul              // args
	opDiv              // args[0] / args[1]
	opPow              // args[0] ^ args[1]
	opFunc             // name(args)
	opPM               // args[0] ± args[1]; name is pm or mp
	opTuple            // open args shut: a tuple or an interval
	opSet              // {args}
	opList             // args, side by side
	opUnion            // args[0] ∪ args[1] …
	opInter            // args[0] ∩ args[1] …
	opLess             // args[0] without args[1]
	opMatrix           // rows of cols
	opRel              // args joined by rels
	opText             // name
	opBased            // num in base: digits in name
	opTime             // args[0]:args[1], name am, pm or nothing
)

// node is a part of an expression. Nodes are not changed after they are made.
type node struct {
	op         op
	num        *big.Rat
	name       string
	args       []*node
	rels       []string // of opRel
	open, shut byte     // of opTuple
	cols       int      // of opMatrix
	base       int      // of opBased
}

func number(n int64) *node    { return &node{op: opNum, num: big.NewRat(n, 1)} }
func named(s string) *node    { return &node{op: opName, name: s} }
func unit(s string) *node     { return &node{op: opUnit, name: s} }
func add(args ...*node) *node { return &node{op: opAdd, args: args} }
func mul(args ...*node) *node { return &node{op: opMul, args: args} }
func div(a, b *node) *node    { return &node{op: opDiv, args: []*node{a, b}} }
func power(a, b *node) *node  { return &node{op: opPow, args: []*node{a, b}} }
func function(name string, args ...*node) *node {
	return &node{op: opFunc, name: name, args: args}
}

// reals is the set of all real numbers.
func reals() *node {
	return &node{op: opTuple, open: '(', shut: ')', args: []*node{negate(named("infty")), named("infty")}}
}

func negate(n *node) *node {
	if n.op == opNum {
		return &node{op: opNum, num: new(big.Rat).Neg(n.num)}
	}
	return mul(number(-1), n)
}

// scalar reports whether arithmetic can be done with a node.
func (n *node) scalar() bool { return n.op <= opPM }

// any reports whether f holds for n or a part of it.
func (n *node) any(f func(*node) bool) bool {
	if f(n) {
		return true
	}
	for _, a := range n.args {
		if a.any(f) {
			return true
		}
	}
	return false
}

// rewrite returns n with every node replaced by the result of f, from the leaves up.
func (n *node) rewrite(f func(*node) *node) *node {
	m := n
	for i, a := range n.args {
		if b := a.rewrite(f); b != a {
			if m == n {
				c := *n
				c.args = append([]*node(nil), n.args...)
				m = &c
			}
			m.args[i] = b
		}
	}
	return f(m)
}

// variables adds the names of the variables in n, without constants, to into.
func (n *node) variables(into map[string]bool) {
	if n.op == opName && !constants[n.name] {
		into[n.name] = true
	}
	for _, a := range n.args {
		a.variables(into)
	}
}

var constants = map[string]bool{"pi": true, "e": true, "i": true, "infty": true}

// String returns the node in plain text.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// How tightly an operation binds. A part that binds less tightly is written in brackets.
const (
	looseSum = 1 + iota
	looseProduct
	loosePower
)

// binds returns how tightly the parts of n are bound.
func (n *node) binds() int {
	switch n.op {
	case opAdd, opPM:
		return looseSum
	case opMul, opDiv:
		return looseProduct
	case opPow:
		return loosePower
	case opNum:
		if n.num.Sign() < 0 || !n.num.IsInt() {
			return looseProduct
		}
	case opRel, opUnion, opInter, opLess, opList:
		return 0
	}
	return 9
}

func (n *node) write(b *strings.Builder, min int) {
	if n.binds() < min {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.op {
	case opNum:
		b.WriteString(n.num.RatString())
	case opName, opText, opUnit:
		b.WriteString(n.name)
	case opBased:
		b.WriteString(n.name + "_" + big.NewInt(int64(n.base)).String())
	case opTime:
		b.WriteString(n.timeString())
	case opAdd:
		n.writeSum(b)
	case opMul:
		if minus(n) && len(n.args) == 2 {
			b.WriteByte('-')
			n.args[1].write(b, looseProduct)
			return
		}
		n.join(b, "·", looseProduct)
	case opDiv:
		n.args[0].write(b, looseProduct)
		b.WriteByte('/')
		n.args[1].write(b, loosePower)
	case opPow:
		n.args[0].write(b, loosePower+1)
		b.WriteByte('^')
		n.args[1].write(b, loosePower+1)
	case opPM:
		n.join(b, map[string]string{"pm": " ± ", "mp": " ∓ "}[n.name], looseProduct)
	default:
		n.writeWhole(b)
	}
}

// minus reports that a product begins with −1.
func minus(n *node) bool {
	return n.op == opMul && n.args[0].op == opNum && n.args[0].num.Cmp(big.NewRat(-1, 1)) == 0
}

func (n *node) writeSum(b *strings.Builder) {
	for i, a := range n.args {
		switch {
		case i == 0:
			a.write(b, looseSum)
		case minus(a) && len(a.args) == 2:
			b.WriteString(" - ")
			a.args[1].write(b, looseProduct)
		case a.op == opNum && a.num.Sign() < 0:
			b.WriteString(" - " + new(big.Rat).Neg(a.num).RatString())
		default:
			b.WriteString(" + ")
			a.write(b, looseProduct)
		}
	}
}

// writeWhole writes nodes that are no arithmetic.
func (n *node) writeWhole(b *strings.Builder) {
	switch n.op {
	case opFunc:
		if n.name == "root" && n.args[0].op == opNum && n.args[0].num.Cmp(big.NewRat(2, 1)) == 0 {
			b.WriteString("√(")
			n.args[1].write(b, 0)
			b.WriteByte(')')
			return
		}
		b.WriteString(n.name + "(")
		n.join(b, ", ", 0)
		b.WriteByte(')')
	case opTuple:
		if n.open == ':' {
			n.join(b, ":", looseProduct+1)
			return
		}
		b.WriteByte(n.open)
		n.join(b, ", ", 1)
		b.WriteByte(n.shut)
	case opSet:
		b.WriteByte('{')
		n.join(b, ", ", 1)
		b.WriteByte('}')
	case opUnion:
		n.join(b, " ∪ ", 1)
	case opInter:
		n.join(b, " ∩ ", 1)
	case opLess:
		n.join(b, ` \ `, 1)
	case opMatrix:
		n.writeMatrix(b)
	case opRel:
		for i, a := range n.args {
			if i > 0 {
				b.WriteString(" " + n.rels[i-1] + " ")
			}
			a.write(b, 0)
		}
	default:
		n.join(b, ", ", 1)
	}
}

func (n *node) writeMatrix(b *strings.Builder) {
	for i, a := range n.args {
		switch {
		case i == 0:
			b.WriteByte('[')
		case i%n.cols == 0:
			b.WriteString("; ")
		default:
			b.WriteByte(' ')
		}
		a.write(b, looseProduct)
	}
	b.WriteByte(']')
}

func (n *node) join(b *strings.Builder, sep string, min int) {
	for i, a := range n.args {
		if i > 0 {
			b.WriteString(sep)
		}
		a.write(b, min)
	}
}
