package report

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/internal/canvas"
	"synod.dev/synod/metrics"
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
	dashes = []vg.Length{vg.Points(4), vg.Points(2)}
	dots   = []vg.Length{vg.Points(1), vg.Points(2.5)}
)

const (
	chartWidth, chartHeight, legendWidth = 7 * vg.Inch, 3.6 * vg.Inch, 1.1 * vg.Inch
	panelsWidth                          = 9.5 * vg.Inch
	titleHeight, legendOffset            = 28, 18 // points
)

// chart is a plot of rates. Its vertical axis goes from 0 to 100 %, and the legend is
// to the right of the plot.
type chart struct {
	*plot.Plot
	legend plot.Legend
	err    error // the first one of drawing; failed returns it
}

func (c *chart) failed() error { return c.err }

// put adds what a constructor of gonum has returned.
func (c *chart) put(p plot.Plotter, err error) {
	if c.err = cmp.Or(c.err, err); err == nil {
		c.Add(p)
	}
}

func newChart(title string) chart {
	c := chart{Plot: plot.New(), legend: plot.NewLegend()}
	for _, style := range []*text.Style{
		&c.Title.TextStyle, &c.X.Label.TextStyle, &c.Y.Label.TextStyle, &c.X.Tick.Label, &c.Y.Tick.Label,
		&c.legend.TextStyle,
	} {
		style.Font.Variant = "Sans"
		style.Font.Size = font.Points(10)
	}
	c.Title.TextStyle.Font.Size = font.Points(12)
	c.Title.Text, c.Title.Padding = prose(title), font.Points(10)
	c.legend.Top, c.legend.Left, c.legend.Padding = true, true, font.Points(4)
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, gridColour
	c.Add(grid)
	c.Y.Label.Text = "right, with 95 % interval"
	c.X.Padding, c.Y.Padding = 0, 0
	return c
}

// fix sets the ranges of the axes. Rates are always shown over the whole range, so
// that plots can be compared.
func (c *chart) fix(xMin, xMax float64, names []plot.Tick) {
	c.X.Min, c.X.Max, c.Y.Min, c.Y.Max = xMin, xMax, 0, 1
	c.X.Tick.Marker = plot.ConstantTicks(names)
	c.Y.Tick.Marker = plot.ConstantTicks(percentTicks(20))
}

// errorBar returns the value of a rate and the distances to its interval's ends.
func errorBar(r *metrics.Rate) struct{ Low, High float64 } {
	return struct{ Low, High float64 }{r.Value - r.Low, r.High - r.Value}
}

// strokes are the two lines of an error bar: the wider white one below makes it
// visible on other elements.
func strokes(ink color.Color) [2]draw.LineStyle {
	return [2]draw.LineStyle{{Color: color.White, Width: 2.4}, {Color: ink, Width: 1}}
}

// interval draws the interval of a rate as a vertical error bar.
func (c *chart) interval(x float64, r *metrics.Rate, ink color.Color) {
	bar := struct {
		plotter.XYs
		plotter.YErrors
	}{plotter.XYs{{X: x, Y: r.Value}}, plotter.YErrors{errorBar(r)}}
	for _, style := range strokes(ink) {
		e, err := plotter.NewYErrorBars(bar)
		if err == nil {
			e.LineStyle = style
		}
		c.put(e, err)
	}
}

// intervalAcross draws the interval of a rate as a horizontal error bar.
func (c *chart) intervalAcross(y float64, r *metrics.Rate, ink color.Color) {
	bar := struct {
		plotter.XYs
		plotter.XErrors
	}{plotter.XYs{{X: r.Value, Y: y}}, plotter.XErrors{errorBar(r)}}
	for _, style := range strokes(ink) {
		e, err := plotter.NewXErrorBars(bar)
		if err == nil {
			e.LineStyle, e.CapWidth = style, vg.Points(4)
		}
		c.put(e, err)
	}
}

// box draws a filled rectangle.
func (c *chart) box(x1, y1, x2, y2 float64, fill, edge color.Color) {
	box, err := plotter.NewPolygon(plotter.XYs{{X: x1, Y: y1}, {X: x1, Y: y2}, {X: x2, Y: y2}, {X: x2, Y: y1}})
	if err == nil {
		box.Color, box.LineStyle.Color, box.Width = fill, edge, vg.Points(.75)
	}
	c.put(box, err)
}

// dot draws one mark.
func (c *chart) dot(x, y float64, style draw.GlyphStyle) {
	points, err := plotter.NewScatter(plotter.XYs{{X: x, Y: y}})
	if err == nil {
		points.GlyphStyle = style
	}
	c.put(points, err)
}

// line draws a line, or nothing if there are fewer than two points.
func (c *chart) line(points plotter.XYs, style draw.LineStyle) {
	if len(points) < 2 {
		return
	}
	line, err := plotter.NewLine(points)
	if err == nil {
		line.LineStyle = style
	}
	c.put(line, err)
}

// path draws a line with a mark at every point, or nothing without points.
func (c *chart) path(points plotter.XYs, style draw.LineStyle, mark draw.GlyphStyle) {
	if len(points) == 0 {
		return
	}
	lines, marks, err := plotter.NewLinePoints(points)
	if err == nil {
		lines.LineStyle, marks.GlyphStyle = style, mark
	}
	c.put(lines, err)
	c.put(marks, err)
}

// addLegend adds an entry to the legend. A long name is cut to the available width.
func (c *chart) addLegend(name string, signs ...plot.Thumbnailer) {
	if runes := []rune(plain(name)); len(runes) > 13 {
		name = string(runes[:12]) + "…"
	}
	c.legend.Add(plain(name), signs...)
}

func (c *chart) size() (width, height vg.Length) { return chartWidth, chartHeight }

// drawOn draws the chart beside its legend.
func (c *chart) drawOn(canvas draw.Canvas) {
	c.Draw(draw.Crop(canvas, 0, -legendWidth, 0, 0))
	c.legend.Draw(draw.Crop(canvas, canvas.Max.X-canvas.Min.X-legendWidth+vg.Points(10), 0, 0, -vg.Points(30)))
}

// panels are small charts in rows below one title, with aligned frames and one
// legend to the right.
type panels struct {
	title   string
	columns int
	row     vg.Length // height of a row
	charts  []chart
	names   []string // titles of the panels
	legend  plot.Legend
}

func newPanels(title string, columns int, row vg.Length) *panels {
	c := newChart(title)
	return &panels{title: c.Title.Text, columns: columns, row: row, legend: c.legend}
}

// add appends a panel.
func (p *panels) add(title string) *chart {
	placeholder := "" // reserves the height of the title, which drawOn draws left-aligned
	if title != "" {
		placeholder = strings.Repeat(" \n", strings.Count(title, "\n")) + " "
	}
	c := newChart(placeholder)
	c.Title.TextStyle.Font.Size, c.Title.Padding = font.Points(9), font.Points(5)
	for _, axis := range []*plot.Axis{&c.X, &c.Y} {
		axis.Tick.Label.Font.Size, axis.Label.TextStyle.Font.Size = font.Points(8), font.Points(9)
	}
	c.Y.Label.Text = ""
	p.charts, p.names = append(p.charts, c), append(p.names, prose(title))
	return &p.charts[len(p.charts)-1]
}

func (p *panels) failed() error {
	for _, c := range p.charts {
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// inLastRow reports whether the panel with this index of n is in the last row.
func (p *panels) inLastRow(i, n int) bool { return i/p.columns == (n-1)/p.columns }

// addLegend adds an entry to the legend.
func (p *panels) addLegend(name string, signs ...plot.Thumbnailer) {
	p.legend.Add(shorten(plain(name), 40), signs...)
}

func (p *panels) rows() int { return (len(p.charts) + p.columns - 1) / p.columns }

func (p *panels) size() (width, height vg.Length) {
	legend := p.legend.Rectangle(draw.Canvas{})
	height = max(p.row*vg.Length(p.rows()), legend.Max.Y-legend.Min.Y+vg.Points(legendOffset))
	return panelsWidth, height + vg.Points(titleHeight+16)
}

// drawOn draws the panels below the title.
func (p *panels) drawOn(canvas draw.Canvas) {
	style := newChart("").Title.TextStyle
	style.XAlign, style.YAlign = draw.XLeft, draw.YTop
	canvas.FillText(style, vg.Point{X: canvas.Min.X, Y: canvas.Max.Y}, p.title)
	canvas = draw.Crop(canvas, 0, 0, 0, -vg.Points(titleHeight))
	box := p.legend.Rectangle(canvas)
	width := (box.Max.X-box.Min.X)*1.12 + vg.Points(14) // the viewer's font may be wider
	p.legend.Draw(draw.Crop(canvas, canvas.Max.X-canvas.Min.X-width+vg.Points(14), 0, 0, -vg.Points(legendOffset)))
	canvas = draw.Crop(canvas, 0, -width, 0, 0)
	tiles := draw.Tiles{Cols: p.columns, Rows: p.rows(), PadX: vg.Points(14), PadY: vg.Points(8)}
	plots := make([][]*plot.Plot, tiles.Rows)
	for k := range plots {
		plots[k] = make([]*plot.Plot, tiles.Cols)
		for i := range plots[k] {
			if n := k*tiles.Cols + i; n < len(p.charts) {
				plots[k][i] = p.charts[n].Plot
			}
		}
	}
	for k, row := range plot.Align(plots, tiles, canvas) {
		for i, c := range row {
			if plots[k][i] == nil {
				continue
			}
			plots[k][i].Draw(c)
			style = plots[k][i].Title.TextStyle
			style.XAlign, style.YAlign = draw.XLeft, draw.YTop
			c.FillText(style, vg.Point{X: plots[k][i].DataCanvas(c).Min.X, Y: c.Max.Y}, p.names[k*tiles.Cols+i])
		}
	}
}

// wholeTicks returns ticks at whole numbers from one value to another, with at most
// as many labels as a panel has room for.
func wholeTicks(from, to float64) (ticks []plot.Tick) {
	step := 1.0
	for _, next := range []float64{2, 5, 10, 20, 50, 100, 200, 500} {
		if (to-from)/step <= 6 {
			break
		}
		step = next
	}
	if (to-from)/step > 12 {
		return plot.DefaultTicks{}.Ticks(from, to)
	}
	for v := math.Ceil(from/step)*step + 0; v <= to; v += step { // + 0 turns −0 into 0
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.0f", v)})
	}
	return ticks
}

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

// swatch is a coloured square in a legend.
type swatch struct{ colour color.Color }

// Thumbnail draws the square.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.colour, c.ClipPolygonXY([]vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max,
		{X: c.Max.X, Y: c.Min.Y}}))
}

// stroke is a line in a legend.
type stroke struct {
	ink    color.Color
	dashes []vg.Length
}

// Thumbnail draws the line.
func (s stroke) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(draw.LineStyle{Color: s.ink, Width: vg.Points(1.5), Dashes: s.dashes}, c.Min.X, y, c.Max.X, y)
}

// sign is a mark in a legend.
type sign struct{ draw.GlyphStyle }

// Thumbnail draws the mark.
func (s sign) Thumbnail(c *draw.Canvas) { c.DrawGlyph(s.GlyphStyle, c.Center()) }

// mark returns a mark of the usual size.
func mark(ink color.Color, shape draw.GlyphDrawer) draw.GlyphStyle {
	return draw.GlyphStyle{Color: ink, Radius: vg.Points(2.5), Shape: shape}
}

// paperMark is the mark of a paper's figure.
var paperMark = draw.GlyphStyle{Color: paperColour, Radius: vg.Points(3.6), Shape: diamond{}}

// diamond is a square on its corner.
type diamond struct{}

// DrawGlyph draws the square.
func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	p.Move(vg.Point{X: at.X - sty.Radius, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y + sty.Radius})
	p.Line(vg.Point{X: at.X + sty.Radius, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y - sty.Radius})
	p.Close()
	c.Fill(p)
}

// picture is a chart or panels.
type picture interface {
	size() (width, height vg.Length)
	drawOn(draw.Canvas)
	failed() error
}

// drawn returns functions that draw a picture as SVG and PNG; build makes the picture.
func drawn[P picture](build func() P) (svg, png func() ([]byte, error)) {
	with := func(write func(width, height vg.Length, on func(draw.Canvas)) ([]byte, error)) func() ([]byte, error) {
		return func() ([]byte, error) {
			p := build()
			if err := p.failed(); err != nil {
				return nil, err
			}
			width, height := p.size()
			return write(width, height, func(c draw.Canvas) { p.drawOn(inMargin(c)) })
		}
	}
	return with(canvas.SVG), with(canvas.PNG)
}

// inMargin returns the canvas without a margin of 8 points.
func inMargin(c draw.Canvas) draw.Canvas {
	return draw.Crop(c, vg.Points(8), -vg.Points(8), vg.Points(8), -vg.Points(8))
}
