package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// Layout writes the tables of the manifest as LaTeX, as the paper has them: intervals in small type, and rules of the
// package booktabs. Below the row of a cell with live members is a row for each of its models. It fails if the manifest
// has no tables.
func (g *Grid) Layout(w io.Writer) error {
	if len(g.Tables) == 0 {
		return fmt.Errorf("report: %s has no tables in the layout of a paper; its manifest needs the key tables",
			g.name())
	}
	var b strings.Builder
	for _, line := range []string{g.name(), "members: " + g.membersLine(), g.Note,
		"small: 95 % intervals by question · packages: booktabs"} {
		if line != "" {
			fmt.Fprintf(&b, "%% %s\n", plain(line))
		}
	}
	for i := range g.Tables {
		g.Tables[i].write(&b, g)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes one table. An interval is in small type after its figure.
func (s *TableSpec) write(b *strings.Builder, g *Grid) {
	cells := s.cells(g)
	params, columns := s.params(), strings.Fields(s.Columns)
	fmt.Fprintf(b, "\n%% %s", plain(s.Name))
	if slices.ContainsFunc(cells, func(c Cell) bool { return c.live() && s.ofModels() }) {
		b.WriteString("; indented: how many answers of a model's honest seats are right, under IAA the first, under " +
			"FAA the last")
	}
	if s.Bold != "" {
		fmt.Fprintf(b, "; bold: the highest figure of a column among rows of the same %s", plain(s.Bold))
	}
	fmt.Fprintf(b, "\n\\begin{table}\n\\centering\n\\caption{%s}\n\\begin{tabular}{%s%s}\n\\toprule\n",
		table.LaTeXText(s.Caption+" ("+strings.Join(g.MembersKind, ", ")+" members)"), strings.Repeat("l", len(params)),
		strings.Repeat("r", len(columns)))
	var head []string
	for _, name := range slices.Concat(params, columns) {
		head = append(head, table.LaTeXText(s.label(name)))
	}
	b.WriteString(strings.Join(head, " & ") + " \\\\\n")
	var before []string
	for i := range cells {
		values := s.values(&cells[i])
		if i == 0 || values[0] != before[0] {
			b.WriteString("\\midrule\n")
		}
		row := make([]string, len(params))
		for k, v := range values {
			if i == 0 || !slices.Equal(values[:k+1], before[:k+1]) { // a value is written once for all its rows
				row[k] = table.LaTeXText(s.label(v))
			}
		}
		for _, column := range columns {
			row = append(row, s.figure(cells, i, column))
		}
		b.WriteString(strings.Join(row, " & ") + " \\\\\n")
		s.writeModels(b, &cells[i])
		before = values
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
}

// writeModels writes a row for each model of a cell in which a live model is a member. It has the figures that a model
// has by itself; bold is for cells only.
func (s *TableSpec) writeModels(b *strings.Builder, c *Cell) {
	if !c.live() || !s.ofModels() {
		return
	}
	for i := range c.Models {
		m := &c.Models[i]
		row := make([]string, len(s.params()))
		row[len(row)-1] = `\quad ` + table.LaTeXText(fmt.Sprintf("%s, %s", plain(m.name()), seatsOf(m.Seats)))
		for column := range strings.FieldsSeq(s.Columns) {
			row = append(row, figure(strings.Split(column, ">"), c.modelRates(m), -1))
		}
		b.WriteString(strings.Join(row, " & ") + " \\\\\n")
	}
}

func seatsOf(n int) string {
	if n == 1 {
		return "1 seat"
	}
	return fmt.Sprint(n, " seats")
}

// ofModels reports whether a column has a figure that a model has by itself.
func (s *TableSpec) ofModels() bool {
	rates := (&Cell{Report: &Report{}}).modelRates(&Model{})
	return slices.ContainsFunc(strings.Fields(s.Columns), func(column string) bool {
		_, ok := rates[column[strings.LastIndex(column, ">")+1:]]
		return ok
	})
}

// cells returns the cells of the table in the order of its rows.
func (s *TableSpec) cells(g *Grid) []Cell {
	cells := g.selectCells(func(c Cell) bool {
		for name, want := range s.Where {
			if ok, err := path.Match(want, c.param(name)); err != nil || !ok {
				return false
			}
		}
		return !slices.Contains(s.values(&c), "")
	})
	place := func(value string) int {
		if i := slices.Index(s.Order, value); i >= 0 {
			return i
		}
		return len(s.Order)
	}
	slices.SortStableFunc(cells, func(a, b Cell) int {
		for k, v := range s.values(&a) {
			if d := place(v) - place(s.values(&b)[k]); d != 0 {
				return d
			}
		}
		return 0
	})
	return cells
}

// values returns the values of a cell that name its row.
func (s *TableSpec) values(c *Cell) (all []string) {
	for _, name := range s.params() {
		all = append(all, c.param(name))
	}
	return all
}

// figure writes the figures of a column in the i-th row.
func (s *TableSpec) figure(cells []Cell, i int, column string) string {
	names, bold := strings.Split(column, ">"), -1
	if s.highest(cells, i, column) {
		bold = len(names) - 1
	}
	return figure(names, cells[i].Metrics, bold)
}

// figure writes one or two figures, each with its interval. The one with the index bold is bold; -1: none.
func figure(names []string, rates map[string]*metrics.Rate, bold int) string {
	parts := make([]string, len(names))
	for k, name := range names {
		r := rates[name]
		if parts[k] = signed(value(r)); k == bold {
			parts[k] = `\textbf{` + parts[k] + "}"
		}
		if r != nil {
			parts[k] += ` {\scriptsize (` + signed(interval(r)) + ")}"
		}
	}
	return strings.Join(parts, ` $\to$ `)
}

// signed writes numbers with the sign for minus.
func signed(s string) string { return table.LaTeXText(strings.ReplaceAll(s, "-", "−")) }

// highest reports whether the figure of a column is bold in the i-th row: none of the rows that it is compared with has
// a higher one, and one has a lower one.
func (s *TableSpec) highest(cells []Cell, i int, column string) bool {
	name := column[strings.LastIndex(column, ">")+1:]
	mine := cells[i].Metrics[name]
	if s.Bold == "" || mine == nil {
		return false
	}
	beaten := false
	for k := range cells {
		r := cells[k].Metrics[name]
		if r == nil || slices.ContainsFunc(strings.Fields(s.Bold), func(name string) bool {
			return cells[k].param(name) != cells[i].param(name)
		}) {
			continue
		}
		if r.Value > mine.Value {
			return false
		}
		beaten = beaten || r.Value < mine.Value
	}
	return beaten
}

// label returns the text for a parameter, a value or a column.
func (s *TableSpec) label(name string) string {
	if text, ok := s.Labels[name]; ok {
		return text
	}
	for _, c := range gridColumns {
		if c.metric == name && c.label != afterwards {
			return c.label
		}
	}
	return name
}
