package report

import (
	"math"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/internal/chart"
)

// A picture of which a part cannot be drawn is an error, not a picture without that part.
func TestFailedChart(t *testing.T) {
	for name, at := range map[string]float64{"good": 0.5, "bad": math.NaN()} {
		one := func() *picture {
			c := newChart()
			c.interval(1, &metrics.Rate{Value: at, Low: at, High: at}, chart.Ink)
			c.dot(1, 0.5, paperMark)
			c.fix(0, 2, nil)
			return alone("title", c)
		}
		several := func() *picture {
			p := newPanels("title", 2, 100)
			p.add("first").dot(1, at, paperMark)
			p.add("second").dot(1, 0.5, paperMark)
			return p
		}
		for _, build := range []func() *picture{one, several} {
			var f Plot
			f.draw(build)
			for _, draw := range []func() ([]byte, error){f.SVG, f.PDF, f.PNG} {
				if b, err := draw(); (err != nil) != (name == "bad") || (b == nil) != (name == "bad") {
					t.Errorf("%s: %d bytes, %v", name, len(b), err)
				}
			}
		}
	}
}
