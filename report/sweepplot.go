package report

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sweptMetrics are the figures that are plotted against a number.
var sweptMetrics = []struct{ name, says string }{
	{"faa", "Members right at the end (FAA)"},
	{"ra", "Plurality right (RA)"},
	{"decision_accuracy", "Decisions right, of those made"},
	{"capture", "Captured by an adversary"},
	{"outside", "A score outside the range of the honest"},
	{"valid", "Games that ended valid"},
	{"latency", "Latency in virtual seconds"},
}

// saysNumber names parameters for an axis.
var saysNumber = map[string]string{
	"b": "malicious members (b)", "f": "bound on malicious members (f)", "n": "members (n)", "f_e": "malicious evaluators (f_e)", "n_e": "evaluators (n_e)",
}

// sweepPlots draw figures against the number that a grid varies: a line for what
// else it varies, and a panel for every graph where it varies graphs.
func sweepPlots(g *Grid) (out []Plot) {
	s := sweepOf(g)
	if s == nil {
		return nil
	}
	axis := saysNumber[s.by]
	if axis == "" {
		axis = plain(s.by)
	}
	for _, m := range sweptMetrics {
		cells := slices.DeleteFunc(slices.Clone(s.cells), func(c Cell) bool { return !c.has(m.name) && c.published(m.name) == nil })
		measured := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return !c.has(m.name) })
		if len(distinct(measured, func(c *Cell) string { return c.value(s.by) })) < 3 {
			continue
		}
		f := Plot{
			Name: m.name + "-by-" + fileName(s.by), Title: g.titled(m.says + ", by " + axis), wide: true,
			Caption: "With 95 % intervals; points that would lie on one another stand a little apart.",
		}
		f.data(cells, append(slices.Clone(s.key), s.by), []string{m.name})
		d := sweepDrawing{s, m.name, axis, f.Title, cells}
		if d.published() {
			f.Caption += " Dashed lines with diamonds are the paper’s figures of the same cells, in the colours of these; intervals, where they have any, are in the table."
		}
		f.SVG, f.PNG = drawn(d.draw)
		out = append(out, f)
	}
	return out
}

// fileName is a name of a parameter that is safe in one of a file.
func fileName(s string) string {
	out := []rune(s)
	for i, r := range out {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			continue
		}
		out[i] = '_'
	}
	return string(out)
}

type sweepDrawing struct {
	*sweep
	metric, axis, title string
	cells               []Cell
}

func (d sweepDrawing) published() bool {
	return slices.ContainsFunc(d.cells, func(c Cell) bool { return c.published(d.metric) != nil })
}

// manyLines is how many lines a panel takes that need not be split.
const manyLines = 8

// split says what there is a panel for, "" for nothing, and what tells the lines
// of a panel apart: graphs have panels, else whatever leaves few enough lines in
// the fewest panels.
func (d sweepDrawing) split() (panel string, rest []string) {
	by := func(p string) []string {
		return slices.DeleteFunc(slices.Clone(d.key), func(q string) bool { return q == p })
	}
	if slices.Contains(d.key, "graph") {
		return "graph", by("graph")
	}
	if len(d.lines(d.cells)) <= manyLines {
		return "", d.key
	}
	keys := slices.SortedStableFunc(slices.Values(d.key), func(a, b string) int { return d.values(a) - d.values(b) })
	for _, p := range keys {
		if lines := distinct(d.cells, func(c *Cell) string { return c.line(by(p)) }); len(lines) <= manyLines {
			return p, by(p)
		}
	}
	return keys[len(keys)-1], by(keys[len(keys)-1])
}

func (d sweepDrawing) draw() (*panels, error) {
	split, rest := d.split()
	titles := distinct(d.cells, func(c *Cell) string { return d.panel(c, split) })
	p := newPanels(d.title, min(3, len(titles)), vg.Points(170))
	if len(titles) == 1 {
		p.row = vg.Points(270)
	}
	var on [][]Cell
	for _, title := range titles {
		on = append(on, slices.DeleteFunc(slices.Clone(d.cells), func(c Cell) bool { return d.panel(&c, split) != title }))
	}
	hands, order := d.hands(on, rest)
	for k, title := range titles {
		c := p.add(title)
		if err := d.lay(c, on[k], rest, hands); err != nil {
			return nil, err
		}
		if k/p.columns == (len(titles)-1)/p.columns {
			c.X.Label.Text = d.axis
		}
	}
	for _, line := range order {
		h := hands[line]
		if line == "" {
			line = "ours"
		}
		p.explain(line, stroke{h.Color, nil}, sign{draw.GlyphStyle{Color: h.Color, Radius: vg.Points(2.5), Shape: h.shape}})
	}
	if d.published() {
		p.explain("the paper", stroke{allColour, dashes}, sign{draw.GlyphStyle{Color: allColour, Radius: vg.Points(2.5), Shape: diamond{}}})
	}
	return p, nil
}

// panel names the panel of a cell.
func (d sweepDrawing) panel(c *Cell, split string) string {
	switch split {
	case "":
		return ""
	case "graph":
		return c.param(split)
	}
	return c.line([]string{split})
}
