package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/chart"
)

// Comparison compares runs on the questions that all of them have finished.
type Comparison struct {
	Version   int          `json:"version"`
	Questions int          `json:"questions"` // that all runs have finished, repeats included
	Runs      []Compare    `json:"runs"`
	Pairs     []Difference `json:"pairs"` // every two runs
}

// Compare is one run of a comparison.
type Compare struct {
	Name    string  `json:"name"` // of its council, with what differs where another run has that name
	Folder  string  `json:"folder"`
	Setting Setting `json:"setting"`
	Report  *Report `json:"report"`
}

// Difference is that of two runs on the questions that all runs have finished. Positive: the
// second is better.
type Difference struct {
	First  string `json:"first"`
	Second string `json:"second"`
	*Compared
}

// Write prints the comparison: text, json, csv, md or html.
func (c *Comparison) Write(w io.Writer, format string) error {
	switch format {
	case "text", "md":
		return document{format: format, title: c.title(), head: []string{c.title()},
			tables: []*table.Table{c.runTable(), c.pairTable()}, notes: c.notes()}.write(w)
	case "json":
		return writeJSON(w, c)
	case "csv":
		return c.csv(w)
	case "html":
		return c.html(w)
	}
	return unknownFormat(format)
}

func (c *Comparison) title() string {
	return fmt.Sprintf("%d runs on the %d questions that all have finished", len(c.Runs), c.Questions)
}

func (c *Comparison) notes() []string {
	return []string{"The figures of a run are over all of its finished questions, with 95 % intervals. " +
		"Differences are paired: over the questions that all runs have finished, second minus first. p is of the " +
		"exact permutation test by question, which is McNemar's exact test without repeats; corrected: by " +
		"Holm's method over all pairs."}
}

func (c *Comparison) runTable() *table.Table {
	t := &table.Table{Head: []string{"run", "graph", "F", "rule", "models", "members", "decisions right, %",
		"members at the end, %", "decided, %", "calls", "USD"}, Align: "llrlllr"}
	for _, run := range c.Runs {
		r, cost := run.Report, "unknown"
		if r.Cost != nil {
			cost = fmt.Sprintf("%.4f", r.Cost.USD)
		}
		t.Add(plain(run.Name), plain(run.Setting.Graph)+fmt.Sprintf(", r=%d", run.Setting.R), run.Setting.F,
			plain(run.Setting.Rule), plain(strings.Join(run.Setting.Models, ", ")), r.kindsCell(),
			valueWithInterval(r.Metrics.Decision), valueWithInterval(r.Metrics.FAA),
			valueWithInterval(r.Metrics.Agreed), r.Calls.Made, cost)
	}
	return t
}

func (c *Comparison) pairTable() *table.Table {
	t := &table.Table{Head: []string{"second minus first", "right only first", "right only second", "decisions, points",
		"p", "corrected p", "members at the end, points", "p", "corrected p"}, Align: "lr"}
	for _, d := range c.Pairs {
		t.Add(plain(d.Second)+" − "+plain(d.First), d.Compared.Pairs[1][0], d.Compared.Pairs[0][1],
			valueWithInterval(d.Decision), pValue(d.P), corrected(d.Corrected), valueWithInterval(d.FAA),
			pValue(d.FAAP), corrected(d.FAACorrected))
	}
	return t
}

// corrected formats a corrected p-value; a dash where there was nothing to correct for.
func corrected(p *float64) string {
	if p == nil {
		return "–"
	}
	return pValue(*p)
}

func (c *Comparison) csv(w io.Writer) error {
	t := &table.Table{Head: append([]string{"run", "against", "members_kind", "figure"}, rateColumns...)}
	add := func(run, against, kinds, figure string, cells ...string) {
		row := append([]string{plain(run), plain(against), kinds, figure}, cells...)
		t.Rows = append(t.Rows, append(row, make([]string, len(t.Head)-len(row))...))
	}
	for _, run := range c.Runs {
		for _, rate := range run.Report.Rates() {
			add(run.Name, "", run.Report.kindsCell(), rate.Name, rateCells(rate.Rate)...)
		}
	}
	for _, d := range c.Pairs {
		add(d.Second, d.First, "", "decision_difference", rateCells(d.Decision)...)
		add(d.Second, d.First, "", "faa_difference", rateCells(d.FAA)...)
		pairs, clusters := strconv.Itoa(d.Compared.Pairs.N()), strconv.Itoa(d.Clusters)
		add(d.Second, d.First, "", "mcnemar_p", number(d.McNemar), pairs)
		add(d.Second, d.First, "", "p", number(d.P), clusters)
		add(d.Second, d.First, "", "corrected_p", number(*d.Corrected), clusters)
		add(d.Second, d.First, "", "faa_p", number(d.FAAP), clusters)
		add(d.Second, d.First, "", "faa_corrected_p", number(*d.FAACorrected), clusters)
	}
	return t.Write(w, "csv")
}

// grid has a cell for each run.
func (c *Comparison) grid() *Grid {
	g := &Grid{}
	for _, run := range c.Runs {
		g.Cells = append(g.Cells, NewCell(run.Name, nil, run.Report, nil, nil))
		for _, kind := range run.Report.MembersKind {
			if !slices.Contains(g.MembersKind, kind) {
				g.MembersKind = append(g.MembersKind, kind)
			}
		}
	}
	return g
}

// Plots returns the plot of the runs.
func (c *Comparison) Plots() []Plot {
	b := bars{
		name: "compare", title: "Runs compared",
		caption: "Shares with 95 % intervals, each over all finished questions of its run. Overlapping intervals do " +
			"not mean that two runs are alike: the paired differences tell.",
		panels: []barPanel{
			{"decided rightly", one("decision_accuracy", chart.Green)},
			{"members right at the end", one("faa", chart.Ink)},
			{"decided", one("agreed", chart.Blue)},
		},
	}
	return b.plot(c.grid())
}

func (c *Comparison) html(w io.Writer) error {
	p := newPage(w, c.title())
	g := c.grid()
	p.show("comparison", struct {
		Title, Label string
		Runs, Pairs  *table.Table
		Notes        []string
	}{c.title(), g.label(), c.runTable(), c.pairTable(), c.notes()})
	p.plots(c.Plots(), g.label())
	return p.end()
}
