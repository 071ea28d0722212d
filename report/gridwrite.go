package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"synod.dev/synod/metrics"
)

// GridFormats are the names that a grid's Write takes.
func GridFormats() []string { return []string{"text", "json", "csv", "md", "html"} }

// Write prints the grid in the named format; with versus beside the paper. A page
// with questions to read is HTML's to write.
func (g *Grid) Write(w io.Writer, format string, versus bool) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(g)
	case "csv":
		return g.csv(w)
	case "text", "md":
		if versus {
			return g.print(w, format, g.versus())
		}
		return g.print(w, format, g.table())
	case "html":
		return g.HTML(w, versus, nil)
	}
	return fmt.Errorf("report: a grid has no format %q", format)
}

type column struct{ name, says string }

// columns are the rates that a grid's table shows where any cell has them.
var columns = []column{
	{"valid", "valid"}, {"invalid", "invalid"}, {"premature", "premature"}, {"none", "none"},
	{"iaa", "IAA"}, {"faa", "FAA"}, {"bfti", "BFTI"}, {"ra", "RA"}, {"h_majority", "H-Maj."},
	{"weak_before", "weak"}, {"weak_after", "→"}, {"strong_before", "strong"}, {"strong_after", "→"},
	{"decision_accuracy", "decided"}, {"capture", "captured"}, {"outside", "outside"}, {"latency", "virtual s"},
	{"probe_accuracy", "probe"}, {"single_weak", "1 weak"}, {"single_strong", "1 strong"}, {"majority", "majority"},
}

// columns are those that any cell has a rate for.
func (g *Grid) columns() []column {
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return !slices.ContainsFunc(g.Cells, func(cell Cell) bool { return cell.Metrics[c.name] != nil })
	})
}

// table has a line a cell; the last columns are the baselines.
func (g *Grid) table() [][]string {
	lines := [][]string{{"cell", "done"}}
	shown := g.columns()
	for _, c := range shown {
		lines[0] = append(lines[0], c.says)
	}
	for _, cell := range g.Cells {
		line := []string{cell.Cell, cell.done()}
		for _, c := range shown {
			line = append(line, tenths(cell.Metrics[c.name]))
		}
		lines = append(lines, line)
	}
	return lines
}

// done is how much of a cell is.
func (c *Cell) done() string {
	switch {
	case c.Why != "":
		return "none"
	case c.How != "":
		return "computed"
	}
	return fmt.Sprintf("%d/%d", c.Finished, c.Questions)
}

// versus has a line for every figure of the paper.
func (g *Grid) versus() [][]string {
	lines := [][]string{{"cell", "metric", "paper", "ours", "95 % interval", "n", "verdict"}}
	for _, cell := range g.Cells {
		for _, metric := range cell.metrics() {
			ours := cell.Metrics[metric]
			interval, n := "–", "0"
			if ours != nil {
				interval, n = spread(ours), strconv.Itoa(ours.N)
			}
			lines = append(lines, []string{cell.Cell, metric, cell.printed(metric), tenths(ours), interval, n, cell.said(metric)})
		}
	}
	return lines
}

// metrics lists what the paper reports of a cell, in the order of our tables.
func (c *Cell) metrics() []string {
	order := map[string]int{}
	for i, row := range append(c.rows(), c.groupRounds()...) {
		order[row.name] = i + 1
	}
	return slices.SortedFunc(maps.Keys(c.Paper), func(a, b string) int {
		if order[a] != order[b] {
			return order[a] - order[b]
		}
		return strings.Compare(a, b)
	})
}

// tenths prints a rate in percent, for a narrow column.
func tenths(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", unit(r)*r.Value)
}

// spread prints the interval of a rate in percent.
func spread(r *metrics.Rate) string {
	return fmt.Sprintf("%.1f to %.1f", unit(r)*r.Low, unit(r)*r.High)
}

// unit is what a rate is counted by: a count is no percentage.
func unit(r *metrics.Rate) float64 {
	if r.Count {
		return 1
	}
	return 100
}

func (g *Grid) print(w io.Writer, format string, lines [][]string) error {
	var b strings.Builder
	head := []string{
		fmt.Sprintf("%s · %s", g.Preset, g.Source),
		g.who(),
	}
	if g.Note != "" {
		head = append(head, plain(g.Note))
	}
	below := g.below()
	if lines[0][len(lines[0])-1] == "verdict" {
		below = append(below, g.legend())
	}
	if format == "md" {
		fmt.Fprintf(&b, "**%s**\n\n", strings.Join(head, "\n\n"))
		for i, line := range lines {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(line)))
			}
		}
		fmt.Fprintf(&b, "\n%s\n", strings.Join(below, "\n\n"))
	} else {
		fmt.Fprintf(&b, "%s\n\n", strings.Join(head, "\n"))
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, line := range lines {
			fmt.Fprintln(t, strings.Join(line, "\t"))
		}
		t.Flush()
		fmt.Fprintf(&b, "\n%s\n", strings.Join(below, "\n"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// blanks says why cells have no run, a line a reason.
func (g *Grid) blanks() (lines []string) {
	cells := map[string][]string{}
	for _, c := range g.Cells {
		if c.Why != "" {
			cells[c.Why] = append(cells[c.Why], c.Cell)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(cells)) {
		lines = append(lines, fmt.Sprintf("No run for %s: %s", strings.Join(cells[why], ", "), plain(why)))
	}
	return lines
}

// below is said of a grid's table.
func (g *Grid) below() []string {
	lines := []string{
		fmt.Sprintf("Percent. %d calls of %d planned, %d reused · %.1f s · cost: %s%s", g.Calls.Made, g.Calls.Planned, g.Calls.Reused, g.Seconds, plain(g.Money.String()), unspoken(g.Failed+g.Unfinished)),
		"Members that answer one question do not err independently: the intervals of rates over members are narrower than the truth.",
	}
	return append(append(lines, g.computed()...), g.blanks()...)
}

// legend says what the verdicts mean, and counts them. Those on figures that the
// members were made to have are no findings and stand apart.
func (g *Grid) legend() string {
	n, assumed := map[string]int{}, 0
	for _, c := range g.Cells {
		for metric, v := range c.Verdict {
			if slices.Contains(c.Assumed, metric) {
				assumed++
			} else {
				n[v]++
			}
		}
	}
	s := fmt.Sprintf("%d reproduced (within %.0f points on as many questions, and the difference may be none) · %d differ (its interval excludes none) · %d inconclusive.",
		n[Reproduced], 100*Margin, n[Differs], n[Inconclusive])
	if assumed > 0 {
		s += fmt.Sprintf("\n%d more are assumed: the members were made to have them, so the verdict says nothing.", assumed)
	}
	return s
}

// csv prints one figure a line.
func (g *Grid) csv(w io.Writer) error {
	lines := [][]string{{"preset", "cell", "task", "members_kind", "params", "figure", "value", "n", "low", "high", "paper", "verdict", "assumed"}}
	for _, c := range g.Cells {
		params, err := json.Marshal(c.Params)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		for _, row := range c.all() {
			line := []string{g.Preset, c.Cell, plain(c.Task), strings.Join(c.MembersKind, "+"), string(params), row.name, "", "0", "", "", "", c.Verdict[row.name], strconv.FormatBool(slices.Contains(c.Assumed, row.name))}
			if r := row.rate; r != nil {
				line[6], line[7], line[8], line[9] = number(r.Value), row.n(), number(r.Low), number(r.High)
			}
			if paper, known := c.Paper[row.name]; known {
				line[10] = number(paper)
			}
			lines = append(lines, line)
		}
		for _, l := range c.listed() {
			lines = append(lines, []string{g.Preset, c.Cell, plain(c.Task), "", string(params), l[0], l[1], "1", "", "", "", "", "false"})
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}
