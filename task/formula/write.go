package formula

import (
	"math/big"
	"strings"
)

// String writes the node in plain text.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// How tightly an operation binds; a part that binds less gets brackets.
const (
	looseSum = 1 + iota
	looseProduct
	loosePower
)

// binds is how tightly the parts of n hold together.
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

// writeWhole writes what is no arithmetic.
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
