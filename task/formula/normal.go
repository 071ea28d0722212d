package formula

import (
	"fmt"
	"math/big"
	"slices"
)

// ratio is a quotient of two polynomials. In an exact one no atom hides anything,
// so that two are equal as functions only if they are equal as quotients.
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

// normal brings a scalar without units to its normal form.
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

// hidden is an atom for what algebra does not look into.
func hidden(name string, args ...ratio) ratio {
	name = "?" + name
	for _, a := range args {
		name += "(" + a.name() + ")"
	}
	if len(name) > 1<<14 {
		name = fmt.Sprintf("?%x", sum(name))
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

// raised is a to a rational power. Odd roots of negative numbers are the real ones.
func (a ratio) raised(r *big.Rat, w *work) (ratio, error) {
	if r.IsInt() {
		return a.repeated(r.Num(), w)
	}
	if len(a.n) == 0 && r.Sign() > 0 {
		return a, nil
	}
	if len(a.n) == 1 && len(a.d) == 1 {
		n, err := a.n.sorted()[0].root(r)
		if err == nil {
			var d mono
			if d, err = a.d.sorted()[0].root(new(big.Rat).Neg(r)); err == nil {
				var m mono
				if m, err = product(n, d); err == nil {
					p := poly{}
					p.put(m)
					return quotient(p), nil
				}
			}
		}
	}
	return hidden("root "+r.RatString(), a), nil
}

// repeated is a to a whole power, multiplied out.
func (a ratio) repeated(n *big.Int, w *work) (ratio, error) {
	if n.Sign() < 0 {
		inv, err := a.inverse()
		if err != nil {
			return a, err
		}
		return inv.repeated(new(big.Int).Neg(n), w)
	}
	if !n.IsInt64() || n.Int64() > maxBits {
		return hidden("power "+n.String(), a), nil
	}
	if len(a.n) == 1 && len(a.d) == 1 {
		p, err := a.n.sorted()[0].power(n)
		if err != nil {
			return hidden("power "+n.String(), a), nil
		}
		q, err := a.d.sorted()[0].power(n)
		if err != nil {
			return hidden("power "+n.String(), a), nil
		}
		return ratio{p, q, a.exact}, nil
	}
	if n.Int64() > 24 {
		return hidden("power "+n.String(), a), nil
	}
	out := quotient(constant(one))
	var err error
	for range n.Int64() {
		if out, err = out.times(a, w); err != nil {
			return hidden("power "+n.String(), a), nil
		}
	}
	return out, nil
}

func (m mono) power(n *big.Int) (poly, error) {
	c, err := intPower(m.coef, n)
	if err != nil {
		return nil, err
	}
	out := mono{coef: c}
	for _, p := range m.parts {
		out.parts = append(out.parts, part{p.atom, new(big.Rat).Mul(p.exp, new(big.Rat).SetInt(n))})
	}
	if out, err = out.reduce(); err != nil {
		return nil, err
	}
	q := poly{}
	q.put(out)
	return q, nil
}

// root is m to a rational power r that is not whole, if m is a number and positive,
// or real with an odd root: only then may powers be taken apart.
func (m mono) root(r *big.Rat) (mono, error) {
	c, sign := m.coef, mono{coef: one}
	if c.Sign() < 0 {
		c = new(big.Rat).Neg(c)
		switch {
		case r.Denom().Bit(0) == 1 && r.Num().Bit(0) == 1:
			sign.coef = big.NewRat(-1, 1)
		case r.Denom().Bit(0) == 1:
		case r.Denom().Cmp(big.NewInt(2)) == 0:
			turn := new(big.Rat).SetInt(r.Num()) // (−1)^(k/2) = i^k
			sign.parts = []part{{"i", turn}}
		default:
			return m, errAlgebra
		}
	}
	out := mono{coef: one}
	for i, side := range []*big.Int{c.Num(), c.Denom()} {
		primes, ok := factor(side)
		if !ok {
			return m, errAlgebra
		}
		for p, k := range primes {
			e := new(big.Rat).Mul(r, big.NewRat(int64(k), 1))
			if i == 1 {
				e.Neg(e)
			}
			out.parts = append(out.parts, part{"#" + p, e})
		}
	}
	for _, p := range m.parts {
		if p.atom != "pi" && p.atom != "e" && p.atom[0] != '#' && (len(p.atom) < 5 || p.atom[:5] != "unit ") {
			return m, errAlgebra // a variable may be negative
		}
		out.parts = append(out.parts, part{p.atom, new(big.Rat).Mul(p.exp, r)})
	}
	slices.SortFunc(out.parts, func(a, b part) int { return compare(a.atom, b.atom) })
	merged, err := merge(out)
	if err != nil {
		return m, err
	}
	if sign, err = sign.reduce(); err != nil {
		return m, err
	}
	return product(merged, sign)
}

// merge adds the powers of equal atoms that stand side by side.
func merge(m mono) (mono, error) {
	out := mono{coef: m.coef}
	for _, p := range m.parts {
		if n := len(out.parts); n > 0 && out.parts[n-1].atom == p.atom {
			out.parts[n-1].exp = new(big.Rat).Add(out.parts[n-1].exp, p.exp)
			continue
		}
		out.parts = append(out.parts, p)
	}
	return out.reduce()
}

// maxPrime bounds trial division.
const maxPrime = 10_000

// factor takes n apart. It gives up on what has two large prime factors.
func factor(n *big.Int) (map[string]int, bool) {
	out := map[string]int{}
	rest := new(big.Int).Set(n)
	if rest.BitLen() > 512 {
		return nil, false
	}
	q, r := new(big.Int), new(big.Int)
	for d := int64(2); d < maxPrime; d++ {
		if rest.IsInt64() && d*d > rest.Int64() {
			break
		}
		b := big.NewInt(d)
		for q.QuoRem(rest, b, r); r.Sign() == 0; q.QuoRem(rest, b, r) {
			out[b.String()]++
			rest.Set(q)
		}
	}
	if rest.Cmp(big.NewInt(1)) > 0 {
		if !rest.ProbablyPrime(20) {
			return nil, false
		}
		out[rest.String()]++
	}
	return out, true
}
