package metrics

import "math"

// Mean is a mean of values that are no shares, such as times.
type Mean struct {
	n           int
	sum, square float64
}

// Add counts a value.
func (m *Mean) Add(x float64) {
	m.n++
	m.sum += x
	m.square += x * x
}

// Rate is the mean with a normal interval, of which one value alone has nothing to
// make it of: it is then as wide as the value; nil where there are none.
func (m *Mean) Rate() *Rate {
	if m.n == 0 {
		return nil
	}
	mean := m.sum / float64(m.n)
	half := math.Abs(mean)
	if m.n > 1 {
		variance := max(m.square-float64(m.n)*mean*mean, 0) / float64(m.n-1)
		half = z * math.Sqrt(variance/float64(m.n))
	}
	return &Rate{Value: mean, N: m.n, Low: mean - half, High: mean + half, Count: true}
}
