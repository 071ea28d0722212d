package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod/bench/metrics"
)

// Cell is a run of a grid, with the parameters that the grid varies and the paper's
// figures. Its JSON also has the fields of Report.
type Cell struct {
	Cell    string                   `json:"cell"`
	Params  map[string]any           `json:"params"`
	Metrics map[string]*metrics.Rate `json:"metrics"` // all rates by name; null if a rate does not exist
	Paper   map[string]float64       `json:"paper"`
	Verdict map[string]string        `json:"verdict"`
	Assumed Assumptions              `json:"assumed"`          // figures that show nothing, with the reasons
	Remark  string                   `json:"remark,omitempty"` // what readers must know about this cell
	Why     string                   `json:"why,omitempty"`    // why there is no run, and so no figure
	How     string                   `json:"how,omitempty"`    // how the figures were computed without a run
	Lists   map[string][]float64     `json:"-"`                // figures that are not rates; in JSON among Metrics
	*Report

	figures map[string]Figure
	attacks []Attack
	each    map[string]map[string]float64 // by figure and question
}

// ByQuestion gives the cell the figures of its questions, by figure and id, for the claims about it.
func (c *Cell) ByQuestion(each map[string]map[string]float64) { c.each = each }

// Derive says that the figures are those of other cells, by the name that each has here. Those of several cells have
// none of a single question.
func (c *Cell) Derive(from []Cell, names map[string]string) {
	c.MembersKind, c.Task = from[0].MembersKind, from[0].Task
	if len(from) > 1 {
		return
	}
	c.each = map[string]map[string]float64{}
	for name, of := range names {
		c.each[name] = from[0].each[of]
	}
}

// NewCell returns a cell with a run's report and the paper's figures by metric.
func NewCell(name string, params map[string]any, r *Report, paper map[string]Figure, assumed Assumptions) Cell {
	c := Cell{
		Cell: name, Params: params, Report: r, Metrics: map[string]*metrics.Rate{}, Paper: map[string]float64{},
		Verdict: map[string]string{},
		Assumed: assumed.And(nil), figures: paper,
	}
	for _, rate := range append(r.Rates(), r.groupRounds()...) {
		c.Metrics[rate.Name] = rate.Rate
	}
	for metric, figure := range paper {
		c.Paper[metric] = figure.Value
	}
	c.compare(c.distinct())
	return c
}

// NewBlank returns a cell without a run, with the reason why there is none.
func NewBlank(name string, params map[string]any, paper map[string]Figure, why string) Cell {
	empty := &Report{Version: Version, MembersKind: []string{}, Seats: []Member{}, Rounds: []metrics.Round{},
		Drops: []Drop{}, Failures: []Failure{}}
	c := NewCell(name, params, empty, paper, nil)
	for metric := range paper {
		c.Metrics[metric] = nil
	}
	c.Why = why
	return c
}

// Figures are the results of a cell without a run, by metric. Lists are figures that
// are not rates, such as a score per worker.
type Figures struct {
	Rates map[string]*metrics.Rate `json:"rates,omitempty"`
	Lists map[string][]float64     `json:"lists,omitempty"`
	// Attacks are the rows of attacks on learned weights, by cast and protocol.
	Attacks []Attack `json:"attacks,omitempty"`
}

// Attack is what a protocol decides in one cast while liars attack its history. Right, Wrong and Undecided are
// shares of
// the questions, and Calls is first answers for a question. Difference is the share of right decisions less that of
// plurality, with the normal 95 % interval by question.
type Attack struct {
	Set        string  `json:"set"`
	Cast       int     `json:"cast"`
	Members    int     `json:"members"` // liars included
	F          int     `json:"f"`
	Liar       string  `json:"liar"`
	Liars      int     `json:"liars"`
	Protocol   string  `json:"protocol"`
	Questions  int     `json:"questions"`
	Right      float64 `json:"right"`
	Wrong      float64 `json:"wrong"`
	Undecided  float64 `json:"undecided"`
	Calls      float64 `json:"calls"`
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

// NewComputed returns a cell whose figures were computed without a run. how tells
// from what, and questions is the number of questions that they rest on (0: none). A
// metric that the paper reports and f lacks is null.
func NewComputed(name string, params map[string]any, f *Figures, questions int, paper map[string]Figure,
	how string, assumed Assumptions) Cell {
	c := NewBlank(name, params, paper, "")
	c.How, c.Assumed = how, assumed.And(nil)
	if f != nil {
		maps.Copy(c.Metrics, f.Rates)
		c.Lists, c.attacks = f.Lists, f.Attacks
	}
	c.compare(questions)
	return c
}

// MarshalJSON puts lists among the metrics.
func (c Cell) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	for name, rate := range c.Metrics {
		all[name] = rate
	}
	for name, list := range c.Lists {
		all[name] = list
	}
	texts := map[string]string{}
	for metric := range c.Verdict {
		texts[metric] = c.verdictText(metric)
	}
	type plain Cell
	return json.Marshal(struct {
		plain
		Metrics map[string]any    `json:"metrics"`
		Texts   map[string]string `json:"verdict_text"` // the verdicts with the kinds of the members
	}{plain(c), all, texts})
}

// has reports whether a cell has a figure of any of the metrics.
func (c *Cell) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.Metrics[name] != nil })
}

// published returns the paper's figure with its assumed interval. For a count, and
// for a figure on an unknown number of questions, N is 0 and there is no interval.
// It returns nil if the paper reports none.
func (c *Cell) published(metric string) *metrics.Rate {
	f, known := c.figures[metric]
	if !known {
		return nil
	}
	if f.N > 0 && !f.Count {
		return metrics.Published(f.Value, f.N, metric == "bfti")
	}
	return &metrics.Rate{Value: f.Value, Low: f.Value, High: f.Value, Count: f.Count}
}

// allRates lists the cell's rates in the order of Report.Rates, and then those that
// no run has.
func (c *Cell) allRates() (rates []NamedRate) {
	known := map[string]bool{}
	for _, r := range append(c.Rates(), c.groupRounds()...) {
		known[r.Name] = true
		rates = append(rates, NamedRate{r.Name, r.Label, c.Metrics[r.Name]})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Metrics)) {
		if !known[name] {
			rates = append(rates, NamedRate{name, name, c.Metrics[name]})
		}
	}
	return rates
}

// paperMetrics lists the metrics that the paper reports, in the order of Report.Rates.
func (c *Cell) paperMetrics() []string {
	order := map[string]int{}
	for i, r := range append(c.Rates(), c.groupRounds()...) {
		order[r.Name] = i + 1
	}
	return slices.SortedFunc(maps.Keys(c.Paper), func(a, b string) int {
		if order[a] != order[b] {
			return order[a] - order[b]
		}
		return strings.Compare(a, b)
	})
}

// progress returns how much of a cell is done.
func (c *Cell) progress() string {
	switch {
	case c.Why != "":
		return "none"
	case c.How != "":
		return "computed"
	}
	return fmt.Sprintf("%d/%d", c.Finished, c.Questions)
}

// honest is a derived parameter: the number of honest players, n − b. Presets vary it
// directly, while n follows from it.
const honest = "honest"

// number returns a numeric parameter.
func (c *Cell) number(name string) (float64, bool) {
	switch v := c.Params[name].(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	if name != honest {
		return 0, false
	}
	n, okN := c.number("n")
	b, okB := c.number("b")
	return n - b, okN && okB
}

// param returns a parameter as text; "" if the cell does not have it.
func (c *Cell) param(name string) string {
	if v, ok := c.number(name); ok {
		return number(v)
	}
	if v, ok := c.Params[name]; ok {
		return plain(fmt.Sprint(v))
	}
	return ""
}

// Grid is the report of a preset: totals, and a report per cell. The totals have no
// rates, because cells measure different things.
type Grid struct {
	Report
	Preset  string   `json:"preset"`
	Source  string   `json:"source"`
	Members string   `json:"members"`
	Note    string   `json:"note"`
	Cells   []Cell   `json:"cells"`
	Attacks []Attack `json:"attacks,omitempty"` // those of all cells

	Controls  []Cell        `json:"controls,omitempty"` // cells in which the effect of a claim must vanish
	Claims    []ClaimResult `json:"claims"`             // of the paper's text; see Judge
	NoVerdict string        `json:"no_verdict,omitempty"`

	Specs  []PlotSpec  `json:"-"` // figures that its manifest asks for
	Tables []TableSpec `json:"-"` // tables in the layout of the paper
}

// Add adds a cell and adds its counts to the totals.
func (g *Grid) Add(c Cell) {
	g.Cells, g.Attacks = append(g.Cells, c), append(g.Attacks, c.attacks...)
	g.total(&c)
}

// AddControl adds a cell that is only the control of claims. It is in the totals.
func (g *Grid) AddControl(c Cell) {
	g.Controls = append(g.Controls, c)
	g.total(&c)
}

// total adds the counts of a cell to the totals.
func (g *Grid) total(c *Cell) {
	g.Questions += c.Questions
	g.Finished += c.Finished
	g.Failed += c.Failed
	g.Unfinished += c.Unfinished
	for _, of := range c.Guarantees {
		g.AddGuarantee(of.Guarantee, of.Questions)
	}
	g.Calls.Add(c.Calls)
	g.Tokens.Add(c.Tokens)
	g.Seconds += c.Seconds
	g.Money = g.Money.Plus(c.Money)
	g.Cost = g.Money.Cost()
	g.MembersKind = append(g.MembersKind, c.MembersKind...)
	slices.Sort(g.MembersKind)
	g.MembersKind = slices.Compact(g.MembersKind)
}

// selectCells returns the cells for which keep returns true.
func (g *Grid) selectCells(keep func(Cell) bool) (cells []Cell) {
	for _, c := range g.Cells {
		if keep(c) {
			cells = append(cells, c)
		}
	}
	return cells
}
