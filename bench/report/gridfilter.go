package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod/core/table"
)

// filterColumn is a column of the table of cells by which a page filters.
type filterColumn struct {
	Name   string
	Column int
	Part   bool // a cell of the table has several values with commas between them
}

// filters shows a table of the cells that can be filtered by parameters, protocol and adversary, and sorted by
// every column. Its script works on the texts of the table alone.
func (p *page) filters(g *Grid) {
	if len(g.Cells) < 2 {
		return
	}
	t, selects := g.filterTable()
	p.filtered = true
	p.show("filters", struct {
		Label   string
		Table   *table.Table
		Selects []filterColumn
	}{g.label(), t, selects})
}

// filterTable has a row for each cell in order: its name, the parameters that differ between cells, what its report
// says of protocol and adversaries where no parameter does, progress and main rates.
func (g *Grid) filterTable() (t *table.Table, selects []filterColumn) {
	t = &table.Table{Head: []string{"cell"}}
	params := g.varied()
	for _, name := range params {
		selects = append(selects, filterColumn{name, len(t.Head), name == "adversary"})
		t.Head = append(t.Head, plain(name))
	}
	t.Head = append(t.Head, "done", "failed")
	for _, column := range filterRates {
		t.Head = append(t.Head, column.label)
	}
	for i := range g.Cells {
		c := &g.Cells[i]
		row := []string{c.Cell}
		for _, name := range params {
			row = append(row, c.filterValue(name))
		}
		row = append(row, c.progress(), fmt.Sprint(c.Failed))
		for _, column := range filterRates {
			row = append(row, value(c.Metrics[column.metric]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, selects
}

// varied lists what differs between cells: parameters by name, protocol and adversary among them.
func (g *Grid) varied() []string {
	names := map[string]bool{"protocol": true, "adversary": true}
	for i := range g.Cells {
		for name := range g.Cells[i].Params {
			names[name] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool {
		first := g.Cells[0].filterValue(name)
		return !slices.ContainsFunc(g.Cells, func(c Cell) bool { return c.filterValue(name) != first })
	})
}

// filterRates are the rates of the table.
var filterRates = []struct{ metric, label string }{{"iaa", "IAA"}, {"faa", "FAA"},
	{"decision_accuracy", "decisions right"}, {"agreed", "decided"}, {"capture", "captured"}}

// filterValue returns a parameter of the cell, or what its report has in its place.
func (c *Cell) filterValue(name string) string {
	if text := c.param(name); text != "" {
		return text
	}
	switch name {
	case "protocol":
		return plain(c.Protocol)
	case "adversary":
		var names []string
		for _, m := range c.Seats {
			if m.Adversary != "" && !slices.Contains(names, plain(m.Adversary)) {
				names = append(names, plain(m.Adversary))
			}
		}
		return strings.Join(names, ", ")
	}
	return ""
}
