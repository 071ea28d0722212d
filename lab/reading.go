package lab

import (
	"fmt"

	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
)

// Reading is a cell without a run of its own: its figures are others of another
// cell's, read anew whenever the grid is reported. So one run shows what would have
// come of it under another rule.
type Reading struct {
	Cell
	How   string            `json:"how"` // what is read of what
	Of    string            `json:"of"`  // the cell with the run
	Rates map[string]string `json:"rates"`
}

// read makes the cells that are read of these.
func (g *Grid) read(cells []report.Cell) (out []report.Cell, err error) {
	byName := map[string]report.Cell{}
	for _, c := range cells {
		byName[c.Cell] = c
	}
	for _, r := range g.Readings {
		from, ok := byName[r.Of]
		if !ok {
			return nil, fmt.Errorf("lab: cell %s is read of %s, which is no cell", r.Name, r.Of)
		}
		f := &report.Figures{Rates: map[string]*metrics.Rate{}}
		for name, of := range r.Rates {
			f.Rates[name] = from.Metrics[of]
		}
		c := report.NewComputed(r.Name, r.Params, f, from.Finished, r.Paper, r.How)
		c.MembersKind, c.Task = from.MembersKind, from.Task
		out = append(out, c)
	}
	return out, nil
}
