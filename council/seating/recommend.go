package seating

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/internal/order"
)

// Aim is which council Recommend looks for.
type Aim struct {
	// Cheapest asks for the cheapest council that is as right as the best single model, with F = 0; else it is the one
	// that is right most often.
	Cheapest bool
	F        int     // liars that it must withstand: its answer needs more than F voices
	Budget   float64 // USD of a question in the mean at most; 0: no bound
}

// Recommended is a council with figures from questions that neither chose it nor fitted it.
type Recommended struct {
	Tiers
	Right  *metrics.Rate // share of the questions that it decides rightly
	Wrong  *metrics.Rate // and wrongly
	USD    float64       // of a question in the mean
	Single Alone         // the best single model within the budget
	// Likelihood says that its probabilities count how likely models say their answers are.
	Likelihood bool
}

// Alone is a single model with its figures, from the same folds.
type Alone struct {
	Model int
	Right *metrics.Rate
	USD   float64
}

// How far the search goes.
const (
	mostCandidates = 12 // models that may be seated
	mostAsked      = 5  // models of one council
	parts          = 5  // of the questions, for which the others choose and fit
	subsetsDrawn   = 6  // subsets of the models that a question stands for in the fit of the search
)

// stops are the probabilities that are tried for Tiers.Stop.
var stops = []float64{0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98}

// Recommend returns the council that fits an aim best, with figures by nested splits: each fifth of the questions is
// decided by the council that the other four choose and fit. nil: no council within the budget fits the aim.
func (s *Sample) Recommend(aim Aim, seed uint64) *Recommended {
	best := s.single(aim.Budget, every)
	if best < 0 {
		return nil
	}
	chosen := s.choose(aim, seed, every)
	if len(chosen.Tiers) == 0 {
		return nil
	}
	r := &Recommended{Tiers: chosen, Single: Alone{Model: best}, Likelihood: s.Fit(chosen, every).likelihood()}
	var own, alone Played
	part := s.split(seed)
	for k := range parts {
		rest := func(q int) bool { return part[q] != k }
		held := func(q int) bool { return part[q] == k }
		own.join(s.Play(s.Fit(s.choose(aim, seed, rest), rest), held))
		only := Tiers{Tiers: [][]int{{max(s.single(aim.Budget, rest), 0)}}}
		alone.join(s.Play(s.Fit(only, rest), held))
	}
	n := len(s.Questions)
	r.Right, r.Wrong, r.USD = metrics.Share(own.Right, n), metrics.Share(own.Wrong, n), own.USD/float64(n)
	r.Single.Right, r.Single.USD = metrics.Share(alone.Right, n), alone.USD/float64(n)
	return r
}

func (p *Played) join(o Played) {
	p.Right, p.Wrong, p.Undecided = p.Right+o.Right, p.Wrong+o.Wrong, p.Undecided+o.Undecided
	p.USD += o.USD
}

// split divides the questions into parts at random.
func (s *Sample) split(seed uint64) []int {
	part := make([]int, len(s.Questions))
	for i, k := range rand.New(rand.NewPCG(seed, 1)).Perm(len(part)) {
		part[k] = i % parts
	}
	return part
}

// single returns the model that is right most often on some questions, of equal ones the cheapest; -1: none is within
// the budget.
func (s *Sample) single(budget float64, use func(int) bool) (best int) {
	right := s.right(use)
	best = -1
	for i, usd := range s.USD {
		if budget > 0 && usd > budget {
			continue
		}
		if best < 0 || right[i] > right[best] || right[i] == right[best] && usd < s.USD[best] {
			best = i
		}
	}
	return best
}

// right counts the right answers of each model.
func (s *Sample) right(use func(int) bool) []int {
	right := make([]int, len(s.Models))
	for k := range s.Questions {
		if q := &s.Questions[k]; use(k) {
			for i, a := range q.Answers {
				if a != "" && a == q.Right {
					right[i]++
				}
			}
		}
	}
	return right
}

// Choose returns the council that fits an aim best, without figures. It has no tiers if none fits.
func (s *Sample) Choose(aim Aim, seed uint64) Tiers { return s.choose(aim, seed, every) }

// Single returns the model that is right most often, of equal ones the cheapest; -1: none is within the budget, in USD
// of a question (0: no bound).
func (s *Sample) Single(budget float64) int { return s.single(budget, every) }

func every(int) bool { return true }

// choose looks through all councils of one or two tiers of up to five of the candidates.
func (s *Sample) choose(aim Aim, seed uint64, use func(int) bool) Tiers {
	alone := s.single(aim.Budget, use)
	if alone < 0 {
		return Tiers{}
	}
	best := s.search(aim, seed, use).look(alone)
	return best
}

// search is the search for a council.
type search struct {
	*Sample
	aim    Aim
	models []int         // candidates, as indexes into those of the sample
	used   []int         // questions
	votes  []*odds.Votes // of the candidates, by used question
	sets   []set         // of candidates, that may be seated together
	told   map[set][]told
	single found // the best single model, which the others are compared with
}

// set is a set of candidates.
type set uint32

// told is what the members of a set make of a question.
type told struct {
	right, enough bool // enough: more than F gave the answer
	p             float64
}

// found is a council of the search.
type found struct {
	first, second set
	rest          float64 // the share of the questions that ask the second tier
	right         float64 // the share of right answers that is expected
	usd           float64
}

func (s *Sample) search(aim Aim, seed uint64, use func(int) bool) *search {
	c := &search{Sample: s, aim: aim, told: map[set][]told{}, models: s.candidates(aim, use)}
	for k := range s.Questions {
		if use(k) {
			c.used = append(c.used, k)
		}
	}
	fitted := c.fits(seed)
	for i, k := range c.used {
		q := &s.Questions[k]
		c.votes = append(c.votes, fitted[i%parts].Votes(q.Kind, pick(q.Answers, c.models), pick(q.Sure, c.models)))
	}
	for of := set(1); of < 1<<len(c.models); of++ {
		if bits.OnesCount32(uint32(of)) <= mostAsked {
			c.sets = append(c.sets, of)
			c.told[of] = c.tell(of, aim.F)
		}
	}
	return c
}

// candidates are the models that may be seated: the most accurate ones within the budget, those that a small share of
// the questions can afford, and those that are the most accurate ones for their price.
func (s *Sample) candidates(aim Aim, use func(int) bool) (some []int) {
	right := s.right(use)
	all := make([]int, len(s.Models))
	for i := range all {
		all[i] = i
	}
	order.Sort(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(right[b], right[a]), cmp.Compare(s.USD[a], s.USD[b]), cmp.Compare(a, b))
	})
	if len(all) <= mostCandidates {
		return all
	}
	take := func(n int, from []int, most float64) {
		for _, i := range from {
			if n > 0 && !slices.Contains(some, i) && (aim.Budget == 0 || s.USD[i] <= most) {
				some, n = append(some, i), n-1
			}
		}
	}
	take(mostCandidates/3, all, aim.Budget)
	take(mostCandidates/3, all, aim.Budget*rarely)
	take(mostCandidates-len(some), s.frontier(all), aim.Budget/2)
	take(mostCandidates-len(some), all, aim.Budget)
	return some
}

// rarely is how much more than the budget a model may cost that only some questions ask.
const rarely = 8

// frontier keeps of models, the most accurate first, those than which no cheaper one is as accurate.
func (s *Sample) frontier(all []int) (some []int) {
	for _, i := range all {
		if len(some) == 0 || s.USD[i] < s.USD[some[len(some)-1]] {
			some = append(some, i)
		}
	}
	return some
}

// fits returns the odds of all candidates: a model for each part of the questions, fitted to the others. Each question
// stands for several subsets of the candidates, because the search asks what subsets make of it.
func (c *search) fits(seed uint64) (models []*odds.Predictor) {
	chance := rand.New(rand.NewPCG(seed, 2))
	var labelled [parts][]odds.Labelled
	for i, k := range c.used {
		q := &c.Questions[k]
		answers, sure := pick(q.Answers, c.models), pick(q.Sure, c.models)
		for range subsetsDrawn {
			some := slices.Clone(answers)
			for _, out := range chance.Perm(len(some))[min(1+chance.IntN(mostAsked), len(some)):] {
				some[out] = ""
			}
			for part := range parts {
				if i%parts != part {
					labelled[part] = append(labelled[part],
						odds.Labelled{Kind: q.Kind, Answers: some, Right: q.Right, Sure: sure})
				}
			}
		}
	}
	for _, of := range labelled {
		models = append(models, odds.Fit(c.names(c.models), of))
	}
	return models
}

// tell returns what a set makes of each question if more than f must give an answer.
func (c *search) tell(of set, f int) []told {
	all := make([]told, len(c.used))
	counted := make([]bool, len(c.models))
	for m := range counted {
		counted[m] = of>>m&1 == 1
	}
	for i, k := range c.used {
		for _, chance := range c.votes[i].Chances(counted, f) {
			if len(chance.Given) > f {
				all[i] = told{chance.Answer == c.Questions[k].Right, true, chance.Probability}
				break
			}
		}
	}
	return all
}

// expected mixes whether the answer was right with how likely that was. The first is noisy with few questions, and the
// second leans on all of them.
func (t told) expected() float64 {
	right := t.p / 2
	if t.right {
		right += 0.5
	}
	return right
}

func mean(all []told) (right float64) {
	for _, t := range all {
		right += t.expected() / float64(len(all))
	}
	return right
}

// look looks through the councils for the best one. The best single model is it if no council is better, where a
// cheaper one or the most right one is wanted; it never is where the answer must withstand liars.
func (c *search) look(alone int) Tiers {
	of := set(1) << slices.Index(c.models, alone)
	c.single = found{first: of, right: mean(c.tell(of, 0)), usd: c.USD[alone]}
	best := c.single
	if c.aim.F > 0 {
		best = found{}
	}
	for _, first := range c.sets {
		c.try(found{first: first, right: mean(c.told[first]), usd: c.usd(c.members(first))}, &best)
		for _, second := range c.sets {
			if _, small := c.told[first|second]; small && first&second == 0 {
				c.tiers(first, second, &best)
			}
		}
	}
	if best.first == 0 {
		return Tiers{}
	}
	t := Tiers{Tiers: [][]int{c.members(best.first)}, F: c.aim.F}
	if best.second != 0 {
		t.Tiers, t.Stop = append(t.Tiers, c.members(best.second)), c.stop(best)
	}
	return t
}

// tiers tries two tiers with all probabilities at which the first may end.
func (c *search) tiers(first, second set, best *found) {
	one, both := c.told[first], c.told[first|second]
	cheap, dear := c.usd(c.members(first)), c.usd(c.members(second))
	n := float64(len(one))
	for _, stop := range stops {
		right, asked := 0.0, 0.0
		for i, t := range one {
			if !t.enough || t.p < stop {
				t = both[i]
				asked++
			}
			right += t.expected()
		}
		c.try(found{first, second, asked / n, right / n, cheap + dear*asked/n}, best)
	}
}

// stop returns the probability below which as many questions ask the second tier as the search expects. It is that of
// the odds of the first tier alone, each part of the questions having those that the others fit.
func (c *search) stop(t found) float64 {
	first := c.members(t.first)
	chances := make([]float64, len(c.used))
	for part := range parts {
		at := map[int]bool{}
		for i, k := range c.used {
			if i%parts != part {
				at[k] = true
			}
		}
		m := odds.Fit(c.names(first), c.of(first, func(k int) bool { return at[k] }))
		for i := part; i < len(c.used); i += parts {
			q := &c.Questions[c.used[i]]
			for _, chance := range m.Chances(q.Kind, pick(q.Answers, first), pick(q.Sure, first), c.aim.F) {
				if len(chance.Given) > c.aim.F {
					chances[i] = chance.Probability
					break
				}
			}
		}
	}
	slices.Sort(chances)
	return chances[min(int(t.rest*float64(len(chances))+0.5), len(chances)-1)]
}

// doubt is how many more of the questions a cheaper council must be expected to decide rightly than the best single
// model: the best of many looks better than it is, the more so the fewer questions there are.
const doubt = 0.25

// try keeps a council if it is better than the best so far.
func (c *search) try(t found, best *found) {
	most := c.aim.Budget
	if t.second != 0 {
		most *= 1 - 0.5/math.Sqrt(float64(len(c.used))) // other questions may ask the second tier more often
	}
	switch {
	case most > 0 && t.usd > most:
	case best.first == 0:
		*best = t
	case c.aim.Cheapest && t.right < c.single.right+doubt/float64(len(c.used)):
	case c.aim.Cheapest && (t.usd < best.usd || t.usd == best.usd && t.right > best.right),
		!c.aim.Cheapest && c.worth(t) > c.worth(*best):
		*best = t
	}
}

// worth is how good a council is where the most right one is wanted. Its price decides only where hardly anything else
// does: the price of the best single model once more must bring 0.05 points.
func (c *search) worth(t found) float64 {
	return t.right - 0.0005*t.usd/max(c.single.usd, 1e-9)
}

func (c *search) members(of set) (some []int) {
	for i, m := range c.models {
		if of>>i&1 == 1 {
			some = append(some, m)
		}
	}
	return some
}
