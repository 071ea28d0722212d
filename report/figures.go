package report

import "synod.dev/synod/metrics"

// Figure is a rate under the name that it has in scripts; nil where it does not
// exist.
type Figure struct {
	Name string
	Says string // what it means, for people
	Rate *metrics.Rate
}

// Figures lists every rate of a report in the order in which it is read.
func (r *Report) Figures() (all []Figure) {
	for _, row := range r.rows() {
		all = append(all, Figure{row.name, row.says, row.rate})
	}
	return all
}
