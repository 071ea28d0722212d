package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"synod.dev/synod/core/table"
)

// TableSpec describes a table of a grid in the layout of a paper.
type TableSpec struct {
	Name    string            `yaml:"name" json:"name" doc:"name of the table" example:"table1"`
	Caption string            `yaml:"caption" json:"caption,omitempty" doc:"what it shows"`
	Rows    string            `yaml:"rows" json:"rows" doc:"the parameters that name its rows, the one that changes slowest first" example:"protocol graph"`
	Columns string            `yaml:"columns" json:"columns" doc:"the figures of its columns; before>after has two figures in one column" example:"iaa faa weak_before>weak_after"`
	Bold    string            `yaml:"bold" json:"bold,omitempty" doc:"parameters: among the rows with the same values of them the highest figure of a column is bold; of two figures in a column the second counts" example:"graph"`
	Where   map[string]string `yaml:"where" json:"where,omitempty" doc:"only cells with these values of parameters; * stands for anything" example:"{adversary: replay}"`
	Order   []string          `yaml:"order" json:"order,omitempty" doc:"values of parameters in the order of their rows; others follow" example:"[cp-wbft, sac]"`
	Labels  map[string]string `yaml:"labels" json:"labels,omitempty" doc:"texts for parameters, their values, and columns" example:"{sac: SAC (Ours)}"`
}

// Check reports an impossible setting.
func (s *TableSpec) Check() error {
	switch {
	case !plotName.MatchString(s.Name):
		return fmt.Errorf("name is %q; it must have lower-case letters, digits and hyphens (example: table1)", s.Name)
	case len(s.params()) == 0 || len(strings.Fields(s.Columns)) == 0:
		return fmt.Errorf("%s: rows and columns must name parameters and figures (example: rows: protocol graph, "+
			"columns: iaa faa)", s.Name)
	}
	return nil
}

func (s *TableSpec) params() []string { return strings.Fields(s.Rows) }

// Params returns the parameters that the table needs.
func (s *TableSpec) Params() []string {
	return append(s.params(), strings.Fields(s.Bold)...)
}

// Layout writes the tables of the manifest as LaTeX, as the paper has them: intervals in small type, and rules of the
// package booktabs. It fails if the manifest has none.
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
		before = values
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
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
	var parts []string
	for name := range strings.SplitSeq(column, ">") {
		parts = append(parts, signed(value(cells[i].Metrics[name])))
	}
	if s.highest(cells, i, column) {
		last := len(parts) - 1
		parts[last] = `\textbf{` + parts[last] + "}"
	}
	for k, name := range strings.Split(column, ">") {
		if r := cells[i].Metrics[name]; r != nil {
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
