package metrics

import (
	"hash/fnv"
	"math"

	"synod.dev/synod"
)

// Effective votes say how many independent members the honest ones are worth.
// Members that err on the same questions add less to a vote than their number:
// with n members and a mean correlation ρ of their errors, the variance of the
// count of wrong votes is 1 + (n−1)ρ times that of independent members, which is
// Kish's design effect (Survey Sampling, 1965), and
//
//	effective votes = n / (1 + (n−1)ρ)
//
// The errors are those of the first answers, before anyone heard anyone; ρ is the
// sum over all pairs of seats of the covariance of their errors over the questions
// for which both are scored, divided by the sum of the means of their variances
// there, both weighted by those questions. It is 1 for members that always err
// together. What is below 0 is taken for 0: nobody is worth more than a vote.
//
// The interval is a delete-a-group jackknife of ρ over 32 groups of questions, by
// a hash of their ids, so that the repeats of a question stand and fall together,
// with Student's quantile. There is no figure with fewer than two honest seats,
// fewer than ten groups that hold a question, or where nobody's errors vary.
type voters struct {
	seats  []int // honest ones that answer
	groups [jackknifed]votes
}

const (
	jackknifed = 32  // groups of questions
	fewest     = 10  // groups that must hold something
	mostVoters = 128 // pairs are counted apart; of more seats there is no figure
)

// votes are the first answers to a group of questions.
type votes struct {
	questions int
	pairs     []pair // (0,1), (0,2), (1,2), (0,3), …
}

// pair counts questions for which two seats are scored, and their errors.
type pair struct{ n, one, other, both int }

func newVoters(seats []Seat) *voters {
	v := &voters{}
	for i, s := range seats {
		if !s.Adversary && !s.Mute {
			v.seats = append(v.seats, i)
		}
	}
	if n := len(v.seats); n <= mostVoters {
		for g := range v.groups {
			v.groups[g].pairs = make([]pair, n*(n-1)/2)
		}
	}
	return v
}

// add counts who erred at first.
func (v *voters) add(c *Case) {
	first := c.first()
	if first == nil || len(v.seats) > mostVoters {
		return
	}
	h := fnv.New32a()
	h.Write([]byte(c.Question))
	g := &v.groups[h.Sum32()%jackknifed]
	k, counted := 0, false
	for j, seat := range v.seats {
		for _, before := range v.seats[:j] {
			counted = g.pairs[k].add(c, first[before], first[seat]) || counted
			k++
		}
	}
	g.questions += bit(counted)
}

func (p *pair) add(c *Case, one, other synod.Answer) bool {
	a, knownA := c.right(one)
	b, knownB := c.right(other)
	if !knownA || !knownB {
		return false
	}
	p.n++
	p.one, p.other, p.both = p.one+bit(!a), p.other+bit(!b), p.both+bit(!a && !b)
	return true
}

// correlation is ρ over all groups but one (-1: over all); not known where nobody's
// errors vary.
func (v *voters) correlation(without int) (rho float64, known bool) {
	var together, alone float64
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
		together += float64(p.both) - a*b/n
		alone += (a - a*a/n + b - b*b/n) / 2
	}
	return together / alone, alone > 0
}

// effective is the figure with its interval; nil where there is none.
func (v *voters) effective() *Rate {
	n, questions := float64(len(v.seats)), 0
	rho, known := v.correlation(-1)
	var out []float64
	for g := range v.groups {
		if v.groups[g].questions == 0 {
			continue
		}
		questions += v.groups[g].questions
		r, ok := v.correlation(g)
		out, known = append(out, r), known && ok
	}
	if !known || len(v.seats) < 2 || len(out) < fewest {
		return nil
	}
	half := student(len(out)-1) * jackknife(out)
	votes := func(rho float64) float64 { return n / (1 + (n-1)*min(max(rho, 0), 1)) }
	return &Rate{Value: votes(rho), N: questions, Low: votes(rho + half), High: votes(rho - half), Count: true}
}

// jackknife is the standard error of a figure by its values without each group.
func jackknife(without []float64) float64 {
	n, mean, sum := float64(len(without)), 0.0, 0.0
	for _, x := range without {
		mean += x / n
	}
	for _, x := range without {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum * (n - 1) / n)
}

// student is the two-sided 95 % quantile of Student's t by the first terms of its
// series about the normal one (good to 0.003 from nine degrees of freedom on).
func student(df int) float64 {
	z2, d := z*z, float64(df)
	return z + z*(z2+1)/(4*d) + z*((5*z2+16)*z2+3)/(96*d*d)
}
