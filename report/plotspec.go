package report

import (
	"fmt"
	"image/color"
	"path"
	"regexp"
	"slices"
	"strings"

	"synod.dev/synod/internal/canvas"
	"synod.dev/synod/internal/plot"
	"synod.dev/synod/metrics"
)

// PlotSpec describes a figure to draw from the cells of a grid, in the layout that an author wants.
type PlotSpec struct {
	Name   string            `yaml:"name" json:"name" doc:"name of the file, without its end" example:"fig7"`
	Kind   string            `yaml:"kind" json:"kind" doc:"groups of bars, or lines over a number" enum:"bars|lines"`
	Title  string            `yaml:"title" json:"title,omitempty" doc:"title; default: the figure that y names"`
	Y      string            `yaml:"y" json:"y" doc:"the figure that is drawn: a metric of the report" example:"decision_accuracy"`
	X      string            `yaml:"x" json:"x" doc:"the parameter along the horizontal axis: the groups of bars, or a number" example:"b"`
	Series string            `yaml:"series" json:"series,omitempty" doc:"the parameter that bars of a group, or lines, stand for" example:"protocol"`
	Panels string            `yaml:"panels" json:"panels,omitempty" doc:"the parameter that has a panel for each value" example:"graph"`
	Where  map[string]string `yaml:"where" json:"where,omitempty" doc:"only cells with these values of parameters; * stands for anything" example:"{cast: mixed}"`
	Order  []string          `yaml:"order" json:"order,omitempty" doc:"values of x, series or panels in the order in which they are drawn; others follow" example:"[decentllms, rotating-leader]"`
	Labels map[string]string `yaml:"labels" json:"labels,omitempty" doc:"texts for values of parameters" example:"{b: Byzantine leaders}"`
}

var plotName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,60}$`)

// Check reports an impossible setting.
func (p *PlotSpec) Check() error {
	switch {
	case !plotName.MatchString(p.Name):
		return fmt.Errorf("name is %q; it must be a file name of lower-case letters, digits and hyphens (example: "+
			"fig7)", p.Name)
	case p.Kind == "":
		return fmt.Errorf("%s: kind is missing; it must be bars or lines", p.Name)
	case p.X == "" || p.Y == "":
		return fmt.Errorf("%s: x and y must name a parameter and a figure (example: x: b, y: decision_accuracy)",
			p.Name)
	}
	return nil
}

// Params returns the parameters that a figure needs.
func (p *PlotSpec) Params() (names []string) {
	for _, name := range []string{p.X, p.Series, p.Panels} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Place returns where a cell with these parameters is drawn; "" if it is not.
func (p *PlotSpec) Place(param func(name string) string) string {
	for name, want := range p.Where {
		if ok, err := path.Match(want, param(name)); err != nil || !ok {
			return ""
		}
	}
	var at []string
	for _, name := range p.Params() {
		v := param(name)
		if v == "" {
			return ""
		}
		at = append(at, v)
	}
	return strings.Join(at, " · ")
}

// specified draws the figures that the manifest of the grid asks for.
func (g *Grid) specified() (out []Plot) {
	for _, spec := range g.Specs {
		cells := g.selectCells(func(c Cell) bool {
			return spec.Place(c.param) != "" && (c.has(spec.Y) || c.published(spec.Y) != nil)
		})
		if len(cells) == 0 {
			continue
		}
		d := specPlot{spec, cells}
		f := Plot{Name: spec.Name, Title: g.titled(d.title()), wide: true, Caption: strings.TrimSpace(d.caption() +
			paperNote(cells, []string{spec.Y}))}
		f.fill(cells, spec.Params(), []string{spec.Y})
		f.SVG, f.PNG = drawn(func() *panels { return d.draw(f.Title) })
		out = append(out, f)
	}
	return out
}

// specPlot is a figure with the cells that it shows.
type specPlot struct {
	PlotSpec
	cells []Cell
}

func (d *specPlot) title() string {
	if d.Title != "" {
		return d.Title
	}
	return d.label(d.Y)
}

func (d *specPlot) caption() string {
	return fmt.Sprintf("%s by %s, with 95 %% intervals.", d.label(d.Y), d.label(d.X))
}

// label returns the text for a value or a name.
func (d *specPlot) label(name string) string {
	if text, ok := d.Labels[name]; ok {
		return text
	}
	return strings.ReplaceAll(name, "_", " ")
}

// values returns the values of a parameter in their order; "" for no parameter.
func (d *specPlot) values(name string) []string {
	if name == "" {
		return []string{""}
	}
	all := distinct(d.cells, func(c *Cell) string { return c.param(name) })
	rank := func(v string) int {
		if k := slices.Index(d.Order, v); k >= 0 {
			return k
		}
		return len(d.Order)
	}
	slices.SortStableFunc(all, func(a, b string) int { return rank(a) - rank(b) })
	return all
}

// at returns the cells with these values.
func (d *specPlot) at(panel, series string) []Cell {
	return slices.DeleteFunc(slices.Clone(d.cells), func(c Cell) bool {
		return d.Panels != "" && c.param(d.Panels) != panel || d.Series != "" && c.param(d.Series) != series
	})
}

func (d *specPlot) draw(title string) *panels {
	titles, series := d.values(d.Panels), d.values(d.Series)
	p := newPanels(title, min(2, len(titles)), 190)
	if len(titles) == 1 {
		p.row = 280
	}
	for k, panel := range titles {
		c := p.add(d.label(panel))
		if d.Kind == "bars" {
			d.drawBars(c, panel, series)
		} else {
			d.drawLines(c, panel, series)
		}
		if p.inLastRow(k, len(titles)) {
			c.X.Label = prose(d.label(d.X))
		}
		if d.Title != "" { // else the title says it
			c.Y.Label = prose(d.label(d.Y))
		}
	}
	for k, name := range series {
		if name == "" {
			name = "ours"
		}
		if d.Kind == "bars" {
			p.addLegend(d.label(name), plot.Swatch(seriesInk(k)))
			continue
		}
		p.addLegend(d.label(name), rule(seriesInk(k), nil), mark(seriesInk(k), lineShapes[k%len(lineShapes)]))
	}
	if paperNote(d.cells, []string{d.Y}) != "" {
		if d.Kind == "bars" {
			p.addLegend("the paper", paperMark)
		} else {
			p.addLegend("the paper", rule(allColour, dashes), mark(allColour, plot.Diamond))
		}
	}
	return p
}

func seriesInk(k int) color.RGBA { return lineColours[k%len(lineColours)] }

// top returns the upper end of the vertical axis, and whether the figure is not a share.
func (d *specPlot) top() (top float64, count bool) {
	top = 1
	for i := range d.cells {
		for _, r := range []*metrics.Rate{d.cells[i].Metrics[d.Y], d.cells[i].published(d.Y)} {
			if r != nil && r.Count {
				top, count = max(top, r.High*1.05), true
			}
		}
	}
	return top, count
}

func (d *specPlot) fixAxes(c *chart, low, high float64, ticks []plot.Tick) {
	c.fix(low, high, ticks)
	if top, count := d.top(); count {
		c.Y.Min, c.Y.Max, c.Y.Ticks = 0, top, wholeTicks(0, top)
	}
}

// drawBars draws a group of bars for every value of x, a bar for every series.
func (d *specPlot) drawBars(c *chart, panel string, series []string) {
	groups := d.values(d.X)
	width := .8 / float64(len(series))
	var ticks []plot.Tick
	for k, name := range groups {
		ticks = append(ticks, plot.Tick{Value: float64(k), Label: shorten(prose(d.label(name)), 22)})
	}
	for k, name := range series {
		for _, cell := range d.at(panel, name) {
			x := float64(slices.Index(groups, cell.param(d.X))) - .4 + width*(float64(k)+.5)
			ours, paper, aside := cell.Metrics[d.Y], cell.published(d.Y), 0.0
			if paper != nil {
				aside = width / 4
			}
			if ours != nil {
				c.box(x-width*.45, 0, x+width*.45, ours.Value, seriesInk(k), seriesInk(k))
				c.interval(x-aside, ours, allColour)
			}
			if paper != nil {
				c.interval(x+aside, paper, paperColour)
				c.dot(x+aside, paper.Value, paperMark)
			}
		}
	}
	d.fixAxes(c, -.6, float64(len(groups))-.4, ticks)
}

// drawLines draws a line for every series over the numbers of x.
func (d *specPlot) drawLines(c *chart, panel string, series []string) {
	low, high, ticks := d.numbers()
	for k, name := range series {
		cells := d.at(panel, name)
		at := func(c *Cell) float64 { x, _ := c.number(d.X); return x }
		slices.SortStableFunc(cells, func(a, b Cell) int {
			if at(&a) < at(&b) {
				return -1
			}
			return 1
		})
		ink := seriesInk(k)
		for segment := range segments(cells, at, func(c *Cell) *metrics.Rate { return c.published(d.Y) }) {
			c.path(segment, canvas.Stroke{Ink: ink, Width: 1, Dashes: dashes}, mark(ink, plot.Diamond))
		}
		for i := range cells {
			if r := cells[i].Metrics[d.Y]; r != nil {
				c.interval(at(&cells[i]), r, ink)
			}
		}
		for segment := range segments(cells, at, func(c *Cell) *metrics.Rate { return c.Metrics[d.Y] }) {
			c.path(segment, canvas.Stroke{Ink: ink, Width: 1.5}, mark(ink, lineShapes[k%len(lineShapes)]))
		}
	}
	margin := max((high-low)/12, .1)
	d.fixAxes(c, low-margin, high+margin, ticks)
}

// numbers returns the range of x and its ticks.
func (d *specPlot) numbers() (low, high float64, ticks []plot.Tick) {
	for k, name := range d.values(d.X) {
		i := slices.IndexFunc(d.cells, func(c Cell) bool { return c.param(d.X) == name })
		x, _ := d.cells[i].number(d.X)
		if k == 0 {
			low, high = x, x
		}
		low, high = min(low, x), max(high, x)
		ticks = append(ticks, plot.Tick{Value: x, Label: name})
	}
	slices.SortFunc(ticks, func(a, b plot.Tick) int {
		if a.Value < b.Value {
			return -1
		}
		return 1
	})
	return low, high, thinned(ticks)
}
