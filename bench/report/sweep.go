package report

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/internal/chart"
)

// sweep is a grid that varies a number, and possibly other parameters, so that rates
// can be plotted against the number.
type sweep struct {
	by    string   // the number
	key   []string // the parameters that distinguish lines, most significant first
	cells []Cell   // the cells that have the number, in its order
}

// likelySweeps are the numbers that grids usually vary, the likeliest first. Other
// numbers are tried after them.
var likelySweeps = []string{"b", "f_e", "f", "spread", "n_e", "n"}

// sweepOf finds the number that a grid varies; nil if there is none.
func sweepOf(g *Grid) *sweep {
	names := map[string]bool{}
	for _, c := range g.Cells {
		for name := range c.Params {
			names[name] = true
		}
	}
	params := slices.Sorted(maps.Keys(names))
	order := append(slices.Clone(likelySweeps), params...)
	for k, by := range order {
		if !names[by] || slices.Index(order, by) < k {
			continue
		}
		if s := sweepBy(g, by, append(slices.Clone(params), honest)); s != nil {
			return s
		}
	}
	return nil
}

// sweepBy treats the number by as the varied one. Its key is a minimal set of the
// other varied parameters that distinguishes the cells of each value; parameters that
// are not numbers must be constant along a line. It returns nil if the number has
// fewer than three values, or if most lines would have a single point.
func sweepBy(g *Grid, by string, params []string) *sweep {
	s := &sweep{by: by, cells: g.selectCells(func(c Cell) bool { _, ok := c.number(by); return ok })}
	slices.SortStableFunc(s.cells, func(a, b Cell) int {
		x, _ := a.number(by)
		y, _ := b.number(by)
		return cmp.Compare(x, y)
	})
	if s.values(by) < 3 {
		return nil
	}
	for _, p := range params {
		if p != by && s.values(p) > 1 {
			s.key = append(s.key, p)
		}
	}
	slices.SortStableFunc(s.key, func(a, b string) int { return cmp.Compare(significance(a), significance(b)) })
	for k := 0; k < len(s.key); {
		rest := slices.Delete(slices.Clone(s.key), k, k+1)
		if s.distinguishes(rest) && (s.isNumber(s.key[k]) || s.followsFrom(s.key[k], rest)) {
			s.key = rest
			continue
		}
		k++
	}
	slices.Reverse(s.key)
	lines := s.lines(s.cells)
	long := 0
	for _, l := range lines {
		if len(l) > 1 {
			long++
		}
	}
	if !s.distinguishes(s.key) || 2*long < len(lines) {
		return nil
	}
	return s
}

// values returns the number of distinct values of a parameter.
func (s *sweep) values(name string) int {
	all := map[string]bool{}
	for i := range s.cells {
		all[s.cells[i].param(name)] = true
	}
	return len(all)
}

// significance orders parameters: the ones with low values are the first to be left
// out of the key if they follow from others. Counts come first, sums before all.
func significance(name string) int {
	if k := slices.Index([]string{"n", "f", "r", "w"}, name); k >= 0 {
		return k
	}
	if k := slices.Index([]string{honest, "adversary", "position", "agents", "graph", "protocol"}, name); k >= 0 {
		return 100 + k
	}
	return 50
}

// distinguishes reports whether the number and a key identify every cell.
func (s *sweep) distinguishes(key []string) bool {
	seen := map[string]bool{}
	for i := range s.cells {
		seen[s.cells[i].line(key)+"\x00"+s.cells[i].param(s.by)] = true
	}
	return len(seen) == len(s.cells)
}

// isNumber reports whether a parameter is a number in all cells. A number may change
// along a line.
func (s *sweep) isNumber(name string) bool {
	return !slices.ContainsFunc(s.cells, func(c Cell) bool { _, ok := c.number(name); return !ok })
}

// followsFrom reports whether a parameter has one value along every line of a key.
func (s *sweep) followsFrom(name string, key []string) bool {
	seen := map[string]string{}
	for i := range s.cells {
		line, value := s.cells[i].line(key), s.cells[i].param(name)
		if before, known := seen[line]; known && before != value {
			return false
		}
		seen[line] = value
	}
	return true
}

// line returns the name of a cell's line: its values of a key.
func (c *Cell) line(key []string) string {
	var parts []string
	for _, name := range key {
		value := c.param(name)
		if _, ok := c.number(name); ok {
			value = fmt.Sprintf("%s %s", name, value)
		}
		if value == "" {
			value = "no " + name
		}
		parts = append(parts, value)
	}
	return plain(strings.Join(parts, ", "))
}

// lines groups cells by line, in the order of the grid.
func (s *sweep) lines(cells []Cell) (lines [][]Cell) {
	at := map[string]int{}
	for _, c := range cells {
		name := c.line(s.key)
		if _, known := at[name]; !known {
			at[name] = len(lines)
			lines = append(lines, nil)
		}
		lines[at[name]] = append(lines[at[name]], c)
	}
	return lines
}

// sweepMetrics are the figures that are plotted against a number.
var sweepMetrics = []struct{ metric, title string }{
	{"faa", "Members right at the end (FAA)"},
	{"ra", "Plurality right (RA)"},
	{"decision_accuracy", "Decisions right, of those made"},
	{"capture", "Questions captured by an adversary"},
	{"outside", "Score outside the range of the honest members"},
	{"valid", "Games that ended valid"},
	{"latency", "Latency in virtual seconds"},
	{"latency_seconds", "Latency in seconds by the clock"},
}

// axisNames are the names of parameters on an axis.
var axisNames = map[string]string{
	"b": "malicious members (b)", "f": "bound on malicious members (f)", "n": "members (n)",
	"f_e": "malicious evaluators (f_e)", "n_e": "evaluators (n_e)",
}

// sweepPlots draws figures against the number that a grid varies, with a line per
// value of the other varied parameters, and a panel per graph if it varies graphs.
func sweepPlots(g *Grid) (out []Plot) {
	s := sweepOf(g)
	if s == nil {
		return nil
	}
	axis := axisNames[s.by]
	if axis == "" {
		axis = plain(s.by)
	}
	for _, m := range sweepMetrics {
		cells := slices.DeleteFunc(slices.Clone(s.cells),
			func(c Cell) bool { return !c.has(m.metric) && c.published(m.metric) == nil })
		measured := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return !c.has(m.metric) })
		if len(distinct(measured, func(c *Cell) string { return c.param(s.by) })) < 3 {
			continue
		}
		f := Plot{
			Name: m.metric + "-by-" + fileName(s.by), Title: g.titled(m.title + ", by " + axis), wide: true,
			Caption: "With 95 % intervals; points at the same place are drawn slightly apart.",
		}
		f.fill(cells, append(slices.Clone(s.key), s.by), []string{m.metric})
		d := sweepPlot{s, m.metric, axis, f.Title, cells}
		if d.hasPaper() {
			f.Caption += " Dashed lines with diamonds are the paper’s figures of the same cells, in the same " +
				"colours; their intervals, where known, are in the table."
		}
		f.draw(func() *picture { return d.draw() })
		out = append(out, f)
	}
	return out
}

// fileName replaces characters that are not safe in a file name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s)
}

// sweepPlot is the plot of one metric.
type sweepPlot struct {
	*sweep
	metric, axis, title string
	cells               []Cell
}

func (d sweepPlot) hasPaper() bool {
	return slices.ContainsFunc(d.cells, func(c Cell) bool { return c.published(d.metric) != nil })
}

// maxPanelLines is the largest number of lines of a panel that is not split.
const maxPanelLines = 8

// split returns the parameter that has a panel per value ("" for a single panel), and
// the key of the lines within a panel. Graphs have panels; otherwise the parameter
// with the fewest values that leaves few enough lines.
func (d sweepPlot) split() (panel string, key []string) {
	without := func(p string) []string {
		return slices.DeleteFunc(slices.Clone(d.key), func(q string) bool { return q == p })
	}
	if slices.Contains(d.key, "graph") {
		return "graph", without("graph")
	}
	if len(d.lines(d.cells)) <= maxPanelLines {
		return "", d.key
	}
	byValues := slices.SortedStableFunc(slices.Values(d.key),
		func(a, b string) int { return d.values(a) - d.values(b) })
	for _, p := range byValues {
		if lines := distinct(d.cells, func(c *Cell) string { return c.line(without(p)) }); len(lines) <= maxPanelLines {
			return p, without(p)
		}
	}
	last := byValues[len(byValues)-1]
	return last, without(last)
}

func (d sweepPlot) draw() *picture {
	split, key := d.split()
	titles := distinct(d.cells, func(c *Cell) string { return panelName(c, split) })
	p := newPanels(d.title, min(3, len(titles)), 170)
	if len(titles) == 1 {
		p.row = 270
	}
	var byPanel [][]Cell
	for _, title := range titles {
		byPanel = append(byPanel, slices.DeleteFunc(slices.Clone(d.cells),
			func(c Cell) bool { return panelName(&c, split) != title }))
	}
	styles, order := d.lineStyles(byPanel, key)
	for k, title := range titles {
		c := p.add(title)
		d.drawPanel(c, byPanel[k], key, styles)
		if p.inLastRow(k, len(titles)) {
			c.X.Label.Text = d.axis
		}
	}
	for _, line := range order {
		style := styles[line]
		if line == "" {
			line = "ours"
		}
		p.addLegend(line, rule(style.ink, nil), sign(style.ink, style.shape))
	}
	if d.hasPaper() {
		p.addLegend("the paper", rule(chart.Ink, dashes), sign(chart.Ink, chart.Diamond))
	}
	return p
}

// panelName returns the title of a cell's panel.
func panelName(c *Cell, split string) string {
	switch split {
	case "":
		return ""
	case "graph":
		return c.param(split)
	}
	return c.line([]string{split})
}

// lineStyle is how a line and its marks are drawn.
type lineStyle struct {
	ink   color.RGBA
	shape draw.GlyphDrawer
}

// lineStyles returns the styles of lines by name, and the names in order. A line gets
// the colour that is rarest in its panels, and a mark that no other line of that
// colour has, as long as there are enough marks.
func (d sweepPlot) lineStyles(panels [][]Cell, key []string) (map[string]lineStyle, []string) {
	name := func(c *Cell) string { return c.line(key) }
	order, total := distinct(d.cells, name), make([]int, len(lineColours))
	styles, used := map[string]lineStyle{}, make([][]int, len(panels))
	for i := range used {
		used[i] = make([]int, len(lineColours))
	}
	for _, line := range order {
		worst := make([]int, len(lineColours)) // by colour, its largest use in a panel of this line
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
		styles[line] = lineStyle{lineColours[colour],
			lineShapes[(total[colour]+colour)%len(lineShapes)]}
		total[colour]++
	}
	return styles, order
}

// drawPanel draws the lines of a panel side by side. The axis of rates goes from 0 to
// 100 %, that of counts and seconds to the highest value of the plot.
func (d sweepPlot) drawPanel(c *rateChart, cells []Cell, key []string, styles map[string]lineStyle) {
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
	lines := distinct(cells, func(c *Cell) string { return c.line(key) })
	distance := (high - low) * min(.015, .08/float64(len(lines)))
	for k, line := range lines {
		aside := distance * (float64(k) - float64(len(lines)-1)/2)
		onLine := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return c.line(key) != line })
		d.drawLine(c, onLine, aside, styles[line])
	}
	margin := (high - low) / 12
	c.fix(low-margin, high+margin, d.ticks())
	if top > 1 {
		c.Y.Min, c.Y.Max, c.Y.Tick.Marker = 0, top, wholeTicks(0, top)
	}
}

// distinct returns the distinct values of cells in the order of first appearance.
func distinct(cells []Cell, of func(*Cell) string) (values []string) {
	for i := range cells {
		if v := of(&cells[i]); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

func (d sweepPlot) ticks() (ticks plot.ConstantTicks) {
	for _, value := range distinct(d.cells, func(c *Cell) string { return c.param(d.by) }) {
		i := slices.IndexFunc(d.cells, func(c Cell) bool { return c.param(d.by) == value })
		x, _ := d.cells[i].number(d.by)
		ticks = append(ticks, plot.Tick{Value: x, Label: fmt.Sprint(x)})
	}
	return thinned(ticks)
}

// drawLine draws cells in the order of the number, as a line with gaps at cells
// without a figure, and the paper's figures as a dashed line.
func (d sweepPlot) drawLine(to *rateChart, cells []Cell, aside float64, style lineStyle) {
	at := func(i int) float64 { x, _ := cells[i].number(d.by); return x + aside }
	ours := func(i int) *metrics.Rate { return cells[i].Metrics[d.metric] }
	paper := func(i int) *metrics.Rate { return cells[i].published(d.metric) }
	for segment := range segments(len(cells), at, paper) {
		to.path(segment, chart.Stroke(style.ink, 1, dashes...), mark(style.ink, chart.Diamond))
	}
	for i := range cells {
		if r := ours(i); r != nil {
			to.interval(at(i), r, style.ink)
		}
	}
	for segment := range segments(len(cells), at, ours) {
		to.path(segment, chart.Stroke(style.ink, 1.5), mark(style.ink, style.shape))
	}
}
