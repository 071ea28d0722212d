package report

import (
	"fmt"
	"image/color"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/internal/canvas"
	"synod.dev/synod/internal/plot"
)

// Colours that colour-blind readers can distinguish too (Okabe & Ito 2008). Those of
// the groups are darker versions of the colours in which package graph draws seats.
var (
	allColour       = color.RGBA{0x22, 0x22, 0x22, 255}
	strongColour    = color.RGBA{0x00, 0x72, 0xb2, 255}
	weakColour      = color.RGBA{0xe6, 0x9f, 0x00, 255}
	adversaryColour = color.RGBA{0xc0, 0x2a, 0x10, 255}
	gridColour      = color.RGBA{0xdd, 0xdd, 0xdd, 255}
	paperColour     = color.RGBA{0xa0, 0x1e, 0x6e, 255} // of a paper's figures

	// modelColours distinguish models; with more models they repeat.
	modelColours = []color.RGBA{
		strongColour, weakColour, {0x00, 0x9e, 0x73, 255}, {0xcc, 0x79, 0xa7, 255}, {0x56, 0xb4, 0xe9, 255},
		{0xd5, 0x5e, 0x00, 255},
	}
)

var (
	dashes = []float64{4, 2}
	dots   = []float64{1, 2.5}
)

// Lengths in points.
const (
	inch                    = 72.0
	chartWidth, chartHeight = 7 * inch, 3.6 * inch
	panelsWidth             = 9.5 * inch
	titleHeight             = 28.0
	legendGap               = 14.0 // between charts and their legend
)

// chart is a plot of rates. Its vertical axis goes from 0 to 100 %, and the legend is
// to the right of the plot.
type chart struct {
	*plot.Chart
	legend plot.Legend
}

func newChart(title string) chart {
	return chart{
		&plot.Chart{Title: prose(title), TitleSize: 12, LabelSize: 10, TicksSize: 10, Ink: allColour, Grid: gridColour,
			Y: plot.Axis{Label: "right, with 95 % interval"}},
		plot.Legend{Size: 10, Ink: allColour},
	}
}

// fix sets the ranges of the axes. Rates are always shown over the whole range, so
// that plots can be compared.
func (c *chart) fix(xMin, xMax float64, names []plot.Tick) {
	c.X.Min, c.X.Max, c.Y.Min, c.Y.Max = xMin, xMax, 0, 1
	c.X.Ticks, c.Y.Ticks = names, percentTicks(20)
}

// interval draws the interval of a rate as a vertical error bar.
func (c *chart) interval(x float64, r *metrics.Rate, ink color.RGBA) {
	c.Interval(plot.XY{X: x, Y: r.Low}, plot.XY{X: x, Y: r.High}, ink, 5)
}

// intervalAcross draws the interval of a rate as a horizontal error bar.
func (c *chart) intervalAcross(y float64, r *metrics.Rate, ink color.RGBA) {
	c.Interval(plot.XY{X: r.Low, Y: y}, plot.XY{X: r.High, Y: y}, ink, 4)
}

// box draws a filled rectangle.
func (c *chart) box(x1, y1, x2, y2 float64, fill, edge color.RGBA) {
	c.Box(plot.XY{X: x1, Y: y1}, plot.XY{X: x2, Y: y2}, fill, canvas.Stroke{Ink: edge, Width: .75})
}

// dot draws one mark.
func (c *chart) dot(x, y float64, m plot.Mark) { c.Mark([]plot.XY{{X: x, Y: y}}, m) }

// path draws a line with a mark at every point.
func (c *chart) path(points []plot.XY, style canvas.Stroke, m plot.Mark) {
	c.Line(points, style)
	c.Mark(points, m)
}

// addLegend adds an entry to the legend. A long name is cut.
func (c *chart) addLegend(name string, signs ...plot.Sign) {
	if runes := []rune(plain(name)); len(runes) > 24 {
		name = string(runes[:23]) + "…"
	}
	c.legend.Add(plain(name), signs...)
}

func (c *chart) failed() error { return c.Err() }

func (c *chart) size() (width, height float64) { return chartWidth, chartHeight }

// drawOn draws the chart beside its legend.
func (c *chart) drawOn(on canvas.Canvas) {
	width, _ := c.legend.Extent()
	if width > 0 {
		width = spare(width)
	}
	c.Draw(on.Crop(0, width, 0, 0))
	c.legend.Draw(on.Crop(on.Max.X-on.Min.X-width+legendGap, 0, 0, titleHeight))
}

// spare returns the width for a legend: the viewer's font may be wider than the measured one.
func spare(width float64) float64 { return width*1.12 + legendGap }

// panels are small charts in rows below one title, with aligned frames and one
// legend to the right.
type panels struct {
	title   string
	columns int
	row     float64 // height of a row
	charts  []*plot.Chart
	legend  plot.Legend
}

func newPanels(title string, columns int, row float64) *panels {
	c := newChart(title)
	return &panels{title: c.Title, columns: columns, row: row, legend: c.legend}
}

// add appends a panel.
func (p *panels) add(title string) *chart {
	c := newChart(title)
	c.TitleSize, c.LabelSize, c.TicksSize, c.Y.Label = 9, 9, 8, ""
	p.charts = append(p.charts, c.Chart)
	return &c
}

func (p *panels) failed() error {
	for _, c := range p.charts {
		if err := c.Err(); err != nil {
			return err
		}
	}
	return nil
}

// inLastRow reports whether the panel with this index of n is in the last row.
func (p *panels) inLastRow(i, n int) bool { return i/p.columns == (n-1)/p.columns }

// addLegend adds an entry to the legend.
func (p *panels) addLegend(name string, signs ...plot.Sign) {
	p.legend.Add(shorten(plain(name), 40), signs...)
}

func (p *panels) rows() int { return (len(p.charts) + p.columns - 1) / p.columns }

func (p *panels) size() (width, height float64) {
	_, legend := p.legend.Extent()
	return panelsWidth, max(p.row*float64(p.rows()), legend+20) + titleHeight + 16
}

// drawOn draws the panels below the title.
func (p *panels) drawOn(on canvas.Canvas) {
	on.Text(canvas.Text{Size: 12, Ink: allColour, Y: canvas.Top}, canvas.Point{X: on.Min.X, Y: on.Max.Y}, p.title)
	on = on.Crop(0, 0, 0, titleHeight)
	width, _ := p.legend.Extent()
	if width > 0 {
		width = spare(width)
	}
	p.legend.Draw(on.Crop(on.Max.X-on.Min.X-width+legendGap, 0, 0, 18))
	plot.DrawGrid(on.Crop(0, width, 0, 0), p.charts, p.columns, canvas.Point{X: 14, Y: 8})
}

// wholeTicks returns ticks at whole numbers from one value to another, with at most
// as many labels as a panel has room for.
func wholeTicks(from, to float64) []plot.Tick { return plot.Whole(from, to, 7) }

// percentTicks returns the ticks of an axis of rates, step percent apart.
func percentTicks(step int) (ticks []plot.Tick) {
	for k := 0; k <= 100; k += step {
		ticks = append(ticks, plot.Tick{Value: float64(k) / 100, Label: fmt.Sprintf("%d %%", k)})
	}
	return ticks
}

// roundTicks returns a tick for every round from 0 to last.
func roundTicks(last int) (ticks []plot.Tick) {
	for t := range last + 1 {
		ticks = append(ticks, plot.Tick{Value: float64(t), Label: fmt.Sprint(t)})
	}
	return thinned(ticks)
}

// thinned removes labels if there are too many for the axis.
func thinned(ticks []plot.Tick) []plot.Tick {
	step := (len(ticks) + 19) / 20
	for k := range ticks {
		if k%step != 0 {
			ticks[k].Label = ""
		}
	}
	return ticks
}

// pale mixes a colour with white, two parts to three.
func pale(c color.RGBA) color.RGBA {
	mix := func(v uint8) uint8 { return uint8((2*int(v) + 3*255) / 5) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// rule is a line in a legend.
func rule(ink color.RGBA, dashes []float64) plot.Rule {
	return plot.Rule{Ink: ink, Width: 1.5, Dashes: dashes}
}

// mark returns a mark of the usual size.
func mark(ink color.RGBA, shape plot.Shape) plot.Mark {
	return plot.Mark{Ink: ink, Radius: 2.5, Shape: shape}
}

// paperMark is the mark of a paper's figure.
var paperMark = plot.Mark{Ink: paperColour, Radius: 3.6, Shape: plot.Diamond}

// picture is a chart or panels.
type picture interface {
	size() (width, height float64)
	drawOn(canvas.Canvas)
	failed() error
}

// draw lets a plot draw the picture that build makes, whenever a file of it is asked for.
func (f *Plot) draw(build func() picture) {
	with := func(write func(width, height float64, on func(canvas.Canvas)) ([]byte, error)) func() ([]byte, error) {
		return func() ([]byte, error) {
			p := build()
			if err := p.failed(); err != nil {
				return nil, err
			}
			width, height := p.size()
			const margin = 8
			return write(width, height, func(c canvas.Canvas) { p.drawOn(c.Crop(margin, margin, margin, margin)) })
		}
	}
	f.SVG, f.PDF, f.PNG = with(canvas.SVG), with(canvas.PDF), with(canvas.PNG)
}
