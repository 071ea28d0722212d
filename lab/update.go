package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/internal/durable"
)

// Updated counts what Update did.
type Updated struct {
	Kept int // cells whose run was there
	New  int // cells whose run is new
	Put  int // runs that no cell has any more; they are in the folder unused
}

// The folders of runs in the folder of a grid. A run that no cell has any more is kept, because it was
// paid for, and is found again by its hash.
const (
	cellsFolder  = "cells"
	unusedFolder = "unused"
)

// Update makes dir the folder of the grid. A run that is there with the hash of a cell is that of the cell,
// wherever it is and whatever the cell was called; it is not asked again. Other cells get new runs, and
// runs that no cell has any more are moved to unused/. So a manifest may gain cells, lose them and change
// them. It fails as Before does. If the process dies, the folder is incomplete until the next Update.
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
	held, err := lock(dir)
	if err != nil {
		return u, err
	}
	defer held.Close()
	g.dir = filepath.Clean(dir)
	if err := g.reuse(old); err != nil {
		return u, err
	}
	if u, err = g.place(); err != nil {
		return u, err
	}
	manifest, err := seal(g.GridManifest, nil)
	if err != nil {
		return u, err
	}
	return u, writeFile(filepath.Join(g.dir, "grid.json"), manifest)
}

// Before returns what the folder of the grid had before, without its runs; nil if it is new or empty. It fails if
// the folder has something else, or the grid of another experiment.
func (g *Grid) Before(dir string) (*Grid, error) {
	old, err := readGrid(dir)
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

// reuse takes the figures of computed cells from the grid that is there, and computes the others.
func (g *Grid) reuse(old *Grid) error {
	for i := range g.Computed {
		c := &g.Computed[i]
		k := slices.IndexFunc(old.Computed, func(o Computed) bool {
			return o.Name == c.Name && o.How == c.How && same(o.Params, c.Params)
		})
		if k >= 0 && old.Computed[k].Figures != nil {
			c.Figures = old.Computed[k].Figures
			continue
		}
		var err error
		if c.Figures, err = c.Of(); err != nil {
			return fmt.Errorf("cell %s: %w", c.Name, err)
		}
	}
	return nil
}

// place gives every cell its folder: that of its name if its run has the hash of the cell, else another one
// with that hash, else a new one.
func (g *Grid) place() (u Updated, err error) {
	wanted, err := g.hashes()
	if err != nil {
		return u, err
	}
	own, spare, err := g.sort(wanted)
	if err != nil {
		return u, err
	}
	for i, run := range g.Runs {
		hash, to := wanted[i], filepath.Join(g.dir, cellsFolder, g.Cells[i].Name)
		g.Cells[i].Hash = hash
		from := spare[hash]
		switch {
		case own[g.Cells[i].Name]:
		case len(from) > 0:
			if err := durable.Rename(from[0], to); err != nil {
				return u, fmt.Errorf("lab: %w", err)
			}
			spare[hash] = from[1:]
		default:
			if err := run.Create(to); err != nil {
				return u, err
			}
			u.New++
			continue
		}
		u.Kept++
		if g.Runs[i], err = Open(to); err != nil {
			return u, err
		}
		g.Runs[i].Prices = run.Prices
	}
	for _, left := range spare {
		u.Put += len(left)
	}
	return u, nil
}

// sort tells the runs in the folder apart: own are the cells whose folder has their run, and spare the folders
// of other runs by their hashes, which are moved to the folder unused.
func (g *Grid) sort(wanted []string) (own map[string]bool, spare map[string][]string, err error) {
	names := map[string]string{} // hashes by the names of cells
	for i, c := range g.Cells {
		names[c.Name] = wanted[i]
	}
	own, spare = map[string]bool{}, map[string][]string{}
	for _, of := range []string{unusedFolder, cellsFolder} { // cells are moved to unused
		entries, err := os.ReadDir(filepath.Join(g.dir, of))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf("lab: %w", err)
		}
		for _, e := range entries {
			path := filepath.Join(g.dir, of, e.Name())
			hash, err := hashAt(path)
			switch {
			case err != nil:
				return nil, nil, err
			case hash == "": // of an interrupted Create
				if err := os.RemoveAll(path); err != nil {
					return nil, nil, fmt.Errorf("lab: %w", err)
				}
				continue
			case of == cellsFolder && names[e.Name()] == hash:
				own[e.Name()] = true
				continue
			case of == cellsFolder:
				if path, err = g.unuse(path, hash); err != nil {
					return nil, nil, fmt.Errorf("lab: %w", err)
				}
			}
			spare[hash] = append(spare[hash], path)
		}
	}
	return own, spare, nil
}

// hashAt returns the hash of the run in a folder; "" if it has none yet.
func hashAt(dir string) (string, error) {
	run, err := Open(dir)
	if errors.Is(err, ErrNoRun) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return run.Hash()
}

// unuse moves a run to the folder unused.
func (g *Grid) unuse(path, hash string) (to string, err error) {
	folder := filepath.Join(g.dir, unusedFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	name := filepath.Base(path) + "-" + hash[:12]
	to = filepath.Join(folder, name)
	for k := 2; ; k++ { // a run of the same settings may be there
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			break
		}
		to = filepath.Join(folder, fmt.Sprintf("%s-%d", name, k))
	}
	return to, durable.Rename(path, to)
}

// State says how far a cell is.
type State struct {
	Cell     string `json:"cell"`
	State    string `json:"state"` // finished, partly, waiting, computed, derived, blank
	Finished int    `json:"finished"`
	Failed   int    `json:"failed"` // in the last attempt
	Total    int    `json:"total"`
	Hash     string `json:"hash,omitempty"`
	Why      string `json:"why,omitempty"` // of a blank cell
}

// States returns how far every cell is. It reads no answers.
func (g *Grid) States() (all []State, err error) {
	for i, run := range g.Runs {
		s, err := run.State()
		if err != nil {
			return nil, fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
		s.Cell, s.Hash = g.Cells[i].Name, g.Cells[i].Hash
		all = append(all, s)
	}
	for _, c := range g.Computed {
		all = append(all, State{Cell: c.Name, State: "computed"})
	}
	for _, c := range g.Readings {
		all = append(all, State{Cell: c.Name, State: "derived"})
	}
	for _, c := range g.Blank {
		all = append(all, State{Cell: c.Name, State: "blank", Why: c.Why})
	}
	return all, nil
}

// State returns how far the run is: finished, partly or waiting. It reads no answers.
func (r *Run) State() (s State, err error) {
	s = State{State: "waiting", Total: r.total()}
	if s.Finished, s.Failed, err = r.done(); err != nil {
		return s, err
	}
	switch {
	case s.Finished == s.Total:
		s.State = "finished"
	case s.Finished+s.Failed > 0:
		s.State = "partly"
	}
	return s, nil
}

// done counts the finished questions and those whose last attempt failed.
func (r *Run) done() (finished, failed int, err error) {
	past, err := histories(r.dir)
	if err != nil {
		return 0, 0, err
	}
	x, err := r.read()
	if err != nil {
		return 0, 0, err
	}
	defer x.close()
	for k := range r.total() {
		switch id := r.key(r.job(k)); {
		case x.segment != nil && x.segment.Finished(id):
			finished++
		case past[id].last.Failed:
			failed++
		}
	}
	return finished, failed, nil
}
