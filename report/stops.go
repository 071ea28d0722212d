package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// stopsPlot is after how many rounds runs ended: a dot a run, a row a cell.
func stopsPlot(g *Grid) []Plot {
	cells := g.cells(func(c Cell) bool { return len(c.Stops) > 0 })
	if len(cells) == 0 || len(cells) > mostCells {
		return nil
	}
	f := Plot{
		Name: "stops", Title: g.titled("Rounds until a game ended"), wide: true,
		Caption: "A dot is a game, dots of games that ended after the same round lie above one another, and the stroke is their median. Beside a cell stands how many of its games ended at all; the others, and cells of which none did, are not drawn.",
		Rows:    [][]string{{"members_kind", "cell", "finished", "stop_round", "games"}},
		Table:   [][]string{{"cell", "ended", "median", "rounds"}},
	}
	for _, c := range cells {
		var rounds string
		for k, n := 0, 0; k < len(c.Stops); k += n {
			n = alike(c.Stops[k:])
			f.Rows = append(f.Rows, []string{c.kindsCell(), plain(c.Cell), fmt.Sprint(c.Finished), fmt.Sprint(c.Stops[k]), fmt.Sprint(n)})
			rounds += fmt.Sprintf(" %d×%d", c.Stops[k], n)
		}
		f.Table = append(f.Table, []string{plain(c.Cell), fmt.Sprintf("%d of %d", len(c.Stops), c.Finished), fmt.Sprint(median(c.Stops)), rounds[1:]})
	}
	f.SVG, f.PNG = drawn(func() (*panels, error) { return drawStops(f.Title, cells) })
	return []Plot{f}
}

// alike is how many of ascending numbers are the first.
func alike(ascending []int) (n int) {
	for n < len(ascending) && ascending[n] == ascending[0] {
		n++
	}
	return n
}

// median is the middle of ascending numbers.
func median(ascending []int) float64 {
	n := len(ascending)
	return float64(ascending[(n-1)/2]+ascending[n/2]) / 2
}

func drawStops(title string, cells []Cell) (*panels, error) {
	p := newPanels(title, 1, vg.Points(56)+vg.Points(20)*vg.Length(len(cells)))
	c := p.add("")
	c.rowsOf(cells, true)
	ticks := c.Y.Tick.Marker.(plot.ConstantTicks)
	last := 1
	for i := range cells {
		stops, y := cells[i].Stops, ticks[i].Value
		ticks[i].Label += fmt.Sprintf("  (%d of %d)", len(stops), cells[i].Finished)
		last = max(last, stops[len(stops)-1])
		m := median(stops)
		if err := c.line(plotter.XYs{{X: m, Y: y - .4}, {X: m, Y: y + .4}}, draw.LineStyle{Color: weakColour, Width: vg.Points(2)}); err != nil {
			return nil, err
		}
		for k, n := 0, 0; k < len(stops); k += n {
			n = alike(stops[k:])
			apart := min(.2, .7/float64(n))
			for j := range n {
				at := y + apart*(float64(j)-float64(n-1)/2)
				if err := c.dot(float64(stops[k]), at, draw.GlyphStyle{Color: strongColour, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}); err != nil {
					return nil, err
				}
			}
		}
	}
	c.X.Min, c.X.Max = 0, float64(last)+.5
	c.X.Tick.Marker, c.X.Label.Text = plot.ConstantTicks(whole(0, c.X.Max)), "round"
	p.explain("a game", sign{draw.GlyphStyle{Color: strongColour, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}})
	p.explain("median", stroke{weakColour, nil})
	return p, nil
}
