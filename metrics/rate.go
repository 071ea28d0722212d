// Package metrics turns what members held, round by round, and how that was
// graded into numbers: SAC's accuracies before and after (IAA, FAA, BFTI), votes
// (RA, H-Majority), decisions, captures and liveness, and paired comparisons of
// two runs.
//
// It is pure: the same cases give the same numbers, and no model is asked. Three
// rules hold everywhere. A rate carries N and a 95 % interval (Wilson's; for a
// difference of paired rates Newcombe's). What does not exist is nil, never zero.
// An answer that is absent or that the grader cannot read is unscored: it counts
// neither as right nor as wrong, and is reported apart.
//
// N counts answers where a rate is about members and questions where it is about
// votes and decisions. Members that answer one question do not err independently,
// so the interval of a rate about members is narrower than the truth.
//
//	t := metrics.NewTally(seats)
//	for _, c := range cases {
//		t.Add(c)
//	}
//	numbers := t.Numbers()
package metrics

import "math"

// z is the normal quantile of a two-sided 95 % interval.
const z = 1.959963984540054

// Rate is a share, or a difference of shares, with its 95 % interval.
type Rate struct {
	Value float64 `json:"value"`
	N     int     `json:"n"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Count bool    `json:"count,omitempty"` // it is no share but a count, for whoever prints it
}

// Wilson is the rate k of n with Wilson's score interval; nil where n is 0.
func Wilson(k, n int) *Rate {
	if n <= 0 {
		return nil
	}
	r := wilson(float64(k)/float64(n), float64(n))
	r.N = n
	return &r
}

func wilson(p, n float64) Rate {
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	r := Rate{Value: p, Low: middle - half, High: middle + half}
	if p == 0 { // exactly, whatever the rounding
		r.Low = 0
	}
	if p == 1 {
		r.High = 1
	}
	return r
}

// Pairs counts what was right before and after: Pairs[before][after].
type Pairs [2][2]int

// Add counts a pair.
func (p *Pairs) Add(before, after bool) { p[bit(before)][bit(after)]++ }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// N is how many pairs there are.
func (p *Pairs) N() int { return p[0][0] + p[0][1] + p[1][0] + p[1][1] }

// Difference is the rate after less the rate before with Newcombe's interval for
// paired proportions (his method 10: Wilson's limits, combined with the continuity
// corrected correlation); nil where there are no pairs.
func (p *Pairs) Difference() *Rate {
	n := p.N()
	if n == 0 {
		return nil
	}
	both, lost, won, none := float64(p[1][1]), float64(p[1][0]), float64(p[0][1]), float64(p[0][0])
	before, after := Wilson(p[1][1]+p[1][0], n), Wilson(p[1][1]+p[0][1], n)
	phi := 0.0
	if d := (both + lost) * (won + none) * (both + won) * (lost + none); d > 0 {
		top := both*none - lost*won
		if top > 0 {
			top = max(top-float64(n)/2, 0)
		}
		phi = top / math.Sqrt(d)
	}
	d := (won - lost) / float64(n)
	apart := func(x, y float64) float64 { return math.Sqrt(max(x*x-2*phi*x*y+y*y, 0)) }
	return &Rate{
		Value: d, N: n,
		Low:  d - apart(after.Value-after.Low, before.High-before.Value),
		High: d + apart(after.High-after.Value, before.Value-before.Low),
	}
}
