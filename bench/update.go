package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/bench/store"
)

// Updated counts what Update did.
type Updated struct {
	Kept int // cells whose run was there
	New  int // cells whose run is new
	Put  int // runs in the folder that no cell has any more
}

// Update makes dir the folder of the grid. A run that is there with the hash of a cell is that of the cell,
// whatever the cell was called; it is not asked again. Other cells get new runs. Runs that no cell has any more
// are kept without a name, because they were paid for, and are found again by their hash. So a manifest may gain
// cells, lose them and change them. It fails as Before does. All changes are made at once.
func (g *Grid) Update(dir string) (u Updated, err error) {
	old, err := g.Before(dir)
	if err != nil {
		return u, err
	}
	if old == nil {
		if err := g.Create(dir); err != nil {
			return u, err
		}
		return Updated{New: len(g.Runs)}, nil
	}
	g.reuse(old)
	held, err := lock(dir)
	if err != nil {
		return u, err
	}
	defer held.Close()
	s, err := store.OpenWriting(dir)
	if err != nil {
		return u, fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return g.bring(s)
}

// bring changes the cells of the store to those of the grid.
func (g *Grid) bring(s *store.Store) (u Updated, err error) {
	there, err := s.Cells()
	if err != nil {
		return u, fmt.Errorf("bench: %w", err)
	}
	for i, run := range g.Runs {
		if g.Cells[i].Hash, err = run.Hash(); err != nil {
			return u, fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
	}
	own, names := g.match(there)
	for i := range there {
		if _, used := names[there[i].ID]; !used {
			names[there[i].ID] = ""
			u.Put++
		}
	}
	var added []*store.Cell
	fresh := make([]*store.Cell, len(g.Runs))
	for i, run := range g.Runs {
		if c := own[i]; c != nil {
			if err := run.become(c); err != nil {
				return u, err
			}
			u.Kept++
			continue
		}
		if fresh[i], err = run.draftCell(g.Cells[i].Name); err != nil {
			return u, fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
		added = append(added, fresh[i])
		u.New++
	}
	manifest, err := seal(g.GridManifest, nil)
	if err != nil {
		return u, err
	}
	if err := s.Update(names, added, map[string]string{gridKey: string(manifest)}); err != nil {
		return u, fmt.Errorf("bench: %w", err)
	}
	for i, c := range fresh {
		if c != nil {
			g.Runs[i].cell, g.Runs[i].sealed = c.ID, c.Manifest
		}
	}
	g.place(filepath.Clean(s.Dir()))
	return u, nil
}

// match finds the runs that the cells of the grid have: that of the name of the cell if it has the cell's hash, else
// another one with that hash. names are the names of the runs that are found.
func (g *Grid) match(there []store.Cell) (own []*store.Cell, names map[int64]string) {
	own, names = make([]*store.Cell, len(g.Runs)), map[int64]string{}
	for _, named := range []bool{true, false} {
		for i, c := range g.Cells {
			for k := range there {
				_, used := names[there[k].ID]
				if own[i] == nil && !used && there[k].Hash == c.Hash && (!named || there[k].Name == c.Name) {
					own[i], names[there[k].ID] = &there[k], c.Name
				}
			}
		}
	}
	return own, names
}

// become takes over what the store has of the run of a cell.
func (r *Run) become(c *store.Cell) (err error) {
	r.cell, r.sealed = c.ID, c.Manifest
	r.sum, r.origin, err = unseal([]byte(c.Manifest), &r.RunManifest)
	return err
}

// Before returns what the folder of the grid had before, without its runs; nil if it is new or empty. It fails if
// the folder has something else, or the grid of another experiment.
func (g *Grid) Before(dir string) (*Grid, error) {
	s, err := openStore(dir)
	var old *Grid
	if err == nil {
		old, err = readGrid(s)
		err = errors.Join(err, s.Close())
	}
	entries, _ := os.ReadDir(dir)
	switch {
	case err == nil && old.Preset != g.Preset:
		return nil, &OccupiedError{Dir: dir, Run: true,
			Changes: []string{fmt.Sprintf("experiment: %s there, %s now", old.Preset, g.Preset)}}
	case errors.Is(err, ErrNoRun) && len(entries) == 0:
		return nil, nil
	case errors.Is(err, ErrNoRun):
		return nil, g.occupied(dir)
	}
	return old, err
}

// reuse takes the figures of computed cells from the grid that is there.
func (g *Grid) reuse(old *Grid) {
	for i := range g.Computed {
		c := &g.Computed[i]
		k := slices.IndexFunc(old.Computed, func(o Computed) bool {
			return o.Name == c.Name && o.How == c.How && same(o.Params, c.Params)
		})
		if k >= 0 {
			c.Figures = old.Computed[k].Figures
		}
	}
}

// Same fails with an OccupiedError if dir has a grid that differs from g.
func (g *Grid) Same(dir string) error {
	old, err := OpenGrid(dir)
	switch {
	case errors.Is(err, ErrNoRun):
		return nil
	case err != nil:
		return err
	}
	if changes := old.Changes(g); len(changes) > 0 {
		return &OccupiedError{Dir: dir, Run: true, Changes: changes}
	}
	return nil
}
