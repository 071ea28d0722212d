package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/metrics"
)

// group is who a line or a pair of bars is about.
type group struct {
	name   string
	colour color.RGBA
	shape  draw.GlyphDrawer
	round  func(metrics.Round) *metrics.Rate
	change *metrics.Change
}

func (r *Report) groups() []group {
	groups := []group{{"all", allColour, draw.CircleGlyph{}, func(m metrics.Round) *metrics.Rate { return m.Accuracy },
		&metrics.Change{Before: r.Metrics.IAA, After: r.Metrics.FAA}}}
	if r.Groups.Strong != nil {
		groups = append(groups, group{"strong", strongColour, draw.BoxGlyph{}, func(m metrics.Round) *metrics.Rate { return m.Strong }, r.Groups.Strong})
	}
	if r.Groups.Weak != nil {
		groups = append(groups, group{"weak", weakColour, draw.PyramidGlyph{}, func(m metrics.Round) *metrics.Rate { return m.Weak }, r.Groups.Weak})
	}
	return groups
}

const membersNote = "Members that answer one question do not err independently, so the intervals are narrower than the truth. " +
	"In “all” adversaries count as wrong; groups are of honest members."

// accuracyPlot is the share of members that are right after every round.
func accuracyPlot(r *Report) *Plot {
	f := &Plot{
		Name: "accuracy", Title: r.titled("Members right after every round"),
		Caption: "Share of members that are right after every round (0: before hearing anyone), with Wilson’s 95 % interval; a question that ended earlier stays as it ended. " + membersNote,
		Rows:    [][]string{append([]string{"members_kind", "group", "round"}, rateColumns...)},
	}
	head, some := []string{"round"}, false
	for _, g := range r.groups() {
		head = append(head, g.name)
	}
	f.Table = append(f.Table, head)
	for _, m := range r.Rounds {
		line := []string{fmt.Sprint(m.T)}
		for _, g := range r.groups() {
			some = some || g.round(m) != nil
			line = append(line, told(g.round(m)))
			f.Rows = append(f.Rows, append([]string{r.kindsCell(), g.name, fmt.Sprint(m.T)}, rateCells(g.round(m))...))
		}
		f.Table = append(f.Table, line)
	}
	if !some {
		return nil
	}
	f.SVG, f.PNG = drawn(r.accuracyChart)
	return f
}

func (r *Report) accuracyChart() (chart, error) {
	c := newChart(r.titled("Members right after every round"))
	c.X.Label.Text = "round"
	groups := r.groups()
	for k, g := range groups {
		aside := .012 * float64(len(r.Rounds)) * (float64(k) - float64(len(groups)-1)/2) // intervals stand side by side
		var line plotter.XYs
		for _, m := range r.Rounds {
			if rate := g.round(m); rate != nil {
				at := float64(m.T) + aside
				line = append(line, plotter.XY{X: at, Y: rate.Value})
				if err := c.interval(at, rate, g.colour); err != nil {
					return c, err
				}
			}
		}
		if len(line) == 0 {
			continue
		}
		lines, points, err := plotter.NewLinePoints(line)
		if err != nil {
			return c, err
		}
		lines.Color, lines.Width = g.colour, vg.Points(1.5)
		points.Color, points.Shape, points.Radius = g.colour, g.shape, vg.Points(3)
		c.Add(lines, points)
		c.explain(g.name, lines, points)
	}
	last := 0
	var names []plot.Tick
	for _, m := range r.Rounds {
		last = max(last, m.T)
		names = append(names, plot.Tick{Value: float64(m.T), Label: fmt.Sprint(m.T)})
	}
	c.fix(-.3, float64(last)+.3, thinned(names))
	return c, nil
}

// thinned drops names where there are more than fit.
func thinned(names []plot.Tick) []plot.Tick {
	step := (len(names) + 19) / 20
	for k := range names {
		if k%step != 0 {
			names[k].Label = ""
		}
	}
	return names
}

// groupsPlot is the share of right answers before and after the rounds, by group.
func groupsPlot(r *Report) *Plot {
	f := &Plot{
		Name: "groups", Title: r.titled("Members right before and after the rounds"),
		Caption: "Share of right answers before the rounds (pale) and after (full), with Wilson’s 95 % interval. " + membersNote,
		Rows:    [][]string{append([]string{"members_kind", "group", "when"}, rateColumns...)},
		Table:   [][]string{{"members", "before", "after"}},
	}
	some := false
	for _, g := range r.groups() {
		some = some || g.change.Before != nil || g.change.After != nil
		f.Table = append(f.Table, []string{g.name, told(g.change.Before), told(g.change.After)})
		f.Rows = append(f.Rows,
			append([]string{r.kindsCell(), g.name, "before"}, rateCells(g.change.Before)...),
			append([]string{r.kindsCell(), g.name, "after"}, rateCells(g.change.After)...))
	}
	if !some {
		return nil
	}
	f.SVG, f.PNG = drawn(r.groupsChart)
	return f
}

func (r *Report) groupsChart() (chart, error) {
	c := newChart(r.titled("Members right before and after the rounds"))
	var names []plot.Tick
	for k, g := range r.groups() {
		names = append(names, plot.Tick{Value: float64(k), Label: g.name})
		for _, bar := range []struct {
			aside float64
			fill  color.Color
			rate  *metrics.Rate
		}{{-.18, pale(g.colour), g.change.Before}, {.18, g.colour, g.change.After}} {
			if bar.rate == nil {
				continue
			}
			at := float64(k) + bar.aside
			box, err := plotter.NewPolygon(plotter.XYs{{X: at - .16, Y: 0}, {X: at - .16, Y: bar.rate.Value}, {X: at + .16, Y: bar.rate.Value}, {X: at + .16, Y: 0}})
			if err != nil {
				return c, err
			}
			box.Color, box.LineStyle.Color, box.Width = bar.fill, g.colour, vg.Points(.75)
			c.Add(box)
			if err := c.interval(at, bar.rate, allColour); err != nil {
				return c, err
			}
		}
	}
	c.explain("before", swatch{pale(allColour)})
	c.explain("after", swatch{allColour})
	c.fix(-.6, float64(len(names))-.4, names)
	return c, nil
}

// pale mixes a colour with three parts of white to two of it.
func pale(c color.RGBA) color.RGBA {
	mix := func(v uint8) uint8 { return uint8((2*int(v) + 3*255) / 5) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// swatch is a square of one colour in a legend.
type swatch struct{ colour color.Color }

// Thumbnail draws it.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.colour, c.ClipPolygonXY([]vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}}))
}
