package report

import (
	"fmt"
	"slices"

	"synod.dev/synod/metrics"
)

// mostCells is how many cells a plot shows that has a row or a panel for each.
const mostCells = 40

// Plots are the plots of a grid that its cells have data for: what a cell varies
// and measures decides, not what the preset is called. A new plot is a function
// and a line here.
func (g *Grid) Plots() (out []Plot) {
	for _, plots := range []func(*Grid) []Plot{beforeAfterBars.plot, decisionBars.plot, roundsPlot, outcomeBars.plot, trajectoriesPlot, stopsPlot, sweepPlots} {
		out = append(out, plots(g)...)
	}
	return out
}

// label is that of the members; figures without any are labelled as computed.
func (g *Grid) label() string {
	if len(g.MembersKind) == 0 && slices.ContainsFunc(g.Cells, func(c Cell) bool { return c.How != "" }) {
		return "computed, no members"
	}
	return g.Report.label()
}

func (g *Grid) titled(title string) string {
	if label := g.label(); label != "" {
		title += " (" + label + ")"
	}
	return title
}

// gamePlots are those plots of a grid that a single run has, too.
func gamePlots(r *Report) (out []Plot) {
	g := &Grid{Report: *r, Cells: []Cell{NewCell(plain(r.Council), nil, r, nil, nil)}}
	for _, plots := range []func(*Grid) []Plot{outcomeBars.plot, trajectoriesPlot, stopsPlot} {
		out = append(out, plots(g)...)
	}
	return out
}

// cells are those of which something holds.
func (g *Grid) cells(some func(Cell) bool) (cells []Cell) {
	for _, c := range g.Cells {
		if some(c) {
			cells = append(cells, c)
		}
	}
	return cells
}

// has reports whether a cell has a figure of any of the metrics.
func (c *Cell) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.Metrics[name] != nil })
}

// published is the paper's figure with the interval that it is taken to have; with
// N 0 and without an interval where it is no share or rests on nobody says how many
// questions, and nil where there is none.
func (c *Cell) published(metric string) *metrics.Rate {
	f, known := c.figures[metric]
	if !known {
		return nil
	}
	if f.N > 0 && !f.Count {
		return metrics.Published(f.Value, f.N, metric == "bfti")
	}
	return &metrics.Rate{Value: f.Value, Low: f.Value, High: f.Value, Count: f.Count}
}

// said is the verdict on a metric for people; "" where the paper has no figure.
func (c *Cell) said(metric string) string {
	if _, known := c.Paper[metric]; !known {
		return ""
	}
	verdict := c.Verdict[metric]
	switch {
	case verdict != "":
	case c.Metrics[metric] != nil && c.figures[metric].Count:
		verdict = "none: not of the same kind"
	case c.Metrics[metric] != nil:
		verdict = "none: the paper names no number of questions"
	case c.Why != "":
		verdict = "none: no run"
	default:
		verdict = "no figure yet"
	}
	if slices.Contains(c.Assumed, metric) {
		verdict += " (assumed)"
	}
	return verdict
}

// param is a parameter of a cell in words; "" where it has none.
func (c *Cell) param(name string) string {
	v, known := c.Params[name]
	if !known {
		return ""
	}
	return plain(fmt.Sprint(v))
}

// data fills a plot's rows and table: a line a metric of a cell, with the named
// parameters.
func (f *Plot) data(cells []Cell, params, names []string) {
	heads := make([]string, len(params))
	for i, p := range params {
		heads[i] = plain(p)
	}
	f.Rows = [][]string{slices.Concat([]string{"members_kind", "cell"}, heads, []string{"metric"}, rateColumns, []string{"paper", "paper_n", "paper_low", "paper_high", "verdict", "assumed"})}
	f.Table = [][]string{slices.Concat([]string{"cell"}, heads, []string{"metric", "ours", "paper", "verdict"})}
	for i := range cells {
		c := &cells[i]
		var values []string
		for _, p := range params {
			values = append(values, c.value(p))
		}
		for _, name := range names {
			ours, theirs := c.Metrics[name], c.published(name)
			if ours == nil && theirs == nil {
				continue
			}
			row := slices.Concat([]string{c.kindsCell(), plain(c.Cell)}, values, []string{name}, rateCells(ours), paperCells(theirs), []string{c.Verdict[name], fmt.Sprint(slices.Contains(c.Assumed, name))})
			f.Rows = append(f.Rows, row)
			paper := ""
			if theirs != nil {
				paper = toldPaper(theirs)
			}
			f.Table = append(f.Table, slices.Concat([]string{plain(c.Cell)}, values, []string{name, told(ours), paper, c.said(name)}))
		}
	}
}

// paperCells are rateCells of what a paper reports.
func paperCells(r *metrics.Rate) []string {
	cells := rateCells(r)
	if r != nil && r.N == 0 {
		cells[2], cells[3] = "", ""
	}
	return cells
}

// toldPaper is what a paper reports, in one cell of a table for readers.
func toldPaper(r *metrics.Rate) string {
	if value, _ := percent(r); r.N == 0 {
		return value
	}
	return told(r)
}

// paperNote is said below plots on which a paper's figures stand.
func paperNote(cells []Cell, names []string) string {
	for i := range cells {
		for _, name := range names {
			if cells[i].published(name) != nil {
				return " Diamonds are the paper’s figures, with the interval of a share over the questions that they rest on."
			}
		}
	}
	return ""
}
