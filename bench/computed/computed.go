// Package computed has the experiments that ask no member: their figures are functions of numbers
// that a paper prints. A manifest names one with the key compute.
package computed

import (
	"context"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/bench/report"
)

// Trials are the settings of a cell that computations share.
type Trials struct {
	Number int // trials of the cell; 0: as many as in the program's own experiment
	Repeat int // by which Number is multiplied
	Seed   uint64
}

// Compute computes the figures of a cell. It is a pure function, and ends early if ctx ends.
type Compute func(ctx context.Context) (*report.Figures, error)

// Computation is a computation with its parameters.
type Computation interface {
	// Figures returns a description, in which everything that the figures depend on is named, and the
	// function that computes them.
	Figures(w *Work, t Trials) (how string, of Compute, err error)
}

// Entry is an entry of the catalogue.
type Entry struct {
	synod.Entry
	New func() Computation // with default parameters
}

// Work keeps what the cells of a grid share.
type Work struct {
	drawn  map[string]func() [][]graded
	lock   sync.Mutex
	played map[string]func() map[string]*tallies
	votes  map[string]*votes // by file
}

// NewWork returns a Work for one grid.
func NewWork() *Work { return &Work{drawn: map[string]func() [][]graded{}} }
