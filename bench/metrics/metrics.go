// Package metrics computes the figures of a run from the answers that its members held
// after each round and from their grades: SAC's accuracies before and after the rounds
// (IAA, FAA, BFTI), pluralities (RA, H-Majority), decisions, captures, liveness,
// the calibration of members' confidences, and paired comparisons of two runs.
//
// It is pure: the same cases give the same figures, and no model is asked. Three
// rules hold everywhere. Every rate has its N and a 95 % interval (package stats).
// A figure that does not exist is nil, never zero. An answer that is absent, or that
// the grader cannot read, is not right and stays in the denominator, as in the papers
// (members × questions); so rates before and after the rounds are about the same
// members. Absent and unreadable answers are counted (Unscored), and the rates whose
// names end in Present leave them out.
//
// N counts answers for rates about members, and questions for rates about votes
// and decisions. Members that answer the same question do not err independently, nor do
// repeats of a question. So every interval is by question (stats.ClusterMean.Share).
//
//	t := metrics.NewTally(seats)
//	for _, c := range cases {
//		t.Add(c)
//	}
//	numbers := t.Numbers()
package metrics

import (
	"synod.dev/synod/core/stats"
)

// Rate is a share in [0,1], a difference of shares in [-1,1], or (Count) a mean or
// count of any size, with its 95 % interval.
type Rate struct {
	Value float64 `json:"value"`
	N     int     `json:"n"` // observations
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Count bool    `json:"count,omitempty"` // not a share: print it as it is, not in percent
}

func newRate(e stats.Estimate, n int) *Rate {
	return &Rate{Value: e.Value, N: n, Low: e.Low, High: e.High}
}

func (r *Rate) estimate() stats.Estimate {
	return stats.Estimate{Value: r.Value, Low: r.Low, High: r.High}
}

// Share returns k/n with Wilson's interval, or nil if n is 0.
func Share(k, n int) *Rate {
	if n <= 0 {
		return nil
	}
	return wilson(float64(k)/float64(n), n)
}

func wilson(p float64, n int) *Rate {
	low, high := stats.Wilson(p, float64(n))
	return &Rate{Value: p, N: n, Low: low, High: high}
}

// Difference returns a − b of two rates that were measured independently, or nil
// if either is nil. N is that of the smaller sample.
func Difference(a, b *Rate) *Rate {
	if a == nil || b == nil {
		return nil
	}
	return newRate(stats.Difference(a.estimate(), b.estimate()), min(a.N, b.N))
}

// Published returns a figure that others report over n independent questions, with
// the interval that it would have had: Wilson's for a share, and for a difference
// of two shares (which may be negative) the widest possible one. It returns nil if
// n is 0.
func Published(value float64, n int, difference bool) *Rate {
	if n <= 0 {
		return nil
	}
	if !difference {
		return wilson(value, n)
	}
	low, high := stats.WidestDifference(value, float64(n))
	return &Rate{Value: value, N: n, Low: low, High: high}
}

// Pairs counts pairs of results of the same question or answer:
// Pairs[right before][right after], 1 being right.
type Pairs [2][2]int

// Add counts a pair.
func (p *Pairs) Add(before, after bool) { p[toInt(before)][toInt(after)]++ }

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// After returns the share that is right after, nil without pairs.
func (p *Pairs) After() *Rate { return Share(p[0][1]+p[1][1], p.N()) }

// N returns the number of pairs.
func (p *Pairs) N() int { return p[0][0] + p[0][1] + p[1][0] + p[1][1] }

// Difference returns the rate after minus the rate before, with the score
// interval for independent pairs, or nil without pairs.
func (p *Pairs) Difference() *Rate {
	if p.N() == 0 {
		return nil
	}
	return newRate(stats.PairedDifference(p[1][1], p[1][0], p[0][1], p[0][0]), p.N())
}

// McNemar returns the p-value of McNemar's exact two-sided test of whether before
// and after are right equally often.
func (p *Pairs) McNemar() float64 { return stats.McNemar(p[0][1], p[1][0]) }

// Mean adds up values that are not shares, such as times. The zero value is empty.
type Mean struct {
	n            int
	sum, squares float64
}

// Add counts a value.
func (m *Mean) Add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

// Rate returns the mean with Student's interval, or nil without values. The
// interval of a single value is as wide as the value.
func (m *Mean) Rate() *Rate {
	if m.n == 0 {
		return nil
	}
	r := newRate(stats.MeanEstimate(m.n, m.sum, m.squares), m.n)
	r.Count = true
	return r
}
