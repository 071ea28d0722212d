package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/metrics"
)

// roundsPlot is the share of right answers of weak and of strong members after
// every round, a panel a cell, beside the paper's.
func roundsPlot(g *Grid) []Plot {
	last, names := 0, []string(nil)
	for _, c := range g.Cells {
		for _, m := range c.Rounds {
			last = max(last, m.T)
		}
	}
	for _, group := range []string{metrics.Weak, metrics.Strong} {
		for t := range last + 1 {
			names = append(names, roundMetric(group, t))
		}
	}
	cells := g.cells(func(c Cell) bool { return c.has(names...) })
	if len(cells) == 0 || len(cells) > mostCells || last < 2 { // before-after shows a single round
		return nil
	}
	f := Plot{
		Name: "rounds", Title: g.titled("Members right after every round"), wide: true,
		Caption: "Share of right answers of weak and of strong members after every round (0: before hearing anyone), with Wilson’s 95 % interval; a question that ended earlier stays as it ended. " +
			"Members that answer one question do not err independently, so the intervals are narrower than the truth.",
	}
	if paperNote(cells, names) != "" {
		f.Caption += " Dashed lines with open marks are the paper’s."
	}
	f.data(cells, nil, names)
	f.SVG, f.PNG = drawn(func() (*panels, error) { return drawRounds(f.Title, cells, last) })
	return []Plot{f}
}

func roundMetric(group string, t int) string { return fmt.Sprintf("%s_round_%d", group, t) }

// roundLine is a group in a panel.
type roundLine struct {
	group  string
	ink    color.RGBA
	shape  draw.GlyphDrawer
	theirs draw.GlyphDrawer
	aside  float64
}

var roundLines = []roundLine{
	{metrics.Strong, strongColour, draw.BoxGlyph{}, draw.SquareGlyph{}, .05},
	{metrics.Weak, weakColour, draw.PyramidGlyph{}, draw.TriangleGlyph{}, -.05},
}

func drawRounds(title string, cells []Cell, last int) (*panels, error) {
	p := newPanels(title, min(3, len(cells)), vg.Points(150))
	var ticks []plot.Tick
	for t := range last + 1 {
		ticks = append(ticks, plot.Tick{Value: float64(t), Label: fmt.Sprint(t)})
	}
	for i := range cells {
		c := p.add(cells[i].Cell)
		for _, l := range roundLines {
			if err := l.draw(c, &cells[i], last); err != nil {
				return nil, err
			}
		}
		c.fix(-.3, float64(last)+.3, thinned(slices.Clone(ticks)))
		c.Y.Tick.Marker = plot.ConstantTicks(percents(50))
		if i/p.columns == (len(cells)-1)/p.columns {
			c.X.Label.Text = "round"
		}
	}
	for _, l := range roundLines {
		p.explain(l.group, stroke{l.ink, nil}, sign{draw.GlyphStyle{Color: l.ink, Radius: vg.Points(2.5), Shape: l.shape}})
	}
	if slices.ContainsFunc(cells, func(c Cell) bool {
		return c.published(roundMetric(metrics.Weak, 0)) != nil || c.published(roundMetric(metrics.Strong, 0)) != nil
	}) {
		for _, l := range roundLines {
			p.explain(l.group+", the paper", stroke{l.ink, dashes}, sign{draw.GlyphStyle{Color: l.ink, Radius: vg.Points(2.5), Shape: l.theirs}})
		}
	}
	return p, nil
}

var dashes = []vg.Length{vg.Points(4), vg.Points(2)}

func (l roundLine) draw(c *chart, cell *Cell, last int) error {
	var ours, theirs plotter.XYs
	for t := range last + 1 {
		if r := cell.published(roundMetric(l.group, t)); r != nil {
			theirs = append(theirs, plotter.XY{X: float64(t), Y: r.Value})
		}
		if r := cell.Metrics[roundMetric(l.group, t)]; r != nil {
			ours = append(ours, plotter.XY{X: float64(t) + l.aside, Y: r.Value})
			if err := c.interval(float64(t)+l.aside, r, l.ink); err != nil {
				return err
			}
		}
	}
	if err := c.path(theirs, draw.LineStyle{Color: l.ink, Width: vg.Points(1), Dashes: dashes}, l.theirs); err != nil {
		return err
	}
	return c.path(ours, draw.LineStyle{Color: l.ink, Width: vg.Points(1.5)}, l.shape)
}

// path draws a line with a mark at every point; without points nothing.
func (c *chart) path(points plotter.XYs, style draw.LineStyle, shape draw.GlyphDrawer) error {
	if len(points) == 0 {
		return nil
	}
	lines, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	lines.LineStyle = style
	marks.Color, marks.Shape, marks.Radius = style.Color, shape, vg.Points(2.5)
	c.Add(lines, marks)
	return nil
}

// stroke is a line in a legend.
type stroke struct {
	ink    color.Color
	dashes []vg.Length
}

// Thumbnail draws it.
func (s stroke) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(draw.LineStyle{Color: s.ink, Width: vg.Points(1.5), Dashes: s.dashes}, c.Min.X, y, c.Max.X, y)
}
