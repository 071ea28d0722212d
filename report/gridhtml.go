package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// HTML writes the grid as one page: its cells as a table, the paper's figures with
// verdicts, plots, and every cell folded with all that its own page has. With
// versus the comparison stands open, else it is folded. detail gives the questions
// of a cell by its number; nil: none.
func (g *Grid) HTML(w io.Writer, versus bool, detail func(cell int) Detail) error {
	p := newPage(w, plain(g.Preset)+" · "+plain(g.Source))
	p.show("grid", g.head())
	if len(g.versus()) > 1 {
		p.show("versus", struct {
			Label, Legend string
			Open          bool
			Lines         []versusLine
		}{g.label(), g.legend(), versus, g.versusLines()})
	}
	p.plots(g.Plots(), g.label())
	p.show("cells", g.label())
	for i, c := range g.Cells {
		p.show("cell", struct {
			*Cell
			Label, Summary string
		}{&g.Cells[i], c.label(), c.summary()})
		p.cell(g, &g.Cells[i])
		if detail != nil {
			p.questions(c.Report, detail(i))
		}
		p.show("endcell", nil)
	}
	return p.end()
}

// cell shows all of a cell but its questions.
func (p *page) cell(g *Grid, c *Cell) {
	if c.Why != "" || c.How != "" {
		p.show("norun", c)
		return
	}
	p.run(c.Report)
	if len(g.Cells) <= mostCells {
		p.plots(c.Report.Plots(), c.label())
	} else {
		p.show("note", "For its plots: synod bench report FOLDER/cells/"+plain(c.Cell)+" --plots PLOTS")
	}
}

type gridHead struct {
	*Grid
	Label   string
	Who     string
	Many    bool // the table is folded, or plots would be far away
	Columns []string
	Lines   []gridLine
	Below   []string
}

type gridLine struct {
	Cell, Done string
	Values     []gridValue
}

// gridValue is a rate in percent.
type gridValue struct{ Value, Interval, N string }

// head is what stands above the plots.
func (g *Grid) head() gridHead {
	shown := g.columns()
	h := gridHead{Grid: g, Label: g.label(), Who: strings.TrimPrefix(g.who(), "members: "), Many: len(g.Cells) > mostCells, Below: g.below()}
	for _, c := range shown {
		h.Columns = append(h.Columns, c.says)
	}
	for _, cell := range g.Cells {
		line := gridLine{Cell: cell.Cell, Done: cell.done()}
		for _, c := range shown {
			v := gridValue{Value: tenths(cell.Metrics[c.name])}
			if r := cell.Metrics[c.name]; r != nil {
				v.Interval, v.N = spread(r), fmt.Sprintf("n %d", r.N)
			}
			line.Values = append(line.Values, v)
		}
		h.Lines = append(h.Lines, line)
	}
	return h
}

type versusLine struct{ Cell, Metric, Paper, Ours, Interval, N, Verdict, Class string }

// versusLines are the lines of versus with the colours of their verdicts.
func (g *Grid) versusLines() (lines []versusLine) {
	classes := map[string]string{Reproduced: "right", Differs: "wrong", Inconclusive: "none"}
	plainLines := g.versus()[1:]
	for _, c := range g.Cells {
		for _, metric := range c.metrics() {
			l := plainLines[len(lines)]
			class := classes[c.Verdict[metric]]
			if slices.Contains(c.Assumed, metric) {
				class = "" // it says nothing
			}
			lines = append(lines, versusLine{l[0], l[1], l[2], l[3], l[4], l[5], l[6], class})
		}
	}
	return lines
}

// headline are the rates of a folded cell.
var headline = []string{"iaa", "faa", "ra", "valid", "invalid", "premature", "none"}

// summary is a cell in one line.
func (c *Cell) summary() string {
	s := c.done()
	for _, column := range columns {
		if r := c.Metrics[column.name]; r != nil && slices.Contains(headline, column.name) {
			s += fmt.Sprintf(" · %s %s", column.says, tenths(r))
		}
	}
	return s
}
