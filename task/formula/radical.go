package formula

import (
	"math/big"
	"slices"
)

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
