package report

import (
	"maps"
	"slices"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// figureTables are the tables of cells that have other figures than cellTable knows, such as those that a manifest
// computes: one table for the cells that have the same figures. The others are left for cellTable.
func (g *Grid) figureTables(format func(*metrics.Rate) string) (tables []*table.Table, others []Cell) {
	by := map[string]*table.Table{}
	for _, c := range g.Cells {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Metrics)), func(name string) bool {
			return c.Metrics[name] == nil
		})
		if c.How == "" || !slices.ContainsFunc(names, func(name string) bool { return !inGrid(name) }) {
			others = append(others, c)
			continue
		}
		key := strings.Join(names, " ")
		t := by[key]
		if t == nil {
			t = &table.Table{Head: append([]string{"cell", "done"}, names...),
				Align: "l" + strings.Repeat("r", 1+len(names))}
			tables, by[key] = append(tables, t), t
		}
		row := []string{c.Cell, c.progress()}
		for _, name := range names {
			row = append(row, format(c.Metrics[name]))
		}
		t.Rows = append(t.Rows, row)
	}
	return tables, others
}

// inGrid reports whether cellTable has a column for a figure.
func inGrid(name string) bool {
	for _, c := range gridColumns {
		if c.metric == name {
			return true
		}
	}
	return false
}
