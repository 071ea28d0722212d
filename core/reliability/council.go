package reliability

import "slices"

// Weights returns the weights of members by name, before Cap. A member of which nothing is known has the least
// weight of the others: trust is earned.
func (e *Estimates) Weights(names []string) []float64 {
	least := 0.0
	for i, m := range e.Members {
		if i == 0 || m.LogOdds < least {
			least = m.LogOdds
		}
	}
	weights := make([]float64, len(names))
	for i, name := range names {
		weights[i] = max(least, MinWeight)
		if k := slices.IndexFunc(e.Members, func(m MemberReliability) bool { return m.Name == name }); k >= 0 {
			weights[i] = e.Members[k].LogOdds
		}
	}
	return weights
}
