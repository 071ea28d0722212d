package lab

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/report"
	"synod.dev/synod/stats"
)

// CompareGrids compares the cells of two or more grids that have the same name: every later grid with the
// first, on the questions that both have finished. It fails if no two cells have a question in common.
func CompareGrids(grids []*Grid) (*report.GridComparison, error) {
	if len(grids) < 2 {
		return nil, errors.New("lab: a comparison needs two or more grids")
	}
	first := grids[0]
	out := &report.GridComparison{Version: 1}
	for _, g := range grids {
		out.Grids = append(out.Grids, report.GridName{Folder: g.dir, Experiment: g.Preset, Members: g.Members})
	}
	var p []float64
	for k, g := range grids[1:] {
		for i, c := range g.Cells {
			at := slices.IndexFunc(first.Cells, func(d Cell) bool { return d.Name == c.Name })
			if at < 0 {
				continue
			}
			d, err := Compare(g.Runs[i], first.Runs[at])
			if errors.Is(err, ErrNothingCommon) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("cell %s: %w", c.Name, err)
			}
			was, err := first.Runs[at].Report()
			if err != nil {
				return nil, err
			}
			now, err := g.Runs[i].Report()
			if err != nil {
				return nil, err
			}
			out.Cells = append(out.Cells, report.CellDifference{Cell: c.Name, Grid: k + 1, Compared: *d,
				Before: was.Metrics.Decision, After: now.Metrics.Decision,
				Kinds: slices.Compact(slices.Sorted(slices.Values(append(was.MembersKind, now.MembersKind...))))})
			p = append(p, d.McNemar)
		}
	}
	if len(out.Cells) == 0 {
		return nil, errors.New("lab: no two cells of these grids have the same name and a question that both have " +
			"finished")
	}
	for i, corrected := range stats.Holm(p) {
		out.Cells[i].Corrected = corrected
	}
	return out, nil
}
