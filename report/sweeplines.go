package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/metrics"
)

// lineColours are those of models and one more.
var lineColours = append(slices.Clone(modelColours), allColour)

// hand is how a line is drawn.
type hand struct {
	draw.LineStyle
	shape draw.GlyphDrawer
}

// lay draws the lines of a panel side by side; rates over their whole range, counts
// and seconds up to the highest of the plot.
func (d sweepDrawing) lay(c *chart, cells []Cell, rest []string, hands map[string]hand) error {
	low, high, top := math.Inf(1), math.Inf(-1), 1.0
	for i := range d.cells {
		x, _ := d.cells[i].number(d.by)
		low, high = min(low, x), max(high, x)
		for _, r := range []*metrics.Rate{d.cells[i].Metrics[d.metric], d.cells[i].published(d.metric)} {
			if r != nil && r.Count {
				top = max(top, r.High*1.05)
			}
		}
	}
	lines := distinct(cells, func(c *Cell) string { return c.line(rest) })
	apart := (high - low) * min(.015, .08/float64(len(lines)))
	for k, line := range lines {
		aside := apart * (float64(k) - float64(len(lines)-1)/2)
		of := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return c.line(rest) != line })
		if err := d.line(c, of, aside, hands[line]); err != nil {
			return err
		}
	}
	room := (high - low) / 12
	c.fix(low-room, high+room, d.ticks())
	if top > 1 {
		c.Y.Min, c.Y.Max, c.Y.Tick.Marker = 0, top, plot.ConstantTicks(whole(0, top))
	}
	return nil
}

// distinct are the values of cells in the order in which they first occur.
func distinct(cells []Cell, of func(*Cell) string) (values []string) {
	for i := range cells {
		if v := of(&cells[i]); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// hands are the styles of lines by name, with the names in order: each has the
// colour that is rarest in its panels, and a mark that no other of that colour has
// while there are any left.
func (d sweepDrawing) hands(panels [][]Cell, rest []string) (map[string]hand, []string) {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}
	name := func(c *Cell) string { return c.line(rest) }
	order, all := distinct(d.cells, name), make([]int, len(lineColours))
	hands, used := map[string]hand{}, make([][]int, len(panels))
	for i := range used {
		used[i] = make([]int, len(lineColours))
	}
	for _, line := range order {
		worst := make([]int, len(lineColours))
		var in []int
		for i, cells := range panels {
			if !slices.Contains(distinct(cells, name), line) {
				continue
			}
			in = append(in, i)
			for colour, n := range used[i] {
				worst[colour] = max(worst[colour], n)
			}
		}
		colour := slices.Index(worst, slices.Min(worst))
		for _, i := range in {
			used[i][colour]++
		}
		hands[line] = hand{draw.LineStyle{Color: lineColours[colour], Width: vg.Points(1.5)}, shapes[(all[colour]+colour)%len(shapes)]}
		all[colour]++
	}
	return hands, order
}

func (d sweepDrawing) ticks() (ticks []plot.Tick) {
	for _, value := range distinct(d.cells, func(c *Cell) string { return c.value(d.by) }) {
		i := slices.IndexFunc(d.cells, func(c Cell) bool { return c.value(d.by) == value })
		x, _ := d.cells[i].number(d.by)
		ticks = append(ticks, plot.Tick{Value: x, Label: fmt.Sprint(x)})
	}
	return thinned(ticks)
}

// line draws cells, ascending in the number, as a line that is broken where a cell
// has no figure; dashed, the paper's.
func (d sweepDrawing) line(to *chart, cells []Cell, aside float64, h hand) error {
	at := func(c *Cell) float64 { x, _ := c.number(d.by); return x + aside }
	theirs := draw.LineStyle{Color: h.Color, Width: vg.Points(1), Dashes: dashes}
	err := broken(cells, at, func(c *Cell) *metrics.Rate { return c.published(d.metric) }, func(piece plotter.XYs) error {
		return to.path(piece, theirs, diamond{})
	})
	if err != nil {
		return err
	}
	for i := range cells {
		if r := cells[i].Metrics[d.metric]; r != nil {
			if err := to.interval(at(&cells[i]), r, h.Color); err != nil {
				return err
			}
		}
	}
	return broken(cells, at, func(c *Cell) *metrics.Rate { return c.Metrics[d.metric] }, func(piece plotter.XYs) error {
		return to.path(piece, h.LineStyle, h.shape)
	})
}

// broken hands over the pieces of a line between gaps.
func broken(cells []Cell, at func(*Cell) float64, of func(*Cell) *metrics.Rate, take func(plotter.XYs) error) error {
	var piece plotter.XYs
	for i := range cells {
		if r := of(&cells[i]); r != nil {
			piece = append(piece, plotter.XY{X: at(&cells[i]), Y: r.Value})
			continue
		}
		if err := take(piece); err != nil {
			return err
		}
		piece = nil
	}
	return take(piece)
}
