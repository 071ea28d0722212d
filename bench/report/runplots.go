package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
	"synod.dev/synod/graph"
	graphdraw "synod.dev/synod/graph/draw"
	"synod.dev/synod/internal/chart"
)

// group is what one line or pair of bars shows.
type group struct {
	name   string
	colour color.RGBA
	shape  draw.GlyphDrawer
	round  func(metrics.Round) *metrics.Rate
	change *metrics.RateChange
}

func (r *Report) groups() []group {
	groups := []group{{"all", chart.Ink, chart.Circle, func(m metrics.Round) *metrics.Rate { return m.Accuracy },
		&metrics.RateChange{Before: r.Metrics.IAA, After: r.Metrics.FAA}}}
	if r.Groups.Strong != nil {
		groups = append(groups, group{"strong", chart.Blue, chart.Square,
			func(m metrics.Round) *metrics.Rate { return m.Strong }, r.Groups.Strong})
	}
	if r.Groups.Weak != nil {
		groups = append(groups, group{"weak", chart.Orange, chart.Triangle,
			func(m metrics.Round) *metrics.Rate { return m.Weak }, r.Groups.Weak})
	}
	return groups
}

// accuracyPlot shows the share of members that are right after every round.
func accuracyPlot(r *Report) *Plot {
	f := &Plot{
		Name: "accuracy", Title: r.titled("Members right after every round"),
		Caption: "Share of members that are right " + roundsNote + " " + membersNote,
		Data:    dataTable("group", "round"),
		Table:   &table.Table{Head: []string{"round"}, Align: "lr"},
	}
	any := false
	for _, g := range r.groups() {
		f.Table.Head = append(f.Table.Head, g.name)
	}
	for _, m := range r.Rounds {
		row := []string{fmt.Sprint(m.T)}
		for _, g := range r.groups() {
			any = any || g.round(m) != nil
			row = append(row, full(g.round(m)))
			addRow(f.Data, r.kindsCell(), g.round(m), g.name, fmt.Sprint(m.T))
		}
		f.Table.Rows = append(f.Table.Rows, row)
	}
	if !any {
		return nil
	}
	f.draw(func() *picture { return r.accuracyChart() })
	return f
}

func (r *Report) accuracyChart() *picture {
	c := newChart()
	p := alone(r.titled("Members right after every round"), c)
	c.X.Label.Text = "round"
	groups, last := r.groups(), 0
	for k, g := range groups {
		aside := besides(k, len(groups), len(r.Rounds))
		var line plotter.XYs
		for _, m := range r.Rounds {
			last = max(last, m.T)
			if rate := g.round(m); rate != nil {
				at := float64(m.T) + aside
				line = append(line, plotter.XY{X: at, Y: rate.Value})
				c.interval(at, rate, g.colour)
			}
		}
		p.legendLine(c, g.name, line, g.colour, g.shape)
	}
	c.fix(-.3, float64(last)+.3, roundTicks(last))
	return p
}

// besides returns how far from its round line k of n is drawn, so that intervals stand side by side: a fortieth of the
// axis apart, or less if the lines of one round would reach those of the next.
func besides(k, n, rounds int) float64 {
	return min((float64(max(rounds, 1))-.4)/40, .7/float64(n)) * (float64(k) - float64(n-1)/2)
}

// modelsPlot shows the share of right answers of every model after every round.
func modelsPlot(r *Report) *Plot {
	models := r.ratedModels()
	if len(models) < 2 {
		return nil
	}
	f := &Plot{
		Name: "accuracy-by-model", Title: r.titled("Right answers of each model after every round"),
		Caption: "Share of right answers of the honest members of each model " + roundsNote,
		Data:    dataTable("model", "round"),
		Table:   &table.Table{Head: []string{"model"}, Align: "lr"},
	}
	for t := range models[0].Rounds {
		f.Table.Head = append(f.Table.Head, fmt.Sprint("round ", t))
	}
	for _, m := range models {
		row := []string{m.name()}
		for t, rate := range m.Rounds {
			row = append(row, full(rate))
			addRow(f.Data, r.kindsCell(), rate, m.Model, fmt.Sprint(t))
		}
		f.Table.Rows = append(f.Table.Rows, row)
	}
	f.draw(func() *picture { return r.modelsChart(models) })
	return f
}

// ratedModels returns the models that have answers which could be right.
func (r *Report) ratedModels() []Model {
	return slices.DeleteFunc(slices.Clone(r.Models), func(m Model) bool {
		return !slices.ContainsFunc(m.Rounds, func(rate *metrics.Rate) bool { return rate != nil })
	})
}

func (r *Report) modelsChart(models []Model) *picture {
	c := newChart()
	p := alone(r.titled("Right answers of each model after every round"), c)
	c.X.Label.Text = "round"
	last := 0
	for k, m := range models {
		var line plotter.XYs
		ink := chart.Series[k%len(chart.Series)]
		last = max(last, len(m.Rounds)-1)
		for t, rate := range m.Rounds {
			if rate != nil {
				at := float64(t) + besides(k, len(models), len(m.Rounds))
				line = append(line, plotter.XY{X: at, Y: rate.Value})
				c.interval(at, rate, ink)
			}
		}
		p.legendLine(c, m.Model, line, ink, lineShapes[(k+k/len(chart.Series))%len(lineShapes)])
	}
	c.fix(-.4, float64(last)+.4, roundTicks(last))
	return p
}

// legendLine draws a line with marks, and adds it to the legend. Without points it
// does nothing.
func (p *picture) legendLine(c rateChart, name string, points plotter.XYs, ink color.RGBA, shape draw.GlyphDrawer) {
	if len(points) > 0 {
		p.addLegend(name, rule(ink, nil), sign(ink, shape))
		c.path(points, chart.Stroke(ink, 1.5), mark(ink, shape))
	}
}

// groupsPlot shows the share of right answers before and after the rounds, by group.
func groupsPlot(r *Report) *Plot {
	f := &Plot{
		Name: "groups", Title: r.titled("Members right before and after the rounds"),
		Caption: "Share of right answers before the rounds (pale) and after (full), with the 95 % interval by " +
			"question. " + membersNote,
		Data:  dataTable("group", "when"),
		Table: &table.Table{Head: []string{"members", "before", "after"}, Align: "lr"},
	}
	any := false
	for _, g := range r.groups() {
		any = any || g.change.Before != nil || g.change.After != nil
		f.Table.Add(g.name, full(g.change.Before), full(g.change.After))
		addRow(f.Data, r.kindsCell(), g.change.Before, g.name, "before")
		addRow(f.Data, r.kindsCell(), g.change.After, g.name, "after")
	}
	if !any {
		return nil
	}
	f.draw(func() *picture { return r.groupsChart() })
	return f
}

func (r *Report) groupsChart() *picture {
	c := newChart()
	p := alone(r.titled("Members right before and after the rounds"), c)
	var names plot.ConstantTicks
	for k, g := range r.groups() {
		names = append(names, plot.Tick{Value: float64(k), Label: g.name})
		for _, bar := range []struct {
			aside float64
			fill  color.RGBA
			rate  *metrics.Rate
		}{{-.18, chart.Pale(g.colour), g.change.Before}, {.18, g.colour, g.change.After}} {
			if bar.rate == nil {
				continue
			}
			at := float64(k) + bar.aside
			c.box(at-.16, 0, at+.16, bar.rate.Value, bar.fill, g.colour)
			c.interval(at, bar.rate, chart.Ink)
		}
	}
	p.addLegend("before", chart.Swatch(chart.Pale(chart.Ink)))
	p.addLegend("after", chart.Swatch(chart.Ink))
	c.fix(-.6, float64(len(names))-.4, names)
	return p
}

// calibrationPlot is the reliability diagram: the share of right answers by confidence.
func calibrationPlot(r *Report) *Plot {
	if r.Calibration == nil || len(r.Calibration.Models) == 0 {
		return nil
	}
	f := &Plot{
		Name: "calibration", Title: r.titled("Right answers by confidence"),
		Caption: "Share of right answers by the confidence that was given with them, in ten bins, with the 95 % " +
			"interval by question; a panel for each model. " +
			"On the dotted line the confidence equals the share. Only honest members’ own first answers count.",
		Data:  dataTable("model", "from", "to", "confidence"),
		Table: &table.Table{Head: []string{"model", "mean confidence", "right"}, Align: "lr"},
	}
	for _, m := range r.Calibration.Models {
		for _, bin := range m.Bins {
			if bin.N == 0 {
				continue
			}
			addRow(f.Data, r.kindsCell(), bin.Right, m.Model, number(bin.From), number(bin.To), number(*bin.Confidence))
			f.Table.Add(m.Model, fmt.Sprintf("%.2f", *bin.Confidence), full(bin.Right))
		}
	}
	f.wide = len(r.Calibration.Models) > 1
	f.draw(func() *picture { return r.calibrationPanels() })
	return f
}

// calibrationPanels has a panel for each model, so that no model hides another.
func (r *Report) calibrationPanels() *picture {
	models := r.Calibration.Models
	p := newPanels(r.titled("Right answers by confidence"), min(len(models), 3), 2.8*vg.Inch)
	for k, m := range models {
		c := p.add(m.Model)
		c.X.Label.Text = "confidence"
		if k%p.Columns == 0 {
			c.Y.Label.Text = "right, with 95 % interval"
		}
		c.reliability(m.Bins, chart.Series[k%len(chart.Series)])
	}
	return p
}

// reliability draws bins of confidence.
func (c *rateChart) reliability(bins []metrics.Bin, ink color.RGBA) {
	diagonal := chart.Stroke(chart.Ink, 1, 1, 3)
	c.Line(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}, diagonal)
	var line plotter.XYs
	for _, bin := range bins {
		if bin.N == 0 {
			continue
		}
		line = append(line, plotter.XY{X: *bin.Confidence, Y: bin.Right.Value})
		c.interval(*bin.Confidence, bin.Right, ink)
	}
	c.path(line, chart.Stroke(ink, 1.5), mark(ink, chart.Circle))
	var ticks plot.ConstantTicks
	for k := range 6 {
		ticks = append(ticks, plot.Tick{Value: float64(k) / 5, Label: fmt.Sprintf("%.1f", float64(k)/5)})
	}
	c.fix(0, 1, ticks)
}

// dropsPlot shows which members dropped whose answers: seats as nodes, and an arrow
// from i to j that is the wider, the more often i dropped j's answer.
func dropsPlot(r *Report) *Plot {
	at := map[string]int{}
	d := graphdraw.Drawing{Title: r.titled("Members that dropped answers of others"), Layout: "circle"}
	for i, m := range r.Seats {
		at[m.ID] = i
		d.Names, d.Roles = append(d.Names, plain(m.ID)), append(d.Roles, m.drawingRole())
	}
	share := map[[2]int]float64{}
	var arrows [][2]int
	f := &Plot{
		Name: "dropped", Title: d.Title,
		Caption: "The wider and darker an arrow from one member to another, the larger the share of rounds in which " +
			"the first dropped the other’s answer, of those in which it dropped or retained it. Without an arrow it " +
			"never did. Arrows of an adversary show what it noted, which need not be what it did.",
		Data:  dataTable("by", "by_role", "of", "of_role", "dropped"),
		Table: members(r.Seats).pairTable(),
	}
	for _, p := range r.Drops {
		i, knownBy := at[p.By]
		j, knownOf := at[p.Of]
		if !knownBy || !knownOf || i == j {
			continue
		}
		if p.Dropped > 0 {
			share[[2]int{i, j}] = p.Share.Value
			arrows = append(arrows, [2]int{i, j})
		}
		f.Table.Rows[i][j+1] = fmt.Sprintf("%d of %d", p.Dropped, p.Share.N)
		addRow(f.Data, r.kindsCell(), p.Share, p.By, d.Roles[i], p.Of, d.Roles[j], fmt.Sprint(p.Dropped))
	}
	g, err := graph.New(len(r.Seats), true, arrows)
	if len(arrows) == 0 || err != nil { // an error would mean two seats with one name, which no council has
		return nil
	}
	d.Graph = g
	d.Weight = func(u, v int) float64 { return share[[2]int{u, v}] }
	f.file = d.File
	return f
}

// pairTable has a row per member that dropped and a column per member whose answers
// it dropped.
func (m members) pairTable() *table.Table {
	t := &table.Table{Head: []string{"dropped ↓ whose →"}, Align: "lr"}
	for i, seat := range m {
		t.Head = append(t.Head, seat.ID)
		t.Rows = append(t.Rows, append([]string{seat.ID}, make([]string, len(m))...))
		t.Rows[i][i+1] = "·"
	}
	return t
}
