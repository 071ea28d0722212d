package report

import (
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod/core/table"
)

// textPairs is how many pairs text shows.
const textPairs = 10

// errorTable has the pairs whose errors are most alike, the first so many.
func errorTable(of []ErrorPair, most int) *table.Table {
	t := &table.Table{Head: []string{"members", "correlation of errors (phi)", "95 % interval", "both wrong"},
		Align: "lr"}
	pairs := slices.Clone(of)
	slices.SortStableFunc(pairs, func(a, b ErrorPair) int { return cmp.Compare(strength(b), strength(a)) })
	for i, p := range pairs {
		if i == most {
			t.Add(fmt.Sprintf("… and %d more pairs", len(pairs)-i))
			break
		}
		phi, between := "–", "–"
		if p.Phi != nil {
			phi, between = fmt.Sprintf("%.2f", p.Phi.Value), fmt.Sprintf("%.2f to %.2f", p.Phi.Low, p.Phi.High)
		}
		t.Add(plain(p.A)+", "+plain(p.B), phi, between, full(p.CoError))
	}
	return t
}

// strength puts pairs without a correlation last.
func strength(p ErrorPair) float64 {
	if p.Phi == nil {
		return -2
	}
	return p.Phi.Value
}

// errorRates lists the figures of the pairs with names such as phi[a,b].
func errorRates(pairs []ErrorPair) (rates []NamedRate) {
	for _, p := range pairs {
		of := fmt.Sprintf("[%s,%s]", plain(p.A), plain(p.B))
		rates = append(rates, NamedRate{Name: "phi" + of, Rate: p.Phi},
			NamedRate{Name: "co_error" + of, Rate: p.CoError})
	}
	return rates
}
