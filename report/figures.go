package report

import "synod.dev/synod/metrics"

// Named is a rate under the name that it has in scripts; nil where it does not
// exist.
type Named struct {
	Name string
	Says string // what it means, for people
	Rate *metrics.Rate
}

// Rates lists every rate of a report in the order in which it is read.
func (r *Report) Rates() (all []Named) {
	for _, row := range r.rows() {
		all = append(all, Named{row.name, row.says, row.rate})
	}
	return all
}
