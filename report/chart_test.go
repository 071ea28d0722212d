package report

import (
	"math"
	"testing"

	"synod.dev/synod/metrics"
)

// A picture of which a part cannot be drawn is an error, not a picture without that part.
func TestFailedChart(t *testing.T) {
	for name, at := range map[string]float64{"good": 0.5, "bad": math.NaN()} {
		one := func() *chart {
			c := newChart("title")
			c.interval(1, &metrics.Rate{Value: at, Low: at, High: at}, allColour)
			c.dot(1, 0.5, paperMark)
			c.fix(0, 2, nil)
			return &c
		}
		several := func() *panels {
			p := newPanels("title", 2, 100)
			p.add("first").dot(1, at, paperMark)
			p.add("second").dot(1, 0.5, paperMark)
			return p
		}
		for _, picture := range []func() (svg, png func() ([]byte, error)){
			func() (svg, png func() ([]byte, error)) { return drawn(one) },
			func() (svg, png func() ([]byte, error)) { return drawn(several) },
		} {
			svg, png := picture()
			for _, draw := range []func() ([]byte, error){svg, png} {
				if b, err := draw(); (err != nil) != (name == "bad") || (b == nil) != (name == "bad") {
					t.Errorf("%s: %d bytes, %v", name, len(b), err)
				}
			}
		}
	}
}
