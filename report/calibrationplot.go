package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// modelColours tell models apart (Okabe & Ito 2008), and are used again where
// there are more.
var modelColours = []color.RGBA{
	strongColour, weakColour, {0x00, 0x9e, 0x73, 255}, {0xcc, 0x79, 0xa7, 255}, {0x56, 0xb4, 0xe9, 255}, {0xd5, 0x5e, 0x00, 255},
}

// calibrationPlot is the reliability plot: what a confidence promises, and how often
// the answer was right.
func calibrationPlot(r *Report) *Plot {
	if r.Calibration == nil || len(r.Calibration.Models) == 0 {
		return nil
	}
	f := &Plot{
		Name: "calibration", Title: r.titled("Right answers by confidence"),
		Caption: "Share of right answers by the confidence that came with them, in ten bins, with Wilson’s 95 % interval; on the dotted line confidence is kept as a promise. " +
			"Honest members’ own first answers only.",
		Rows:  [][]string{append([]string{"members_kind", "model", "from", "to", "confidence"}, rateColumns...)},
		Table: [][]string{{"model", "mean confidence", "right"}},
	}
	for _, m := range r.Calibration.Models {
		for _, bin := range m.Bins {
			if bin.N == 0 {
				continue
			}
			f.Rows = append(f.Rows, append([]string{r.kindsCell(), plain(m.Model), number(bin.From), number(bin.To), number(*bin.Confidence)}, rateCells(bin.Right)...))
			f.Table = append(f.Table, []string{plain(m.Model), fmt.Sprintf("%.2f", *bin.Confidence), told(bin.Right)})
		}
	}
	f.SVG, f.PNG = drawn(r.calibrationChart)
	return f
}

func (r *Report) calibrationChart() (chart, error) {
	c := newChart(r.titled("Right answers by confidence"))
	c.X.Label.Text = "confidence"
	promise, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	if err != nil {
		return c, err
	}
	promise.Color, promise.Dashes = allColour, []vg.Length{vg.Points(1), vg.Points(3)}
	c.Add(promise)
	for k, m := range r.Calibration.Models {
		ink := modelColours[k%len(modelColours)]
		var line plotter.XYs
		for _, bin := range m.Bins {
			if bin.N == 0 {
				continue
			}
			at := *bin.Confidence
			line = append(line, plotter.XY{X: at, Y: bin.Right.Value})
			if err := c.interval(at, bin.Right, ink); err != nil {
				return c, err
			}
		}
		lines, points, err := plotter.NewLinePoints(line)
		if err != nil {
			return c, err
		}
		lines.Color, lines.Width = ink, vg.Points(1.5)
		points.Color, points.Shape, points.Radius = ink, draw.CircleGlyph{}, vg.Points(3)
		c.Add(lines, points)
		c.explain(m.Model, lines, points)
	}
	var names []plot.Tick
	for k := range 6 {
		names = append(names, plot.Tick{Value: float64(k) / 5, Label: fmt.Sprintf("%.1f", float64(k)/5)})
	}
	c.fix(0, 1, names)
	return c, nil
}
