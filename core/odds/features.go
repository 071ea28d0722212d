package odds

import "slices"

// The shared features of an option. Those of an answer are 0 for "none is right", and the other way round. One feature
// for each member follows, 1 for the answer that it gave; and, if there are Marks, the sum of the ranks of the
// likelihoods of those who gave the answer.
const (
	ability   = iota // sum of the log-odds of those who gave the answer
	votes            // how many gave it
	together         // minus the sum over pairs of those who gave it of how often they are wrong alike
	none             // 1
	different        // the number of different answers, less one
	replied          // the share of members that gave an answer
	shared           // how many shared features there are
)

// prior is the mean and the precision (one over the variance) of the coefficients of shared features, of a member's
// own, and of likelihoods. It was chosen by the votes of models in four public sets of questions. That of likelihoods
// expects that they tell nothing: with half the precision, likelihoods that are noise cost twice as much.
var prior = struct {
	mean, precision [shared]float64
	own, sure       float64
}{
	mean:      [shared]float64{ability: 0.7, votes: 0.8, together: 0.8, different: 0.3},
	precision: [shared]float64{ability: 4, votes: 4, together: 2, none: 1, different: 2, replied: 1},
	own:       8,
	sure:      8,
}

// answered is an answer and who gave it.
type answered struct {
	answer string
	by     []int
}

// gather lists the different answers, by their bytes.
func gather(answers []string) (given []answered) {
	for i, a := range answers {
		if a == "" {
			continue
		}
		k, known := slices.BinarySearchFunc(given, a, func(g answered, a string) int {
			switch {
			case g.answer < a:
				return -1
			case g.answer > a:
				return 1
			}
			return 0
		})
		if !known {
			given = slices.Insert(given, k, answered{answer: a})
		}
		given[k].by = append(given[k].by, i)
	}
	return given
}

// width returns how many features an option has.
func (m *Predictor) width() int {
	n := shared + len(m.Members)
	if m.Marks != nil {
		n++
	}
	return n
}

// options returns the features of each answer, and last those of "none is right".
func (m *Predictor) options(kind string, answers []string, sure []float64) (options [][]float64, given []answered) {
	given = gather(answers)
	of, known := m.Kinds[kind]
	if !known {
		of = m.Kinds[""]
	}
	gave := 0
	for _, g := range given {
		x := make([]float64, m.width())
		for k, i := range g.by {
			if m.Marks != nil {
				x[len(x)-1] += m.rank(i, sure)
			}
			x[ability] += of.LogOdds[i]
			x[shared+i] = 1
			for _, j := range g.by[:k] {
				x[together] -= m.Same[i][j]
			}
		}
		x[votes] = float64(len(g.by))
		gave += len(g.by)
		options = append(options, x)
	}
	x := make([]float64, m.width())
	x[none], x[different] = 1, float64(len(given)-1)
	x[replied] = float64(gave) / float64(max(len(answers), 1))
	return append(options, x), given
}
