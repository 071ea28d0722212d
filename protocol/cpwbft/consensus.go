package cpwbft

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod"
)

// Stated is an answer and the confidence in [0,1] that is claimed for it.
type Stated struct {
	Answer     synod.Answer
	Confidence float64
}

// statedBy is a word whose confidence may be missing, which counts as 0.
func statedBy(a synod.Answer, confidence *float64) Stated {
	if confidence == nil {
		return Stated{Answer: a}
	}
	return Stated{a, *confidence}
}

// nanos is a confidence in units of 1e-9. Sums of these are exact, so the order of
// the voters cannot show and (0.8+1.0)/2 ties with 0.9.
func nanos(c float64) uint64 { return uint64(math.Round(c * 1e9)) }

// camp is who supports one answer.
type camp struct {
	answer synod.Answer
	sum, n uint64 // of confidences, in nanos; of supporters
}

// mean is the camp's average confidence.
func (c camp) mean() float64 { return float64(c.sum) / float64(c.n) / 1e9 }

// Consensus is Eq. 4 (CP-4): the answer whose supporters are surest on average, of
// equals the one with more supporters, then the first in canonical bytes. It comes
// with that average. Voters without an answer, or with a confidence outside [0,1],
// do not count; without any voter the answer is None.
func Consensus(votes []Stated, w Weigh) Stated {
	camps := campsOf(votes, w == Half && slices.ContainsFunc(votes,
		func(v Stated) bool { return v.counts() && v.Confidence >= 0.5 }))
	if len(camps) == 0 {
		return Stated{}
	}
	best := slices.MaxFunc(camps, func(a, b camp) int {
		return cmp.Or(cmp.Compare(a.sum*b.n, b.sum*a.n), cmp.Compare(a.n, b.n), cmp.Compare(b.answer, a.answer))
	})
	return Stated{best.answer, best.mean()}
}

// counts reports whether a vote is one. NaN is not in [0,1].
func (v Stated) counts() bool {
	return v.Answer != synod.None && v.Confidence >= 0 && v.Confidence <= 1
}

// campsOf groups votes by answer; sure leaves out those below 0.5.
func campsOf(votes []Stated, sure bool) (camps []camp) {
	for _, v := range votes {
		if !v.counts() || sure && v.Confidence < 0.5 {
			continue
		}
		i := slices.IndexFunc(camps, func(c camp) bool { return c.answer == v.Answer })
		if i < 0 {
			i, camps = len(camps), append(camps, camp{answer: v.Answer})
		}
		camps[i].sum += nanos(v.Confidence)
		camps[i].n++
	}
	return camps
}

// Conclude is stage 2 over the members' last opinions; a missing confidence is 0.
func (p *CPWBFT) Conclude(last []synod.Opinion) synod.Answer {
	votes := make([]Stated, len(last))
	for i, o := range last {
		votes[i] = statedBy(o.Answer, o.Confidence)
	}
	return Consensus(votes, p.Weigh).Answer
}

// rules are what a member makes of its own word and its neighbours'.
var rules = map[Adopt]func(own Stated, heard []Stated) Stated{
	Surest: surest, Pooled: pooled, ByNumber: byNumber,
	Nothing: func(own Stated, _ []Stated) Stated { return own },
}

// surest is the paper's rule: the neighbour with the highest confidence, if that
// is above one's own. Of two alike the answer that is first in canonical bytes.
func surest(own Stated, heard []Stated) Stated {
	if len(heard) == 0 {
		return own
	}
	best := slices.MaxFunc(heard, func(a, b Stated) int {
		return cmp.Or(cmp.Compare(nanos(a.Confidence), nanos(b.Confidence)), cmp.Compare(b.Answer, a.Answer))
	})
	if own.Answer != synod.None && nanos(best.Confidence) <= nanos(own.Confidence) {
		return own
	}
	return best
}

// pooled is the reference code's rule: Eq. 4 over oneself and one's neighbours. An
// answer that is taken over is held with its mean, one's own with one's own.
func pooled(own Stated, heard []Stated) Stated {
	best := Consensus(append(slices.Clone(heard), own), Everyone)
	if best.Answer == own.Answer {
		return own
	}
	return best
}

// byNumber is the pilot's traditional agent: the answer that more of oneself and
// one's neighbours hold than any other, and one's own where two lead alike.
func byNumber(own Stated, heard []Stated) Stated {
	lead, tie := camp{}, false
	for _, c := range campsOf(append(slices.Clone(heard), own), false) {
		switch {
		case c.n > lead.n:
			lead, tie = c, false
		case c.n == lead.n:
			tie = true
		}
	}
	if tie || lead.n == 0 || lead.answer == own.Answer {
		return own
	}
	return Stated{lead.answer, lead.mean()}
}
