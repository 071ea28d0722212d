package reference

import (
	"math"
	"math/big"
	"slices"

	"synod.dev/synod"
)

// Rule says how the last answers of members become a decision.
type Rule struct {
	Name    string // plurality, majority or supermajority
	Support int    // how many members must have given the answer before they heard others
}

// Step is what a protocol itself says of a run. The zero value says nothing: the rule counts all seats.
type Step struct {
	Voting  []bool // by seat: it has a vote; nil: all have one
	Decides bool   // the protocol's own last step decides, and not the rule
	Open    bool   // the members have not ended the run, so there is no decision
	Near    bool   // the result hangs on the last bits of a number, so nothing is compared

	Answer  synod.Answer // with Decides: what the step chooses; None: nothing
	Alone   bool         // it counts, however few members have an answer
	Lacking bool         // it chose nothing because too few replies or answers came
}

// Council decides as a council does: by the protocol's own step, or by a rule that counts the last answers. Answers are
// by seat, None where a seat has none; first are those that seats gave before they heard others.
func Council(r Rule, s Step, last, first []synod.Answer) Verdict {
	votes, n := slices.Clone(last), len(last)
	for i := range votes {
		if s.Voting != nil && !s.Voting[i] {
			votes[i] = synod.None
			n--
		}
	}
	v := count(r, votes, first, n)
	if s.Decides {
		v = s.own(r.Support, votes, first, n)
	}
	if s.Open && v.Status == Agreed {
		return Verdict{Status: Undecided}
	}
	return v
}

// count counts the votes of n seats. More than half of them must have an answer, with supermajority two thirds. The
// answer with the most seats wins: with plurality alone, with the others with as many seats as must have an answer.
func count(r Rule, votes, first []synod.Answer, n int) Verdict {
	enough := func(seats int) bool { return 2*seats > n }
	if r.Name == "supermajority" {
		enough = func(seats int) bool { return 3*seats >= 2*n }
	}
	most, leaders := 0, []synod.Answer(nil)
	for _, a := range distinct(votes) {
		k := len(holders(votes, a))
		if k > most {
			most, leaders = k, nil
		}
		if k == most {
			leaders = append(leaders, a)
		}
	}
	switch {
	case !enough(given(votes)):
		return Verdict{Status: Degraded}
	case r.Name != "plurality" && !enough(most), len(leaders) > 1,
		len(holders(first, leaders[0])) < r.Support:
		return Verdict{Status: Undecided}
	}
	return Verdict{Status: Agreed, Answer: leaders[0], Supporters: holders(votes, leaders[0])}
}

// given returns how many seats have an answer.
func given(answers []synod.Answer) (n int) {
	for _, a := range answers {
		if a != synod.None {
			n++
		}
	}
	return n
}

// own is the verdict on the answer that the protocol's step chose: it is the decision if some seat that votes ends on
// it, and as many members as the rule wants gave it before they heard others.
func (s *Step) own(support int, votes, first []synod.Answer, n int) Verdict {
	held := holders(votes, s.Answer)
	switch {
	case s.Lacking, !s.Alone && 2*given(votes) <= n:
		return Verdict{Status: Degraded}
	case len(held) == 0, len(holders(first, s.Answer)) < support:
		return Verdict{Status: Undecided}
	}
	return Verdict{Status: Agreed, Answer: s.Answer, Supporters: held}
}

// Confident is an answer and the confidence that its giver stated, in [0,1].
type Confident struct {
	Answer synod.Answer
	Sure   float64
}

// WeightedMajority returns the answer with the largest sum of confidences, in exact fractions of nine decimals; of
// equal sums the one with more supporters, then the first by its bytes. None: nobody has an answer.
func WeightedMajority(all []Confident) (best synod.Answer) {
	sums, counts := map[synod.Answer]*big.Int{}, map[synod.Answer]int{}
	for _, c := range all {
		if c.Answer == synod.None {
			continue
		}
		if sums[c.Answer] == nil {
			sums[c.Answer] = new(big.Int)
		}
		sums[c.Answer].Add(sums[c.Answer], big.NewInt(int64(math.Round(c.Sure*1e9))))
		counts[c.Answer]++
	}
	for a := range sums {
		if best == synod.None {
			best = a
			continue
		}
		more := sums[a].Cmp(sums[best])
		switch {
		case more > 0, more == 0 && counts[a] > counts[best],
			more == 0 && counts[a] == counts[best] && a < best:
			best = a
		}
	}
	return best
}

// MostFrequent returns the most frequent of several answers of one member; of equal ones the one that came first.
func MostFrequent(samples []synod.Answer) (best synod.Answer) {
	for _, a := range samples {
		if len(holders(samples, a)) > len(holders(samples, best)) {
			best = a
		}
	}
	return best
}

// HighestMean is Eq. 4 of CP-WBFT: the answer with the highest mean confidence; of equal ones that with more
// supporters, then the first in bytes. Confidences count to nine decimals. half leaves out those below 0.5 where any is
// at least 0.5. tie reports that means were equal.
func HighestMean(all []Confident, half bool) (best synod.Answer, tie bool) {
	counts := func(c Confident) bool { return c.Answer != synod.None && c.Sure >= 0 && c.Sure <= 1 }
	half = half && slices.ContainsFunc(all, func(c Confident) bool { return counts(c) && c.Sure >= 0.5 })
	means, number := map[synod.Answer]*big.Rat{}, map[synod.Answer]int64{}
	for _, c := range all {
		if !counts(c) || half && c.Sure < 0.5 {
			continue
		}
		if means[c.Answer] == nil {
			means[c.Answer] = new(big.Rat)
		}
		means[c.Answer].Add(means[c.Answer], big.NewRat(int64(math.Round(c.Sure*1e9)), 1e9))
		number[c.Answer]++
	}
	for a, m := range means {
		m.Quo(m, big.NewRat(number[a], 1))
	}
	for a, m := range means {
		if best == synod.None {
			best = a
			continue
		}
		order := m.Cmp(means[best])
		if order > 0 || order == 0 && (number[a] > number[best] || number[a] == number[best] && a < best) {
			best = a
		}
	}
	for a, m := range means {
		tie = tie || a != best && m.Cmp(means[best]) == 0
	}
	return best, tie
}

// AdoptConfident returns what a member of CP-WBFT holds after it has heard its neighbours (stage 1, CP-3), by a rule:
// "paper", the neighbour with the highest confidence if that is above one's own, of equal ones the first answer in
// bytes; "pooled", the answer with the highest mean confidence of all, with that mean; "majority", what more of them
// say than anything else, one's own included, with their mean; "none", one's own.
func AdoptConfident(rule string, own Confident, heard []Confident) Confident {
	all := append(slices.Clone(heard), own)
	switch rule {
	case "paper":
		best := own
		for _, h := range heard {
			more := nine(h.Sure) - nine(best.Sure)
			taken := best != own || own.Answer == synod.None
			if more > 0 || taken && more == 0 && (best.Answer == synod.None || h.Answer < best.Answer) {
				best = h
			}
		}
		return best
	case "pooled":
		if best, _ := HighestMean(all, false); best != own.Answer && best != synod.None {
			return Confident{best, meanOf(all, best)}
		}
	case "majority":
		var answers []synod.Answer
		for _, c := range all {
			answers = append(answers, c.Answer)
		}
		v := count(Rule{Name: "plurality"}, answers, nil, len(holders(answers, MostFrequent(answers))))
		if v.Status == Agreed && v.Answer != own.Answer {
			return Confident{v.Answer, meanOf(all, v.Answer)}
		}
	}
	return own
}

// nine is a confidence to nine decimals.
func nine(sure float64) int64 { return int64(math.Round(sure * 1e9)) }

func meanOf(all []Confident, a synod.Answer) float64 {
	sum, n := int64(0), 0
	for _, c := range all {
		if c.Answer == a {
			sum, n = sum+nine(c.Sure), n+1
		}
	}
	return float64(sum) / float64(n) / 1e9
}
