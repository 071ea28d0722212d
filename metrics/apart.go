package metrics

import "math"

// Apart is the difference a − b of two figures that were measured apart, with an
// interval made of theirs (the square-and-add method of Zou and Donner, of which
// Newcombe's method 10 is the case of two Wilson intervals); nil where either does
// not exist. N is that of the smaller sample.
func Apart(a, b *Rate) *Rate {
	if a == nil || b == nil {
		return nil
	}
	d := a.Value - b.Value
	return &Rate{
		Value: d, N: min(a.N, b.N),
		Low:  d - math.Hypot(a.Value-a.Low, b.High-b.Value),
		High: d + math.Hypot(a.High-a.Value, b.Value-b.Low),
	}
}

// Published is a figure that somebody else reports over n independent questions,
// with the interval that it would have had: Wilson's for a share, and for a
// difference of two shares, which may be negative, the one of shares that far
// apart around one half, the widest there is.
func Published(value float64, n int, difference bool) *Rate {
	if n <= 0 {
		return nil
	}
	if difference {
		half := z * math.Sqrt(max(0.5-value*value/2, 0)/float64(n)) // p(1−p)+q(1−q) with p,q = ½±value/2
		return &Rate{Value: value, N: n, Low: value - half, High: value + half}
	}
	r := wilson(value, float64(n))
	r.N = n
	return &r
}
