package formula

import (
	"math"
	"math/big"
	"sync"
)

// precision is how many bits a value has; two values are equal if they agree in the first agree bits.
const (
	precision = 320
	agree     = 160
)

func float(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

// usual reports that x is finite and of a size that can be computed with.
func usual(x *big.Float) bool {
	e := x.MantExp(nil)
	return !x.IsInf() && (x.Sign() == 0 || max(e, -e) < 1<<20)
}

// lnTwo and circle are ln 2 and π.
var (
	lnTwo = sync.OnceValue(func() *big.Float { // Σ 1/(k 2^k)
		total, power := newFloat(), float(0.5)
		for k := int64(1); k < precision+10; k++ {
			total.Add(total, newFloat().Quo(power, newFloat().SetInt64(k)))
			power.Quo(power, float(2))
		}
		return total
	})
	circle = sync.OnceValue(func() *big.Float { // Machin: 16 atan 1/5 − 4 atan 1/239
		a := arctanSeries(newFloat().Quo(float(1), float(5)))
		b := arctanSeries(newFloat().Quo(float(1), float(239)))
		return newFloat().Sub(a.Mul(a, float(16)), b.Mul(b, float(4)))
	})
)

// small reports that a term no longer changes a sum.
func small(x *big.Float) bool { return x.Sign() == 0 || x.MantExp(nil) < -precision-8 }

func arctanSeries(x *big.Float) *big.Float {
	total, p, square := newFloat(), newFloat().Set(x), newFloat().Mul(x, x)
	for k := int64(1); !small(p); k += 2 {
		t := newFloat().Quo(p, newFloat().SetInt64(k))
		if k%4 == 3 {
			t.Neg(t)
		}
		total.Add(total, t)
		p.Mul(p, square)
	}
	return total
}

// arctan halves its argument until the series is short.
func arctan(x *big.Float) *big.Float {
	y := newFloat().Set(x)
	const halvings = 8
	for range halvings { // y / (1 + √(1+y²))
		r := newFloat().Mul(y, y)
		r.Sqrt(r.Add(r, float(1)))
		y.Quo(y, r.Add(r, float(1)))
	}
	t := arctanSeries(y)
	return t.SetMantExp(t, halvings)
}

// angle returns the argument of x + iy, in (−π, π].
func angle(y, x *big.Float) *big.Float {
	half := newFloat().Quo(circle(), float(2))
	if x.Sign() == 0 {
		switch y.Sign() {
		case 0:
			return newFloat()
		case 1:
			return half
		}
		return half.Neg(half)
	}
	t := arctan(newFloat().Quo(y, x))
	switch {
	case x.Sign() > 0:
		return t
	case y.Sign() >= 0:
		return t.Add(t, circle())
	}
	return t.Sub(t, circle())
}

// exponential returns e^x for |x| ≤ 1e5.
func exponential(x *big.Float) *big.Float {
	f, _ := x.Float64()
	k := int(math.Round(f / math.Ln2))
	r := newFloat().Sub(x, newFloat().Mul(lnTwo(), newFloat().SetInt64(int64(k))))
	const halvings = 16
	r.SetMantExp(r, -halvings)
	total, term := float(1), float(1)
	for i := int64(1); ; i++ {
		term.Quo(term.Mul(term, r), newFloat().SetInt64(i))
		if small(term) {
			break
		}
		total.Add(total, term)
	}
	for range halvings {
		total.Mul(total, total)
	}
	return total.SetMantExp(total, k)
}

// logarithm returns ln x for x > 0, with two steps that each triple the number of correct digits.
func logarithm(x *big.Float) *big.Float {
	m := newFloat()
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := float(math.Log(f))
	for range 3 {
		p := exponential(y)
		step := newFloat().Sub(m, p)
		step.Quo(step.Mul(step, float(2)), p.Add(p, m))
		y.Add(y, step)
	}
	return y.Add(y, newFloat().Mul(lnTwo(), newFloat().SetInt64(int64(e))))
}

// sineCosine returns sin x and cos x for |x| ≤ 1e9.
func sineCosine(x *big.Float) (s, c *big.Float) {
	f, _ := x.Float64()
	turn := newFloat().Mul(circle(), float(2))
	r := newFloat().Sub(x, turn.Mul(turn, newFloat().SetInt64(int64(math.Round(f/(2*math.Pi))))))
	const halvings = 12
	r.SetMantExp(r, -halvings)
	s, c = newFloat(), newFloat()
	term := float(1)
	for i := int64(0); !small(term); i++ {
		t := newFloat().Set(term)
		if i%4 >= 2 {
			t.Neg(t)
		}
		if i%2 == 0 {
			c.Add(c, t)
		} else {
			s.Add(s, t)
		}
		term.Quo(term.Mul(term, r), newFloat().SetInt64(i+1))
	}
	for range halvings {
		double := newFloat().Mul(s, c)
		square := newFloat().Mul(s, s)
		s = double.Mul(double, float(2))
		c = newFloat().Sub(float(1), square.Mul(square, float(2)))
	}
	return s, c
}

// value is a complex number. The zero value stands for none: a formula has no value at a
// point, or none that is computed here. An operation on none is none.
type value struct{ re, im *big.Float }

func realValue(x *big.Float) value { return value{x, newFloat()} }

func (a value) none() bool { return a.re == nil }

func (a value) real() bool { return a.im.Sign() == 0 }

func (a value) zero() bool { return a.re.Sign() == 0 && a.im.Sign() == 0 }

// checked returns a, or none if a part of it is infinite or too large.
func (a value) checked() value {
	if !usual(a.re) || !usual(a.im) {
		return value{}
	}
	return a
}

// within reports whether the real number x is at most limit from 0.
func within(x *big.Float, limit float64) bool {
	f, _ := x.Float64()
	return math.Abs(f) <= limit
}

func (a value) plus(b value) value {
	if a.none() || b.none() {
		return value{}
	}
	return value{newFloat().Add(a.re, b.re), newFloat().Add(a.im, b.im)}.checked()
}

func (a value) minus(b value) value {
	if a.none() || b.none() {
		return value{}
	}
	return value{newFloat().Sub(a.re, b.re), newFloat().Sub(a.im, b.im)}
}

func (a value) times(b value) value {
	if a.none() || b.none() {
		return value{}
	}
	if a.real() && b.real() {
		return realValue(newFloat().Mul(a.re, b.re)).checked()
	}
	re := newFloat().Sub(newFloat().Mul(a.re, b.re), newFloat().Mul(a.im, b.im))
	im := newFloat().Add(newFloat().Mul(a.re, b.im), newFloat().Mul(a.im, b.re))
	return value{re, im}.checked()
}

func (a value) square() *big.Float {
	return newFloat().Add(newFloat().Mul(a.re, a.re), newFloat().Mul(a.im, a.im))
}

func (a value) inverse() value {
	switch {
	case a.none() || a.zero():
		return value{}
	case a.real():
		return realValue(newFloat().Quo(float(1), a.re)).checked()
	}
	d := a.square()
	return value{newFloat().Quo(a.re, d), newFloat().Neg(newFloat().Quo(a.im, d))}.checked()
}

func (a value) over(b value) value { return a.times(b.inverse()) }

func (a value) size() *big.Float {
	if a.real() {
		return newFloat().Abs(a.re)
	}
	s := a.square()
	return s.Sqrt(s)
}

func (a value) exp() value {
	if a.none() || !within(a.re, 1e5) {
		return value{}
	}
	e := exponential(a.re)
	if a.real() {
		return realValue(e)
	}
	if !within(a.im, 1e9) {
		return value{}
	}
	s, c := sineCosine(a.im)
	return value{c.Mul(c, e), s.Mul(s, e)}.checked()
}

// ln returns the principal logarithm.
func (a value) ln() value {
	if a.none() || a.zero() {
		return value{}
	}
	size := a.size()
	if size.Sign() == 0 { // its square is too small
		return value{}
	}
	return value{logarithm(size), angle(a.im, a.re)}
}

// power returns a^b: by squaring for small whole b, otherwise the principal value.
func (a value) power(b value) value {
	if a.none() || b.none() {
		return value{}
	}
	if n, exact := b.re.Int64(); b.real() && exact == big.Exact && b.re.IsInt() && n > -1<<16 && n < 1<<16 {
		return a.whole(n)
	}
	if a.zero() {
		if b.re.Sign() > 0 {
			return a
		}
		return value{}
	}
	if half := float(0.5); b.real() && a.real() && b.re.Cmp(half) == 0 {
		if a.re.Sign() >= 0 {
			return realValue(newFloat().Sqrt(a.re))
		}
		return value{newFloat(), newFloat().Sqrt(newFloat().Neg(a.re))}
	}
	return a.ln().times(b).exp()
}

func (a value) whole(n int64) value {
	if n < 0 {
		return a.inverse().whole(-n)
	}
	out := realValue(float(1))
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out = out.times(a)
		}
		if n > 1 {
			a = a.times(a)
		}
	}
	return out
}

// close reports that two values agree to the required number of bits.
func (a value) close(b value) bool {
	d := a.minus(b).size()
	if d.Sign() == 0 {
		return true
	}
	scale := a.size()
	if s := b.size(); s.Cmp(scale) > 0 {
		scale = s
	}
	if scale.MantExp(nil) < -agree { // both are only rounding errors
		return true
	}
	return d.MantExp(nil) < scale.MantExp(nil)-agree
}

// almostReal drops an imaginary part that is only a rounding error and reports whether the value is real.
func (a value) almostReal() bool {
	return a.real() || a.im.MantExp(nil) < max(a.re.MantExp(nil), 0)-agree
}
