package formula

import (
	"crypto/sha256"
	"fmt"
	"math/big"
)

// ratio is a quotient of two polynomials. It is exact if none of its atoms hides an expression; two exact
// ratios are equal as functions only if they are equal as quotients.
type ratio struct {
	n, d  poly
	exact bool
}

func quotient(n poly) ratio { return ratio{n, constant(one), true} }

func (a ratio) name() string {
	if m := a.d.sorted(); len(m) > 0 { // normalised by the denominator's first coefficient
		inv := new(big.Rat).Inv(m[0].coef)
		return a.n.scaled(inv).name() + "/" + a.d.scaled(inv).name()
	}
	return "undefined"
}

func (a ratio) plus(b ratio, w *work) (ratio, error) {
	if a.d.name() == b.d.name() {
		return ratio{a.n.plus(b.n), a.d, a.exact && b.exact}, nil
	}
	x, err := a.n.times(b.d, w)
	if err != nil {
		return a, err
	}
	y, err := b.n.times(a.d, w)
	if err != nil {
		return a, err
	}
	d, err := a.d.times(b.d, w)
	return ratio{x.plus(y), d, a.exact && b.exact}, err
}

func (a ratio) times(b ratio, w *work) (ratio, error) {
	n, err := a.n.times(b.n, w)
	if err != nil {
		return a, err
	}
	d, err := a.d.times(b.d, w)
	return ratio{n, d, a.exact && b.exact}, err
}

func (a ratio) inverse() (ratio, error) {
	if len(a.n) == 0 {
		return a, errUndefined
	}
	return ratio{a.d, a.n, a.exact}, nil
}

func (a ratio) rational() (*big.Rat, bool) {
	n, ok := a.n.rational()
	d, fine := a.d.rational()
	if !ok || !fine || d.Sign() == 0 {
		return nil, false
	}
	return new(big.Rat).Quo(n, d), true
}

// normal returns the normal form of a scalar without units.
func (n *node) normal(w *work) (ratio, error) {
	switch n.op {
	case opNum:
		return quotient(constant(n.num)), nil
	case opName:
		return quotient(atom(n.name)), nil
	case opAdd, opMul:
		return n.fold(w)
	case opDiv:
		a, err := n.args[0].normal(w)
		if err != nil {
			return a, err
		}
		b, err := n.args[1].normal(w)
		if err != nil {
			return b, err
		}
		if b, err = b.inverse(); err != nil {
			return b, err
		}
		return a.times(b, w)
	case opPow:
		return n.normalPower(w)
	case opFunc:
		return n.normalFunction(w)
	}
	return ratio{}, errAlgebra
}

func (n *node) fold(w *work) (ratio, error) {
	out := quotient(constant(one))
	if n.op == opAdd {
		out = quotient(poly{})
	}
	for _, a := range n.args {
		b, err := a.normal(w)
		if err != nil {
			return b, err
		}
		if n.op == opAdd {
			out, err = out.plus(b, w)
		} else {
			out, err = out.times(b, w)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// hidden returns an atom for an expression that algebra does not look into.
func hidden(name string, args ...ratio) ratio {
	name = "?" + name
	for _, a := range args {
		name += "(" + a.name() + ")"
	}
	if len(name) > 1<<14 {
		name = fmt.Sprintf("?%x", sha256.Sum256([]byte(name)))
	}
	r := quotient(atom(name))
	r.exact = false
	return r
}

func (n *node) normalPower(w *work) (ratio, error) {
	base, err := n.args[0].normal(w)
	if err != nil {
		return base, err
	}
	e, err := n.args[1].normal(w)
	if err != nil {
		return e, err
	}
	r, constant := e.rational()
	if !constant {
		return hidden("power", base, e), nil
	}
	return base.raised(r, w)
}

// raised returns a to a rational power. Odd roots of negative numbers are the real ones.
func (a ratio) raised(r *big.Rat, w *work) (ratio, error) {
	if r.IsInt() {
		return a.repeated(r.Num(), w)
	}
	if len(a.n) == 0 && r.Sign() > 0 {
		return a, nil
	}
	if len(a.n) == 1 && len(a.d) == 1 {
		m, err := a.n.sorted()[0].root(r)
		var d mono
		if err == nil {
			d, err = a.d.sorted()[0].root(new(big.Rat).Neg(r))
		}
		if err == nil {
			m, err = product(m, d)
		}
		if err == nil {
			return quotient(of(m)), nil
		}
	}
	return hidden("root "+r.RatString(), a), nil
}

// repeated returns a to a whole power, multiplied out.
func (a ratio) repeated(n *big.Int, w *work) (ratio, error) {
	if n.Sign() < 0 {
		inv, err := a.inverse()
		if err != nil {
			return a, err
		}
		return inv.repeated(new(big.Int).Neg(n), w)
	}
	p, err := a.multiplied(n, w)
	if err != nil {
		return hidden("power "+n.String(), a), nil
	}
	return p, nil
}

// multiplied returns a to a whole power from 0, or errAlgebra if that would be too large.
func (a ratio) multiplied(n *big.Int, w *work) (out ratio, err error) {
	if len(a.n) == 1 && len(a.d) == 1 {
		out.exact = a.exact
		if out.n, err = a.n.sorted()[0].power(n); err == nil {
			out.d, err = a.d.sorted()[0].power(n)
		}
		return out, err
	}
	if !n.IsInt64() || n.Int64() > 24 {
		return a, errAlgebra
	}
	out = quotient(constant(one))
	for range n.Int64() {
		if out, err = out.times(a, w); err != nil {
			return out, err
		}
	}
	return out, nil
}

// maxFactorial is the largest number whose factorial is multiplied out.
const maxFactorial = 500

// normalFunction evaluates a function that has an exact value and hides any other.
func (n *node) normalFunction(w *work) (ratio, error) {
	args := make([]ratio, len(n.args))
	values := make([]*big.Rat, len(n.args))
	known := true
	for i, a := range n.args {
		r, err := a.normal(w)
		if err != nil {
			return r, err
		}
		args[i] = r
		v, ok := r.rational()
		values[i], known = v, known && ok
	}
	if n.name == "root" {
		if degree := values[0]; degree != nil && degree.Sign() > 0 {
			return args[1].raised(new(big.Rat).Inv(degree), w)
		}
	}
	if known {
		if v, ok := exactValue(n.name, values); ok {
			return quotient(constant(v)), nil
		}
	}
	return hidden(n.name, args...), nil
}

// exactValue returns the value of a function that is rational for rational arguments.
func exactValue(name string, x []*big.Rat) (*big.Rat, bool) {
	switch name {
	case "abs":
		return new(big.Rat).Abs(x[0]), true
	case "floor":
		return new(big.Rat).SetInt(floor(x[0])), true
	case "ceil":
		return new(big.Rat).Neg(new(big.Rat).SetInt(floor(new(big.Rat).Neg(x[0])))), true
	case "factorial":
		if x[0].IsInt() && x[0].Sign() >= 0 && x[0].Cmp(big.NewRat(maxFactorial, 1)) <= 0 {
			return new(big.Rat).SetInt(new(big.Int).MulRange(1, x[0].Num().Int64())), true
		}
	case "binom":
		if x[0].IsInt() && x[1].IsInt() && x[0].Sign() >= 0 && x[1].Sign() >= 0 &&
			x[0].Cmp(big.NewRat(maxFactorial, 1)) <= 0 && x[1].Cmp(x[0]) <= 0 {
			return new(big.Rat).SetInt(new(big.Int).Binomial(x[0].Num().Int64(), x[1].Num().Int64())), true
		}
	}
	return nil, false
}
