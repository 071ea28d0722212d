// Package chart has the style that all drawings of Synod share, on top of gonum/plot: one palette, one font, charts
// with intervals, figures of several aligned charts beside a legend, and files in three formats.
//
// A Chart is a plot.Plot with methods for what the reports show. Its axes are set through the fields of the plot.
// Lengths are in points, 72 to an inch, and y grows upwards.
//
//	c := chart.New(10)
//	c.X.Label.Text = "round"
//	c.Line(plotter.XYs{{X: 0, Y: .5}, {X: 1, Y: .8}}, chart.Stroke(chart.Blue, 1.5))
//	f := chart.Figure{Title: "Right answers", Charts: []*chart.Chart{c}}
//	svg, err := f.File("svg", 500, 260)
//
// Its rank is 0: graph/draw, the reports and the page use it.
package chart

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is a plot in the style of all charts. Elements are drawn in the order in which they were added.
type Chart struct {
	*plot.Plot
	err error
}

// New returns an empty chart with horizontal lines at the ticks. Its texts have a size.
func New(size vg.Length) *Chart {
	c := &Chart{Plot: plot.New()}
	c.BackgroundColor = nil
	c.Title.TextStyle = Text(size+1, Ink)
	c.Title.TextStyle.XAlign, c.Title.TextStyle.YAlign = text.XCenter, text.YTop
	c.Title.Padding = 5
	for _, axis := range []*plot.Axis{&c.X, &c.Y} {
		axis.Padding = 0
		axis.LineStyle, axis.Tick.LineStyle = Stroke(Ink, .5), Stroke(Ink, .5)
		axis.Tick.Length = 4
		for _, style := range []*text.Style{&axis.Label.TextStyle, &axis.Tick.Label} {
			style.Font, style.Color = Text(size, Ink).Font, Ink
		}
	}
	c.X.Label.Padding, c.Y.Label.Padding = 2, 3
	grid := plotter.NewGrid()
	grid.Vertical, grid.Horizontal = draw.LineStyle{}, Stroke(Grid, .5)
	c.Add(grid)
	return c
}

// Text returns the style of a text that begins at its point.
func Text(size vg.Length, ink color.Color) text.Style {
	return text.Style{Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler}
}

// Centred returns the style of a text whose small letters and digits have their middle at its point.
func Centred(size vg.Length, ink color.Color) text.Style {
	style := Text(size, ink)
	style.XAlign, style.YAlign = text.XCenter, -.41
	return style
}

// Stroke returns the style of a line, which is unbroken without lengths of dashes and gaps.
func Stroke(ink color.Color, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: ink, Width: width, Dashes: dashes}
}

// Err returns an error if an element has a coordinate that is not a finite number. A chart without that element would
// mislead.
func (c *Chart) Err() error { return c.err }

// add adds an element with these points.
func (c *Chart) add(e element, points ...plotter.XY) {
	for _, p := range points {
		if err := plotter.CheckFloats(p.X, p.Y); err != nil {
			c.err = fmt.Errorf("chart: the point (%g, %g): %w", p.X, p.Y, err)
			return
		}
	}
	c.Add(inFrame{e, e})
}

// element is what all elements of a chart can do.
type element interface {
	plot.Plotter
	plot.DataRanger
}

// inFrame hides that an element reaches over the frame of its chart. Charts side by side then have equal frames.
type inFrame struct {
	plot.Plotter
	plot.DataRanger
}

// Line draws a line, or nothing if there are fewer than two points.
func (c *Chart) Line(points plotter.XYs, s draw.LineStyle) {
	if len(points) > 1 {
		c.add(&plotter.Line{XYs: points, LineStyle: s}, points...)
	}
}

// Mark draws a mark at every point.
func (c *Chart) Mark(points plotter.XYs, m draw.GlyphStyle) {
	if len(points) > 0 {
		c.add(&plotter.Scatter{XYs: points, GlyphStyle: m}, points...)
	}
}

// Box draws a filled rectangle between two corners with an edge.
func (c *Chart) Box(a, b plotter.XY, fill, edge color.Color) {
	points := plotter.XYs{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}}
	c.add(&plotter.Polygon{XYs: []plotter.XYs{points}, Color: fill, LineStyle: Stroke(edge, .75)}, points...)
}

// Interval draws a vertical or horizontal line between two points with caps at its ends, on a wider white line that
// separates it from what is below.
func (c *Chart) Interval(from, to plotter.XY, ink color.Color, caps vg.Length) {
	for _, s := range []draw.LineStyle{Stroke(White, 2.4), Stroke(ink, 1)} {
		at := plotter.XYs{from}
		if from.X == to.X {
			c.add(&plotter.YErrorBars{XYs: at, YErrors: plotter.YErrors{{High: to.Y - from.Y}}, LineStyle: s,
				CapWidth: caps}, from, to)
		} else {
			c.add(&plotter.XErrorBars{XYs: at, XErrors: plotter.XErrors{{High: to.X - from.X}}, LineStyle: s,
				CapWidth: caps}, from, to)
		}
	}
}

// Label draws a text in the middle of a point.
func (c *Chart) Label(at plotter.XY, label string, size vg.Length, ink color.Color) {
	style := Centred(size, ink)
	c.add(&plotter.Labels{XYs: plotter.XYs{at}, Labels: []string{label}, TextStyle: []text.Style{style}}, at)
}

// Ticks returns ticks at round values from one value to another, at most count.
func Ticks(from, to float64, count int) (ticks plot.ConstantTicks) {
	if !(from < to) || math.IsInf(to-from, 0) || count < 1 {
		return nil
	}
	unit := math.Pow(10, math.Floor(math.Log10((to-from)/float64(count))))
	for _, step := range []float64{1, 2, 5, 10} {
		if step *= unit; (to-from)/step > float64(count) && step < 9.9*unit {
			continue
		}
		digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
		for k := math.Ceil(from/step - 1e-9); k*step <= to+1e-9*step && len(ticks) <= count; k++ {
			v := k*step + 0 // + 0 turns −0 into 0
			ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.*f", digits, v)})
		}
		break
	}
	return ticks
}

// Whole returns ticks at whole numbers from one value to another, at most count.
func Whole(from, to float64, count int) (ticks plot.ConstantTicks) {
	if to-from >= float64(count) {
		return Ticks(from, to, count)
	}
	for v := math.Ceil(from) + 0; v <= to; v++ {
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.0f", v)})
	}
	return ticks
}
