package robust

import (
	"cmp"
	"slices"

	"synod.dev/synod"
)

// The names of the rules of a vote.
const (
	Plurality     = "plurality"     // more weight than any other answer
	Majority      = "majority"      // more than half of the weight of all seats, silent ones included
	Supermajority = "supermajority" // at least two thirds of the weight of all seats, silent ones included
)

// VoteRule says when an answer wins a vote.
type VoteRule struct {
	Name string // Plurality, Majority or Supermajority
	// Claim is the largest weight that a seat can claim where weights are what seats say of themselves, such as
	// confidences; no voice may have more. 0: a seat that says something else keeps its weight. By plurality only.
	Claim int64
}

// Voice is what one seat says in a vote.
type Voice struct {
	Answer synod.Answer // None: the seat is silent
	Weight int64        // at least 0; the sum over all seats must be below 2^60
}

// Withstood says how many answers a decision by vote does not depend on.
type Withstood struct {
	// Ignored is the largest k such that the winner still wins when any k seats are removed from
	// the council. If at most k seats are Byzantine, the other seats alone decide the same.
	Ignored int `json:"ignored"`
	// Changed is the largest k such that the winner still wins whatever any k seats say instead.
	Changed int `json:"changed"`
}

// Withstands returns what the win of an answer withstands, and false if the answer does not win.
// A tie is not a win, so ties withstand nothing. Nothing is assumed about who is honest: the result
// is arithmetic over the voices, and means something only if they were given independently.
//
// Let W(x) be the weight of the answer x and t_k the weight of the k heaviest voices for the winner.
// By plurality, any k seats can be ignored if W(winner) - t_k > W(x) for every x. Any k can change
// if no k seats can make up the lead over some x: a seat that leaves the winner for x takes twice its
// weight from the lead, and one that leaves a third answer or silence takes its weight. With equal
// weights this is W(winner) - t_k > W(x) + t_k. If a seat can claim any weight up to c (rule.Claim), one
// with weight w that leaves the winner for x takes w + c, one that leaves a third answer or silence takes
// c, and one that says x already takes c - w by claiming more.
//
// A rule over all seats counts those that are left: by majority, W(winner) - t_k must be more than
// half of the weight that remains, and, when voices change, more than half of all weight.
func Withstands(rule VoteRule, voices []Voice, winner synod.Answer) (w Withstood, wins bool) {
	v := newVote(rule, voices, winner)
	if winner == synod.None || !v.ignores(0) {
		return w, false
	}
	for w.Ignored < len(voices) && v.ignores(w.Ignored+1) {
		w.Ignored++
	}
	for w.Changed < len(voices) && v.changes(w.Changed+1) {
		w.Changed++
	}
	return w, true
}

// Spare returns how many seats can be lost, whichever, so that as many voices as needed are left. seats are the seats
// of each voice, in any order; those with few seats are lost first. It is 0 if there are too few voices.
func Spare(seats []int, need int) int {
	if need <= 0 || len(seats) < need {
		return 0
	}
	lost := -1
	for _, n := range slices.Sorted(slices.Values(seats))[:len(seats)-need+1] {
		lost += n
	}
	return lost
}

// AtMost returns w, lowered to a number of seats.
func (w Withstood) AtMost(seats int) Withstood {
	return Withstood{Ignored: min(w.Ignored, seats), Changed: min(w.Changed, seats)}
}

// vote is the voices of a vote as seen from its winner.
type vote struct {
	rule  VoteRule
	own   []int64 // weights of the voices for the winner, heaviest first
	won   int64   // their sum
	total int64   // of all seats
	// rivals are the other answers, and last an answer that nobody gave.
	rivals []rival
}

// rival is an answer that could win instead.
type rival struct {
	weight int64
	// gains is how much each seat can take from the winner's lead by saying this answer instead, the most first.
	gains []int64
}

func newVote(rule VoteRule, voices []Voice, winner synod.Answer) *vote {
	v := &vote{rule: rule}
	answers := []synod.Answer{}
	for _, s := range voices {
		v.total += s.Weight
		if s.Answer == winner {
			v.own, v.won = append(v.own, s.Weight), v.won+s.Weight
		} else if s.Answer != synod.None && !slices.Contains(answers, s.Answer) {
			answers = append(answers, s.Answer)
		}
	}
	heaviestFirst(v.own)
	if rule.Name == Plurality {
		for _, a := range answers {
			v.rivals = append(v.rivals, newRival(rule, voices, winner, a))
		}
		v.rivals = append(v.rivals, newRival(rule, voices, winner, synod.None))
	}
	return v
}

// newRival looks at one other answer; None: one that nobody gave.
func newRival(rule VoteRule, voices []Voice, winner, answer synod.Answer) rival {
	var r rival
	for _, s := range voices {
		lost, gained := int64(0), s.Weight // by the winner and by the rival
		if rule.Claim > 0 {
			gained = rule.Claim
		}
		switch {
		case s.Answer == winner:
			lost = s.Weight
		case s.Answer == answer && answer != synod.None:
			r.weight += s.Weight
			gained -= s.Weight
		}
		r.gains = append(r.gains, lost+gained)
	}
	heaviestFirst(r.gains)
	return r
}

func heaviestFirst(w []int64) { slices.SortFunc(w, func(a, b int64) int { return cmp.Compare(b, a) }) }

// heaviest returns the sum of the first k.
func heaviest(w []int64, k int) (sum int64) {
	for _, x := range w[:min(k, len(w))] {
		sum += x
	}
	return sum
}

// ignores reports whether the winner wins without any k seats. The worst ones are the k heaviest of its own: without
// another seat a rival or the total is only smaller.
func (v *vote) ignores(k int) bool {
	gone := heaviest(v.own, k)
	if len(v.own)-k < 1 {
		return false
	}
	if v.rule.Name == Plurality {
		for _, r := range v.rivals {
			if v.won-gone <= r.weight {
				return false
			}
		}
		return true
	}
	return v.enough(v.won-gone, v.total-gone)
}

// changes reports whether the winner wins whatever any k seats say instead.
func (v *vote) changes(k int) bool {
	if len(v.own)-k < 1 {
		return false
	}
	if v.rule.Name == Plurality {
		for _, r := range v.rivals {
			if v.won-r.weight <= heaviest(r.gains, k) {
				return false
			}
		}
		return true
	}
	return v.enough(v.won-heaviest(v.own, k), v.total)
}

// enough reports whether a weight meets a rule over all seats.
func (v *vote) enough(weight, total int64) bool {
	if v.rule.Name == Supermajority {
		return weight > 0 && 3*weight >= 2*total
	}
	return 2*weight > total
}
