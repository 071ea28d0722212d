package formula

import "math/big"

// op says what a node is.
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

// node is a part of an expression. Nodes are not changed once made.
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

// scalar reports whether arithmetic may be done with a node.
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

// rewrite returns n with every node for which f returns another replaced by that,
// from the leaves up.
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

// variables lists the names of variables in n, without constants.
func (n *node) variables(into map[string]bool) {
	if n.op == opName && !constants[n.name] {
		into[n.name] = true
	}
	for _, a := range n.args {
		a.variables(into)
	}
}

var constants = map[string]bool{"pi": true, "e": true, "i": true, "infty": true}
