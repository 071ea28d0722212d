package formula

import (
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// part is an atom raised to a rational power. Atoms are variables ("x"), the constants, primes with a
// fractional power ("#7"), and hidden expressions ("?…").
type part struct {
	atom string
	exp  *big.Rat
}

// mono is a product of parts, sorted by atom, with its coefficient.
type mono struct {
	coef  *big.Rat
	parts []part
}

// key returns the name of the product without its coefficient.
func (m mono) key() string {
	var b strings.Builder
	for _, p := range m.parts {
		b.WriteString(p.atom + "^" + p.exp.RatString() + " ")
	}
	return b.String()
}

// poly is a sum of monomials by key. No coefficient is 0.
type poly map[string]mono

const (
	maxTerms = 300  // of a polynomial
	maxBits  = 8192 // of a coefficient
)

// work counts how many products of monomials may still be made for one formula.
type work struct{ left int }

const maxWork = 20_000

// errAlgebra reports that an expression is too large or of a kind that algebra does not support, so that values
// must decide. errUndefined reports that it has no value.
var (
	errAlgebra   = errors.New("formula: beyond algebra")
	errUndefined = errors.New("formula: division by zero")
)

// of returns the polynomial that consists of one monomial.
func of(m mono) poly {
	p := poly{}
	p.put(m)
	return p
}

func constant(r *big.Rat) poly { return of(mono{coef: r}) }

// atom returns the polynomial that consists of one atom.
func atom(name string) poly { return of(mono{coef: one, parts: []part{{name, one}}}) }

var one = big.NewRat(1, 1)

// put adds a monomial in place.
func (p poly) put(m mono) {
	k := m.key()
	if old, has := p[k]; has {
		m.coef = new(big.Rat).Add(old.coef, m.coef)
	}
	if m.coef.Sign() == 0 {
		delete(p, k)
		return
	}
	p[k] = m
}

func (p poly) sorted() []mono {
	all := make([]mono, 0, len(p))
	for _, k := range slices.Sorted(maps.Keys(p)) {
		all = append(all, p[k])
	}
	return all
}

func (p poly) plus(q poly) poly {
	out := make(poly, len(p)+len(q))
	for _, m := range p {
		out.put(m)
	}
	for _, m := range q {
		out.put(m)
	}
	return out
}

func (p poly) scaled(r *big.Rat) poly {
	out := make(poly, len(p))
	for _, m := range p {
		out.put(mono{new(big.Rat).Mul(m.coef, r), m.parts})
	}
	return out
}

func (p poly) times(q poly, w *work) (poly, error) {
	if w.left -= len(p) * len(q); w.left < 0 {
		return nil, errAlgebra
	}
	out, right := poly{}, q.sorted()
	for _, a := range p.sorted() {
		for _, b := range right {
			m, err := product(a, b)
			if err != nil {
				return nil, err
			}
			out.put(m)
		}
	}
	if len(out) > maxTerms {
		return nil, errAlgebra
	}
	return out, nil
}

// product multiplies two monomials.
func product(a, b mono) (mono, error) {
	m := mono{coef: new(big.Rat).Mul(a.coef, b.coef)}
	for i, j := 0, 0; i < len(a.parts) || j < len(b.parts); {
		switch {
		case j == len(b.parts) || i < len(a.parts) && a.parts[i].atom < b.parts[j].atom:
			m.parts = append(m.parts, a.parts[i])
			i++
		case i == len(a.parts) || a.parts[i].atom > b.parts[j].atom:
			m.parts = append(m.parts, b.parts[j])
			j++
		default:
			m.parts = append(m.parts, part{a.parts[i].atom, new(big.Rat).Add(a.parts[i].exp, b.parts[j].exp)})
			i, j = i+1, j+1
		}
	}
	return m.reduce()
}

// reduce applies i² = −1 and moves whole powers of primes into the coefficient.
func (m mono) reduce() (mono, error) {
	out := mono{coef: m.coef}
	for _, p := range m.parts {
		switch {
		case p.exp.Sign() == 0:
			continue
		case p.atom == "i" && p.exp.IsInt():
			turn := new(big.Int).Mod(p.exp.Num(), big.NewInt(4)).Int64()
			if turn >= 2 {
				out.coef = new(big.Rat).Neg(out.coef)
			}
			if turn%2 == 0 {
				continue
			}
			p.exp = one
		case p.atom[0] == '#':
			whole := floor(p.exp)
			if whole.Sign() != 0 {
				base, _ := new(big.Int).SetString(p.atom[1:], 10)
				r, err := intPower(new(big.Rat).SetInt(base), whole)
				if err != nil {
					return m, err
				}
				out.coef = new(big.Rat).Mul(out.coef, r)
				p.exp = new(big.Rat).Sub(p.exp, new(big.Rat).SetInt(whole))
			}
			if p.exp.Sign() == 0 {
				continue
			}
		}
		out.parts = append(out.parts, p)
	}
	if out.coef.Num().BitLen() > maxBits || out.coef.Denom().BitLen() > maxBits {
		return m, errAlgebra
	}
	return out, nil
}

func floor(r *big.Rat) *big.Int { // Euclidean: the denominator is positive
	return new(big.Int).Div(r.Num(), r.Denom())
}

// intPower returns r raised to a whole power.
func intPower(r *big.Rat, n *big.Int) (*big.Rat, error) {
	if !n.IsInt64() || r.Sign() == 0 && n.Sign() < 0 {
		return nil, errAlgebra
	}
	k := n.Int64()
	size := int64(max(r.Num().BitLen(), r.Denom().BitLen()))
	if max(k, -k) > maxBits || size*max(k, -k) > 4*maxBits {
		return nil, errAlgebra
	}
	e := big.NewInt(max(k, -k))
	out := new(big.Rat).SetFrac(new(big.Int).Exp(r.Num(), e, nil), new(big.Int).Exp(r.Denom(), e, nil))
	if k < 0 {
		out.Inv(out)
	}
	return out, nil
}

// rational returns the value of a polynomial without atoms.
func (p poly) rational() (*big.Rat, bool) {
	switch len(p) {
	case 0:
		return new(big.Rat), true
	case 1:
		if m, ok := p[""]; ok {
			return m.coef, true
		}
	}
	return nil, false
}

// name returns a text that is the same for equal polynomials only.
func (p poly) name() string {
	var b strings.Builder
	for _, m := range p.sorted() {
		b.WriteString(m.coef.RatString() + "*" + m.key() + "+")
	}
	return b.String()
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
	return of(out), nil
}

// root returns m raised to a rational power r that is not whole. m must be a number that is positive, or real
// with an odd root: only then may the power of a product be split.
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
	slices.SortFunc(out.parts, func(a, b part) int { return strings.Compare(a.atom, b.atom) })
	merged, err := merge(out)
	if err != nil {
		return m, err
	}
	if sign, err = sign.reduce(); err != nil {
		return m, err
	}
	return product(merged, sign)
}

// merge adds the powers of equal atoms that are neighbours.
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

// factor returns the prime factors of n. It returns false if two of them are large.
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
