package metrics

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod/core/stats"
)

// resamples is the number of bootstrap samples.
const resamples = 10_000

// Paired compares two results of each question, before and after, whose repeats and cells are one cluster. The zero
// value is empty.
type Paired struct {
	Pairs Pairs // of results that are right or wrong, all repeats counted

	byQuestion map[string]*paired
}

// paired adds up the results of a question.
type paired struct {
	n, lost, won  int // pairs
	moved, shares int // sum of the numerators of the differences of shares, and how many there are
	change        float64
}

func (p *Paired) of(question string) *paired {
	if p.byQuestion == nil {
		p.byQuestion = map[string]*paired{}
	}
	q := p.byQuestion[question]
	if q == nil {
		q = &paired{}
		p.byQuestion[question] = q
	}
	return q
}

// Add counts two results of a question, each right or wrong.
func (p *Paired) Add(question string, before, after bool) {
	p.Pairs.Add(before, after)
	q := p.of(question)
	q.n, q.lost, q.won = q.n+1, q.lost+toInt(before && !after), q.won+toInt(after && !before)
}

// AddShares counts two shares of a question: before of so many, and after of so many, such as the members that are
// right.
func (p *Paired) AddShares(question string, before, ofBefore, after, ofAfter int) {
	if ofBefore < 1 || ofAfter < 1 {
		return
	}
	q := p.of(question)
	q.shares++
	q.moved += after*ofBefore - before*ofAfter
	q.change += float64(after)/float64(ofAfter) - float64(before)/float64(ofBefore)
}

// list returns the questions in the order of their ids, so that results do not depend on that of Add.
func (p *Paired) list() (all []*paired) {
	for _, id := range slices.Sorted(maps.Keys(p.byQuestion)) {
		all = append(all, p.byQuestion[id])
	}
	return all
}

// Plus adds the results of another comparison. Results of both whose questions have the same id form one cluster.
func (p *Paired) Plus(o *Paired) {
	for b := range p.Pairs {
		for a := range p.Pairs[b] {
			p.Pairs[b][a] += o.Pairs[b][a]
		}
	}
	for id, d := range o.byQuestion {
		q := p.of(id)
		q.n, q.lost, q.won = q.n+d.n, q.lost+d.lost, q.won+d.won
		q.moved, q.shares, q.change = q.moved+d.moved, q.shares+d.shares, q.change+d.change
	}
}

// Questions returns the number of questions, not counting repeats.
func (p *Paired) Questions() int { return len(p.byQuestion) }

// Difference returns the share of right results after minus that before, with the interval by question, or nil
// without any. N counts pairs.
func (p *Paired) Difference() *Rate {
	var all stats.ClusterPairs
	for _, q := range p.list() {
		all.Add(q.lost, q.won, q.n)
	}
	e, ok := all.Difference()
	if !ok {
		return nil
	}
	return newRate(e, p.Pairs.N())
}

// P returns the two-sided p-value of the difference: of the exact permutation test by question, which
// is McNemar's exact test where no question has repeats.
func (p *Paired) P() float64 {
	return p.permuted(func(q *paired) int { return q.won - q.lost })
}

// Alike returns how alike the differences of the repeats of a question are: their intraclass correlation, from 0 to 1,
// by analysis of variance. It is NaN without repeats or without differences.
func (p *Paired) Alike() float64 {
	all := p.list()
	n, sum, squares, within, sizes := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, q := range all {
		k, d := float64(q.n), float64(q.won-q.lost)
		if q.n == 0 {
			continue
		}
		n, sum, squares, sizes = n+k, sum+d, squares+d*d/k, sizes+k*k
		within += float64(q.won+q.lost) - d*d/k
	}
	groups := float64(len(all))
	if n <= groups || groups < 2 {
		return math.NaN()
	}
	size := (n - sizes/n) / (groups - 1)
	between, inside := (squares-sum*sum/n)/(groups-1), within/(n-groups)
	if all := between + (size-1)*inside; all > 0 {
		return min(max((between-inside)/all, 0), 1)
	}
	return math.NaN()
}

// ShareDifference returns the mean difference of shares with the BCa interval of a bootstrap over questions with a
// fixed seed, or nil without shares. N counts pairs of shares.
func (p *Paired) ShareDifference(seed uint64) *Rate {
	var sums []float64
	var sizes []int
	n := 0
	for _, q := range p.list() {
		if q.shares > 0 {
			sums, sizes, n = append(sums, q.change), append(sizes, q.shares), n+q.shares
		}
	}
	e, ok := stats.ClusterBootstrap(rand.New(rand.NewPCG(seed, 0xb007)), resamples, sums, sizes)
	if !ok {
		return nil
	}
	e.Low, e.High = max(e.Low, -1), min(e.High, 1)
	return newRate(e, n)
}

// ShareP returns the two-sided p-value of the mean difference of shares by the exact permutation test by question. All
// shares before must be of the same number, and all shares after.
func (p *Paired) ShareP() float64 {
	return p.permuted(func(q *paired) int { return q.moved })
}

func (p *Paired) permuted(difference func(*paired) int) float64 {
	var all []int
	divisor := 0
	for _, q := range p.list() {
		d := difference(q)
		all, divisor = append(all, d), gcd(divisor, d)
	}
	for i := range all {
		all[i] /= max(divisor, 1)
	}
	return stats.PairedPermutation(all)
}

// gcd returns the greatest common divisor of the sizes of two numbers.
func gcd(a, b int) int {
	a, b = max(a, -a), max(b, -b)
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
