package report

import (
	"fmt"
	"image/color"
	"iter"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/internal/chart"
)

var (
	dashes = []vg.Length{4, 2}
	dots   = []vg.Length{1, 2.5}
)

// Lengths in points.
const (
	chartWidth, chartHeight = 7 * vg.Inch, 3.6 * vg.Inch
	panelsWidth             = 9.5 * vg.Inch
	textSize, panelTextSize = 10, 8
)

// rateChart is a chart of rates. Its vertical axis goes from 0 to 100 %.
type rateChart struct{ *chart.Chart }

// newChart returns the only chart of a picture.
func newChart() rateChart {
	c := rateChart{chart.New(textSize)}
	c.Y.Label.Text = "right, with 95 % interval"
	return c
}

// fix sets the ranges of the axes. Rates are always shown over the whole range, so
// that plots can be compared.
func (c *rateChart) fix(xMin, xMax float64, names plot.ConstantTicks) {
	c.X.Min, c.X.Max, c.Y.Min, c.Y.Max = xMin, xMax, 0, 1
	c.X.Tick.Marker, c.Y.Tick.Marker = names, percentTicks(20)
}

// interval draws the interval of a rate as a vertical error bar.
func (c *rateChart) interval(x float64, r *metrics.Rate, ink color.Color) {
	c.Interval(plotter.XY{X: x, Y: r.Low}, plotter.XY{X: x, Y: r.High}, ink, 5)
}

// intervalAcross draws the interval of a rate as a horizontal error bar.
func (c *rateChart) intervalAcross(y float64, r *metrics.Rate, ink color.Color) {
	c.Interval(plotter.XY{X: r.Low, Y: y}, plotter.XY{X: r.High, Y: y}, ink, 4)
}

// box draws a filled rectangle.
func (c *rateChart) box(x1, y1, x2, y2 float64, fill, edge color.Color) {
	c.Box(plotter.XY{X: x1, Y: y1}, plotter.XY{X: x2, Y: y2}, fill, edge)
}

// dot draws one mark.
func (c *rateChart) dot(x, y float64, m draw.GlyphStyle) { c.Mark(plotter.XYs{{X: x, Y: y}}, m) }

// path draws a line with a mark at every point.
func (c *rateChart) path(points plotter.XYs, style draw.LineStyle, m draw.GlyphStyle) {
	c.Line(points, style)
	c.Mark(points, m)
}

// picture is charts below a title, with a legend to their right.
type picture struct {
	chart.Figure
	row    vg.Length // height of a row of charts
	width  vg.Length
	spread vg.Length // least height; 0: that of the rows
}

// alone returns the picture of one chart.
func alone(title string, c rateChart) *picture {
	p := &picture{width: chartWidth, spread: chartHeight}
	p.Title, p.Charts = prose(title), []*chart.Chart{c.Chart}
	return p
}

// newPanels returns a picture of small charts in rows, which add appends.
func newPanels(title string, columns int, row vg.Length) *picture {
	p := &picture{row: row, width: panelsWidth}
	p.Title, p.Columns = prose(title), columns
	return p
}

// add appends a panel.
func (p *picture) add(title string) *rateChart {
	c := rateChart{chart.New(panelTextSize)}
	c.Title.Text = prose(title)
	p.Charts = append(p.Charts, c.Chart)
	return &c
}

// inLastRow reports whether the panel with this index of n is in the last row.
func (p *picture) inLastRow(i, n int) bool { return i/p.Columns == (n-1)/p.Columns }

// addLegend adds an entry to the legend.
func (p *picture) addLegend(name string, signs ...plot.Thumbnailer) {
	most := 40
	if p.width == chartWidth {
		most = 24
	}
	if runes := []rune(plain(name)); len(runes) > most {
		name = string(runes[:most-1]) + "…"
	}
	p.Legend.Add(plain(name), signs...)
}

// Widths of print, in points: of one column of a page, and of its text.
const columnWidth, textWidth = 3.4 * vg.Inch, 7 * vg.Inch

// forPrint lays the picture out as papers have it.
func (p *picture) forPrint(note string) {
	p.Print, p.Note = true, note
	width := textWidth
	if max(p.Columns, 1) == 1 || len(p.Charts) == 1 {
		width = columnWidth
	}
	shrink := min(width/p.width, .8)
	if width == columnWidth {
		shrink = .6
	}
	p.row, p.spread, p.width = p.row*shrink, p.spread*shrink, width
}

// file draws the picture as a file.
func (p *picture) file(format string) ([]byte, error) {
	if p.Print {
		rows := vg.Length((len(p.Charts) + max(p.Columns, 1) - 1) / max(p.Columns, 1))
		return p.File(format, p.width, max(p.spread, p.row*rows)+p.PrintHeight(p.width))
	}
	_, legend := p.Legend.Extent()
	rows := vg.Length((len(p.Charts) + max(p.Columns, 1) - 1) / max(p.Columns, 1))
	return p.File(format, p.width, max(p.spread, max(p.row*rows, legend+20)+chart.Above()))
}

// wholeTicks returns ticks at whole numbers from one value to another, with at most
// as many labels as a panel has room for.
func wholeTicks(from, to float64) plot.ConstantTicks { return chart.Whole(from, to, 7) }

// percentTicks returns the ticks of an axis of rates, step percent apart.
func percentTicks(step int) (ticks plot.ConstantTicks) {
	for k := 0; k <= 100; k += step {
		ticks = append(ticks, plot.Tick{Value: float64(k) / 100, Label: fmt.Sprintf("%d %%", k)})
	}
	return ticks
}

// roundTicks returns a tick for every round from 0 to last.
func roundTicks(last int) (ticks plot.ConstantTicks) {
	for t := range last + 1 {
		ticks = append(ticks, plot.Tick{Value: float64(t), Label: fmt.Sprint(t)})
	}
	return thinned(ticks)
}

// thinned removes labels if there are too many for the axis.
func thinned(ticks plot.ConstantTicks) plot.ConstantTicks {
	step := (len(ticks) + 19) / 20
	for k := range ticks {
		if k%step != 0 {
			ticks[k].Label = ""
		}
	}
	return ticks
}

// rule is a line in a legend.
func rule(ink color.Color, dashes []vg.Length) plot.Thumbnailer {
	return chart.Rule(chart.Stroke(ink, 1.5, dashes...))
}

// mark returns a mark of the usual size.
func mark(ink color.Color, shape draw.GlyphDrawer) draw.GlyphStyle {
	return chart.Mark(ink, 3, shape)
}

// sign is a mark in a legend.
func sign(ink color.Color, shape draw.GlyphDrawer) plot.Thumbnailer {
	return chart.Sign(mark(ink, shape))
}

// paperMark is the mark of a paper's figure.
var paperMark = chart.Mark(chart.Plum, 3.6, chart.Diamond)

var (
	lineColours = append(slices.Clone(chart.Series), chart.Ink)
	lineShapes  = []draw.GlyphDrawer{chart.Circle, chart.Square, chart.Triangle, chart.OpenCircle,
		chart.OpenSquare, chart.OpenTriangle}
)

// segments returns the parts of a line of n points between gaps.
func segments(n int, at func(i int) float64, of func(i int) *metrics.Rate) iter.Seq[plotter.XYs] {
	return func(yield func(plotter.XYs) bool) {
		var segment plotter.XYs
		for i := range n {
			if r := of(i); r != nil {
				segment = append(segment, plotter.XY{X: at(i), Y: r.Value})
				continue
			}
			if !yield(segment) {
				return
			}
			segment = nil
		}
		yield(segment)
	}
}
