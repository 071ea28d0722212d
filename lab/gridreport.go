package lab

import (
	"slices"

	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
)

// Report derives everything from what is on file, cell by cell.
func (g *Grid) Report() (*report.Grid, error) {
	out := &report.Grid{
		Report: report.Report{Version: report.Version, MembersKind: []string{}, Rounds: []metrics.Round{}, Failures: []report.Failure{}},
		Preset: g.Preset, Source: g.Source, Members: g.Members, Note: g.Note,
	}
	if len(g.Runs) > 0 {
		out.Repeat, out.Seed = g.Runs[0].Repeat, g.Runs[0].Seed
	}
	var tasks []string
	for i, run := range g.Runs {
		r, err := run.Report()
		if err != nil {
			return nil, err
		}
		out.Add(report.NewCell(g.Cells[i].Name, g.Cells[i].Params, r, g.Cells[i].Paper, g.Cells[i].Assumed))
		tasks = append(tasks, run.Task)
	}
	read, err := g.read(out.Cells)
	if err != nil {
		return nil, err
	}
	for _, c := range read {
		out.Add(c)
	}
	for _, b := range g.Blank {
		out.Add(report.NewBlank(b.Name, b.Params, b.Paper, b.Why))
	}
	for _, c := range g.Computed {
		out.Add(report.NewComputed(c.Name, c.Params, c.Figures, 0, c.Paper, c.How))
	}
	slices.Sort(tasks)
	if tasks = slices.Compact(tasks); len(tasks) == 1 {
		out.Task = tasks[0]
	}
	return out, nil
}
