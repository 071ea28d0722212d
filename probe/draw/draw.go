// Package draw draws the report of a probe: the sweep over layers, and a reliability
// diagram.
package draw

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/probe"
)

// Formats returns the file formats of drawings.
func Formats() []string { return []string{"svg", "png"} }

// Colours that colour-blind readers can distinguish (Okabe & Ito 2008).
var colours = []color.RGBA{{0, 114, 178, 255}, {230, 159, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}}

var grey = color.RGBA{140, 140, 140, 255}

const (
	wide = 16 * vg.Centimeter
	high = 10 * vg.Centimeter
)

// Layers draws the validation AUC of the sweep by layer, with one line for each position
// at its best number of components, and the level of chance. format is one of Formats.
func Layers(r probe.Report, format string) ([]byte, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s, %s: AUC on %d validation answers", r.Subject.Model, r.Task, r.Validation.Answers)
	p.X.Label.Text, p.Y.Label.Text = "layer", "AUC"
	positions, best := bestByLayer(r.Sweep)
	low, top := math.Inf(1), math.Inf(-1)
	for i, name := range positions {
		xy := best[name]
		line, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, fmt.Errorf("draw: %w", err)
		}
		line.Color, points.Color, points.Shape = colours[i%len(colours)], colours[i%len(colours)], draw.CircleGlyph{}
		p.Add(line, points)
		p.Legend.Add(name, line, points)
		low, top = math.Min(low, xy[0].X), math.Max(top, xy[len(xy)-1].X)
	}
	if len(positions) == 0 {
		return nil, fmt.Errorf("draw: the report has no sweep")
	}
	if err := dashes(p, plotter.XYs{{X: low, Y: 0.5}, {X: math.Max(top, low+1), Y: 0.5}}, "chance"); err != nil {
		return nil, err
	}
	p.X.Max = low + (top-low)*1.2 // space for the legend
	p.X.Tick.Marker = ticks(int(low), int(top), max(1, int(top-low)/6), 1)
	p.Legend.Top = true
	return render(p, format)
}

// bestByLayer returns the highest AUC of every layer at every position, and the positions
// in the order of the sweep.
func bestByLayer(sweep []probe.Cell) (positions []string, best map[string]plotter.XYs) {
	best = map[string]plotter.XYs{}
	for _, c := range sweep {
		if c.AUC == nil {
			continue
		}
		xy := best[c.Position]
		if xy == nil {
			positions = append(positions, c.Position)
		}
		at, seen := slices.BinarySearchFunc(xy, float64(c.Layer),
			func(p plotter.XY, x float64) int { return cmp.Compare(p.X, x) })
		if !seen {
			xy = slices.Insert(xy, at, plotter.XY{X: float64(c.Layer), Y: *c.AUC})
		}
		xy[at].Y = math.Max(xy[at].Y, *c.AUC)
		best[c.Position] = xy
	}
	return positions, best
}

// ticks returns ticks from low to high at every step, in units of 1/per.
func ticks(low, high, step, per int) plot.ConstantTicks {
	var t plot.ConstantTicks
	for i := low; i <= high; i += step {
		t = append(t, plot.Tick{Value: float64(i) / float64(per), Label: fmt.Sprint(float64(i) / float64(per))})
	}
	return t
}

// Reliability draws the share of right answers by confidence, for the probe and its
// rivals, with Wilson's 95 % interval. The area of a point grows with the number of
// answers in its bin. format is one of Formats.
func Reliability(r probe.Report, format string) ([]byte, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s, %s: reliability on %d held-out answers", r.Subject.Model, r.Task, r.Probe.N)
	p.X.Label.Text, p.Y.Label.Text = "confidence", "share right"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1.5, 0, 1 // space for the legend
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks(0, 10, 2, 10), ticks(0, 10, 2, 10)
	if err := dashes(p, plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}, "perfect calibration"); err != nil {
		return nil, err
	}
	curves := []probe.Rival{{Name: "probe", Figures: r.Probe}}
	for i, c := range append(curves, r.Rivals...) {
		if err := curve(p, c, colours[i%len(colours)]); err != nil {
			return nil, err
		}
	}
	p.Legend.Top = true
	return render(p, format)
}

func curve(p *plot.Plot, c probe.Rival, shade color.Color) error {
	var xy plotter.XYs
	var bars plotter.YErrors
	var sizes []int
	for _, b := range c.Figures.Bins {
		if b.N > 0 {
			xy, sizes = append(xy, plotter.XY{X: *b.Confidence, Y: b.Right.Value}), append(sizes, b.N)
			bars = append(bars, struct{ Low, High float64 }{b.Right.Value - b.Right.Low, b.Right.High - b.Right.Value})
		}
	}
	if len(xy) == 0 {
		return nil
	}
	line, points, err := plotter.NewLinePoints(xy)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	line.Color, points.Color, points.Shape = shade, shade, draw.CircleGlyph{}
	points.GlyphStyleFunc = func(i int) draw.GlyphStyle {
		share := math.Sqrt(float64(sizes[i]) / float64(c.Figures.N))
		return draw.GlyphStyle{Color: shade, Radius: vg.Points(2 + 8*share), Shape: draw.CircleGlyph{}}
	}
	spread, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{xy, bars})
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	spread.Color, spread.CapWidth = shade, 0
	p.Add(line, spread, points)
	p.Legend.Add(c.Name, line)
	return nil
}

func dashes(p *plot.Plot, xy plotter.XYs, name string) error {
	line, err := plotter.NewLine(xy)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	line.Color, line.Dashes = grey, []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

func render(p *plot.Plot, format string) ([]byte, error) {
	if !slices.Contains(Formats(), format) {
		return nil, fmt.Errorf("draw: format %q; want one of %v", format, Formats())
	}
	w, err := p.WriterTo(wide, high, format)
	if err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return b.Bytes(), nil
}
