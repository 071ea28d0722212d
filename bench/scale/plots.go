package scale

import (
	"fmt"
	"image/color"
	"math"
	"math/big"

	"synod.dev/synod/internal/canvas"
	"synod.dev/synod/internal/plot"
	"synod.dev/synod/network/committee"
)

var (
	ink    = color.RGBA{0x22, 0x22, 0x22, 0xff}
	grid   = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	colour = []color.RGBA{{0x00, 0x72, 0xb2, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xe6, 0x9f, 0x00, 0xff},
		{0xd5, 0x5e, 0x00, 0xff}}
)

func chartOf(title, x, y string) *plot.Chart {
	return &plot.Chart{Title: title, TitleSize: 12, LabelSize: 10, TicksSize: 10, Ink: ink, Grid: grid,
		X: plot.Axis{Label: x}, Y: plot.Axis{Label: y}}
}

func draw(c *plot.Chart, l *plot.Legend) ([]byte, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	const width, height, gap = 560, 330, 14
	return canvas.SVG(width, height, func(on canvas.Canvas) {
		beside, _ := l.Extent()
		beside = beside*1.12 + gap
		c.Draw(on.Crop(0, beside, 0, 0))
		l.Draw(on.Crop(on.Max.X-on.Min.X-beside+gap, 0, 0, 24))
	})
}

// capturedPlot shows the probability that a committee is captured, by its size, on a logarithmic axis.
func capturedPlot() ([]byte, error) {
	c := chartOf("How often more than a third of a drawn committee is hostile", "seats of the committee",
		"probability of one draw")
	l := &plot.Legend{Size: 10, Ink: ink}
	c.X.Min, c.X.Max, c.X.Ticks = 0, 400, plot.Whole(0, 400, 8)
	c.Y.Min, c.Y.Max = -12, 0
	for e := -12; e <= 0; e += 3 {
		c.Y.Ticks = append(c.Y.Ticks, plot.Tick{Value: float64(e), Label: tenTo(e)})
	}
	for i, share := range shares {
		var points []plot.XY
		for size := 4; size <= 400; size += 12 {
			f, _ := new(big.Float).SetRat(committee.Captured(members, members*share/100, size, (size-1)/3)).Float64()
			if f < 1e-12 {
				break
			}
			points = append(points, plot.XY{X: float64(size), Y: math.Log10(f)})
		}
		stroke := canvas.Stroke{Ink: colour[i], Width: 1.8}
		mark := plot.Mark{Ink: colour[i], Radius: 2.2, Shape: []plot.Shape{plot.Circle, plot.Square, plot.Triangle,
			plot.Diamond}[i]}
		c.Line(points, stroke)
		c.Mark(points, mark)
		l.Add(fmt.Sprintf("%d %% of 10,000 hostile", share), mark)
	}
	return draw(c, l)
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
	c := chartOf("Rounds until honest members agree, despite Byzantine ones (SIMULATED)", "members", "rounds")
	l := &plot.Legend{Size: 10, Ink: ink}
	top := 10.0
	var points []plot.XY
	for _, r := range runs {
		points = append(points, plot.XY{X: float64(r.Nodes), Y: float64(r.Rounds)})
		top = max(top, math.Ceil(float64(r.Rounds)/10)*10)
	}
	c.X.Min, c.X.Max, c.X.Ticks = 0, 10_000, nil
	for n := 0; n <= 10_000; n += 2000 {
		c.X.Ticks = append(c.X.Ticks, plot.Tick{Value: float64(n), Label: grouped(n)})
	}
	c.Y.Min, c.Y.Max, c.Y.Ticks = 0, top, plot.Whole(0, top, 6)
	mark := plot.Mark{Ink: colour[0], Radius: 3, Shape: plot.Circle}
	c.Line(points, canvas.Stroke{Ink: colour[0], Width: 1.8})
	c.Mark(points, mark)
	l.Add("W-MSR, grown graph", mark)
	return draw(c, l)
}
