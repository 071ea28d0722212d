package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// Write prints the grid in the named format, one of Formats. With versus, text and
// Markdown compare it with the paper instead of listing the cells, and an HTML page
// opens that comparison. Use HTML for a page that includes questions.
func (g *Grid) Write(w io.Writer, format string, versus bool) error {
	switch format {
	case "json":
		return writeJSON(w, g)
	case "csv":
		return g.csv(w)
	case "text", "md":
		return g.document(format, versus).write(w)
	case "html":
		return g.HTML(w, versus, nil)
	case "latex":
		return g.latex(w, versus)
	}
	return unknownFormat(format)
}

// latex prints the table of the cells or of the comparison with the paper, with what is above and below it as
// comments.
func (g *Grid) latex(w io.Writer, versus bool) error {
	d := g.document("text", versus)
	for _, line := range slices.Concat(d.head, d.notes) {
		if _, err := fmt.Fprintf(w, "%% %s\n", plain(line)); err != nil {
			return err
		}
	}
	for _, t := range d.tables {
		if err := t.Write(w, "latex"); err != nil {
			return err
		}
	}
	return nil
}

// name is the name of the experiment with its source, if it has one.
func (g *Grid) name() string {
	switch {
	case g.Preset == "" && len(g.Cells) == 1: // a run alone
		return g.Cells[0].title()
	case g.Source == "":
		return plain(g.Preset)
	}
	return plain(g.Preset) + " · " + plain(g.Source)
}

func (g *Grid) document(format string, versus bool) document {
	head := []string{g.name(), "members: " + g.membersLine()}
	d := document{format: format, head: head, notes: g.notes()}
	if g.Note != "" {
		d.head = append(d.head, plain(g.Note))
	}
	if format == "md" {
		d.title, d.head = d.head[0], d.head[1:]
	}
	if len(g.Claims) > 0 {
		d.tables, d.notes = append(d.tables, g.claimTable()), append(d.notes, g.claimNotes()...)
	}
	if versus {
		d.tables, d.notes = append(d.tables, g.versusTable()), append(d.notes, g.legend()...)
	} else {
		d.tables = append(d.tables, g.cellTables(value)...)
		if t := g.modelTable(); len(t.Rows) > 0 {
			d.tables = append(d.tables, t)
		}
	}
	return d
}

// membersLine names the kinds of the members, and how many questions are finished.
func (g *Grid) membersLine() string {
	if len(g.MembersKind) == 0 && g.Questions == 0 {
		return "none; every cell is computed"
	}
	return fmt.Sprintf("%s (%s)%s · %s", plain(g.Members), strings.Join(g.MembersKind, ", "),
		fooledBy(fooling(g.seats())), g.progress())
}

// seats lists the members of all cells.
func (g *Grid) seats() (all []Member) {
	for _, c := range g.Cells {
		all = append(all, c.Seats...)
	}
	return all
}

// afterwards is the name of a column with the figures after the rounds; those before them are in the column before it.
const afterwards = "→"

// gridColumns are the rates that a grid's table shows if any cell has them, with
// short column names.
var gridColumns = []struct{ metric, label string }{
	{"valid", "valid"}, {"invalid", "invalid"}, {"premature", "premature"}, {"none", "none"},
	{"iaa", "IAA"}, {"faa", "FAA"}, {"bfti", "BFTI"}, {"ra", "RA"}, {"h_majority", "H-Maj."},
	{"weak_before", "weak"}, {"weak_after", afterwards}, {"strong_before", "strong"}, {"strong_after", afterwards},
	{"decision_accuracy", "right"}, {"capture", "captured"}, {"outside", "outside"}, {"latency", "virtual s"},
	{"latency_seconds", "s by clock"},
	{"judge_auc", "AUC φ"}, {"probe_accuracy", "probe"},
	{"single_weak", "1 weak"}, {"single_strong", "1 strong"}, {"majority", "majority"},
}

// Summary is the table of the cells with their rates, for other pages than the report's own.
func (g *Grid) Summary() *table.Table { return cellTable(g.Cells, valueWithInterval) }

// cellTables have a row per cell; format prints a rate.
func (g *Grid) cellTables(format func(*metrics.Rate) string) []*table.Table {
	figures, others := g.figureTables(format)
	if len(others) == 0 && len(figures) > 0 {
		return figures
	}
	return append([]*table.Table{cellTable(others, format)}, figures...)
}

// cellTable has a row per cell, with the rates of gridColumns.
func cellTable(cells []Cell, format func(*metrics.Rate) string) *table.Table {
	t := &table.Table{Head: []string{"cell", "done"}, Align: "lr"}
	var shown []string
	for _, c := range gridColumns {
		if slices.ContainsFunc(cells, func(cell Cell) bool { return cell.shows(c.metric) }) {
			shown, t.Head = append(shown, c.metric), append(t.Head, c.label)
		}
	}
	for _, cell := range cells {
		row := []string{cell.Cell, cell.progress()}
		for _, metric := range shown {
			row = append(row, format(cell.Metrics[metric]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// shows reports whether a cell has a figure that says something: a virtual time of 0 says that nobody waited.
func (c *Cell) shows(metric string) bool {
	r := c.Metrics[metric]
	return r != nil && (metric != latency || r.Value >= leastLatency)
}

// versusTable has a row for every figure of the paper.
func (g *Grid) versusTable() *table.Table {
	t := &table.Table{Head: []string{"cell", "metric", "paper", "ours", "95 % interval", "n", "difference", "members"},
		Align: "llrrrrrl"}
	for _, c := range g.Cells {
		for _, metric := range c.paperMetrics() {
			ours := c.Metrics[metric]
			paper := &metrics.Rate{Value: c.Paper[metric], Count: c.figures[metric].Count}
			t.Add(c.Cell, metric, value(paper), value(ours), interval(ours), count(ours), off(ours, paper),
				c.source(metric))
		}
	}
	return t
}

// longestList is how many members a list has that is printed below a table; CSV and JSON have all.
const longestList = 20

// off writes the difference of a figure and the paper's.
func off(ours, paper *metrics.Rate) string {
	if ours == nil {
		return "–"
	}
	return fmt.Sprintf("%+.1f", scale(paper)*(ours.Value-paper.Value))
}

// source says who a figure comes from, and that it was built in.
func (c *Cell) source(metric string) string {
	switch {
	case c.Why != "":
		return "no run"
	case c.Metrics[metric] == nil:
		return "no figure yet"
	case c.Assumed[metric] != "":
		return "assumed (" + c.by() + ")"
	}
	return c.by()
}

// notes are the lines below a grid's table.
func (g *Grid) notes() []string {
	lines := []string{
		fmt.Sprintf("Percent. %s · %.1f s · cost: %s%s", g.Calls.line(), g.Seconds, plain(g.Money.String()),
			g.excluded()),
		"Intervals are by question: members and repeats that answer the same question do not err independently.",
	}
	if judges := judging(g.seats()); judges != "" {
		lines = append(lines, judges)
	}
	computed := map[string]int{}                                   // by how
	blank, remarks := map[string][]string{}, map[string][]string{} // by reason; by remark
	for _, c := range g.Cells {
		for _, name := range slices.Sorted(maps.Keys(c.Lists)) {
			if len(c.Lists[name]) <= longestList {
				lines = append(lines, fmt.Sprintf("%s, %s: %.4g", c.Cell, name, c.Lists[name]))
			}
		}
		if c.How != "" {
			computed[c.How]++
		}
		if c.Why != "" {
			blank[c.Why] = append(blank[c.Why], c.Cell)
		}
		if c.Remark != "" {
			remarks[c.Remark] = append(remarks[c.Remark], c.Cell)
		}
	}
	for _, remark := range slices.Sorted(maps.Keys(remarks)) {
		lines = append(lines, fmt.Sprintf("%s (%s)", plain(remark), someCells(remarks[remark])))
	}
	for _, how := range slices.Sorted(maps.Keys(computed)) {
		lines = append(lines, fmt.Sprintf("Computed in %d of %d cells: %s", computed[how], len(g.Cells), plain(how)))
	}
	for _, why := range slices.Sorted(maps.Keys(blank)) {
		lines = append(lines, fmt.Sprintf("No run for %s: %s", someCells(blank[why]), plain(why)))
	}
	return lines
}

// someCells lists the first cells, and says how many others there are.
func someCells(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more cells", strings.Join(names[:most-1], ", "), len(names)-most+1)
}

// csv prints one figure per line.
func (g *Grid) csv(w io.Writer) error {
	t := &table.Table{Head: []string{"preset", "cell", "task", "members_kind", "params", "figure", "value", "n", "low",
		"high", "paper", "verdict", "assumed"}}
	for _, c := range g.Cells {
		params, err := json.Marshal(c.Params)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		for _, rate := range c.allRates() {
			if rate.Rate == nil && c.How != "" {
				continue // nobody computed it
			}
			paper := ""
			if v, known := c.Paper[rate.Name]; known {
				paper = number(v)
			}
			t.Rows = append(t.Rows, slices.Concat(
				[]string{g.Preset, c.Cell, plain(c.Task), c.kindsCell(), string(params), rate.Name},
				rateCells(rate.Rate),
				[]string{paper, c.Verdict[rate.Name], plain(c.Assumed[rate.Name])}))
		}
		for _, name := range slices.Sorted(maps.Keys(c.Lists)) {
			for i, x := range c.Lists[name] {
				t.Rows = append(t.Rows, []string{g.Preset, c.Cell, plain(c.Task), "", string(params),
					fmt.Sprintf("%s_%d", name, i), number(x), "1", "", "", "", "", ""})
			}
		}
	}
	return t.Write(w, "csv")
}

// Judging is judging of the members of all cells, for other pages than the report's own.
func (g *Grid) Judging() string { return judging(g.seats()) }
