package odds

import (
	"cmp"
	"slices"
)

// Votes are the answers of members to one question. Who asks for the chances of many sets of the members gets them
// faster from one Votes, because what is computed for a set is kept. It is not safe for concurrent use.
type Votes struct {
	model   *Predictor
	kind    string
	answers []string
	sure    []float64
	known   map[string]*weighed // by the votes that count, a byte for each
}

// weighed is what some votes make of a question: the answers that they gave, and their probabilities.
type weighed struct {
	votes string // as in Votes.known
	given []answered
	p     []float64 // of the answers, and last that none of them is right
}

// Votes returns the votes on a question of a kind. answers has the members' answers in the order of Members; "" is no
// answer. sure says how likely their models say that they are, as Labelled.Sure does.
func (m *Predictor) Votes(kind string, answers []string, sure []float64) *Votes {
	return &Votes{model: m, kind: kind, answers: answers, sure: sure, known: map[string]*weighed{}}
}

// Chances returns the answers to a question, the most probable first; of equal ones the first by its bytes. answers
// and sure are as for Votes.
//
// With f > 0 the probability of each answer is trimmed: the votes of f of those who gave it do not count, the ones that
// it rests on most, nor those of f others, the ones that speak most against it. So f members that were honest in the
// history and lie now can neither carry an answer nor deny it: its probability is at most what the other members give
// it without the f strongest votes against it. What members say of their likelihood leaves with their votes. f is
// small: all subsets are tried.
func (m *Predictor) Chances(kind string, answers []string, sure []float64, f int) []Chance {
	v := m.Votes(kind, answers, sure)
	all := v.Chances(slices.Repeat([]bool{true}, len(answers)), f)
	for i := range all {
		if c := &all[i]; c.of != nil {
			options, _ := v.options(c.of.votes)
			c.Low, c.High = m.interval(options, c.of.p, c.option)
		}
	}
	return all
}

// Chances returns what Model.Chances returns if only some members were asked, without intervals. counted says of each
// member whether it was.
func (v *Votes) Chances(counted []bool, f int) (all []Chance) {
	votes := v.weigh(counted)
	for i, g := range votes.given {
		c := Chance{Probability: votes.p[i], of: votes, option: i}
		if f > 0 {
			c = v.trimmed(slices.Clone(counted), g.answer, f)
		}
		c.Answer, c.Given = g.answer, g.by
		c.Sure = c.of != nil && v.ranked(c.of.votes)
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Chance) int { return cmp.Compare(b.Probability, a.Probability) })
	return all
}

// weigh returns what the counted votes make of the question.
func (v *Votes) weigh(counted []bool) *weighed {
	key := make([]byte, len(counted))
	for i, is := range counted {
		if is && v.answers[i] != "" {
			key[i] = 1
		}
	}
	if w := v.known[string(key)]; w != nil {
		return w
	}
	options, given := v.options(string(key))
	w := &weighed{votes: string(key), given: given, p: softmax(options, v.model.Coefficients)}
	v.known[w.votes] = w
	return w
}

// options returns the options that some votes leave.
func (v *Votes) options(votes string) (options [][]float64, given []answered) {
	answers := make([]string, len(votes))
	for i := range votes {
		if votes[i] == 1 {
			answers[i] = v.answers[i]
		}
	}
	return v.model.options(v.kind, answers, v.sure)
}

// ranked reports whether the likelihood of any of some votes counts.
func (v *Votes) ranked(votes string) bool {
	for i := range votes {
		if votes[i] == 1 && v.model.ranks(i, v.sure) {
			return true
		}
	}
	return false
}

// trimmed returns the chance of one answer without f votes for it and f against it.
func (v *Votes) trimmed(counted []bool, answer string, f int) Chance {
	gave := func(i int) bool { return v.answers[i] == answer }
	against := func(i int) bool { return v.answers[i] != "" && v.answers[i] != answer }
	return without(counted, gave, f, 0, slices.MinFunc, func() Chance {
		return without(counted, against, f, 0, slices.MaxFunc, func() Chance {
			votes := v.weigh(counted)
			i := slices.IndexFunc(votes.given, func(g answered) bool { return g.answer == answer })
			if i < 0 {
				return Chance{}
			}
			return Chance{Probability: votes.p[i], of: votes, option: i}
		})
	})
}

// without returns the first or the last of the chances that follow if f of the counted votes that one is true of do not
// count. With fewer than f such votes none of them counts. counted is changed, and changed back.
func without(counted []bool, one func(member int) bool, f, from int,
	pick func([]Chance, func(a, b Chance) int) Chance, chance func() Chance) Chance {
	var all []Chance
	for i := from; i < len(counted) && f > 0; i++ {
		if counted[i] && one(i) {
			counted[i] = false
			all = append(all, without(counted, one, f-1, i+1, pick, chance))
			counted[i] = true
		}
	}
	if len(all) == 0 {
		return chance()
	}
	return pick(all, func(a, b Chance) int { return cmp.Compare(a.Probability, b.Probability) })
}

// Stated returns what may be stated of a chance after so many labelled questions. The model is sure where no member
// erred in the history, but n questions without an error do not show that the next one has none: by Laplace's rule of
// succession, a probability of 1 becomes (n+1)/(n+2). Small probabilities hardly change, and the order stays.
func (c Chance) Stated(labels int) Chance {
	bound := func(p float64) float64 { return p / (1 + p/float64(labels+1)) }
	c.Probability, c.Low, c.High = bound(c.Probability), bound(c.Low), bound(c.High)
	return c
}
