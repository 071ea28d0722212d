package report

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/internal/chart"
	"synod.dev/synod/internal/order"
)

// rates draws bars or lines; nil without figures.
func (d *specPlot) rates(g *Grid) *Plot {
	if d.find(); len(d.points) == 0 {
		return nil
	}
	note := paperNote(d.cells, d.names())
	by := []string{prose(d.label(d.X))}
	for _, name := range []string{d.Series, d.Panels} {
		if name != "" {
			by = append(by, prose(d.label(name)))
		}
	}
	f := &Plot{Title: g.titled(d.title()), Caption: strings.TrimSpace(fmt.Sprintf("%s by %s, with 95 %% intervals.",
		d.label(d.Y), strings.Join(by, ", ")) + note)}
	f.fill(d.cells, d.Params(), d.names())
	f.draw(func() *picture { return d.draw(f.Title, note != "") })
	return f
}

func (d *specPlot) draw(title string, paper bool) *picture {
	titles, series := d.values(d.Panels), d.values(d.Series)
	p := newPanels(title, min(cmp.Or(d.Columns, 2), len(titles)), 190)
	if len(titles) == 1 {
		p.row = 280
	}
	for k, panel := range titles {
		c := p.add(d.label(panel))
		if d.Kind == "bars" {
			d.drawBars(c, panel, series)
		} else {
			d.drawLines(c, panel, series)
		}
		if p.inLastRow(k, len(titles)) {
			c.X.Label.Text = prose(d.label(d.X))
		}
		if d.Title != "" && d.Y != "" && !strings.Contains(d.Y, " ") { // else the title or the legend says it
			c.Y.Label.Text = prose(d.label(d.Y))
		}
	}
	d.explain(p, series, paper)
	return p
}

// explain fills the legend.
func (d *specPlot) explain(p *picture, series []string, paper bool) {
	for k, name := range series {
		text := d.label(name)
		if _, err := strconv.ParseFloat(text, 64); err == nil { // a number alone says nothing
			text = prose(d.label(d.Series)) + " " + text
		}
		if name == "" {
			text = "ours"
		}
		if d.Kind == "bars" {
			p.addLegend(text, chart.Swatch(seriesInk(k)))
			continue
		}
		p.addLegend(text, rule(seriesInk(k), nil), sign(seriesInk(k), lineShapes[k%len(lineShapes)]))
	}
	switch {
	case !paper:
	case d.Kind == "bars":
		p.addLegend("the paper", chart.Sign(paperMark))
	default:
		p.addLegend("the paper", rule(chart.Ink, dashes), sign(chart.Ink, chart.Diamond))
	}
}

func seriesInk(k int) color.RGBA { return lineColours[k%len(lineColours)] }

// fixAxes sets the vertical axis: of shares from 0 to 100 %, of counts to the highest value.
func (d *specPlot) fixAxes(c *rateChart, panel string, low, high float64, ticks plot.ConstantTicks) {
	top, count, least, most := 1.0, false, 0.0, 1.0
	for _, p := range d.points {
		if d.separate() && !slices.Contains(strings.Fields(panel), p.metric) {
			continue
		}
		for _, r := range []*metrics.Rate{p.ours(), p.paper()} {
			if r != nil {
				least, most = min(least, r.Low), max(most, r.High)
			}
			if r != nil && r.Count {
				top, count = max(top, r.High*1.05), true
			}
		}
	}
	c.fix(low, high, ticks)
	switch {
	case count:
		bottom := 1.05 * least
		c.Y.Min, c.Y.Max, c.Y.Tick.Marker = bottom, top, wholeTicks(bottom, top)
	case least < 0: // a gain
		c.Y.Min, c.Y.Max = 1.05*least, most // ticks outside the range are not drawn
		c.Y.Tick.Marker = append(plot.ConstantTicks{{Value: -1, Label: "-100 %"}, {Value: -.5, Label: "-50 %"}},
			percentTicks(50)...)
	}
}

// separate reports whether panels have different figures, so that each figure has its own vertical axis.
func (d *specPlot) separate() bool { return slices.Contains(strings.Fields(d.Panels), byMetric) }

// drawBars draws a group of bars for every value of x, a bar for every series.
func (d *specPlot) drawBars(c *rateChart, panel string, series []string) {
	groups := d.values(d.X)
	width := .8 / float64(len(series))
	var ticks plot.ConstantTicks
	for k, name := range groups {
		ticks = append(ticks, plot.Tick{Value: float64(k), Label: shorten(prose(d.label(name)), 22)})
	}
	for k, name := range series {
		for _, p := range d.at(panel, name) {
			x := float64(slices.Index(groups, p.value(d.X))) - .4 + width*(float64(k)+.5)
			ours, paper, aside := p.ours(), p.paper(), 0.0
			if paper != nil {
				aside = width / 4
			}
			if ours != nil {
				c.box(x-width*.45, 0, x+width*.45, ours.Value, seriesInk(k), seriesInk(k))
				c.interval(x-aside, ours, chart.Ink)
			}
			if paper != nil {
				c.interval(x+aside, paper, chart.Plum)
				c.dot(x+aside, paper.Value, paperMark)
			}
		}
	}
	d.fixAxes(c, panel, -.6, float64(len(groups))-.4, ticks)
}

// drawLines draws a line for every series over the numbers of x. Points at the same place are drawn slightly apart.
// Intervals are drawn first and the paper's figures last, so that none hides another.
func (d *specPlot) drawLines(c *rateChart, panel string, series []string) {
	low, high, ticks := d.numbers()
	distance := (high - low) * min(.018, .09/float64(len(series)))
	draw := func(each func(points []*point, at func(i int) float64, k int)) {
		for k, name := range series {
			points := d.at(panel, name)
			slices.SortStableFunc(points, func(a, b *point) int { return cmp.Compare(a.number(d.X), b.number(d.X)) })
			aside := distance * (float64(k) - float64(len(series)-1)/2)
			each(points, func(i int) float64 { return points[i].number(d.X) + aside }, k)
		}
	}
	draw(func(points []*point, at func(i int) float64, k int) {
		for i, p := range points {
			if r := p.ours(); r != nil {
				c.interval(at(i), r, seriesInk(k))
			}
		}
	})
	draw(func(points []*point, at func(i int) float64, k int) {
		for segment := range segments(len(points), at, func(i int) *metrics.Rate { return points[i].ours() }) {
			c.path(segment, chart.Stroke(seriesInk(k), 1.5),
				mark(seriesInk(k), lineShapes[k%len(lineShapes)]))
		}
	})
	draw(func(points []*point, at func(i int) float64, k int) {
		for segment := range segments(len(points), at, func(i int) *metrics.Rate { return points[i].paper() }) {
			ink := seriesInk(k)
			c.path(segment, chart.Stroke(ink, 1, dashes...), mark(ink, chart.Diamond))
		}
	})
	margin := max((high-low)/12, .1)
	d.fixAxes(c, panel, low-margin, high+margin, ticks)
}

// numbers returns the range of x and its ticks.
func (d *specPlot) numbers() (low, high float64, ticks plot.ConstantTicks) {
	for k, p := range d.points {
		x := p.number(d.X)
		if k == 0 {
			low, high = x, x
		}
		low, high = min(low, x), max(high, x)
		if !slices.ContainsFunc(ticks, func(t plot.Tick) bool { return t.Value == x }) {
			ticks = append(ticks, plot.Tick{Value: x, Label: number(x)})
		}
	}
	order.Sort(ticks, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
	return low, high, thinned(apart(ticks, (high-low)/narrowest))
}

// narrowest is how many labels of numbers fit beside one another.
const narrowest = 25

// apart takes away the labels that are nearer than a distance to the label before them.
func apart(ticks plot.ConstantTicks, distance float64) plot.ConstantTicks {
	last := math.Inf(-1)
	for k := range ticks {
		if ticks[k].Value-last < distance {
			ticks[k].Label = ""
			continue
		}
		last = ticks[k].Value
	}
	return ticks
}
