package odds

import "slices"

// How much a member must have said of its likelihoods for them to count, and into how many parts Marks divide that.
const (
	leastSure = 20
	sureParts = 20
)

// marksOf returns Marks of labelled questions. Only answers count: a member without one said nothing of it.
func marksOf(members int, labelled []Labelled) [][]float64 {
	said := make([][]float64, members)
	for _, q := range labelled {
		for i, s := range q.Sure {
			if s > 0 && s <= 1 && q.Answers[i] != "" {
				said[i] = append(said[i], s)
			}
		}
	}
	marks, enough := make([][]float64, members), false
	for i, all := range said {
		marks[i] = []float64{}
		if len(all) < leastSure {
			continue
		}
		enough = true
		slices.Sort(all)
		for k := 1; k < sureParts; k++ {
			marks[i] = append(marks[i], all[k*len(all)/sureParts])
		}
	}
	if !enough {
		return nil
	}
	return marks
}

// rank returns where the likelihood of a member's answer stands among those that it mostly has: from -1, below all
// marks, to 1, above all; 0 in the middle, and where it said nothing or nothing is known. Whatever a member says, it
// cannot leave this range.
func (m *Predictor) rank(member int, sure []float64) float64 {
	if !m.ranks(member, sure) {
		return 0
	}
	below := 0
	for _, mark := range m.Marks[member] {
		switch {
		case mark < sure[member]:
			below++
		case mark > sure[member]:
			below--
		}
	}
	return float64(below) / float64(len(m.Marks[member]))
}

// ranks reports whether the likelihood of a member's answer counts.
func (m *Predictor) ranks(member int, sure []float64) bool {
	return m.Marks != nil && sure != nil && sure[member] > 0 && len(m.Marks[member]) > 0
}
