package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod/metrics"
)

// Figures are what a cell without a run comes to, by metric. A list is for what is
// no rate, such as a score a worker.
type Figures struct {
	Rates map[string]*metrics.Rate `json:"rates,omitempty"`
	Lists map[string][]float64     `json:"lists,omitempty"`
}

// NewComputed is a cell whose figures were computed without a run; how says what
// they were computed of, and questions on how many they rest, 0 on none. A metric of
// the paper's that they lack is null.
func NewComputed(name string, params map[string]any, f *Figures, questions int, paper map[string]Figure, how string) Cell {
	c := NewBlank(name, params, paper, "")
	c.How = how
	if f != nil {
		maps.Copy(c.Metrics, f.Rates)
		c.Lists = f.Lists
	}
	for metric, figure := range paper {
		if v := Verdict(metric, c.Metrics[metric], questions, figure); v != "" {
			c.Verdict[metric] = v
		}
	}
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
	type plain Cell
	return json.Marshal(struct {
		plain
		Metrics map[string]any `json:"metrics"`
	}{plain(c), all})
}

// all lists the cell's rates in the order of our tables; those that no run has come
// last.
func (c *Cell) all() (rows []row) {
	known := map[string]bool{}
	for _, r := range append(c.rows(), c.groupRounds()...) {
		known[r.name] = true
		rows = append(rows, row{r.name, r.says, c.Metrics[r.name]})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Metrics)) {
		if !known[name] {
			rows = append(rows, row{name, name, c.Metrics[name]})
		}
	}
	return rows
}

// listed is the cell's lists for a CSV, an entry a line: its name, place and value.
func (c *Cell) listed() (lines [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(c.Lists)) {
		for i, x := range c.Lists[name] {
			lines = append(lines, [2]string{fmt.Sprintf("%s_%d", name, i), number(x)})
		}
	}
	return lines
}

// printed is a paper's figure as it is printed: in percent unless it is no share.
func (c *Cell) printed(metric string) string {
	if c.figures[metric].Count {
		return fmt.Sprintf("%.1f", c.Paper[metric])
	}
	return fmt.Sprintf("%.1f", 100*c.Paper[metric])
}

// computed says what cells without a run were computed of, and their lists.
func (g *Grid) computed() (lines []string) {
	cells := map[string]int{}
	for _, c := range g.Cells {
		for _, name := range slices.Sorted(maps.Keys(c.Lists)) {
			lines = append(lines, fmt.Sprintf("%s, %s: %.4g", c.Cell, name, c.Lists[name]))
		}
		if c.How != "" {
			cells[c.How]++
		}
	}
	for _, how := range slices.Sorted(maps.Keys(cells)) {
		lines = append(lines, fmt.Sprintf("Computed in %d of %d cells: %s", cells[how], len(g.Cells), plain(how)))
	}
	return lines
}

// who says who the members are, and how much is done.
func (g *Grid) who() string {
	if len(g.MembersKind) == 0 && g.Questions == 0 {
		return "members: none; every cell is computed"
	}
	return fmt.Sprintf("members: %s (%s) · %s", plain(g.Members), strings.Join(g.MembersKind, ", "), g.standing())
}
