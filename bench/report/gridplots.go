package report

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/chart"
)

// label names the members that are not live models. Cells without members are
// labelled as computed.
func (g *Grid) label() string {
	if len(g.MembersKind) == 0 && slices.ContainsFunc(g.Cells, func(c Cell) bool { return c.How != "" }) {
		return "computed, no members"
	}
	return g.Report.label()
}

func (g *Grid) titled(title string) string { return withLabel(title, g.label()) }

// fill sets a plot's data and table: a row per metric of a cell, with the named
// parameters.
func (f *Plot) fill(cells []Cell, params, metricNames []string) {
	f.Data = &table.Table{Head: slices.Concat([]string{"members_kind", "cell"}, params, []string{"metric"}, rateColumns,
		[]string{"paper", "paper_n", "paper_low", "paper_high", "verdict", "assumed"})}
	f.Table = &table.Table{Head: slices.Concat([]string{"cell"}, params,
		[]string{"metric", "ours", "paper", "verdict"})}
	for range params {
		f.Table.Align += "l"
	}
	f.Table.Align += "llrrl"
	for i := range cells {
		c := &cells[i]
		var values []string
		for _, p := range params {
			values = append(values, c.param(p))
		}
		for _, name := range metricNames {
			ours, paper := c.Metrics[name], c.published(name)
			if ours == nil && paper == nil {
				continue
			}
			paperCells, paperText := rateCells(paper), ""
			switch {
			case paper == nil:
			case paper.N == 0: // no interval
				paperCells[2], paperCells[3] = "", ""
				paperText = percent(paper)
			default:
				paperText = full(paper)
			}
			f.Data.Rows = append(f.Data.Rows, slices.Concat([]string{c.kindsCell(), c.Cell}, values, []string{name},
				rateCells(ours), paperCells,
				[]string{c.Verdict[name], plain(c.Assumed[name])}))
			f.Table.Rows = append(f.Table.Rows, slices.Concat([]string{c.Cell}, values,
				[]string{name, full(ours), paperText, c.verdictText(name)}))
		}
	}
}

// paperNote is the end of the caption of plots with a paper's figures.
func paperNote(cells []Cell, metricNames []string) string {
	for i := range cells {
		for _, name := range metricNames {
			if cells[i].published(name) != nil {
				return " Diamonds are the paper’s figures, with the interval of a share over the paper’s number of " +
					"questions."
			}
		}
	}
	return ""
}

// bars describes a plot with a row per cell and a panel per group of bars.
type bars struct {
	name, title, caption string
	panels               []barPanel
	legend               []barLegend
}

type barPanel struct {
	title string
	bars  []bar // one or two, from the top
}

type bar struct {
	metric       string
	fill, stroke color.RGBA
}

type barLegend struct {
	name string
	fill color.RGBA
}

func beforeAfter(before, after string, ink color.RGBA) []bar {
	return []bar{{before, chart.Pale(ink), ink}, {after, ink, ink}}
}

func one(metric string, ink color.RGBA) []bar { return []bar{{metric, chart.Pale(ink), ink}} }

var beforeAfterBars = bars{
	name: "before-after", title: "Members right before and after the rounds",
	caption: "Share of right answers before the rounds (pale) and after (full), with 95 % intervals. " + membersNote,
	panels: []barPanel{
		{"all (IAA, FAA)", beforeAfter("iaa", "faa", chart.Ink)},
		{"strong", beforeAfter("strong_before", "strong_after", chart.Blue)},
		{"weak", beforeAfter("weak_before", "weak_after", chart.Orange)},
	},
	legend: []barLegend{{"before", chart.Pale(chart.Ink)}, {"after", chart.Ink}},
}

var decisionBars = bars{
	name: "decisions", title: "Questions decided rightly",
	caption: "Share of questions, with the 95 % interval by question: plurality of all seats right (RA), plurality " +
		"of the honest seats right (H-Majority), decision right (of those made), and captured by an adversary.",
	panels: []barPanel{
		{"plurality (RA)", one("ra", chart.Ink)},
		{"honest plurality", one("h_majority", chart.Blue)},
		{"decided rightly", one("decision_accuracy", chart.Green)},
		{"captured", one("capture", chart.Vermilion)},
	},
}

var outcomeBars = bars{
	name: "outcomes", title: "How games ended",
	caption: "Share of games, with Wilson’s 95 % interval. Valid: all honest players hold the same number, which an " +
		"honest player was given; invalid: the same number, which no honest player was given; premature: different " +
		"numbers; none: no player ended the game in time.",
	panels: []barPanel{
		{"valid", one("valid", chart.Green)},
		{"invalid", one("invalid", chart.Orange)},
		{"premature", one("premature", chart.Vermilion)},
		{"none", one("none", chart.Ink)},
	},
}

// plot returns no plot if there is no data or there are too many cells.
func (b bars) plot(g *Grid) []Plot {
	cells := g.selectCells(func(c Cell) bool { return c.has(b.metrics()...) })
	if len(cells) == 0 || len(cells) > maxPlotCells {
		return nil
	}
	b.panels = slices.DeleteFunc(slices.Clone(b.panels), func(p barPanel) bool {
		return !slices.ContainsFunc(cells, func(c Cell) bool {
			return slices.ContainsFunc(p.bars, func(bar bar) bool { return c.has(bar.metric) })
		})
	})
	f := Plot{Name: b.name, Title: g.titled(b.title), Caption: b.caption + paperNote(cells, b.metrics()), wide: true}
	f.fill(cells, nil, b.metrics())
	f.draw(func() *picture { return b.draw(f.Title, cells) })
	return []Plot{f}
}

func (b *bars) metrics() (names []string) {
	for _, p := range b.panels {
		for _, bar := range p.bars {
			names = append(names, bar.metric)
		}
	}
	return names
}

func (b *bars) draw(title string, cells []Cell) *picture {
	rowHeight := vg.Length(14)
	if len(b.panels[0].bars) > 1 {
		rowHeight = 28
	}
	p := newPanels(title, len(b.panels), 44+rowHeight*vg.Length(len(cells)))
	for k, panel := range b.panels {
		c := p.add(panel.title)
		c.rowPerCell(cells, k == 0)
		for i := range cells {
			panel.drawRow(c, float64(len(cells)-1-i), &cells[i])
		}
		c.X.Min, c.X.Max = 0, 1
		c.X.Tick.Marker = percentTicks(50)
	}
	for _, e := range b.legend {
		p.addLegend(e.name, chart.Swatch(e.fill))
	}
	if paperNote(cells, b.metrics()) != "" {
		p.addLegend("the paper", chart.Sign(paperMark))
	}
	return p
}

// drawRow draws the bars of a cell at height y, each with our interval in its upper
// half and the paper's in its lower half.
func (p *barPanel) drawRow(c *rateChart, y float64, cell *Cell) {
	thickness := .8 / float64(len(p.bars))
	for k, bar := range p.bars {
		middle := y + thickness*(float64(len(p.bars)-1)/2-float64(k))
		ours, paper := cell.Metrics[bar.metric], cell.published(bar.metric)
		aside := 0.0
		if paper != nil {
			aside = thickness / 4
		}
		if ours != nil {
			c.box(0, middle-thickness/2, ours.Value, middle+thickness/2, bar.fill, bar.stroke)
			c.intervalAcross(middle+aside, ours, chart.Ink)
		}
		if paper != nil {
			c.intervalAcross(middle-aside, paper, chart.Plum)
			c.dot(paper.Value, middle-aside, paperMark)
		}
	}
}

// rowPerCell makes the vertical axis one of cells, from the top, with or without
// their names.
func (c *rateChart) rowPerCell(cells []Cell, named bool) (ticks plot.ConstantTicks) {
	for i := range cells {
		tick := plot.Tick{Value: float64(len(cells) - 1 - i), Label: " "} // without a label it had no line in the grid
		if named {
			tick.Label = shorten(plain(cells[i].Cell), 40)
		}
		ticks = append(ticks, tick)
	}
	c.Y.Tick.Marker, c.Y.Tick.Length = ticks, 0
	c.Y.Min, c.Y.Max = -.6, float64(len(cells))-.4
	return ticks
}

// roundsPlot shows the share of right answers of weak and of strong members after
// every round, with a panel per cell, beside the paper's figures.
func roundsPlot(g *Grid) []Plot {
	last, names := 0, []string(nil)
	for _, c := range g.Cells {
		for _, m := range c.Rounds {
			last = max(last, m.T)
		}
	}
	for _, group := range []string{metrics.Weak, metrics.Strong} {
		for t := range last + 1 {
			names = append(names, roundMetric(group, t))
		}
	}
	cells := g.selectCells(func(c Cell) bool { return c.has(names...) })
	if len(cells) == 0 || len(cells) > maxPlotCells || last < 2 { // a single round is in the plot before-after
		return nil
	}
	f := Plot{
		Name: "rounds", Title: g.titled("Members right after every round"), wide: true,
		Caption: "Share of right answers of weak and of strong members " + roundsNote,
	}
	if paperNote(cells, names) != "" {
		f.Caption += " Dashed lines with open marks are the paper’s."
	}
	f.fill(cells, nil, names)
	f.draw(func() *picture { return drawRounds(f.Title, cells, last) })
	return []Plot{f}
}

// roundLine is how a group is drawn: our mark and the paper's, and the offset of our
// line.
type roundLine struct {
	group       string
	ink         color.RGBA
	ours, paper draw.GlyphDrawer
	aside       float64
}

var roundLines = []roundLine{
	{metrics.Strong, chart.Blue, chart.Square, chart.OpenSquare, .05},
	{metrics.Weak, chart.Orange, chart.Triangle, chart.OpenTriangle, -.05},
}

func drawRounds(title string, cells []Cell, last int) *picture {
	p := newPanels(title, min(3, len(cells)), 150)
	for i := range cells {
		c := p.add(cells[i].Cell)
		for _, l := range roundLines {
			l.draw(c, &cells[i], last)
		}
		c.fix(-.3, float64(last)+.3, roundTicks(last))
		c.Y.Tick.Marker = percentTicks(50)
		if p.inLastRow(i, len(cells)) {
			c.X.Label.Text = "round"
		}
	}
	for _, l := range roundLines {
		p.addLegend(l.group, rule(l.ink, nil), sign(l.ink, l.ours))
	}
	if slices.ContainsFunc(cells, func(c Cell) bool {
		return c.published(roundMetric(metrics.Weak, 0)) != nil || c.published(roundMetric(metrics.Strong, 0)) != nil
	}) {
		for _, l := range roundLines {
			p.addLegend(l.group+", the paper", rule(l.ink, dashes), sign(l.ink, l.paper))
		}
	}
	return p
}

func (l roundLine) draw(c *rateChart, cell *Cell, last int) {
	var ours, paper plotter.XYs
	for t := range last + 1 {
		if r := cell.published(roundMetric(l.group, t)); r != nil {
			paper = append(paper, plotter.XY{X: float64(t), Y: r.Value})
		}
		if r := cell.Metrics[roundMetric(l.group, t)]; r != nil {
			ours = append(ours, plotter.XY{X: float64(t) + l.aside, Y: r.Value})
			c.interval(float64(t)+l.aside, r, l.ink)
		}
	}
	c.path(paper, chart.Stroke(l.ink, 1, dashes...),
		mark(l.ink, l.paper))
	c.path(ours, chart.Stroke(l.ink, 1.5), mark(l.ink, l.ours))
}
