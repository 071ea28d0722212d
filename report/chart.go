package report

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"synod.dev/synod/metrics"
)

// Colours that differ for the colour-blind too (Okabe & Ito 2008); those of the
// groups are a darker kind of what package graph fills seats with.
var (
	allColour    = color.RGBA{0x22, 0x22, 0x22, 255}
	strongColour = color.RGBA{0x00, 0x72, 0xb2, 255}
	weakColour   = color.RGBA{0xe6, 0x9f, 0x00, 255}
	gridColour   = color.RGBA{0xdd, 0xdd, 0xdd, 255}
)

const chartWidth, chartHeight, legendWidth = 7 * vg.Inch, 3.6 * vg.Inch, 1.1 * vg.Inch

// chart is a plot of rates: the vertical axis goes from 0 to 100 %, and the legend
// stands to the right of what it explains.
type chart struct {
	*plot.Plot
	legend plot.Legend
}

func newChart(title string) chart {
	c := chart{plot.New(), plot.NewLegend()}
	for _, style := range []*text.Style{
		&c.Title.TextStyle, &c.X.Label.TextStyle, &c.Y.Label.TextStyle, &c.X.Tick.Label, &c.Y.Tick.Label, &c.legend.TextStyle,
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

// fix sets the axes, whatever was added: rates are compared over the whole range.
func (c *chart) fix(xMin, xMax float64, names []plot.Tick) {
	c.X.Min, c.X.Max, c.Y.Min, c.Y.Max = xMin, xMax, 0, 1
	c.X.Tick.Marker = plot.ConstantTicks(names)
	var percents []plot.Tick
	for k := range 6 {
		percents = append(percents, plot.Tick{Value: float64(k) / 5, Label: fmt.Sprintf("%d %%", 20*k)})
	}
	c.Y.Tick.Marker = plot.ConstantTicks(percents)
}

// interval draws the 95 % interval of a rate as a bar with caps.
func (c *chart) interval(x float64, r *metrics.Rate, ink color.Color) error {
	bar := struct {
		plotter.XYs
		plotter.YErrors
	}{plotter.XYs{{X: x, Y: r.Value}}, plotter.YErrors{{Low: r.Value - r.Low, High: r.High - r.Value}}}
	for _, line := range []struct {
		colour color.Color
		width  vg.Length
	}{{color.White, 2.4}, {ink, 1}} { // the white one makes it stand out on what it lies on
		e, err := plotter.NewYErrorBars(bar)
		if err != nil {
			return err
		}
		e.Color, e.Width = line.colour, line.width
		c.Add(e)
	}
	return nil
}

// explain adds a line to the legend; a long name is cut to the room that there is.
func (c *chart) explain(name string, signs ...plot.Thumbnailer) {
	if letters := []rune(plain(name)); len(letters) > 13 {
		name = string(letters[:12]) + "…"
	}
	c.legend.Add(plain(name), signs...)
}

func (c chart) size() (width, height vg.Length) { return chartWidth, chartHeight }

// on draws the chart beside its legend.
func (c chart) on(canvas draw.Canvas) {
	c.Draw(draw.Crop(canvas, 0, -legendWidth, 0, 0))
	c.legend.Draw(draw.Crop(canvas, canvas.Max.X-canvas.Min.X-legendWidth+vg.Points(10), 0, 0, -vg.Points(30)))
}

// drawing is what fills a picture.
type drawing interface {
	size() (width, height vg.Length)
	on(draw.Canvas)
}

// drawn makes the two pictures of a drawing out of one function that fills it.
func drawn[D drawing](fill func() (D, error)) (svg, png func() ([]byte, error)) {
	svg = func() ([]byte, error) {
		d, err := fill()
		if err != nil {
			return nil, err
		}
		canvas := &fitted{Canvas: vgsvg.New(d.size())}
		onPaper(d, canvas)
		return canvas.bytes()
	}
	png = func() ([]byte, error) {
		d, err := fill()
		if err != nil {
			return nil, err
		}
		canvas := vgimg.NewWith(vgimg.UseWH(d.size()), vgimg.UseDPI(144))
		onPaper(d, canvas)
		var b bytes.Buffer
		_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(&b)
		return b.Bytes(), err
	}
	return svg, png
}

// onPaper draws on white, with a margin.
func onPaper(d drawing, sized vg.CanvasSizer) {
	canvas := draw.New(sized)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	d.on(draw.Crop(canvas, vg.Points(8), -vg.Points(8), vg.Points(8), -vg.Points(8)))
}
