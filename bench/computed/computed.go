// Package computed has the experiments that ask no member: their figures are functions of numbers
// that a paper prints. A manifest names one with the key compute.
package computed

import (
	"fmt"
	"maps"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/param"
)

// Trials are the settings of a cell that computations share.
type Trials struct {
	Number int // trials of the cell; 0: as many as in the program's own experiment
	Repeat int // by which Number is multiplied
	Seed   uint64
}

// Computation is a computation with its parameters.
type Computation interface {
	// Figures returns a description, in which everything that the figures depend on is named, and a
	// pure function that computes them.
	Figures(w *Work, t Trials) (how string, of func() (*report.Figures, error), err error)
}

// Entry is an entry of the catalogue.
type Entry struct {
	synod.Entry
	New func() Computation // with default parameters
}

// Catalogue lists the computations.
var Catalogue = synod.NewCatalogue("computation",
	Entry{synod.Entry{Name: "totals", Summary: "DecentLLMs, Table I: scores of the workers from the printed totals"},
		func() Computation { return &totals{} }},
	Entry{synod.Entry{Name: "fitted", Summary: "DecentLLMs, Table I: robust scores from drawn grades"},
		func() Computation { return &fitted{Spread: 2} }},
	Entry{synod.Entry{Name: "collusion", Summary: "DecentLLMs, Fig. 8: Table I with drawn grades and colluders"},
		func() Computation { return &collusion{Aggregate: "geometric-median", Spread: 5} }},
	Entry{synod.Entry{Name: "recorded-council", Summary: "cascade, votes and single members on recorded first answers"},
		func() Computation {
			return &recordedCouncil{Members: 7, F: 1, Attack: lie, Method: "cascade", P: 0.95, Splits: 20}
		}},
	Entry{synod.Entry{Name: "trust-attacks", Summary: "liars that poison the history of cascade, on recorded votes"},
		func() Computation { return newTrustAttacks() }},
	Entry{synod.Entry{Name: "worth", Summary: "what is recommended, against the best single model, on recorded votes"},
		func() Computation { return newWorth() }},
	Entry{synod.Entry{Name: "worth-odds", Summary: "how well the probability of an answer is calibrated, on recorded votes"},
		func() Computation { return newWorthOdds() }},
)

// Work keeps what the cells of a grid share.
type Work struct {
	drawn  map[string]func() [][]graded
	lock   sync.Mutex
	played map[string]func() map[string]*tallies
	votes  map[string]*votes // by file
}

// NewWork returns a Work for one grid.
func NewWork() *Work { return &Work{drawn: map[string]func() [][]graded{}} }

// Figures returns the description and the function of a computation with its name and parameters.
func (w *Work) Figures(given map[string]any, t Trials) (how string, of func() (*report.Figures, error), err error) {
	name, _ := given["name"].(string)
	e, err := Catalogue.Find(name)
	if err != nil {
		return "", nil, err
	}
	c := e.New()
	params := maps.Clone(given)
	delete(params, "name")
	if err := param.Decode(params, c); err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := param.Verify(c); err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return c.Figures(w, t)
}
