package report

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/metrics"
)

// paperColour is that of what a paper reports, beside any of ours.
var paperColour = color.RGBA{0xa0, 0x1e, 0x6e, 255}

const panelsWidth = 9.5 * vg.Inch

// panels are small charts in rows under one title, their frames in line, with one
// legend to the right of all.
type panels struct {
	title   string
	columns int
	row     vg.Length // height of a row
	charts  []chart
	names   []string // what stands above a panel
	legend  plot.Legend
}

func newPanels(title string, columns int, row vg.Length) *panels {
	c := newChart(title)
	return &panels{title: c.Title.Text, columns: columns, row: row, legend: c.legend}
}

// add makes the next panel.
func (p *panels) add(title string) *chart {
	room := ""
	if title != "" {
		room = strings.Repeat(" \n", strings.Count(title, "\n")) + " "
	}
	c := newChart(room)
	c.Title.TextStyle.Font.Size, c.Title.Padding = font.Points(9), font.Points(5)
	for _, axis := range []*plot.Axis{&c.X, &c.Y} {
		axis.Tick.Label.Font.Size, axis.Label.TextStyle.Font.Size = font.Points(8), font.Points(9)
	}
	c.Y.Label.Text = ""
	p.charts, p.names = append(p.charts, c), append(p.names, prose(title))
	return &p.charts[len(p.charts)-1]
}

// explain adds a line to the legend.
func (p *panels) explain(name string, signs ...plot.Thumbnailer) {
	p.legend.Add(shorten(plain(name), 40), signs...)
}

const titleHeight, legendBelow = 28, 18 // points

func (p *panels) rows() int { return (len(p.charts) + p.columns - 1) / p.columns }

func (p *panels) size() (width, height vg.Length) {
	legend := p.legend.Rectangle(draw.Canvas{})
	height = max(p.row*vg.Length(p.rows()), legend.Max.Y-legend.Min.Y+vg.Points(legendBelow))
	return panelsWidth, height + vg.Points(titleHeight+16)
}

// on draws the panels below the title.
func (p *panels) on(canvas draw.Canvas) {
	style := newChart("").Title.TextStyle
	style.XAlign, style.YAlign = draw.XLeft, draw.YTop
	canvas.FillText(style, vg.Point{X: canvas.Min.X, Y: canvas.Max.Y}, p.title)
	canvas = draw.Crop(canvas, 0, 0, 0, -vg.Points(titleHeight))
	box := p.legend.Rectangle(canvas)
	width := (box.Max.X-box.Min.X)*1.12 + vg.Points(14) // readers' fonts may be wider
	p.legend.Draw(draw.Crop(canvas, canvas.Max.X-canvas.Min.X-width+vg.Points(14), 0, 0, -vg.Points(legendBelow)))
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

// whole are ticks at whole numbers from one to another, of which at most as many are
// named as a panel has room for.
func whole(from, to float64) (ticks []plot.Tick) {
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
	for v := math.Ceil(from/step)*step + 0; v <= to; v += step { // + 0 makes −0 0
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.0f", v)})
	}
	return ticks
}

// percents are the ticks of a rate.
func percents(step int) (ticks []plot.Tick) {
	for k := 0; k <= 100; k += step {
		ticks = append(ticks, plot.Tick{Value: float64(k) / 100, Label: fmt.Sprintf("%d %%", k)})
	}
	return ticks
}

// across draws the 95 % interval of a rate as a horizontal bar with caps.
func (c *chart) across(y float64, r *metrics.Rate, ink color.Color) error {
	bar := struct {
		plotter.XYs
		plotter.XErrors
	}{plotter.XYs{{X: r.Value, Y: y}}, plotter.XErrors{{Low: r.Value - r.Low, High: r.High - r.Value}}}
	for _, line := range []struct {
		colour color.Color
		width  vg.Length
	}{{color.White, 2.4}, {ink, 1}} {
		e, err := plotter.NewXErrorBars(bar)
		if err != nil {
			return err
		}
		e.Color, e.Width, e.CapWidth = line.colour, line.width, vg.Points(4)
		c.Add(e)
	}
	return nil
}

// bar fills a box from 0 to a value, around y.
func (c *chart) bar(y, thick, to float64, fill, edge color.Color) error {
	low, high := y-thick/2, y+thick/2
	box, err := plotter.NewPolygon(plotter.XYs{{X: 0, Y: low}, {X: to, Y: low}, {X: to, Y: high}, {X: 0, Y: high}})
	if err != nil {
		return err
	}
	box.Color, box.LineStyle.Color, box.Width = fill, edge, vg.Points(.75)
	c.Add(box)
	return nil
}

// dot puts one mark.
func (c *chart) dot(x, y float64, style draw.GlyphStyle) error {
	points, err := plotter.NewScatter(plotter.XYs{{X: x, Y: y}})
	if err != nil {
		return err
	}
	points.GlyphStyle = style
	c.Add(points)
	return nil
}

// paperMark is the mark of a paper's figure.
var paperMark = draw.GlyphStyle{Color: paperColour, Radius: vg.Points(3.6), Shape: diamond{}}

// diamond is a square on its corner.
type diamond struct{}

// DrawGlyph draws it.
func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	p.Move(vg.Point{X: at.X - sty.Radius, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y + sty.Radius})
	p.Line(vg.Point{X: at.X + sty.Radius, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y - sty.Radius})
	p.Close()
	c.Fill(p)
}

// sign is a mark in a legend.
type sign struct{ draw.GlyphStyle }

// Thumbnail draws it.
func (s sign) Thumbnail(c *draw.Canvas) { c.DrawGlyph(s.GlyphStyle, c.Center()) }
