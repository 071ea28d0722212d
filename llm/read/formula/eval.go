package formula

import (
	"math/big"
	"math/rand/v2"
	"slices"
)

// eval returns the value of a scalar without units for the given values of its variables.
func (n *node) eval(at map[string]value) value {
	args := make([]value, len(n.args))
	for i, a := range n.args {
		if args[i] = a.eval(at); args[i].none() {
			return value{}
		}
	}
	switch n.op {
	case opNum:
		return realValue(newFloat().SetRat(n.num)).checked()
	case opName:
		switch n.name {
		case "pi":
			return realValue(circle())
		case "e":
			return realValue(float(1)).exp()
		case "i":
			return value{newFloat(), float(1)}
		case "infty":
			return value{}
		}
		return at[n.name]
	case opAdd, opMul:
		out := args[0]
		for _, v := range args[1:] {
			if n.op == opAdd {
				out = out.plus(v)
			} else {
				out = out.times(v)
			}
		}
		return out
	case opDiv:
		return args[0].over(args[1])
	case opPow:
		if r, ok := n.args[1].rational(); ok {
			return rooted(args[0], r)
		}
		return args[0].power(args[1])
	case opFunc:
		return n.call(args)
	}
	return value{}
}

// rational returns the value of a node that is a rational number.
func (n *node) rational() (*big.Rat, bool) {
	if n.op == opNum {
		return n.num, true
	}
	if n.any(func(n *node) bool { return n.op == opName || n.op == opFunc }) {
		return nil, false
	}
	r, err := n.normal(&work{100})
	if err != nil {
		return nil, false
	}
	return r.rational()
}

// rooted returns a rational power; for a negative number and an odd root, the real one.
func rooted(a value, r *big.Rat) value {
	b := realValue(newFloat().SetRat(r))
	if r.IsInt() || !a.real() || a.re.Sign() >= 0 || r.Denom().Bit(0) == 0 {
		return a.power(b)
	}
	v := realValue(newFloat().Neg(a.re)).power(b)
	if !v.none() && r.Num().Bit(0) == 1 {
		v.re.Neg(v.re)
	}
	return v
}

// call returns the value of a function.
func (n *node) call(x []value) value {
	switch n.name {
	case "root":
		if r, ok := n.args[0].rational(); ok && r.Sign() > 0 {
			return rooted(x[1], new(big.Rat).Inv(r))
		}
		return x[1].power(x[0].inverse())
	case "abs":
		return realValue(x[0].size())
	case "exp":
		return x[0].exp()
	case "ln":
		return x[0].ln()
	case "floor", "ceil", "factorial", "binom":
		return stepwise(n.name, x)
	case "sinh", "cosh", "tanh":
		return hyperbolic(n.name, x[0])
	case "arcsin", "arccos", "arctan":
		return inverse(n.name, x[0])
	}
	return circular(n.name, x[0])
}

// stepwise returns the value of a function that rounds or needs a whole number.
func stepwise(name string, x []value) value {
	rats := make([]*big.Rat, len(x))
	for i, v := range x {
		if !v.almostReal() || v.re.MantExp(nil) > 64 {
			return value{}
		}
		rats[i], _ = v.re.Rat(nil)
		if rats[i] == nil {
			rats[i] = new(big.Rat)
		}
	}
	r, ok := exactValue(name, rats)
	if !ok {
		return value{}
	}
	return realValue(newFloat().SetRat(r)).checked()
}

func hyperbolic(name string, x value) value {
	p := x.exp()
	q := p.inverse()
	half, sum := realValue(float(0.5)), p.plus(q)
	switch name {
	case "cosh":
		return sum.times(half)
	case "sinh":
		return p.minus(q).times(half)
	}
	return p.minus(q).over(sum)
}

func inverse(name string, x value) value {
	if !x.almostReal() {
		return value{}
	}
	if name == "arctan" {
		return realValue(arctan(x.re))
	}
	rest := newFloat().Sub(float(1), newFloat().Mul(x.re, x.re))
	if rest.Sign() < 0 {
		return value{}
	}
	rest.Sqrt(rest)
	if name == "arcsin" {
		return realValue(angle(x.re, rest))
	}
	return realValue(angle(rest, x.re))
}

// circular returns the value of sin, cos and the functions made of them.
func circular(name string, x value) value {
	if !x.real() || !within(x.re, 1e9) {
		return value{}
	}
	s, c := sineCosine(x.re)
	sin, cos, unit := realValue(s), realValue(c), realValue(float(1))
	for _, v := range []value{sin, cos} { // do not divide by a rounding error
		if v.re.Sign() != 0 && v.re.MantExp(nil) < -precision/2-agree/2 {
			v.re.SetInt64(0)
		}
	}
	switch name {
	case "sin":
		return sin
	case "cos":
		return cos
	case "tan":
		return sin.over(cos)
	case "cot":
		return cos.over(sin)
	case "sec":
		return unit.over(cos)
	case "csc":
		return unit.over(sin)
	}
	return value{}
}

const (
	points = 6  // how many points two formulas must agree at
	tries  = 40 // how many points are tried to find those at which both have a value
)

// everywhere compares f(a) and f(b) at seeded random points. It skips points at which a formula of real
// numbers has no real value; ok is false if too few points remain to decide.
func everywhere(a, b *node, agree func(x, y value) bool) (same, ok bool) {
	seen := map[string]bool{}
	a.variables(seen)
	b.variables(seen)
	var names []string
	for v := range seen {
		names = append(names, v)
	}
	slices.Sort(names)
	isI := func(n *node) bool { return n.op == opName && n.name == "i" }
	whole := a.any(isI) || b.any(isI) || len(names) == 0
	chance := rand.New(rand.NewPCG(11, 7))
	found := 0
	for try := range tries {
		at := map[string]value{}
		for _, v := range names {
			x := 0.3 + 3*chance.Float64()
			if try%2 == 1 && chance.IntN(2) == 0 && (len(v) < 5 || v[:5] != "unit ") {
				x = -x
			}
			at[v] = realValue(float(x))
		}
		x, y := a.eval(at), b.eval(at)
		if !x.none() && !y.none() && (whole || x.almostReal() && y.almostReal()) {
			if !agree(x, y) {
				return false, true
			}
			found++
		}
		if found == points || len(names) == 0 {
			break
		}
	}
	return found > 0, found >= min(3, points) || len(names) == 0 && found > 0
}
