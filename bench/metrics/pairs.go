package metrics

import "synod.dev/synod/core/stats"

// maxPairs is the largest number of pairs of seats whose errors are reported: those of 20 seats.
const maxPairs = 190

// minPhiQuestions is the smallest number of questions for which phi is reported.
const minPhiQuestions = 10

// PairErrors says how alike the first answers of two honest seats err, over the questions for which both are scored.
type PairErrors struct {
	A, B int // seats
	// Phi is the correlation of their errors (phi coefficient), from -1 to 1; nil if one of them errs always or
	// never, or with fewer than ten questions. N counts questions with repeats.
	Phi *Rate
	// CoError is the share of questions for which both are wrong.
	CoError *Rate
}

// pairErrors counts the errors of two seats by question. The zero value is empty.
type pairErrors struct {
	both count
	done stats.ClusterPhi
	open [4]int // of the last question: neither errs, only the first, only the second, both
	of   question
}

func (p *pairErrors) add(q question, first, second bool) {
	p.both.add(q, first && second, true)
	if p.of != q {
		p.done.Add(p.open[0], p.open[1], p.open[2], p.open[3])
		p.of, p.open = q, [4]int{}
	}
	p.open[toInt(first)+2*toInt(second)]++
}

// phi returns the correlation of the errors with its interval by question.
func (p *pairErrors) phi() *Rate {
	all := p.done
	all.Add(p.open[0], p.open[1], p.open[2], p.open[3])
	e, ok := all.Estimate()
	if !ok || all.Clusters() < minPhiQuestions {
		return nil
	}
	r := newRate(e, all.N())
	r.Count = true
	return r
}

// Errors returns the errors of every pair of seats in order; nil with more than 20 seats. Intervals are by question.
func (v *Voters) Errors() (all []PairErrors) {
	if len(v.pairs) > maxPairs {
		return nil
	}
	for k, of := range v.pairs {
		all = append(all, PairErrors{A: of[0], B: of[1], Phi: v.errors[k].phi(), CoError: v.errors[k].both.rate()})
	}
	return all
}
