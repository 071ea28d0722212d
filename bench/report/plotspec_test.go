package report_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench/report"
)

// drawing returns the texts of a figure that a manifest asks for, and its data.
func drawing(t *testing.T, g *report.Grid, spec report.PlotSpec) (all []string, data string) {
	t.Helper()
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	g.Specs = []report.PlotSpec{spec}
	plots := g.Specified()
	if len(plots) != 1 {
		t.Fatalf("%d figures", len(plots))
	}
	dir := t.TempDir()
	if err := report.Save(dir, plots); err != nil {
		t.Fatal(err)
	}
	read := func(ending string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, spec.Name+ending))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !strings.HasPrefix(string(read(".pdf")), "%PDF-") {
		t.Error("no PDF")
	}
	return texts(t, read(".svg")), string(read(".csv"))
}

func wantTexts(t *testing.T, got []string, want ...string) {
	t.Helper()
	for _, text := range want {
		if !slices.Contains(got, text) {
			t.Errorf("no text %q in %q", text, got)
		}
	}
}

// The figures of a report and the rounds of a run can be axes, series and panels, several parameters one axis, and the
// values have the order of the manifest.
func TestSpecifiedFigures(t *testing.T) {
	r := graded()
	g := gridOf(map[string]report.Figure{"faa": {Value: .5, N: 10}},
		report.Cell{Cell: "a", Report: r, Params: map[string]any{"graph": "star", "position": "leaf"}},
		report.Cell{Cell: "b", Report: r, Params: map[string]any{"graph": "chain", "position": "any"}},
		report.Cell{Cell: "c", Report: r, Params: map[string]any{"graph": "star", "position": "centre"}},
		report.Cell{Cell: "d", Report: r, Params: map[string]any{"graph": "tree", "position": "leaf"}})
	all, data := drawing(t, g, report.PlotSpec{Name: "bars", Kind: "bars", Title: "Bars", Y: "iaa faa",
		X: "graph position", Series: "metric", Order: []string{"chain any", "faa"},
		Labels: map[string]string{"chain any": "chain", "graph position": "topology"}})
	wantTexts(t, all, "chain", "star, leaf", "topology", "IAA", "FAA", "the paper")
	all = slices.DeleteFunc(all, func(s string) bool { return strings.HasSuffix(s, "%") })
	if got := strings.Join(all, "|"); !strings.Contains(got, "topology|chain|star, leaf|star, centre|tree, leaf") ||
		!strings.Contains(got, "FAA|IAA|the paper") {
		t.Errorf("not in the order of the manifest, or of the cells: %s", got)
	}
	for _, want := range []string{"a,star,leaf,iaa,0.75", "b,chain,any,faa,0.9"} {
		if !strings.Contains(data, want) {
			t.Errorf("no %q in %s", want, data)
		}
	}
	all, data = drawing(t, g, report.PlotSpec{Name: "lines", Kind: "lines", Y: "weak strong", X: "round",
		Series: "metric", Panels: "graph"})
	wantTexts(t, all, "0", "1", "2", "round", "weak", "strong", "star", "chain")
	if !strings.Contains(data, "a,star,weak_round_1,0.5,") {
		t.Error(data)
	}
}

// A legend of numbers says what they count.
func TestLegendOfNumbers(t *testing.T) {
	g := gridOf(nil, report.Cell{Cell: "a", Report: graded(), Params: map[string]any{"graph": "star", "liars": 1}},
		report.Cell{Cell: "b", Report: graded(), Params: map[string]any{"graph": "star", "liars": 2}})
	all, _ := drawing(t, g, report.PlotSpec{Name: "bars", Kind: "bars", Y: "faa", X: "graph", Series: "liars"})
	wantTexts(t, all, "liars 1", "liars 2")
}

// Circles show a list, with the numbers of its members.
func TestCircles(t *testing.T) {
	g := gridOf(nil)
	for f := range 3 {
		g.Add(report.NewComputed("c", map[string]any{"f_e": f, "spread": 2},
			&report.Figures{Lists: map[string][]float64{"scores": {80, 80.5, 30}}}, 0, nil, "computed", nil))
	}
	all, data := drawing(t, g, report.PlotSpec{Name: "circles", Kind: "circles", Y: "scores", X: "f_e",
		Panels: "spread", Byzantine: []int{2}})
	wantTexts(t, all, "honest", "Byzantine", "f e", "scores")
	if n := strings.Count(strings.Join(all, " "), " 1 "); n < 3 {
		t.Errorf("worker 1 is drawn %d times, want 3: %q", n, all)
	}
	if !strings.Contains(data, "c,0,2,1,80.5\n") {
		t.Error(data)
	}
}

// Trajectories have a row for every panel, with games of each of its cells.
func TestSpecifiedGames(t *testing.T) {
	g := gridOf(nil, report.Cell{Cell: "a", Report: game(), Params: map[string]any{"row": "top"}},
		report.Cell{Cell: "b", Report: game(), Params: map[string]any{"row": "bottom"}},
		report.Cell{Cell: "c", Report: game(), Params: map[string]any{"row": "bottom"}})
	all, _ := drawing(t, g, report.PlotSpec{Name: "games", Kind: "trajectories", Panels: "row", Columns: 2,
		Order: []string{"top", "bottom"}})
	var titles []string
	for _, text := range all {
		if strings.Contains(text, " #") {
			titles = append(titles, text)
		}
	}
	if want := []string{"a #1", "a #2", "b #1", "c #1"}; !slices.Equal(titles, want) {
		t.Errorf("games %q, want %q", titles, want)
	}
}

// An impossible figure is an error that says what to do.
func TestCheckPlot(t *testing.T) {
	for want, p := range map[string]report.PlotSpec{
		"kind is missing":                  {Name: "x", X: "b", Y: "faa"},
		"must be a file name":              {Name: "../x", Kind: "bars", X: "b", Y: "faa"},
		"name metric in x, series or":      {Name: "x", Kind: "bars", X: "b", Y: "faa ra"},
		"only x can be round":              {Name: "x", Kind: "bars", X: "b", Y: "faa", Series: "round"},
		"y must be strong, weak or both":   {Name: "x", Kind: "lines", X: "round", Y: "faa"},
		"remove x, y and series":           {Name: "x", Kind: "trajectories", X: "b"},
		"use panels instead of series":     {Name: "x", Kind: "circles", X: "b", Y: "scores", Series: "graph"},
		"x and y must name a parameter an": {Name: "x", Kind: "bars", X: "b"},
	} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
}

// A figure for print has the same data as the one for screens, and says which members are not live models although it
// has no title. The grid's own figures stay as they are.
func TestPrintedFigures(t *testing.T) {
	g := gridOf(map[string]report.Figure{"faa": {Value: .5, N: 10}},
		report.Cell{Cell: "a", Report: graded(), Params: map[string]any{"graph": "star"}})
	g.Specs = []report.PlotSpec{{Name: "bars", Kind: "bars", Title: "Bars", Y: "faa", X: "graph"}}
	plots := g.Specified()
	plain, err := plots[0].SVG()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := g.Print(plots)[0].SVG()
	if err != nil {
		t.Fatal(err)
	}
	all := texts(t, doc)
	wantTexts(t, all, "ours", "the paper", "star", "recorded and simulated members")
	if slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "Bars") }) ||
		!strings.Contains(string(doc), `width="244.8pt"`) {
		t.Errorf("a title, or not as wide as a column: %q", all)
	}
	if again, err := plots[0].SVG(); err != nil || string(again) != string(plain) {
		t.Error("printing changed the figure for screens")
	}
}
