package report

import (
	"fmt"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/internal/chart"
)

// ReliabilityDiagram draws stated probabilities as an SVG document: the share of right answers by probability, in ten
// bins, with 95 % intervals and how many answers each bin has. On the dotted line the probabilities hold.
func ReliabilityDiagram(title string, s *metrics.Stated) ([]byte, error) {
	c := newChart()
	c.X.Label.Text = "stated probability (above it: how many answers)"
	c.reliability(s.Bins, chart.Blue)
	for _, bin := range s.Bins {
		if bin.N > 0 {
			c.Label(plotter.XY{X: (bin.From + bin.To) / 2, Y: 0.02}, fmt.Sprint(bin.N), textSize-2, chart.Ink)
		}
	}
	p := alone(title, c)
	p.width, p.spread = 4.6*vg.Inch, 4*vg.Inch
	return p.file("svg")
}
