package report_test

import (
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// A table in the layout of a paper has its rows in the paper's order, each value once, intervals in small type, and the
// highest of comparable figures in bold.
func TestLayout(t *testing.T) {
	cell := func(protocol, graph string, iaa, faa float64) report.Cell {
		rate := func(v float64) *metrics.Rate { return &metrics.Rate{Value: v, N: 30, Low: v - 0.1, High: v + 0.1} }
		return report.Cell{Cell: protocol + "-" + graph, Params: map[string]any{"protocol": protocol, "graph": graph},
			Metrics: map[string]*metrics.Rate{"iaa": rate(iaa), "faa": rate(faa)}, Report: &report.Report{}}
	}
	g := &report.Grid{Preset: "mine", Cells: []report.Cell{
		cell("sac", "merg", 0.5, 0.7), cell("sac", "er_1", 0.5, 0.3), cell("other", "merg", 0.5, 0.05),
		cell("left-out", "merg", 0.9, 0.9),
	}}
	if err := g.Layout(&strings.Builder{}); err == nil || !strings.Contains(err.Error(), "key tables") {
		t.Error("without tables:", err)
	}
	spec := report.TableSpec{Name: "t", Caption: "50 % & more", Rows: "protocol graph",
		Columns: "iaa faa iaa>faa valid",
		Bold:    "graph", Where: map[string]string{"protocol": "[so]*"}, Order: []string{"other"},
		Labels: map[string]string{"sac": "SAC", "iaa>faa": "both"}}
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	g.Tables = []report.TableSpec{spec}
	var b strings.Builder
	if err := g.Layout(&b); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "\\toprule\n")
	want := `protocol & graph & IAA & FAA & both & valid \\
\midrule
other & merg & 50.0 {\scriptsize (40.0 to 60.0)} & 5.0 {\scriptsize ($-$5.0 to 15.0)} & ` +
		`50.0 {\scriptsize (40.0 to 60.0)} $\to$ 5.0 {\scriptsize ($-$5.0 to 15.0)} & -- \\
\midrule
SAC & merg & 50.0 {\scriptsize (40.0 to 60.0)} & \textbf{70.0} {\scriptsize (60.0 to 80.0)} & ` +
		`50.0 {\scriptsize (40.0 to 60.0)} $\to$ \textbf{70.0} {\scriptsize (60.0 to 80.0)} & -- \\
 & er\_1 & 50.0 {\scriptsize (40.0 to 60.0)} & 30.0 {\scriptsize (20.0 to 40.0)} & ` +
		`50.0 {\scriptsize (40.0 to 60.0)} $\to$ 30.0 {\scriptsize (20.0 to 40.0)} & -- \\
\bottomrule
\end{tabular}
\end{table}
`
	if got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(b.String(), `50 \% \& more`) {
		t.Error("the caption is not escaped:", b.String())
	}
	for _, bad := range []report.TableSpec{{Name: "A", Rows: "b", Columns: "iaa"}, {Name: "a", Columns: "iaa"},
		{Name: "a", Rows: "b"}} {
		if bad.Check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// Below a row with live members is one for each model with the figures that it has by itself; a table whose columns
// have none of these, and cells without a live member, have no such rows. Bold is for cells only.
func TestLayoutOfModels(t *testing.T) {
	rate := func(v float64) *metrics.Rate { return &metrics.Rate{Value: v, N: 30, Low: v - 0.1, High: v + 0.1} }
	model := func(name, kind string, seats int, first, final float64) (m report.Model) {
		m.Model, m.Kind, m.Seats = name, kind, seats
		m.Right.First, m.Right.Final = rate(first), rate(final)
		return m
	}
	cell := func(protocol string, faa float64, models ...report.Model) report.Cell {
		return report.Cell{Cell: protocol, Params: map[string]any{"protocol": protocol, "graph": "merg"},
			Metrics: map[string]*metrics.Rate{"iaa": rate(0.5), "faa": rate(faa), "bfti": rate(0.4)},
			Report:  &report.Report{Models: models}}
	}
	live := []report.Model{model("s_1", "endpoint", 4, 0.8, 0.9), model("w", "simulated", 1, 0.2, 0.1)}
	for what, c := range map[string]struct {
		columns string
		cells   []report.Cell
		want    []string // lines with \quad
	}{
		"live and simulated together": {"iaa bfti faa", []report.Cell{cell("sac", 0.7, live...), cell("other", 0.3)},
			[]string{` & \quad s\_1, 4 seats & 80.0 {\scriptsize (70.0 to 90.0)} & -- & ` +
				`90.0 {\scriptsize (80.0 to 100.0)} \\`,
				` & \quad w, 1 seat & 20.0 {\scriptsize (10.0 to 30.0)} & -- & 10.0 {\scriptsize (0.0 to 20.0)} \\`}},
		"two figures in a column": {"iaa>faa", []report.Cell{cell("sac", 0.7, live[:1]...)},
			[]string{` & \quad s\_1, 4 seats & 80.0 {\scriptsize (70.0 to 90.0)} $\to$ ` +
				`90.0 {\scriptsize (80.0 to 100.0)} \\`}},
		"simulated only":        {"iaa faa", []report.Cell{cell("sac", 0.7, live[1]), cell("other", 0.3)}, nil},
		"figures of cells only": {"bfti", []report.Cell{cell("sac", 0.7, live...)}, nil},
	} {
		g := &report.Grid{Preset: "mine", Cells: c.cells, Tables: []report.TableSpec{{Name: "t",
			Rows: "protocol graph", Columns: c.columns, Bold: "graph"}}}
		var b strings.Builder
		if err := g.Layout(&b); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, `\quad`) {
				got = append(got, strings.TrimSuffix(line, "\n"))
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if said := strings.Contains(b.String(), "indented: "); said != (len(c.want) > 0) {
			t.Errorf("%s: the comment says what the rows are: %v", what, said)
		}
	}
}
