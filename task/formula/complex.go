package formula

import "math/big"

// value is a complex number.
type value struct{ re, im *big.Float }

func realValue(x *big.Float) value { return value{x, newFloat()} }

func (a value) real() bool { return a.im.Sign() == 0 }

func (a value) zero() bool { return a.re.Sign() == 0 && a.im.Sign() == 0 }

// checked returns a unless a part of it is infinite or absurd.
func (a value) checked() (value, error) {
	if !usual(a.re) || !usual(a.im) {
		return a, errValue
	}
	return a, nil
}

func (a value) plus(b value) (value, error) {
	return value{newFloat().Add(a.re, b.re), newFloat().Add(a.im, b.im)}.checked()
}

func (a value) minus(b value) value {
	return value{newFloat().Sub(a.re, b.re), newFloat().Sub(a.im, b.im)}
}

func (a value) times(b value) (value, error) {
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

func (a value) inverse() (value, error) {
	if a.zero() {
		return a, errValue
	}
	if a.real() {
		return realValue(newFloat().Quo(float(1), a.re)).checked()
	}
	d := a.square()
	return value{newFloat().Quo(a.re, d), newFloat().Neg(newFloat().Quo(a.im, d))}.checked()
}

func (a value) over(b value) (value, error) {
	inv, err := b.inverse()
	if err != nil {
		return b, err
	}
	return a.times(inv)
}

func (a value) size() *big.Float {
	if a.real() {
		return newFloat().Abs(a.re)
	}
	s := a.square()
	return s.Sqrt(s)
}

func (a value) exp() (value, error) {
	e, err := exponential(a.re)
	if err != nil || a.real() {
		return realValue(e), err
	}
	s, c, err := sineCosine(a.im)
	if err != nil {
		return a, err
	}
	return value{c.Mul(c, e), s.Mul(s, e)}.checked()
}

// ln is the principal logarithm.
func (a value) ln() (value, error) {
	if a.zero() {
		return a, errValue
	}
	l, err := logarithm(a.size())
	if err != nil {
		return a, err
	}
	return value{l, angle(a.im, a.re)}, nil
}

// power is a^b: by squaring for small whole b, else the principal value.
func (a value) power(b value) (value, error) {
	if n, exact := b.re.Int64(); b.real() && exact == big.Exact && b.re.IsInt() && n > -1<<16 && n < 1<<16 {
		return a.whole(n)
	}
	if a.zero() {
		if b.re.Sign() > 0 {
			return a, nil
		}
		return a, errValue
	}
	if half := float(0.5); b.real() && a.real() && b.re.Cmp(half) == 0 {
		if a.re.Sign() >= 0 {
			return realValue(newFloat().Sqrt(a.re)), nil
		}
		return value{newFloat(), newFloat().Sqrt(newFloat().Neg(a.re))}, nil
	}
	l, err := a.ln()
	if err != nil {
		return a, err
	}
	if l, err = l.times(b); err != nil {
		return a, err
	}
	return l.exp()
}

func (a value) whole(n int64) (value, error) {
	if n < 0 {
		inv, err := a.inverse()
		if err != nil {
			return a, err
		}
		return inv.whole(-n)
	}
	out := realValue(float(1))
	var err error
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			if out, err = out.times(a); err != nil {
				return a, err
			}
		}
		if n > 1 {
			if a, err = a.times(a); err != nil {
				return a, err
			}
		}
	}
	return out, nil
}

// close reports that two values agree to as many bits as are asked for.
func (a value) close(b value) bool {
	d := a.minus(b).size()
	if d.Sign() == 0 {
		return true
	}
	scale := a.size()
	if s := b.size(); s.Cmp(scale) > 0 {
		scale = s
	}
	if scale.MantExp(nil) < -agree { // both are nothing but rounding
		return true
	}
	return d.MantExp(nil) < scale.MantExp(nil)-agree
}

// almostReal drops an imaginary part that is nothing but rounding.
func (a value) almostReal() bool {
	return a.real() || a.im.MantExp(nil) < max(a.re.MantExp(nil), 0)-agree
}
