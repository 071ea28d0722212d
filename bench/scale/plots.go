package scale

import (
	"fmt"
	"image/color"
	"math"
	"math/big"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/internal/chart"
	"synod.dev/synod/network/committee"
)

// figure returns a figure of one chart, and the chart.
func figure(title, x, y string) (*chart.Figure, *chart.Chart) {
	c := chart.New(10)
	c.X.Label.Text, c.Y.Label.Text = x, y
	return &chart.Figure{Title: title, Charts: []*chart.Chart{c}}, c
}

// The size of a figure in points.
const width, height = 560, 330

// capturedPlot shows the probability that a committee is captured, by its size, on a logarithmic axis.
func capturedPlot() ([]byte, error) {
	f, c := figure("How often more than a third of a drawn committee is hostile", "seats of the committee",
		"probability of one draw")
	for i, share := range shares {
		var points plotter.XYs
		for size := 4; size <= 400; size += 12 {
			p, _ := new(big.Float).SetRat(committee.Captured(members, members*share/100, size, (size-1)/3)).Float64()
			if p < 1e-12 {
				break
			}
			points = append(points, plotter.XY{X: float64(size), Y: math.Log10(p)})
		}
		shapes := []draw.GlyphDrawer{chart.Circle, chart.Square, chart.Triangle, chart.Diamond}
		ink := []color.RGBA{chart.Blue, chart.Green, chart.Orange, chart.Vermilion}[i]
		c.Line(points, chart.Stroke(ink, 1.8))
		c.Mark(points, chart.Mark(ink, 2.2, shapes[i]))
		f.Legend.Add(fmt.Sprintf("%d %% of 10,000 hostile", share), chart.Sign(chart.Mark(ink, 2.2, shapes[i])))
	}
	c.X.Min, c.X.Max, c.X.Tick.Marker = 0, 400, chart.Whole(0, 400, 8)
	c.Y.Min, c.Y.Max = -12, 0
	var ticks plot.ConstantTicks
	for e := -12; e <= 0; e += 3 {
		ticks = append(ticks, plot.Tick{Value: float64(e), Label: tenTo(e)})
	}
	c.Y.Tick.Marker = ticks
	return f.File("svg", width, height)
}

// tenTo returns a power of ten up to 1 in words.
func tenTo(e int) string {
	names := map[int]string{0: "always", -3: "1 in 1,000", -6: "1 in a million", -9: "1 in 10^9"}
	if name, ok := names[e]; ok {
		return name
	}
	return fmt.Sprintf("1 in 10^%d", -e)
}

// runsPlot shows the rounds of runs by the number of members.
func runsPlot(runs []Spread) ([]byte, error) {
	f, c := figure("Rounds until honest members agree, despite Byzantine ones (SIMULATED)", "members", "rounds")
	top := 10.0
	var points plotter.XYs
	for _, r := range runs {
		points = append(points, plotter.XY{X: float64(r.Nodes), Y: float64(r.Rounds)})
		top = max(top, math.Ceil(float64(r.Rounds)/10)*10)
	}
	mark := chart.Mark(chart.Blue, 3, chart.Circle)
	c.Line(points, chart.Stroke(chart.Blue, 1.8))
	c.Mark(points, mark)
	f.Legend.Add("W-MSR, grown graph", chart.Sign(mark))
	var ticks plot.ConstantTicks
	for n := 0; n <= 10_000; n += 2000 {
		ticks = append(ticks, plot.Tick{Value: float64(n), Label: grouped(n)})
	}
	c.X.Min, c.X.Max, c.X.Tick.Marker = 0, 10_000, ticks
	c.Y.Min, c.Y.Max, c.Y.Tick.Marker = 0, top, chart.Whole(0, top, 6)
	return f.File("svg", width, height)
}
