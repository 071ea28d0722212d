package cascade

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
)

// council is what every member knows before the first answer: whom to ask in which order, and how much each answer
// weighs. It is a function of the parameters, the number of seats, F and the question, so all members have the same.
type council struct {
	*Cascade
	f       int
	form    synod.Form     // of the question
	merges  bool           // answers are JSON values, of which the council merges the fields
	means   bool           // a field is a mean, which any missing answer changes
	weights []int64        // by seat, capped so that no F of them outweigh the rest
	order   []synod.NodeID // in which seats are asked
	group   []synod.NodeID // by seat: see groups
}

// convene returns the council for a question.
func (p *Cascade) convene(q *synod.Question, n, f int) *council {
	c := &council{Cascade: p, f: f, weights: reliability.CapWhole(p.logOdds(q, n), f)}
	c.form, c.merges = q.Form, q.Form == synod.JSON
	c.means = bytes.Contains(q.Schema, []byte("trimmed-mean"))
	c.order, c.group = c.seatOrder(q, n), groups(slices.Concat(p.Together, p.voices), n)
	if len(p.Tiers) > 0 {
		c.order = slices.Concat(p.Tiers...)
	}
	return c
}

// logOdds returns the weights of the question's kind before the cap; without any, all are 1.
func (p *Cascade) logOdds(q *synod.Question, n int) []float64 {
	if w, ok := p.Weights[string(q.Form)]; ok && len(w) == n {
		return w
	}
	return slices.Repeat([]float64{1}, n)
}

// draw returns the chance of a question for one purpose.
func draw(purpose string, q *synod.Question) *rand.Rand {
	sum := sha256.Sum256([]byte("synod cascade " + purpose + "\x00" + q.ID + "\x00" + q.Text))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}

// seatOrder orders the seats. The first F+1 are drawn with equal probability, or in proportion to 1/price, so that no
// history decides who is asked first; the others follow by weight and price, seats of equal value as they were drawn.
// All members draw the same, because the seed is a hash of the question.
func (c *council) seatOrder(q *synod.Question, n int) []synod.NodeID {
	chance := draw("draw 2", q)
	order, key := make([]synod.NodeID, n), make([]float64, n)
	for i := range order {
		order[i], key[i] = synod.NodeID(i), c.price(i)*chance.ExpFloat64()
	}
	slices.SortFunc(order, func(a, b synod.NodeID) int { return cmp.Or(cmp.Compare(key[a], key[b]), int(a-b)) })
	rest := order[min(c.f+1, n):]
	slices.SortStableFunc(rest, func(a, b synod.NodeID) int { return cmp.Compare(c.value(b), c.value(a)) })
	return order
}

// value is the weight that a seat's answer has for its price.
func (c *council) value(i synod.NodeID) float64 { return float64(c.weights[i]) / c.price(int(i)) }

// price is what a call of a seat costs, relative to the others.
func (c *council) price(i int) float64 {
	if i < len(c.Prices) {
		return c.Prices[i]
	}
	return 1
}

// stage returns the seats of a stage: a tier; or the first F+1, then one at a time. It returns nil after the last one.
func (c *council) stage(k int) []synod.NodeID {
	if len(c.Tiers) > 0 {
		return slices.Concat(c.Tiers[min(k, len(c.Tiers)):min(k+1, len(c.Tiers))]...)
	}
	first := min(c.f+1, len(c.order))
	switch {
	case k == 0:
		return c.order[:first:first]
	case first+k-1 < len(c.order):
		return c.order[first+k-1 : first+k : first+k]
	}
	return nil
}

// tally is the first answers so far.
type tally struct {
	*council
	answers []synod.Answer // by seat; None: not asked, or no answer
	sure    []float64      // by seat: the likelihood that it reports of its answer; 0: none. nil: none is asked for
	asked   []synod.NodeID
}

// tally returns one without answers.
func (p *Cascade) tally(q *synod.Question, n, f int) *tally {
	t := &tally{council: p.convene(q, n, f), answers: make([]synod.Answer, n)}
	if p.Probe == answer.LikelihoodProbe {
		t.sure = make([]float64, n)
	}
	return t
}

// said is a first answer, and the likelihood that its member reports of it; 0: none.
type said struct {
	answer synod.Answer
	sure   float64
}

func saying(a synod.Answer, confidence *float64) said {
	if confidence == nil {
		return said{answer: a}
	}
	return said{a, *confidence}
}

// count adds the answers of a stage, by seat.
func (t *tally) count(stage []synod.NodeID, given []said) {
	t.asked = append(t.asked, stage...)
	for _, id := range stage {
		t.answers[id] = given[id].answer
		if t.sure != nil {
			t.sure[id] = given[id].sure
		}
	}
}

// candidate is an answer with its votes.
type candidate struct {
	answer synod.Answer
	seats  []synod.NodeID // ascending
	weight int64
	voices int                  // independent supporters: seats that err together count once
	chance protocol.Probability // that it is right, as it may be stated; zero: not known
	likely float64              // the same as the odds have it, with which tiers end; see odds.Chance.Stated
}

// ending is why no further seat is asked.
type ending int

const (
	goOn      ending = iota // the next stage follows
	decided                 // the leading answer is the decision
	contested               // SAC decides between the candidates
	hopeless                // no answer can get more than F supporters
	merged                  // the fields of all answers so far are the decision
)

// table returns the answers, the most probable first where that is known; of equally probable ones the heaviest, and of
// these the first by its bytes.
func (t *tally) table() []candidate {
	var all []candidate
	for i, a := range t.answers {
		if a == synod.None {
			continue
		}
		k := slices.IndexFunc(all, func(c candidate) bool { return c.answer == a })
		if k < 0 {
			k, all = len(all), append(all, candidate{answer: a})
		}
		all[k].seats = append(all[k].seats, synod.NodeID(i))
		all[k].weight += t.weights[i]
	}
	for k := range all {
		all[k].voices = t.voices(all[k].seats)
	}
	t.judge(all)
	order.Sort(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.chance.Value, a.chance.Value), cmp.Compare(b.weight, a.weight),
			cmp.Compare(a.answer, b.answer))
	})
	return all
}

// voices counts the independent supporters among some seats: the groups of seats to which they belong. Groups are those
// of the whole council, so one more supporter never makes them fewer.
func (c *council) voices(seats []synod.NodeID) (n int) {
	for k, id := range seats {
		if !slices.ContainsFunc(seats[:k], func(b synod.NodeID) bool { return c.group[b] == c.group[id] }) {
			n++
		}
	}
	return n
}

// groups returns the group of each of n seats, named by its first seat: seats that err together are in one, and
// so are those that are linked by a chain of such pairs, whether or not all of the chain gave an answer.
func groups(together [][2]synod.NodeID, n int) []synod.NodeID {
	group := make([]synod.NodeID, n)
	for i := range group {
		group[i] = synod.NodeID(i)
	}
	for _, pair := range together {
		one, other := group[pair[0]], group[pair[1]]
		for i := range group {
			if group[i] == max(one, other) {
				group[i] = min(one, other)
			}
		}
	}
	return group
}

// missing returns the number and the weight of the seats without an answer: those that were not asked, and those that
// were asked and gave none, which therefore never helps an answer.
func (t *tally) missing() (seats int, weight int64) {
	for i, a := range t.answers {
		if a == synod.None {
			seats, weight = seats+1, weight+t.weights[i]
		}
	}
	return seats, weight
}

// next says what follows from the answers so far. last reports that every seat was asked.
func (t *tally) next(all []candidate, last bool) ending {
	switch {
	case t.merges:
		return t.nextOfFields(all, last)
	case len(t.Tiers) > 0:
		return t.nextTier(all, last)
	}
	left, weight := 0, int64(0)
	if !last {
		left, weight = t.missing()
	}
	switch {
	case t.certain(all) && t.credible(all):
		return decided
	case t.Stop == Probable && t.probable(all):
		return decided
	case !slices.ContainsFunc(all, func(c candidate) bool { return c.voices+left > t.f }) && left <= t.f:
		return hopeless
	case last:
		return t.among(all)
	case t.Stop == Probable && (t.settled(all, left, weight) || t.foreseen(all)):
		if end := t.among(all); end != hopeless { // else those not asked may make it credible
			return end
		}
	}
	return goOn
}

// nextOfFields says what follows where fields are merged, in which every answer counts as one vote. A value that more
// than half of the members gave, and F more, is that of every field, whatever the others say: a field that is voted on
// has more than half of the votes for it, and the middle number without the F lowest and the F highest is one of its
// numbers, of which there must be more than 2F. For certain these are all members, for probable those who answered.
func (t *tally) nextOfFields(all []candidate, last bool) ending {
	given, most := 0, candidate{}
	for _, c := range all {
		if given += len(c.seats); len(c.seats) > len(most.seats) {
			most = c
		}
	}
	twice := 2*len(most.seats) - t.f
	switch {
	case last:
		return merged
	case len(most.seats) <= 2*t.f || most.voices <= t.f:
		return goOn
	case twice > len(t.answers) && !t.means:
		return merged
	case t.Stop == Probable && twice > given && t.probable(all) && all[0].answer == most.answer:
		return merged
	}
	return goOn
}

// certain reports whether the first answer leads every other one by more than all missing weight plus the F heaviest
// votes for it.
func (t *tally) certain(all []candidate) bool {
	if len(all) == 0 {
		return false
	}
	_, missing := t.missing()
	second := int64(0)
	if len(all) > 1 {
		second = all[1].weight
	}
	return all[0].weight-second > missing+t.heaviest(all[0].seats) && all[0].voices > t.f
}

// heaviest returns the weight of the F heaviest of some seats.
func (t *tally) heaviest(seats []synod.NodeID) (sum int64) {
	w := make([]int64, len(seats))
	for i, id := range seats {
		w[i] = t.weights[id]
	}
	slices.SortFunc(w, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, x := range w[:min(t.f, len(w))] {
		sum += x
	}
	return sum
}

// probable reports whether more than F members gave the first answer independently, and it is right with probability P
// even if the F heaviest votes for it are those of liars.
func (t *tally) probable(all []candidate) bool {
	return len(all) > 0 && all[0].voices > t.f && t.posterior(all, t.heaviest(all[0].seats)) >= t.P && t.credible(all)
}

// unseen is the prior weight of "none of the given answers is right", that of each answer being 1: a question has about
// 1+1/c answers that members give, where c is the rate at which two wrong answers are equal.
func unseen(given int) float64 { return max(1+1/reliability.Collision-float64(given), 0.1) }

// posterior returns the probability that the first answer is right without some of the weight for it, if the weights
// are log-odds and members err independently. Recorded members show that they do not, so no output has this number:
// it only says when to stop.
func (t *tally) posterior(all []candidate, without int64) float64 {
	if len(all) == 0 {
		return 0
	}
	top := float64(all[0].weight-without) / reliability.Unit
	sum := 1 + unseen(len(all))*math.Exp(-top)
	for _, c := range all[1:] {
		sum += math.Exp(float64(c.weight)/reliability.Unit - top)
	}
	return 1 / sum
}

// margin is how much of the weight of its F heaviest supporters an answer must lead by.
const margin = 0.8

// credible reports whether the first answer may be a decision. With F ≥ 1, probable decides nothing against its own
// evidence: the answer must be right rather than wrong by the weights, and lead every other one by most of what F liars
// among its supporters weigh.
func (t *tally) credible(all []candidate) bool {
	if t.Stop == Certain || t.f == 0 {
		return true
	}
	lead := all[0].weight
	if len(all) > 1 {
		lead -= all[1].weight
	}
	return t.posterior(all, 0) >= 0.5 && float64(lead) >= margin*float64(t.heaviest(all[0].seats))
}

// settled reports whether a candidate leads whatever the missing seats say: no other answer can have both more than F
// supporters and as much weight.
func (t *tally) settled(all []candidate, left int, weight int64) bool {
	return slices.ContainsFunc(all, func(lead candidate) bool {
		if lead.voices <= t.f || left > t.f && weight >= lead.weight {
			return false
		}
		return !slices.ContainsFunc(all, func(c candidate) bool {
			return c.answer != lead.answer && c.voices+left > t.f && c.weight+weight >= lead.weight
		})
	})
}

// candidates are the answers with more than F independent supporters.
func (t *tally) candidates(all []candidate) (some []candidate) {
	for _, c := range all {
		if c.voices > t.f {
			some = append(some, c)
		}
	}
	return some
}

// among says what follows when no other seat is asked: one credible candidate is the decision, several are contested.
func (t *tally) among(all []candidate) ending {
	some := t.candidates(all)
	switch {
	case len(some) == 0, some[0].answer != all[0].answer && t.Stop == Probable && t.f > 0, !t.credible(all):
		return hopeless
	case len(some) == 1:
		return decided
	}
	return contested
}

// leader is the answer that is decided without a contest: the first one, or the only candidate.
func (t *tally) leader(all []candidate) candidate {
	if some := t.candidates(all); len(some) > 0 {
		return some[0]
	}
	return candidate{}
}

// withstands is what the leader's win among the votes that were cast withstands: it must keep the most weight and more
// than F supporters. How probable it is then does not count.
func (t *tally) withstands(answer synod.Answer) (w *robust.Withstood, why string) {
	voices := make([]robust.Voice, 0, len(t.asked))
	for _, id := range t.asked {
		voices = append(voices, robust.Voice{Answer: t.answers[id], Weight: t.weights[id]})
	}
	got, wins := robust.Withstands(robust.VoteRule{Name: robust.Plurality}, voices, answer)
	if !wins && len(t.Odds) > 0 {
		return nil, "another answer has more votes and is less probable"
	}
	if !wins {
		return nil, "another answer has more weight, but not more than F supporters"
	}
	seats := make([]int, len(t.answers)) // by group
	for _, id := range t.asked {
		if t.answers[id] == answer {
			seats[t.group[id]]++
		}
	}
	got = got.AtMost(robust.Spare(slices.DeleteFunc(seats, func(n int) bool { return n == 0 }), t.f+1))
	return &got, ""
}
