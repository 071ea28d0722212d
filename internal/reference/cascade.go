package reference

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
)

// Cascade is protocol cascade as docs/research/cascade.md describes it.
type Cascade struct {
	F        int
	Certain  bool              // stop: certain; else probable
	P, Doubt float64           // with probable
	AtLeast  float64           // with tiers: the least probability of a decision
	Rounds   int               // the round after which the last answers of a contest count
	Weights  []float64         // by seat: log-odds before the cap
	Prices   []float64         // by seat; nil: all are equal
	Together [][2]synod.NodeID // pairs that err together
	Tiers    [][]synod.NodeID  // nil: F+1 drawn seats, then one at a time
	Odds     []*Odds           // by tier: of its seats and those before, in the order of tiers; later ones have none
	Question *synod.Question   // its hash draws the first seats
}

// Last is what a seat holds at the end.
type Last struct {
	Round  int // of its last opinion; -1: it has none
	Answer synod.Answer
}

// Cascaded is what a cascade comes to.
type Cascaded struct {
	Answer  synod.Answer // None: undecided
	Order   []synod.NodeID
	Asked   int  // how many were asked, in that order
	Contest bool // several answers had more than F supporters
	Lacking bool // undecided only because members that were asked gave no answer
	Near    bool // it hangs on the last bits of a number, so it may differ
	// With Odds: how likely the answer is right, or the likeliest that had more than F supporters, and how many
	// questions say so; Labels is 0 where that is not known.
	Probability float64
	Labels      int
}

// Decide decides from the first answers of all seats and what they hold at the end.
func (c *Cascade) Decide(first []synod.Answer, last []Last) (d Cascaded) {
	n := len(first)
	s := &standing{Cascade: c, weights: CapWeights(c.Weights, c.F), groups: linked(n, c.Together), near: &d.Near}
	stages := c.stages(n, s.weights)
	d.Order = slices.Concat(stages...)
	for k, stage := range stages {
		d.Asked += len(stage)
		s.votes = make([]synod.Answer, n)
		for _, id := range d.Order[:d.Asked] {
			s.votes[id] = first[id]
		}
		if s.odds = nil; k < len(c.Odds) {
			s.odds, s.asked = c.Odds[k], d.Order[:d.Asked]
		}
		ended, a := s.stop(d.Order[d.Asked:], k == len(stages)-1)
		if !ended {
			continue
		}
		if some := s.candidates(); s.odds != nil && len(some) > 0 {
			d.Probability, d.Labels = s.odds.Stated(s.likely(some[0])), s.odds.Labels
		}
		switch d.Answer = a; {
		case a == synod.None && s.contested():
			d.Contest, d.Answer = true, s.contest(last)
		case a == synod.None:
			d.Lacking = s.lacks(d.Order[:d.Asked])
		}
		return d
	}
	return d
}

// Stages returns whom the stages ask, of n seats.
func (c *Cascade) Stages(n int) [][]synod.NodeID { return c.stages(n, CapWeights(c.Weights, c.F)) }

// Candidates returns the contested answers of a decision from first answers, the heaviest first.
func (c *Cascade) Candidates(first []synod.Answer, d Cascaded) []synod.Answer {
	s := &standing{Cascade: c, weights: CapWeights(c.Weights, c.F), groups: linked(len(first), c.Together),
		near: &d.Near}
	s.votes = make([]synod.Answer, len(first))
	for _, id := range d.Order[:d.Asked] {
		s.votes[id] = first[id]
	}
	return s.candidates()
}

// lacks reports whether the members that were asked and gave no answer could have made a candidate.
func (s *standing) lacks(asked []synod.NodeID) bool {
	silent, most := 0, 0
	for _, id := range asked {
		if s.votes[id] == synod.None {
			silent++
		}
	}
	for _, a := range distinct(s.votes) {
		most = max(most, s.supporters(a))
	}
	return silent > 0 && most+silent > s.F
}

// stages returns whom the stages ask: the tiers; or F+1 seats that are drawn, and then one at a time, the one with the
// most weight for its price first. The draw gives each seat the time of an exponential clock, the slower the dearer.
func (c *Cascade) stages(n int, weights []int64) (all [][]synod.NodeID) {
	if len(c.Tiers) > 0 {
		return c.Tiers
	}
	price := func(i synod.NodeID) float64 {
		if c.Prices == nil {
			return 1
		}
		return c.Prices[i]
	}
	h := sha256.Sum256([]byte("synod cascade draw 2\x00" + c.Question.ID + "\x00" + c.Question.Text))
	chance := rand.New(rand.NewPCG(binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])))
	clock, left := make([]float64, n), []synod.NodeID{}
	for i := range clock {
		clock[i] = price(synod.NodeID(i)) * chance.ExpFloat64()
		left = append(left, synod.NodeID(i))
	}
	take := func(better func(a, b synod.NodeID) bool) synod.NodeID {
		at := 0
		for k := range left {
			if better(left[k], left[at]) {
				at = k
			}
		}
		id := left[at]
		left = slices.Delete(left, at, at+1)
		return id
	}
	sooner := func(a, b synod.NodeID) bool { return clock[a] < clock[b] }
	drawn := []synod.NodeID{}
	for len(drawn) <= c.F && len(left) > 0 {
		drawn = append(drawn, take(sooner))
	}
	all = append(all, drawn)
	value := func(i synod.NodeID) float64 { return float64(weights[i]) / price(i) }
	for len(left) > 0 {
		all = append(all, []synod.NodeID{take(func(a, b synod.NodeID) bool {
			return value(a) > value(b) || value(a) == value(b) && sooner(a, b)
		})})
	}
	return all
}

// linked returns the group of each of n seats: seats are in one group if a chain of pairs links them.
func linked(n int, pairs [][2]synod.NodeID) []int {
	group := make([]int, n)
	for i := range group {
		group[i] = i
	}
	for changed := true; changed; {
		changed = false
		for _, p := range pairs {
			low := min(group[p[0]], group[p[1]])
			if group[p[0]] != low || group[p[1]] != low {
				group[p[0]], group[p[1]], changed = low, low, true
			}
		}
	}
	return group
}

// standing is the answers that are counted.
type standing struct {
	*Cascade
	weights []int64 // in millionths
	groups  []int
	votes   []synod.Answer // by seat
	near    *bool
	odds    *Odds          // of those asked; nil: not known
	asked   []synod.NodeID // with odds, in their order
}

// weight is W(x).
func (s *standing) weight(x synod.Answer) (sum int64) {
	for _, id := range holders(s.votes, x) {
		sum += s.weights[id]
	}
	return sum
}

// supporters is how many groups have a member that gave an answer.
func (s *standing) supporters(x synod.Answer) int {
	var groups []int
	for _, id := range holders(s.votes, x) {
		groups = append(groups, s.groups[id])
	}
	slices.Sort(groups)
	return len(slices.Compact(groups))
}

// heaviest is t_F(x): the weight of the F heaviest votes for an answer.
func (s *standing) heaviest(x synod.Answer) (sum int64) {
	var of []int64
	for _, id := range holders(s.votes, x) {
		of = append(of, s.weights[id])
	}
	slices.Sort(of)
	for _, w := range of[max(0, len(of)-s.F):] {
		sum += w
	}
	return sum
}

// missing returns the number and the weight of the seats without an answer.
func (s *standing) missing() (seats int, weight int64) {
	for i, a := range s.votes {
		if a == synod.None {
			seats, weight = seats+1, weight+s.weights[i]
		}
	}
	return seats, weight
}

// ranked returns the answers by weight, the heaviest first, or by probability where that is known; of equal ones the
// first by its bytes.
func (s *standing) ranked() []synod.Answer {
	all := distinct(s.votes)
	slices.SortStableFunc(all, func(a, b synod.Answer) int { return int(sign(s.weight(b) - s.weight(a))) })
	if s.odds != nil {
		slices.SortStableFunc(all, func(a, b synod.Answer) int {
			x, y := s.likely(a), s.likely(b)
			if x != y && math.Abs(x-y) < 1e-9 {
				*s.near = true
			}
			return cmp.Compare(y, x)
		})
	}
	return all
}

// likely is how likely an answer is right by the odds of those asked.
func (s *standing) likely(a synod.Answer) float64 {
	var votes []synod.Answer
	for _, id := range s.asked {
		votes = append(votes, s.votes[id])
	}
	return s.odds.Trimmed(votes, a, s.F)
}

func sign(x int64) int64 { return min(1, max(-1, x)) }

// next is the weight of the heaviest answer beside x.
func (s *standing) next(x synod.Answer) (most int64) {
	for _, a := range distinct(s.votes) {
		if a != x {
			most = max(most, s.weight(a))
		}
	}
	return most
}

// candidates are the answers with more than F supporters, the heaviest first.
func (s *standing) candidates() (all []synod.Answer) {
	for _, a := range s.ranked() {
		if s.supporters(a) > s.F {
			all = append(all, a)
		}
	}
	return all
}

// collision is c, the rate at which two wrong answers are equal.
const collision = 0.3

// nats is a weight as log-odds.
func nats(w int64) float64 { return float64(w) / 1e6 }

// prior is the weight of "none of the given answers is right".
func prior(answers int) float64 { return math.Max(1+1/collision-float64(answers), 0.1) }

// probability is P(a), if so much of the weight for a were not there.
func (s *standing) probability(a synod.Answer, without int64) float64 {
	all := distinct(s.votes)
	top := math.Exp(nats(s.weight(a) - without))
	sum := prior(len(all)) + top
	for _, x := range all {
		if x != a {
			sum += math.Exp(nats(s.weight(x)))
		}
	}
	return top / sum
}

// atLeast compares two numbers, and says if they are too near to one another to tell.
func (s *standing) atLeast(x, limit float64) bool {
	if math.Abs(x-limit) < 1e-9 {
		*s.near = true
	}
	return x >= limit
}

// credible reports whether an answer is not against the evidence: right with probability one half, and ahead of all
// others by 0.8 of what its F heaviest votes weigh.
func (s *standing) credible(a synod.Answer) bool {
	if s.Certain || s.F == 0 {
		return true
	}
	return s.atLeast(s.probability(a, 0), 0.5) && 10*(s.weight(a)-s.next(a)) >= 8*s.heaviest(a)
}

// stop says whether the asking ends, and on which answer if it needs no contest. left are the seats that were not
// asked.
func (s *standing) stop(left []synod.NodeID, last bool) (ended bool, a synod.Answer) {
	if len(s.Tiers) > 0 {
		return s.stopTier(last)
	}
	if all := s.ranked(); len(all) > 0 && s.supporters(all[0]) > s.F && s.credible(all[0]) {
		_, missing := s.missing()
		lead := s.weight(all[0]) - s.next(all[0])
		if lead > missing+s.heaviest(all[0]) {
			return true, all[0]
		}
		if !s.Certain && s.atLeast(s.probability(all[0], s.heaviest(all[0])), s.P) {
			return true, all[0]
		}
	}
	switch {
	case last, !s.reachable():
		return true, s.sole()
	case !s.Certain && (s.unchangeable() || s.unlikely(left)) && (s.sole() != synod.None || s.contested()):
		return true, s.sole()
	}
	return false, synod.None
}

// reachable reports whether some answer can still have more than F supporters.
func (s *standing) reachable() bool {
	missing, _ := s.missing()
	if missing > s.F {
		return true
	}
	return slices.ContainsFunc(distinct(s.votes), func(a synod.Answer) bool { return s.supporters(a)+missing > s.F })
}

// held reports whether the evidence allows an end on the candidates: with probable and F ≥ 1 the heaviest answer is
// one of them, and credible.
func (s *standing) held(some []synod.Answer) bool {
	return len(some) > 0 && (s.Certain || s.F == 0 || some[0] == s.ranked()[0] && s.credible(some[0]))
}

// sole returns the only candidate; None if there is none, or several, or the evidence is against it.
func (s *standing) sole() synod.Answer {
	if some := s.candidates(); len(some) == 1 && s.held(some) {
		return some[0]
	}
	return synod.None
}

// contested reports whether a contest follows between several candidates.
func (s *standing) contested() bool {
	some := s.candidates()
	return len(s.Tiers) == 0 && len(some) > 1 && s.held(some)
}

// unchangeable reports whether a candidate stays the heaviest one whatever the missing seats say.
func (s *standing) unchangeable() bool {
	seats, weight := s.missing()
	for _, a := range s.candidates() {
		threat := seats > s.F && weight >= s.weight(a)
		for _, x := range distinct(s.votes) {
			threat = threat || x != a && s.supporters(x)+seats > s.F && s.weight(x)+weight >= s.weight(a)
		}
		if !threat {
			return true
		}
	}
	return false
}

// stopTier says whether the asking ends after a tier: on the likeliest answer with more than F supporters, if it is
// right with probability P, or, where that is not known, if all agree; after the last tier in any case. It must be as
// probable as is demanded.
func (s *standing) stopTier(last bool) (bool, synod.Answer) {
	some := s.candidates()
	if len(some) == 0 {
		return last, synod.None
	}
	enough, sure := s.AtLeast == 0, len(distinct(s.votes)) == 1
	if s.odds != nil {
		p := s.likely(some[0])
		enough, sure = s.atLeast(s.odds.Stated(p), s.AtLeast), s.atLeast(p, s.P)
	}
	switch {
	case enough && (last || sure):
		return true, some[0]
	case last:
		return true, synod.None
	}
	return false, synod.None
}

// contest counts the last answers of those who played all rounds: the candidate with the most weight wins, unless
// another one has as much, or the evidence is against it.
func (s *standing) contest(last []Last) synod.Answer {
	end := *s
	end.votes = make([]synod.Answer, len(last))
	for i, l := range last {
		if l.Round >= s.Rounds {
			end.votes[i] = l.Answer
		}
	}
	best, ties := synod.None, 0
	for _, a := range s.candidates() {
		switch w := end.weight(a); {
		case w == 0:
		case best == synod.None || w > end.weight(best):
			best, ties = a, 0
		case w == end.weight(best):
			ties++
		}
	}
	if best == synod.None || ties > 0 {
		return synod.None
	}
	if !s.Certain && s.F > 0 && (end.ranked()[0] != best || !end.credible(best)) {
		return synod.None
	}
	return best
}

// Fields says how many are asked where the fields of JSON values are merged, in which every answer is one vote. Asking
// ends before the last stage if a value has more than 2F votes and more than F independent supporters, and is that of
// every field: more than half of the members gave it, and F more, unless a field is a mean; or, with probable, more
// than
// half of those who answered and F more, if it is also right with probability P. lacking reports that F members alone
// may have answered.
func (c *Cascade) Fields(first []synod.Answer, means bool) (asked int, lacking, near bool) {
	n := len(first)
	s := &standing{Cascade: c, weights: CapWeights(c.Weights, c.F), groups: linked(n, c.Together), near: &near}
	stages := c.stages(n, s.weights)
	order := slices.Concat(stages...)
	for k, stage := range stages {
		asked += len(stage)
		s.votes = make([]synod.Answer, n)
		for _, id := range order[:asked] {
			s.votes[id] = first[id]
		}
		if k == len(stages)-1 || s.fieldsEnd(means) {
			break
		}
	}
	return asked, given(s.votes) <= c.F, near
}

// fieldsEnd reports whether the answers so far settle all fields.
func (s *standing) fieldsEnd(means bool) bool {
	ranked := s.ranked()
	if len(ranked) == 0 {
		return false
	}
	most := ranked[0]
	for _, a := range ranked {
		if len(holders(s.votes, a)) > len(holders(s.votes, most)) {
			most = a
		}
	}
	votes := len(holders(s.votes, most))
	if votes <= 2*s.F || s.supporters(most) <= s.F {
		return false
	}
	if 2*votes-s.F > len(s.votes) && !means {
		return true
	}
	return !s.Certain && 2*votes-s.F > given(s.votes) && most == ranked[0] && s.credible(most) &&
		s.atLeast(s.probability(most, s.heaviest(most)), s.P)
}
