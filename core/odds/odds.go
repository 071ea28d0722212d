// Package odds says how likely an answer is right, from who gave it and from questions whose right answer is known.
//
// Members of a council err together, and some questions are hard for all of them, so the product of their odds promises
// too much. This package fits a conditional logit over the answers to a question (McFadden, "Conditional logit analysis
// of qualitative choice behavior", 1974). The options are the answers that members gave, and one more, "none of them is
// right". The utility of an answer grows with the accuracy and the number of those who gave it, and shrinks with how
// often these members gave the same wrong answer; that of "none" grows with the number of different answers. A strong
// prior, made from recorded votes of real models, keeps the fit sensible with few labels.
//
// A fit is for one list of members, all of whom were asked. Who asks in stages needs a fit for each stage.
//
// Accuracies are pooled in part: a member's accuracy on a kind of question leans on its accuracy on all, and that on
// the mean of all members.
//
// Its rank is 0: it uses gonum and nothing of this module.
package odds

import (
	"cmp"
	"slices"
)

// Labelled is a question whose right answer is known, with what members said.
type Labelled struct {
	Kind    string   // of question, such as its form
	Answers []string // by member, canonical, so that equal answers are equal texts; "": none
	Right   string   // the right answer, as members write it; another text or "" if none gave it
}

// Predictor predicts for one list of members. It is data: it can be written as JSON and read again.
type Predictor struct {
	Members []string            `json:"members"`
	Labels  int                 `json:"labels"` // questions that it was fitted to
	Kinds   map[string]KindOdds `json:"kinds"`  // by kind of question; "": all kinds together, for one that was not labelled
	// Same says by pair of members how often both gave the same answer when both were wrong, in [0, 1].
	Same [][]float64 `json:"same"`
	// Coefficients of features, the shared ones first, then one for each member; and the inverse of the curvature at
	// the fit, which says how uncertain they are.
	Coefficients []float64   `json:"coefficients"`
	Covariance   [][]float64 `json:"covariance"`
}

// KindOdds is what is known of a kind of question.
type KindOdds struct {
	Labels  int       `json:"labels"`
	LogOdds []float64 `json:"log_odds"` // by member: of a right answer
}

// Chance is how likely an answer is right.
type Chance struct {
	Answer      string
	Probability float64
	// Low and High are the limits of a 95 % interval. They cover the uncertainty of the fit, and not a change of the
	// questions or the members since.
	Low, High float64
	Given     []int // the members that gave it, ascending
}

// Chances returns the answers to a question, the most probable first; of equal ones the first by its bytes. answers
// has the members' answers in the order of Members; "" is no answer.
//
// With f > 0 the probability of each answer is trimmed: the votes of f of those who gave it do not count, the ones that
// it rests on most, nor those of f others, the ones that speak most against it. So f members that were honest in the
// history and lie now can neither carry an answer nor deny it: its probability is at most what the other members give
// it without the f strongest votes against it. f is small: all subsets are tried.
func (m *Predictor) Chances(kind string, answers []string, f int) []Chance {
	if f == 0 {
		return sorted(m.all(kind, answers))
	}
	var all []Chance
	for _, g := range gather(answers) {
		c := m.trimmed(kind, slices.Clone(answers), g.answer, f)
		c.Answer, c.Given = g.answer, g.by
		all = append(all, c)
	}
	return sorted(all)
}

func sorted(all []Chance) []Chance {
	slices.SortStableFunc(all, func(a, b Chance) int { return cmp.Compare(b.Probability, a.Probability) })
	return all
}

// all returns the chances of all answers if every vote counts, by the answers' bytes.
func (m *Predictor) all(kind string, answers []string) []Chance {
	options, given := m.options(kind, answers)
	p := softmax(options, m.Coefficients)
	all := make([]Chance, len(given))
	for i, g := range given {
		low, high := m.interval(options, p, i)
		all[i] = Chance{Answer: g.answer, Probability: p[i], Low: low, High: high, Given: g.by}
	}
	return all
}

// trimmed returns the chance of one answer without f votes for it and f against it.
func (m *Predictor) trimmed(kind string, votes []string, answer string, f int) Chance {
	gave := func(a string) bool { return a == answer }
	against := func(a string) bool { return a != "" && a != answer }
	return without(votes, gave, f, 0, slices.MinFunc, func() Chance {
		return without(votes, against, f, 0, slices.MaxFunc, func() Chance {
			all := m.all(kind, votes)
			if i := slices.IndexFunc(all, func(c Chance) bool { return c.Answer == answer }); i >= 0 {
				return all[i]
			}
			return Chance{}
		})
	})
}

// without returns the first or the last of the chances that follow if f of the votes that one is true of do not count.
// With fewer than f such votes none of them counts. votes is changed, and changed back.
func without(votes []string, one func(string) bool, f, from int,
	pick func([]Chance, func(a, b Chance) int) Chance, chance func() Chance) Chance {
	var all []Chance
	for i := from; i < len(votes) && f > 0; i++ {
		if a := votes[i]; one(a) {
			votes[i] = ""
			all = append(all, without(votes, one, f-1, i+1, pick, chance))
			votes[i] = a
		}
	}
	if len(all) == 0 {
		return chance()
	}
	return pick(all, func(a, b Chance) int { return cmp.Compare(a.Probability, b.Probability) })
}
