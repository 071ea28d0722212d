package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"synod.dev/synod/bench/report"
)

// Computed is a cell without a run. Its figures are a function of its parameters. Work computes them once, and
// stores them in the manifest of the grid.
type Computed struct {
	Cell
	How     string          `json:"how"`     // description of the computation
	Figures *report.Figures `json:"figures"` // nil until they are computed

	// Of computes the figures; nil in a grid that OpenGrid read. It is a pure function with seeded randomness.
	// Params and How must contain everything that it depends on, because Changes compares these.
	Of func(context.Context) (*report.Figures, error) `json:"-"`
}

// ErrNotComputed is the error for work on a grid that OpenGrid read, where a cell was not computed yet: only the
// manifest's draft has the computation.
var ErrNotComputed = errors.New("its figures are not computed yet")

// saveEvery is the time between two writes of figures that are computed, so that many quick cells need few writes.
const saveEvery = 2 * time.Second

// Compute computes the figures of cells without a run, those that are not there yet, and stores them in the folder.
// If ctx ends, what was computed is kept.
func (g *Grid) Compute(ctx context.Context, show func(Progress)) (err error) {
	w, err := g.Write()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return g.compute(ctx, w, show)
}

// compute is Compute with an open folder.
func (g *Grid) compute(ctx context.Context, w *Writer, show func(Progress)) (err error) {
	now := g.computing()
	if now.Computed == now.ToCompute {
		return nil
	}
	saved := time.Now()
	defer func() { err = errors.Join(err, g.save(w)) }()
	for i := range g.Computed {
		c := &g.Computed[i]
		if c.Figures != nil {
			continue
		}
		if now.Cell = c.Name; show != nil {
			show(now)
		}
		if err := c.compute(ctx); err != nil {
			return fmt.Errorf("cell %s: %w", c.Name, err)
		}
		now.Computed, now.Now = now.Computed+1, now.Now+1
		if time.Since(saved) >= saveEvery {
			if err := g.save(w); err != nil {
				return err
			}
			saved = time.Now()
		}
	}
	return nil
}

func (c *Computed) compute(ctx context.Context) (err error) {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if c.Of == nil {
		return ErrNotComputed
	}
	c.Figures, err = c.Of(ctx)
	return err
}

// computing counts the cells without a run.
func (g *Grid) computing() (p Progress) {
	for _, c := range g.Computed {
		p.ToCompute++
		if c.Figures != nil {
			p.Computed++
		}
	}
	return p
}

// save stores the manifest with the figures that are computed.
func (g *Grid) save(w *Writer) error {
	manifest, err := seal(g.GridManifest, nil)
	if err != nil {
		return err
	}
	if err := w.store.Update(nil, nil, map[string]string{gridKey: string(manifest)}); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}

// changedComputed describes the differences of the computed cells of another grid.
func (g *Grid) changedComputed(other *Grid) []string {
	if len(g.Computed) != len(other.Computed) {
		return []string{fmt.Sprintf("computed cells: %d there, %d now", len(g.Computed), len(other.Computed))}
	}
	for i, c := range g.Computed {
		if d := other.Computed[i]; c.Name != d.Name || c.How != d.How || !same(c.Params, d.Params) {
			return []string{fmt.Sprintf("computed cells: %s (%s) there, %s (%s) now", c.Name, c.How, d.Name, d.How)}
		}
	}
	return nil
}
