package report

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod/bench/metrics"
)

// PlotSpec describes a figure to draw from the cells of a grid, in the layout that an author wants.
type PlotSpec struct {
	Name      string            `yaml:"name" json:"name" doc:"name of the file, without its end" example:"fig7"`
	Kind      string            `yaml:"kind" json:"kind" doc:"groups of bars; lines over a number; circles with the numbers of the members of a list, over a number; numbers that the players of a game held by round" enum:"bars|lines|circles|trajectories"`
	Title     string            `yaml:"title" json:"title,omitempty" doc:"title; default: the figure that y names"`
	Y         string            `yaml:"y" json:"y" doc:"the figures that are drawn: metrics of the report, with spaces between them; of circles a list of the report" example:"iaa faa"`
	X         string            `yaml:"x" json:"x" doc:"what the horizontal axis shows, the groups of bars or a number: parameters with spaces between them, metric (the figures of y), or round (then y is strong, weak or both)" example:"b"`
	Series    string            `yaml:"series" json:"series,omitempty" doc:"what bars of a group, or lines, stand for: parameters, or metric" example:"protocol"`
	Panels    string            `yaml:"panels" json:"panels,omitempty" doc:"what has a panel for each value: parameters, or metric; of trajectories a row" example:"graph"`
	Columns   int               `yaml:"columns" json:"columns,omitempty" doc:"panels of a row; 0: 2, and of trajectories 3" min:"0" max:"6"`
	Where     map[string]string `yaml:"where" json:"where,omitempty" doc:"only cells with these values of parameters; * stands for anything" example:"{cast: mixed}"`
	Order     []string          `yaml:"order" json:"order,omitempty" doc:"values of x, series or panels in the order in which they are drawn; others follow" example:"[decentllms, rotating-leader]"`
	Labels    map[string]string `yaml:"labels" json:"labels,omitempty" doc:"texts for values of parameters" example:"{b: Byzantine leaders}"`
	Byzantine []int             `yaml:"byzantine" json:"byzantine,omitempty" doc:"of circles: the numbers that are drawn red" example:"[9]"`
}

// What a figure may vary beside parameters: the figures that y names, and the rounds of a run.
const (
	byMetric = "metric"
	byRound  = "round"
)

var plotName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,60}$`)

// Check reports an impossible setting.
func (p *PlotSpec) Check() error {
	games := p.Kind == "trajectories"
	varied := p.varied()
	switch {
	case !plotName.MatchString(p.Name):
		return fmt.Errorf("name is %q; it must be a file name of lower-case letters, digits and hyphens (example: "+
			"fig7)", p.Name)
	case p.Kind == "":
		return fmt.Errorf("%s: kind is missing; it must be bars, lines, circles or trajectories", p.Name)
	case !games && (p.X == "" || p.Y == ""):
		return fmt.Errorf("%s: x and y must name a parameter and a figure (example: x: b, y: decision_accuracy)",
			p.Name)
	case games && (p.X != "" || p.Y != "" || p.Series != ""):
		return fmt.Errorf("%s: trajectories have rounds and numbers as axes; remove x, y and series", p.Name)
	case p.Kind == "circles" && (p.Series != "" || strings.Contains(p.Y, " ") || p.X == byMetric || p.X == byRound):
		return fmt.Errorf("%s: circles show one list over a parameter; use panels instead of series", p.Name)
	case len(strings.Fields(p.Y)) > 1 && !slices.Contains(varied, byMetric):
		return fmt.Errorf("%s: y names several figures; name metric in x, series or panels (example: series: metric)",
			p.Name)
	case slices.Contains(varied, byRound) && p.X != byRound:
		return fmt.Errorf("%s: only x can be round", p.Name)
	}
	for _, group := range strings.Fields(p.Y) {
		if p.X == byRound && group != metrics.Weak && group != metrics.Strong {
			return fmt.Errorf("%s: over x: round, y must be strong, weak or both, with metric as series, not %q",
				p.Name, group)
		}
	}
	return nil
}

// varied returns all names in x, series and panels.
func (p *PlotSpec) varied() []string {
	return strings.Fields(p.X + " " + p.Series + " " + p.Panels)
}

// Params returns the parameters that a figure needs.
func (p *PlotSpec) Params() []string {
	return slices.DeleteFunc(p.varied(), func(name string) bool { return name == byMetric || name == byRound })
}

// Numbers returns the parameters that must be numbers.
func (p *PlotSpec) Numbers() []string {
	if (p.Kind == "lines" || p.Kind == "circles") && p.X != byRound {
		return []string{p.X}
	}
	return nil
}

// Place returns where a cell with these parameters is drawn; "" if it is not. Several games may be in one row.
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
	if len(at) == 0 {
		return "everything"
	}
	return strings.Join(at, " · ")
}

// Many reports whether several cells may have one place.
func (p *PlotSpec) Many() bool { return p.Kind == "trajectories" }

// specPlot is a figure with the cells that it shows.
type specPlot struct {
	PlotSpec
	cells  []Cell
	points []*point
}

// point is a figure of a cell at a place of the drawing.
type point struct {
	cell   *Cell
	metric string // a name of y
	name   string // of the figure in the report
	round  int    // −1 unless x is round
}

func (p *point) ours() *metrics.Rate { return p.cell.Metrics[p.name] }

func (p *point) paper() *metrics.Rate { return p.cell.published(p.name) }

// withinValue stands for a space inside the value of one parameter, while spaces separate values.
const withinValue = "\x00"

// withSpaces returns a value with its spaces.
func withSpaces(value string) string { return strings.ReplaceAll(value, withinValue, " ") }

// value returns the value of x, series or panels, which may name several parameters.
func (p *point) value(names string) string {
	var all []string
	for _, name := range strings.Fields(names) {
		switch name {
		case byMetric:
			all = append(all, p.metric)
		case byRound:
			all = append(all, strconv.Itoa(p.round))
		default:
			all = append(all, strings.ReplaceAll(p.cell.param(name), " ", withinValue))
		}
	}
	return strings.Join(all, " ")
}

// number returns the number of x, which a parameter of lines must be.
func (p *point) number(name string) float64 {
	if name == byRound {
		return float64(p.round)
	}
	x, _ := p.cell.number(name)
	return x
}

// find collects the figures of the cells, ours or the paper's.
func (d *specPlot) find() {
	for i := range d.cells {
		c := &d.cells[i]
		for _, metric := range strings.Fields(d.Y) {
			if d.X != byRound {
				d.add(&point{c, metric, metric, -1})
				continue
			}
			for t := range len(c.Rounds) + 1 {
				d.add(&point{c, metric, roundMetric(metric, t), t})
			}
		}
	}
}

func (d *specPlot) add(p *point) {
	if p.ours() != nil || p.paper() != nil {
		d.points = append(d.points, p)
	}
}

// names lists the figures of the drawing by their names in the report.
func (d *specPlot) names() (all []string) {
	for _, p := range d.points {
		if !slices.Contains(all, p.name) {
			all = append(all, p.name)
		}
	}
	return all
}

func (d *specPlot) title() string {
	if d.Title != "" {
		return d.Title
	}
	return d.label(d.Y)
}

// label returns the text for a value or a name. Of several values without a text of their own, each has its text.
func (d *specPlot) label(name string) string {
	if text, ok := d.Labels[withSpaces(name)]; ok {
		return text
	}
	parts := strings.Fields(name)
	for i, part := range parts {
		part = withSpaces(part)
		if text, ok := d.Labels[part]; ok {
			part = text
		} else if text, ok := figureNames[part]; ok {
			part = text
		}
		parts[i] = strings.ReplaceAll(part, "_", " ")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// figureNames are the texts for figures, unless a manifest has others.
var figureNames = map[string]string{"iaa": "IAA", "faa": "FAA", "bfti": "BFTI", "ra": "RA", "h_majority": "H-Majority"}

// values returns the values of x, series or panels in their order; "" for none.
func (d *specPlot) values(names string) (all []string) {
	if names == "" {
		return []string{""}
	}
	for _, p := range d.points {
		if v := p.value(names); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	order := slices.Clone(d.Order) // then the words in the order of their first appearance
	for _, v := range all {
		order = append(order, strings.Fields(v)...)
	}
	rank := func(v string) (at []int) {
		if k := slices.Index(d.Order, withSpaces(v)); k >= 0 {
			return []int{k}
		}
		for _, word := range strings.Fields(v) {
			at = append(at, slices.Index(order, word))
		}
		return at
	}
	slices.SortStableFunc(all, func(a, b string) int { return slices.Compare(rank(a), rank(b)) })
	return all
}

// at returns the figures with these values.
func (d *specPlot) at(panel, series string) (all []*point) {
	for _, p := range d.points {
		if p.value(d.Panels) == panel && p.value(d.Series) == series {
			all = append(all, p)
		}
	}
	return all
}
