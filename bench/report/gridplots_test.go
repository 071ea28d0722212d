package report_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// gridOf returns a grid of the cells' reports; the paper's figures are of the first cell.
func gridOf(paper map[string]report.Figure, cells ...report.Cell) *report.Grid {
	g := &report.Grid{Report: report.Report{Repeat: 1, MembersKind: []string{}}, Preset: "p", Source: "a paper",
		Members: "simulated"}
	for i, c := range cells {
		figures := paper
		if i > 0 {
			figures = nil
		}
		g.Add(report.NewCell(c.Cell, c.Params, c.Report, figures, c.Assumed))
	}
	return g
}

// game returns the report of a run of games.
func game() *report.Report {
	r := sample()
	r.Calibration = nil
	r.Metrics = metrics.Metrics{}
	r.Seats = []report.Member{{ID: "p1"}, {ID: "p2"}, {ID: "b1", Adversary: "saboteur"}}
	r.Endings = []metrics.Ending{{Name: "valid", Rate: metrics.Share(3, 4)},
		{Name: "invalid", Rate: metrics.Share(1, 4)}, {Name: "premature", Rate: metrics.Share(0, 4)},
		{Name: "none", Rate: metrics.Share(0, 4)}}
	r.Stops = []int{2, 2, 5, 7}
	r.Trajectories = []report.Trajectory{
		report.NewTrajectory("g", 0, "valid", 2, [][]synod.Answer{{"3", "40", "9"}, {"3", "3", synod.None},
			{"3", "3", "NaN"}}),
		report.NewTrajectory("g", 1, "none", 0, [][]synod.Answer{{"3", "40", "9"}}),
	}
	return r
}

// graded is full with one more round.
func graded() *report.Report {
	r := full()
	r.Rounds = append(r.Rounds, metrics.Round{T: 2, Strong: metrics.Share(8, 10)})
	return r
}

func named(protocol string, params map[string]any) map[string]any {
	params["protocol"] = protocol
	return params
}

func names(plots []report.Plot) (all []string) {
	for _, f := range plots {
		all = append(all, f.Name)
	}
	return all
}

func byB(b int) map[string]any {
	return map[string]any{"graph": "merg", "n": 4. + float64(b), "b": float64(b), "f": float64(b)}
}

// What the cells vary and measure decides which plots there are.
func TestWhichGridPlots(t *testing.T) {
	r := graded()
	cell := func(name string, r *report.Report, params map[string]any) report.Cell {
		return report.Cell{Cell: name, Report: r, Params: params}
	}
	for _, c := range []struct {
		name  string
		cells []report.Cell
		want  []string
	}{
		{"no data", []report.Cell{cell("a", &report.Report{}, nil)}, nil},
		{"one council", []report.Cell{cell("a", r, nil)}, []string{"before-after", "rounds"}},
		{"two values are too few", []report.Cell{cell("a", r, byB(0)), cell("b", r, byB(1))},
			[]string{"before-after", "rounds"}},
		{"three values are enough", []report.Cell{cell("a", r, byB(0)), cell("b", r, byB(1)), cell("c", r, byB(2))},
			[]string{"before-after", "rounds", "faa-by-b"}},
		{"three protocols, each with its own number",
			[]report.Cell{cell("a", r, named("x", byB(0))), cell("b", r, named("y", byB(1))),
				cell("c", r, named("z", byB(2)))}, []string{"before-after", "rounds"}},
		{"two of three cells have no figure", []report.Cell{cell("a", r, byB(0)), cell("b", &report.Report{}, byB(1)),
			cell("c", &report.Report{}, byB(2))}, []string{"before-after", "rounds"}},
		{"games", []report.Cell{cell("a", game(), byB(0)), cell("b", game(), byB(1)), cell("c", game(), byB(2))},
			[]string{"outcomes", "trajectories", "stops", "valid-by-b"}},
	} {
		if got := names(gridOf(nil, c.cells...).Plots()); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	var many []report.Cell
	for b := range 41 {
		many = append(many, cell(fmt.Sprint(b), r, byB(b)))
	}
	if got := names(gridOf(nil, many...).Plots()); !slices.Equal(got, []string{"faa-by-b"}) {
		t.Errorf("41 cells: %v", got)
	}
	if got := names(game().Plots()); !slices.Equal(got, []string{"outcomes", "trajectories", "stops"}) {
		t.Errorf("a single run of games has %v", got)
	}
}

// The axis is the number that was varied directly, not one that follows from it. The
// other varied parameters distinguish the lines.
func TestSweepPlot(t *testing.T) {
	var cells []report.Cell
	for _, honest := range []int{4, 8} {
		for b := range 3 {
			p := byB(b)
			p["n"], p["w"] = float64(honest+b), 3-b
			cells = append(cells, report.Cell{Cell: fmt.Sprintf("h%d-b%d", honest, b), Report: game(), Params: p})
		}
	}
	plots := gridOf(map[string]report.Figure{"valid": {Value: .5, N: 25}}, cells...).Plots()
	i := slices.IndexFunc(plots, func(f report.Plot) bool { return f.Name == "valid-by-b" })
	if i < 0 {
		t.Fatalf("only %v", names(plots))
	}
	svg, err := plots[i].SVG()
	if err != nil {
		t.Fatal(err)
	}
	drawn := texts(t, svg)
	for _, want := range []string{"honest 4", "honest 8", "the paper", "malicious members (b)", "0", "1", "2",
		"100 %"} {
		if !slices.Contains(drawn, want) {
			t.Errorf("no %q in %q", want, drawn)
		}
	}
	if head := plots[i].Data.Head; !slices.Equal(head[:5], []string{"members_kind", "cell", "honest", "b", "metric"}) {
		t.Errorf("columns %q", head)
	}
}

// Every plot of a grid names the members' kinds in its title, picture and data. A
// paper's figure is beside ours, with both intervals and the verdict.
func TestGridPlots(t *testing.T) {
	paper := map[string]report.Figure{"faa": {Value: .6, N: 30}, "weak_round_1": {Value: .5, N: 30},
		"valid": {Value: .4, N: 100}}
	sac := report.Cell{Cell: "sac-merg", Report: graded(), Params: byB(0),
		Assumed: report.Assume("it was built in", "faa")}
	dir := t.TempDir()
	all := map[string][]string{
		"before-after": {"recorded+simulated", "sac-merg", "faa", "0.9", "40"},
		"rounds":       {"recorded+simulated", "sac-merg", "weak_round_1", "0.5", "10"},
		"outcomes":     {"recorded+simulated", "g", "valid", "0.75", "4"},
		"trajectories": {"recorded+simulated", "g", "g", "0", "valid", "2", "b1", "saboteur", "0", "9"},
		"stops":        {"recorded+simulated", "g", "4", "2", "2"},
	}
	plots := slices.Concat(gridOf(paper, sac).Plots(), gridOf(paper, report.Cell{Cell: "g", Report: game()}).Plots())
	if err := report.Save(dir, plots); err != nil {
		t.Fatal(err)
	}
	for _, f := range plots {
		svg, _ := os.ReadFile(filepath.Join(dir, f.Name+".svg"))
		if drawn := texts(t, svg); !slices.Contains(drawn, f.Title) ||
			!strings.Contains(f.Title, "(recorded and simulated members)") {
			t.Errorf("%s: title %q, drawn %q", f.Name, f.Title, drawn)
		}
		b, _ := os.ReadFile(filepath.Join(dir, f.Name+".png"))
		if img, err := png.Decode(bytes.NewReader(b)); err != nil || img.Bounds().Dx() < 1000 {
			t.Errorf("%s: %v", f.Name, err)
		}
		b, _ = os.ReadFile(filepath.Join(dir, f.Name+".csv"))
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil {
			t.Fatal(f.Name, err)
		}
		want := all[f.Name]
		if !slices.ContainsFunc(rows, func(row []string) bool {
			return slices.Equal(row[:min(len(row), len(want))], want)
		}) {
			t.Errorf("%s: no %q in %q", f.Name, want, rows)
		}
		for _, row := range rows[1:] {
			if row[0] != "recorded+simulated" {
				t.Errorf("%s: a line without the members' kind: %q", f.Name, row)
			}
		}
		delete(all, f.Name)
	}
	if len(all) > 0 {
		t.Errorf("not drawn: %v", all)
	}
	for _, line := range plots[0].Table.Rows {
		if line[1] == "faa" && (line[3] != "60.0 % (42.3 to 75.4, n 30)" || !strings.HasPrefix(line[4], "assumed (")) {
			t.Errorf("the paper's figure: %q", line)
		}
	}
}

// An answer that is not a number leaves a gap; it is not zero.
func TestNewTrajectory(t *testing.T) {
	f := report.NewTrajectory("q", 0, "valid", 1, [][]synod.Answer{{"3", "x"}, {synod.None, "-4.5"}, {"+Inf", "NaN"}})
	want := [][]string{{"3", "", ""}, {"", "-4.5", ""}}
	for i, values := range f.Values {
		for round, v := range values {
			got := ""
			if v != nil {
				got = fmt.Sprint(*v)
			}
			if got != want[i][round] {
				t.Errorf("seat %d, round %d: %q", i, round, got)
			}
		}
	}
}

// A figure that is not a share has its own axis, and is not printed in percent.
func TestGridPlotsOfCounts(t *testing.T) {
	g := gridOf(nil)
	for i, seconds := range []float64{100, 220, 341} {
		c := report.NewComputed(fmt.Sprint("c", i), byB(i),
			&report.Figures{Rates: map[string]*metrics.Rate{"latency": {Value: seconds, N: 5, Low: seconds - 9,
				High: seconds + 9, Count: true}}},
			0, map[string]report.Figure{"latency": {Value: 221, Count: true}}, "from a model of the clock", nil)
		g.Add(c)
	}
	plots := g.Plots()
	if got := names(plots); !slices.Equal(got, []string{"latency-by-b"}) {
		t.Fatalf("%v", got)
	}
	svg, err := plots[0].SVG()
	if err != nil {
		t.Fatal(err)
	}
	drawn := texts(t, svg)
	if slices.Contains(drawn, "100 %") || !slices.Contains(drawn, "200") ||
		!slices.Contains(drawn, "Latency in virtual seconds, by malicious members (b) (computed, no members)") {
		t.Errorf("picture: %q", drawn)
	}
	if line := plots[0].Table.Rows[2]; !slices.Equal(line[1:], []string{"2", "latency", "341.0 (332.0 to 350.0, n 5)",
		"221.0", "none: the paper's figure is not a share"}) {
		t.Errorf("table: %q", line)
	}
}
