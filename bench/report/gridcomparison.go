package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"synod.dev/synod/core/table"
)

// GridComparison compares cells of grids that have the same name.
type GridComparison struct {
	Version int              `json:"version"`
	Grids   []GridName       `json:"grids"` // the first is what the others are compared with
	Cells   []CellDifference `json:"cells"`
	// All has, for every later grid, its cells together. A question is one cluster in all cells.
	All []CellDifference `json:"all"`
}

// GridName says which grid is compared.
type GridName struct {
	Folder     string `json:"folder"`
	Experiment string `json:"experiment"`
	Members    string `json:"members"`
	// Models are those of the cells that are compared, each with its number of seats: "large = gpt-42 × 5".
	Models []string `json:"models"`
	// Fooling is what is assumed to fool simulated members of these cells.
	Fooling []string `json:"fooling,omitempty"`
}

// Add adds what a cell of the grid has.
func (g *GridName) Add(r *Report) {
	for _, m := range r.Setting.Models {
		if !slices.Contains(g.Models, m) {
			g.Models = append(g.Models, m)
		}
	}
	for _, f := range fooling(r.Seats) {
		if !slices.Contains(g.Fooling, f) {
			g.Fooling = append(g.Fooling, f)
		}
	}
}

// mostModels is how many models the text of a comparison names of each grid.
const mostModels = 8

// line describes the grid in one line.
func (g *GridName) line(i int) string {
	s := fmt.Sprintf("grid %d: %s · %s · members: %s", i, plain(g.Folder), plain(g.Experiment), plain(g.Members))
	if n := len(g.Models); n > 0 {
		s += " · models: " + plain(strings.Join(g.Models[:min(n, mostModels)], ", "))
		if n > mostModels {
			s += fmt.Sprintf(" and %d more", n-mostModels)
		}
	}
	return s + fooledBy(g.Fooling)
}

// CellDifference is a cell of a grid minus the cell of the same name of the first grid.
type CellDifference struct {
	Cell  string   `json:"cell"`
	Grid  int      `json:"grid"` // index in Grids
	Kinds []string `json:"members_kind"`
	*Compared
}

// rights returns the shares of the questions that are compared which the first grid and the later one decided rightly,
// in percent.
func (d CellDifference) rights() (before, after string) {
	p, percent := d.Compared.Pairs, 100/float64(d.Questions)
	return fmt.Sprintf("%.1f", percent*float64(p[1][0]+p[1][1])), fmt.Sprintf("%.1f", percent*float64(p[0][1]+p[1][1]))
}

const gridNote = "All figures are over the questions that both cells have finished; one without a decision is not " +
	"right. Differences are paired, the later grid minus the first. p is of the exact permutation test by question, " +
	"which is McNemar's exact test without repeats; corrected: by Holm's method over all cells. The last rows pool " +
	"the cells: all cells of a question are one cluster."

// Write prints the comparison: text, json, csv or md.
func (c *GridComparison) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return writeJSON(w, c)
	case "csv":
		return c.table().Write(w, "csv")
	case "text", "md":
		title := fmt.Sprintf("%d cells that two grids have in common", len(c.Cells))
		return document{format: format, title: title, head: append([]string{title}, c.head()...),
			tables: []*table.Table{c.table()}, notes: []string{gridNote}}.write(w)
	}
	return fmt.Errorf("report: unknown format %q; supported: text, json, csv, md", format)
}

func (c *GridComparison) head() (lines []string) {
	for i, g := range c.Grids {
		lines = append(lines, g.line(i))
	}
	return lines
}

func (c *GridComparison) table() *table.Table {
	t := &table.Table{Head: []string{"cell", "grid", "members", "questions", "grid 0, right %", "right %",
		"difference, points", "p", "corrected p", "members at the end, points", "p", "corrected p"}, Align: "lrlr"}
	for _, d := range slices.Concat(c.Cells, c.All) {
		before, after := d.rights()
		t.Add(plain(d.Cell), d.Grid, strings.Join(d.Kinds, " and "), d.Questions, before, after,
			valueWithInterval(d.Decision), pValue(d.P), corrected(d.Corrected), valueWithInterval(d.FAA),
			pValue(d.FAAP), corrected(d.FAACorrected))
	}
	return t
}
