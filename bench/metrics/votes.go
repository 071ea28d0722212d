package metrics

import (
	"hash/fnv"

	"synod.dev/synod/core/stats"
)

// Voters estimates the number of independent members to which the honest ones are equivalent.
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
type Voters struct {
	n      int      // seats
	pairs  [][2]int // whose answers in a case are compared, for each pair of seats
	groups [questionGroups]pairCounts

	questions questions
	errors    []pairErrors // by pair
}

const (
	questionGroups    = 32
	minQuestionGroups = 10
	maxVoters         = 128 // with more seats there is no figure: the counts per pair would grow too large
)

// pairCounts are the counts of one group of questions.
type pairCounts struct {
	questions int
	pairs     []pair // as in Voters
}

// pair counts questions for which two seats are scored, and their errors.
type pair struct{ n, one, other, both int }

// newVoters compares all pairs of honest seats that answer.
func newVoters(seats []SeatFacts) *Voters {
	var honest []int
	for i, s := range seats {
		if !s.Adversary && !s.Unasked {
			honest = append(honest, i)
		}
	}
	if len(honest) > maxVoters {
		return NewVoters(len(honest), nil)
	}
	return NewVoters(len(honest), PairsOf(honest))
}

// PairsOf lists all pairs of seats, each once.
func PairsOf(seats []int) (pairs [][2]int) {
	for j, seat := range seats {
		for _, earlier := range seats[:j] {
			pairs = append(pairs, [2]int{earlier, seat})
		}
	}
	return pairs
}

// NewVoters counts nothing yet. n is the number of seats and pairs has, for each pair of them, the indexes in the cases
// of the two seats whose errors stand for theirs. A pair may occur several times: of five seats of two models,
// four pairs or more are of the same two models.
func NewVoters(n int, pairs [][2]int) *Voters {
	v := &Voters{n: n, pairs: pairs, errors: make([]pairErrors, len(pairs))}
	for g := range v.groups {
		v.groups[g].pairs = make([]pair, len(pairs))
	}
	return v
}

// Add counts the errors of a question's first answers.
func (v *Voters) Add(c *GradedQuestion) {
	if len(c.Rounds) == 0 || len(v.pairs) == 0 {
		return
	}
	first := c.Rounds[0]
	h := fnv.New32a()
	h.Write([]byte(c.Question))
	g := &v.groups[h.Sum32()%questionGroups]
	counted, q := false, v.questions.next(c)
	for k, of := range v.pairs {
		a, knownA := c.grade(first[of[0]])
		b, knownB := c.grade(first[of[1]])
		if knownA && knownB {
			counted = true
			g.pairs[k].add(!a, !b)
			v.errors[k].add(q, !a, !b)
		}
	}
	g.questions += toInt(counted)
}

func (p *pair) add(one, other bool) {
	p.n++
	p.one, p.other, p.both = p.one+toInt(one), p.other+toInt(other), p.both+toInt(one && other)
}

// correlation returns ρ over all groups except one (-1: over all). It is not known
// if no errors vary.
func (v *Voters) correlation(without int) (rho float64, known bool) {
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

// Effective returns the figure with its interval, or nil if there is none.
func (v *Voters) Effective() *Rate {
	rho := v.Correlation()
	if rho == nil || v.n < 2 {
		return nil
	}
	n := float64(v.n)
	votes := func(rho float64) float64 { return n / (1 + (n-1)*min(max(rho, 0), 1)) }
	return &Rate{Value: votes(rho.Value), N: rho.N, Low: votes(rho.High), High: votes(rho.Low), Count: true}
}

// Correlation returns ρ, in [-1,1], with its interval, or nil if there is none. The interval is not cut to that range.
func (v *Voters) Correlation() *Rate {
	questions := 0
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
	if !known || len(leftOut) < minQuestionGroups {
		return nil
	}
	half := stats.Jackknife(leftOut)
	return &Rate{Value: rho, N: questions, Low: rho - half, High: rho + half, Count: true}
}
