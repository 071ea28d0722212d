// Package draw draws the report of a probe: the sweep over layers, and a reliability
// diagram.
package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"synod.dev/synod/internal/chart"
	"synod.dev/synod/llm/probe"
)

// Formats returns the file formats of drawings.
func Formats() []string { return chart.Formats }

// The size of a drawing in points: 16 by 10 cm.
const wide, high = 454, 283

// Layers draws the validation AUC of the sweep by layer, with one line for each position
// at its best number of components, and the level of chance. format is one of Formats.
func Layers(r probe.Report, format string) ([]byte, error) {
	positions, best := bestByLayer(r.Sweep)
	if len(positions) == 0 {
		return nil, fmt.Errorf("draw: the report has no sweep")
	}
	c := newChart("layer", "AUC")
	f := chart.Figure{Charts: []*chart.Chart{c}, Title: fmt.Sprintf("%s, %s: AUC on %d validation answers",
		r.Subject.Model, r.Task, r.Validation.Answers)}
	for i, name := range positions {
		shade := chart.Series[i%len(chart.Series)]
		line, mark := chart.Stroke(shade, 1), chart.Mark(shade, 2.5, chart.Circle)
		c.Line(best[name], line)
		c.Mark(best[name], mark)
		f.Legend.Add(name, chart.Rule(line), chart.Sign(mark))
	}
	c.X.Max = max(c.X.Max, c.X.Min+1)
	dashes(c, &f.Legend, plotter.XYs{{X: c.X.Min, Y: .5}, {X: c.X.Max, Y: .5}}, "chance")
	margin := max(.02, (c.Y.Max-c.Y.Min)/20)
	c.Y.Min, c.Y.Max = c.Y.Min-margin, c.Y.Max+margin
	c.X.Tick.Marker, c.Y.Tick.Marker = chart.Whole(c.X.Min, c.X.Max, 8), chart.Ticks(c.Y.Min, c.Y.Max, 6)
	return f.File(format, wide, high)
}

func newChart(x, y string) *chart.Chart {
	c := chart.New(9)
	c.X.Label.Text, c.Y.Label.Text = x, y
	return c
}

// bestByLayer returns the highest AUC of every layer at every position, and the positions
// in the order of the sweep.
func bestByLayer(sweep []probe.SweepPoint) (positions []string, best map[string]plotter.XYs) {
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

// Reliability draws the share of right answers by confidence, for the probe and its
// rivals, with Wilson's 95 % interval. The area of a point grows with the number of
// answers in its bin. format is one of Formats.
func Reliability(r probe.Report, format string) ([]byte, error) {
	c := newChart("confidence", "share right")
	f := chart.Figure{Charts: []*chart.Chart{c}, Title: fmt.Sprintf("%s, %s: reliability on %d held-out answers",
		r.Subject.Model, r.Task, r.Probe.N)}
	dashes(c, &f.Legend, plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}, "perfect calibration")
	c.X.Tick.Marker, c.Y.Tick.Marker = chart.Ticks(0, 1, 5), chart.Ticks(0, 1, 5)
	curves := append([]probe.Rival{{Name: "probe", Figures: r.Probe}}, r.Rivals...)
	for i, of := range curves {
		shade := chart.Series[i%len(chart.Series)]
		if curve(c, of, shade) {
			f.Legend.Add(of.Name, chart.Rule(chart.Stroke(shade, 1)))
		}
	}
	return f.File(format, wide, high)
}

// curve draws the bins that have answers, and reports whether there are any.
func curve(c *chart.Chart, of probe.Rival, shade color.RGBA) bool {
	var line plotter.XYs
	for _, b := range of.Figures.Bins {
		if b.N == 0 {
			continue
		}
		at := plotter.XY{X: *b.Confidence, Y: b.Right.Value}
		line = append(line, at)
		c.Interval(plotter.XY{X: at.X, Y: b.Right.Low}, plotter.XY{X: at.X, Y: b.Right.High}, shade, 0)
		share := vg.Length(math.Sqrt(float64(b.N) / float64(of.Figures.N)))
		c.Mark(plotter.XYs{at}, chart.Mark(shade, 2+8*share, chart.Circle))
	}
	c.Line(line, chart.Stroke(shade, 1))
	return len(line) > 0
}

// dashes draws a line to compare with.
func dashes(c *chart.Chart, l *chart.Legend, points plotter.XYs, name string) {
	s := chart.Stroke(chart.Grey, 1, 4, 3)
	c.Line(points, s)
	l.Add(name, chart.Rule(s))
}
