package bench

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/bench/report"
)

// CompareGrids compares the cells of two or more grids that have the same name: every later grid with the
// first, on the questions that both have finished. It fails if no two cells have a question in common.
func CompareGrids(grids []*Grid) (*report.GridComparison, error) {
	if len(grids) < 2 {
		return nil, errors.New("bench: a comparison needs two or more grids")
	}
	first := grids[0]
	out := &report.GridComparison{Version: 1}
	for _, g := range grids {
		out.Grids = append(out.Grids, report.GridName{Folder: g.dir, Experiment: g.Preset, Members: g.Members})
	}
	var all []*report.Compared
	pooled := make([]comparison, len(grids))
	for k, g := range grids[1:] {
		for i, c := range g.Cells {
			at := slices.IndexFunc(first.Cells, func(d Cell) bool { return d.Name == c.Name })
			if at < 0 {
				continue
			}
			row, d, err := compareCells(first.Runs[at], g.Runs[i], &out.Grids[0], &out.Grids[k+1])
			if errors.Is(err, ErrNothingCommon) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("cell %s: %w", c.Name, err)
			}
			row.Cell, row.Grid = c.Name, k+1
			pooled[k+1].plus(d)
			out.Cells, all = append(out.Cells, row), append(all, row.Compared)
		}
	}
	if len(out.Cells) == 0 {
		return nil, errors.New("bench: no two cells of these grids have the same name and a question that both have " +
			"finished")
	}
	correct(all)
	for k := range pooled {
		if pooled[k].results > 0 {
			out.All = append(out.All, report.CellDifference{Cell: "all", Grid: k, Compared: pooled[k].compared(),
				Kinds: []string{}})
		}
	}
	return out, nil
}

// compareCells returns the row of a cell that two grids have, and adds to the grids what the cell has.
func compareCells(first, second *Run, a, b *report.GridName) (row report.CellDifference, d *comparison, err error) {
	if d, err = compareRuns(second, first); err != nil {
		return row, nil, err
	}
	was, err := first.Report()
	if err != nil {
		return row, nil, err
	}
	now, err := second.Report()
	if err != nil {
		return row, nil, err
	}
	a.Add(was)
	b.Add(now)
	row = report.CellDifference{Compared: d.compared(),
		Kinds: slices.Compact(slices.Sorted(slices.Values(append(was.MembersKind, now.MembersKind...))))}
	row.Compared.Against = first.Name
	return row, d, nil
}
