package metrics

import (
	"hash/fnv"

	"synod.dev/synod"
	"synod.dev/synod/stats"
)

// voters estimates the number of independent members to which the honest ones are equivalent.
// Members that err on the same questions add less to a vote than their number suggests: with n
// members and a mean correlation ρ of their errors, the variance of the count of
// wrong votes is 1 + (n−1)ρ times that of independent members (Kish's design
// effect, Survey Sampling, 1965), and
//
//	effective votes = n / (1 + (n−1)ρ)
//
// The errors are those of the first answers, before any member heard another. ρ is
// the sum over all pairs of seats of the covariance of their errors, divided by the
// sum of the means of their variances; both are taken over the questions for which
// both seats are scored and weighted by their number. ρ is 1 for members that
// always err together; a negative ρ counts as 0.
//
// The interval is a delete-a-group jackknife of ρ. Questions are divided into 32
// groups by a hash of their ids, so that repeats of a question are in one group.
// There is no figure with fewer than two honest seats, with fewer than ten
// non-empty groups, or if the errors do not vary.
type voters struct {
	seats  []int // honest seats that answer
	groups [questionGroups]pairCounts
}

const (
	questionGroups    = 32
	minQuestionGroups = 10
	maxVoters         = 128 // with more seats there is no figure: the counts per pair would grow too large
)

// pairCounts are the counts of one group of questions.
type pairCounts struct {
	questions int
	pairs     []pair // (0,1), (0,2), (1,2), (0,3), …
}

// pair counts questions for which two seats are scored, and their errors.
type pair struct{ n, one, other, both int }

func newVoters(seats []Member) *voters {
	v := &voters{}
	for i, s := range seats {
		if !s.Adversary && !s.Unasked {
			v.seats = append(v.seats, i)
		}
	}
	if n := len(v.seats); n <= maxVoters {
		for g := range v.groups {
			v.groups[g].pairs = make([]pair, n*(n-1)/2)
		}
	}
	return v
}

// add counts the errors of a question's first answers.
func (v *voters) add(c *Case) {
	if len(c.Rounds) == 0 || len(v.seats) > maxVoters {
		return
	}
	first := c.Rounds[0]
	h := fnv.New32a()
	h.Write([]byte(c.Question))
	g := &v.groups[h.Sum32()%questionGroups]
	k, counted := 0, false
	for j, seat := range v.seats {
		for _, earlier := range v.seats[:j] {
			counted = g.pairs[k].add(c, first[earlier], first[seat]) || counted
			k++
		}
	}
	g.questions += toInt(counted)
}

func (p *pair) add(c *Case, one, other synod.Answer) bool {
	a, knownA := c.grade(one)
	b, knownB := c.grade(other)
	if !knownA || !knownB {
		return false
	}
	p.n++
	p.one, p.other, p.both = p.one+toInt(!a), p.other+toInt(!b), p.both+toInt(!a && !b)
	return true
}

// correlation returns ρ over all groups except one (-1: over all). It is not known
// if no errors vary.
func (v *voters) correlation(without int) (rho float64, known bool) {
	var covariance, variance float64
	for k := range v.groups[0].pairs {
		var p pair
		for g := range v.groups {
			if q := v.groups[g].pairs[k]; g != without {
				p = pair{p.n + q.n, p.one + q.one, p.other + q.other, p.both + q.both}
			}
		}
		if p.n == 0 {
			continue
		}
		n, a, b := float64(p.n), float64(p.one), float64(p.other)
		covariance += float64(p.both) - a*b/n
		variance += (a - a*a/n + b - b*b/n) / 2
	}
	return covariance / variance, variance > 0
}

// effective returns the figure with its interval, or nil if there is none.
func (v *voters) effective() *Rate {
	n, questions := float64(len(v.seats)), 0
	rho, known := v.correlation(-1)
	var leftOut []float64
	for g := range v.groups {
		if v.groups[g].questions == 0 {
			continue
		}
		questions += v.groups[g].questions
		r, ok := v.correlation(g)
		leftOut, known = append(leftOut, r), known && ok
	}
	if !known || len(v.seats) < 2 || len(leftOut) < minQuestionGroups {
		return nil
	}
	half := stats.Jackknife(leftOut)
	votes := func(rho float64) float64 { return n / (1 + (n-1)*min(max(rho, 0), 1)) }
	return &Rate{Value: votes(rho), N: questions, Low: votes(rho + half), High: votes(rho - half), Count: true}
}
