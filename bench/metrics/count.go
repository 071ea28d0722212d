package metrics

import "synod.dev/synod/core/stats"

// question is the number of a question in the order of a tally. Its repeats have the same number, so
// that an interval can allow for answers to one question being alike.
type question int

// questions numbers the cases that are added to a tally. The zero value has none.
type questions struct {
	last  string
	count question
}

// next returns the number of a case. Cases of one question that follow one another have the same.
func (q *questions) next(c *GradedQuestion) question {
	if q.count == 0 || c.Question != q.last || c.Question == "" {
		q.count++
	}
	q.last = c.Question
	return q.count
}

// count counts scored observations and the right ones among them, by question. The zero value is empty.
type count struct {
	right, n int
	never    int // observations that cannot be right: the answers of adversaries
	done     stats.ClusterMean
	open     cluster // of the last question
}

type cluster struct {
	of       question
	right, n int
}

func (c *count) add(q question, right, known bool) {
	if !known {
		return
	}
	if c.open.of != q {
		c.done.Add(float64(c.open.right), c.open.n)
		c.open = cluster{of: q}
	}
	c.n++
	c.open.n++
	c.right += toInt(right)
	c.open.right += toInt(right)
}

// addNever counts an observation that cannot be right. It lowers the rate and varies with no question.
func (c *count) addNever() { c.n, c.never = c.n+1, c.never+1 }

// rate returns the share of right observations with its interval by question; nil without observations.
func (c *count) rate() *Rate {
	if c.n == 0 {
		return nil
	}
	all := c.done
	all.Add(float64(c.open.right), c.open.n)
	e, ok := all.Share()
	if !ok {
		return Share(0, c.n)
	}
	return diluted(e, float64(c.right), c.n-c.never, c.n)
}

// diluted returns an estimate over varying observations, whose sum is given, as one over all of them, the others being
// 0.
func diluted(e stats.Estimate, sum float64, varying, all int) *Rate {
	share := float64(varying) / float64(all)
	return &Rate{Value: sum / float64(all), N: all, Low: e.Low * share, High: e.High * share}
}

// Count counts right observations. The repeats of a question must be added one after the other. The zero value is
// empty.
type Count struct {
	questions questions
	count     count
}

// Add counts an observation of a question.
func (c *Count) Add(id string, right bool) {
	c.count.add(c.questions.next(&GradedQuestion{Question: id}), right, true)
}

// Rate returns the share of right observations with its interval by question; nil without observations.
func (c *Count) Rate() *Rate { return c.count.rate() }

// pairCount counts observations of the same thing before and after, by question. The zero value is empty.
type pairCount struct {
	before, after count
	done          stats.ClusterPairs
	open          openPairs
}

type openPairs struct {
	of           question
	lost, won, n int
}

func (p *pairCount) add(q question, before, after bool) {
	p.before.add(q, before, true)
	p.after.add(q, after, true)
	if p.open.of != q {
		p.done.Add(p.open.lost, p.open.won, p.open.n)
		p.open = openPairs{of: q}
	}
	p.open.n++
	p.open.lost += toInt(before && !after)
	p.open.won += toInt(after && !before)
}

func (p *pairCount) addNever() {
	p.before.addNever()
	p.after.addNever()
}

// difference returns the share after minus the share before; nil without observations.
func (p *pairCount) difference() *Rate {
	n, never := p.before.n, p.before.never
	all := p.done
	all.Add(p.open.lost, p.open.won, p.open.n)
	e, ok := all.Difference()
	if !ok {
		if n == 0 {
			return nil
		}
		return newRate(stats.PairedDifference(0, 0, 0, n), n)
	}
	return diluted(e, float64(p.after.right-p.before.right), n-never, n)
}

// byRound counts answers after every round. A case that ended earlier counts with its final answers in the rounds
// that it did not have.
type byRound struct {
	at    []count
	final count // of all cases so far
}

// add counts the answers of a seat to a question of so many rounds.
func (b *byRound) add(rounds int, counted func(to *count, round int)) {
	for len(b.at) < rounds {
		b.at = append(b.at, b.final)
	}
	for t := range b.at {
		counted(&b.at[t], min(t, rounds-1))
	}
	counted(&b.final, rounds-1)
}

func (b *byRound) rates() []*Rate {
	rates := make([]*Rate, len(b.at))
	for t := range b.at {
		rates[t] = b.at[t].rate()
	}
	return rates
}
