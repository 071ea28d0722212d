// Package draw draws the report of a probe: the sweep over layers, and a reliability
// diagram.
package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"synod.dev/synod/internal/canvas"
	"synod.dev/synod/internal/plot"
	"synod.dev/synod/llm/probe"
)

// Formats returns the file formats of drawings.
func Formats() []string { return []string{"svg", "pdf", "png"} }

// Colours that colour-blind readers can distinguish (Okabe & Ito 2008).
var colours = []color.RGBA{{0, 114, 178, 255}, {230, 159, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}}

var grey, ink = color.RGBA{140, 140, 140, 255}, color.RGBA{34, 34, 34, 255}

// The size of a drawing in points: 16 by 10 cm.
const wide, high = 454, 283

// drawing is a chart with a legend in its right part.
type drawing struct {
	plot.Chart
	legend plot.Legend
}

func newDrawing(title, x, y string) *drawing {
	d := &drawing{plot.Chart{Title: title, TitleSize: 11, LabelSize: 10, TicksSize: 9, Ink: ink,
		X: plot.Axis{Label: x}, Y: plot.Axis{Label: y}}, plot.Legend{Size: 9, Ink: ink}}
	if w := (canvas.Text{Size: d.TitleSize}).Width(title); w > wide-60 {
		d.TitleSize *= (wide - 60) / w
	}
	return d
}

// Layers draws the validation AUC of the sweep by layer, with one line for each position
// at its best number of components, and the level of chance. format is one of Formats.
func Layers(r probe.Report, format string) ([]byte, error) {
	d := newDrawing(fmt.Sprintf("%s, %s: AUC on %d validation answers", r.Subject.Model, r.Task, r.Validation.Answers),
		"layer", "AUC")
	positions, best := bestByLayer(r.Sweep)
	if len(positions) == 0 {
		return nil, fmt.Errorf("draw: the report has no sweep")
	}
	d.X.Min, d.X.Max, d.Y.Min, d.Y.Max = math.Inf(1), math.Inf(-1), .5, .5
	for i, name := range positions {
		shade := colours[i%len(colours)]
		d.Line(best[name], canvas.Stroke{Ink: shade, Width: 1})
		d.Mark(best[name], plot.Mark{Ink: shade, Radius: 2.5})
		d.legend.Add(name, plot.Rule{Ink: shade, Width: 1}, plot.Mark{Ink: shade, Radius: 2.5})
		for _, p := range best[name] {
			d.X.Extend(p.X)
			d.Y.Extend(p.Y)
		}
	}
	d.X.Extend(d.X.Min + 1)
	d.dashes([]plot.XY{{X: d.X.Min, Y: 0.5}, {X: d.X.Max, Y: 0.5}}, "chance")
	margin := max(.02, (d.Y.Max-d.Y.Min)/20)
	d.Y.Min, d.Y.Max = d.Y.Min-margin, d.Y.Max+margin
	d.X.Ticks, d.Y.Ticks = plot.Whole(d.X.Min, d.X.Max, 8), plot.Ticks(d.Y.Min, d.Y.Max, 6)
	return d.render(format)
}

// bestByLayer returns the highest AUC of every layer at every position, and the positions
// in the order of the sweep.
func bestByLayer(sweep []probe.Cell) (positions []string, best map[string][]plot.XY) {
	best = map[string][]plot.XY{}
	for _, c := range sweep {
		if c.AUC == nil {
			continue
		}
		xy := best[c.Position]
		if xy == nil {
			positions = append(positions, c.Position)
		}
		at, seen := slices.BinarySearchFunc(xy, float64(c.Layer),
			func(p plot.XY, x float64) int { return cmp.Compare(p.X, x) })
		if !seen {
			xy = slices.Insert(xy, at, plot.XY{X: float64(c.Layer), Y: *c.AUC})
		}
		xy[at].Y = math.Max(xy[at].Y, *c.AUC)
		best[c.Position] = xy
	}
	return positions, best
}

// Reliability draws the share of right answers by confidence, for the probe and its
// rivals, with Wilson's 95 % interval. The area of a point grows with the number of
// answers in its bin. format is one of Formats.
func Reliability(r probe.Report, format string) ([]byte, error) {
	d := newDrawing(fmt.Sprintf("%s, %s: reliability on %d held-out answers", r.Subject.Model, r.Task, r.Probe.N),
		"confidence", "share right")
	d.X.Max, d.Y.Max = 1, 1
	d.X.Ticks, d.Y.Ticks = plot.Ticks(0, 1, 5), plot.Ticks(0, 1, 5)
	d.dashes([]plot.XY{{X: 0, Y: 0}, {X: 1, Y: 1}}, "perfect calibration")
	curves := []probe.Rival{{Name: "probe", Figures: r.Probe}}
	for i, c := range append(curves, r.Rivals...) {
		d.curve(c, colours[i%len(colours)])
	}
	return d.render(format)
}

func (d *drawing) curve(c probe.Rival, shade color.RGBA) {
	var line []plot.XY
	for _, b := range c.Figures.Bins {
		if b.N == 0 {
			continue
		}
		at := plot.XY{X: *b.Confidence, Y: b.Right.Value}
		line = append(line, at)
		d.Interval(plot.XY{X: at.X, Y: b.Right.Low}, plot.XY{X: at.X, Y: b.Right.High}, shade, 0)
		share := math.Sqrt(float64(b.N) / float64(c.Figures.N))
		d.Mark([]plot.XY{at}, plot.Mark{Ink: shade, Radius: 2 + 8*share})
	}
	if len(line) > 0 {
		d.Line(line, canvas.Stroke{Ink: shade, Width: 1})
		d.legend.Add(c.Name, plot.Rule{Ink: shade, Width: 1})
	}
}

func (d *drawing) dashes(points []plot.XY, name string) {
	s := canvas.Stroke{Ink: grey, Width: 1, Dashes: []float64{4, 3}}
	d.Line(points, s)
	d.legend.Add(name, plot.Rule(s))
}

func (d *drawing) render(format string) ([]byte, error) {
	paint := func(on canvas.Canvas) {
		const margin = 8
		on = on.Crop(margin, margin, margin, margin)
		width, _ := d.legend.Extent()
		width = width*1.12 + margin // the viewer's font may be wider
		d.Draw(on.Crop(0, width, 0, 0))
		d.legend.Draw(on.Crop(on.Max.X-on.Min.X-width+margin, 0, 0, 24))
	}
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	switch format {
	case "svg":
		return canvas.SVG(wide, high, paint)
	case "pdf":
		return canvas.PDF(wide, high, paint)
	case "png":
		return canvas.PNG(wide, high, paint)
	}
	return nil, fmt.Errorf("draw: format %q; want one of %v", format, Formats())
}
