package seating

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
)

// The marks of a member's first answer to a question, before it heard others.
const (
	Right    = 'r'
	Wrong    = 'w'
	Silent   = 'u' // it replied without an answer that can be read, or refused: not right, and no vote
	Ungraded = '?' // the key does not tell
	Failed   = 'x' // its call failed: nothing is known of it
)

// Asked is a question with a mark for each column.
type Asked struct {
	ID    string `json:"id"`
	Marks string `json:"marks"`
}

// Column is one measured member. A model that has several seats is measured twice, to know how its copies err together.
type Column struct {
	Model    string `json:"model"`    // its name in the council file
	Identity string `json:"identity"` // everything about it that changes an answer
	Kind     string `json:"kind"`
}

// Measured is what members answered to the same questions, each alone.
type Measured struct {
	Columns []Column `json:"columns"`
	Asked   []Asked  `json:"asked"`
}

// Models lists the measured models in the order of columns.
func (m *Measured) Models() (names []string) {
	for _, c := range m.Columns {
		if !slices.Contains(names, c.Model) {
			names = append(names, c.Model)
		}
	}
	return names
}

// columns returns the columns of a model.
func (m *Measured) columns(model string) (at []int) {
	for i, c := range m.Columns {
		if c.Model == model {
			at = append(at, i)
		}
	}
	return at
}

// Count counts a mark of a model's first column.
func (m *Measured) Count(model string, mark byte) (n int) {
	at := m.columns(model)
	for _, q := range m.Asked {
		if len(at) > 0 && q.Marks[at[0]] == mark {
			n++
		}
	}
	return n
}

// Accuracy returns the share of right answers of a model's first column with Wilson's interval; nil without an answer.
// Replies without a readable answer are not right. Failed calls and answers that the key does not grade do not count.
func (m *Measured) Accuracy(model string) *metrics.Rate {
	right := m.Count(model, Right)
	return metrics.Share(right, right+m.Count(model, Wrong)+m.Count(model, Silent))
}

// Votes returns the effective votes of a council with these models on its seats (metrics.Voters); nil if that is not
// known: a model was not measured, one with several seats was measured once, or there were too few errors.
func (m *Measured) Votes(seats []string) *metrics.Rate {
	var pairs [][2]int
	for j, b := range seats {
		for _, a := range seats[:j] {
			p, ok := m.pair(a, b)
			if !ok {
				return nil
			}
			pairs = append(pairs, p)
		}
	}
	return m.voters(len(seats), pairs).Effective()
}

// pair returns the columns that stand for two seats with these models.
func (m *Measured) pair(a, b string) (p [2]int, ok bool) {
	of, with := m.columns(a), m.columns(b)
	if a == b && len(of) > 1 {
		return [2]int{of[0], of[1]}, true
	}
	if a == b || len(of) == 0 || len(with) == 0 {
		return p, false
	}
	return [2]int{of[0], with[0]}, true
}

// verdicts are those of the marks as answers.
var verdicts = map[synod.Answer]task.Verdict{"r": task.Right, "w": task.Wrong}

func (m *Measured) voters(n int, pairs [][2]int) *metrics.Voters {
	v := metrics.NewVoters(n, pairs)
	for _, q := range m.Asked {
		answers := make([]synod.Answer, len(q.Marks))
		for i := range q.Marks {
			if a := q.Marks[i]; a == Right || a == Wrong {
				answers[i] = synod.Answer(q.Marks[i : i+1])
			}
		}
		v.Add(&metrics.GradedQuestion{Question: q.ID, Rounds: [][]synod.Answer{answers}, Verdicts: verdicts})
	}
	return v
}

// Pair is how two models err together.
type Pair struct {
	A           string        `json:"a"`
	B           string        `json:"b"` // A: two copies of one model
	Questions   int           `json:"questions"`
	BothWrong   int           `json:"both_wrong"`
	Correlation *metrics.Rate `json:"correlation"` // of their errors; null: too few errors or questions
}

// Pairs lists all pairs of models that can be compared.
func (m *Measured) Pairs() (all []Pair) {
	names := m.Models()
	for i, a := range names {
		for _, b := range names[i:] {
			at, ok := m.pair(a, b)
			if !ok {
				continue
			}
			p := Pair{A: a, B: b, Correlation: m.voters(2, [][2]int{at}).Correlation()}
			for _, q := range m.Asked {
				one, other := q.Marks[at[0]], q.Marks[at[1]]
				if (one == Right || one == Wrong) && (other == Right || other == Wrong) {
					p.Questions++
					if one == Wrong && other == Wrong {
						p.BothWrong++
					}
				}
			}
			all = append(all, p)
		}
	}
	return all
}
