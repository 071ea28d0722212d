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
	spec := report.TableSpec{Name: "t", Caption: "50 % & more", Rows: "protocol graph", Columns: "iaa faa iaa>faa valid",
		Bold: "graph", Where: map[string]string{"protocol": "[so]*"}, Order: []string{"other"},
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
