package manifest

import (
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/internal/nightly"
)

// run drafts a grid, works on it and returns its report.
func run(t *testing.T, name string, o Options) *report.Grid {
	t.Helper()
	return play(t, name, draft(t, name, o))
}

// play asks all questions of a grid in a folder of its own.
func play(t *testing.T, name string, g *bench.Grid) *report.Grid {
	t.Helper()
	if err := g.Create(filepath.Join(t.TempDir(), "grid")); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Work(t.Context(), bench.Options{Parallel: 2}); err != nil {
		t.Fatal(err)
	}
	out, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	if out.Finished != out.Questions || out.Failed != 0 {
		t.Errorf("%s: %d of %d questions finished, %d failed", name, out.Finished, out.Questions, out.Failed)
	}
	return out
}

// Table 2, HCP [CP-3, CP-4]: all fourteen rows equal the printed figures after rounding,
// computed from the answers and confidences of the paper, so the verdict is that they are
// assumed. PCP has no figure and no verdict, because stated confidences were not recorded.
func TestTable2Recorded(t *testing.T) {
	g := run(t, "cpwbft-table2", Options{Members: "recorded", Data: sharedData(t)})
	rows := 0
	for _, c := range g.Cells {
		if len(c.Paper) != 4 {
			t.Errorf("%s: %d figures of the paper", c.Cell, len(c.Paper))
		}
		if c.Params["probe"] == "stated" {
			if c.Why == "" || len(c.Verdict) != 0 || c.Metrics["faa"] != nil {
				t.Errorf("%s: %q, %v, %v", c.Cell, c.Why, c.Verdict, c.Metrics["faa"])
			}
			continue
		}
		rows++
		for metric, paper := range c.Paper {
			if ours := c.Metrics[metric]; ours == nil || math.Abs(ours.Value-paper) > 0.000051 ||
				c.Verdict[metric] != report.Assumed {
				t.Errorf("%s, %s: %+v is %s; the paper has %.4f", c.Cell, metric, ours, c.Verdict[metric], paper)
			}
		}
	}
	if rows != 14 || g.MembersKind[0] != "recorded" {
		t.Errorf("%d rows of HCP, members %v", rows, g.MembersKind)
	}
}

// Table 3 from the stored confidences: only the probe that averages over the answer was
// recorded. Its figures rest on stored confidences for selected questions, so they are
// assumed.
func TestTable3Recorded(t *testing.T) {
	g := run(t, "cpwbft-table3", Options{Members: "recorded", Data: sharedData(t)})
	want := map[string]float64{"gsm8k-llama-3.1-mean": 0.9, "gsm8k-llama-3-mean": 0.9, "xstest-llama-3.1-mean": 1,
		"xstest-llama-3-mean": 1}
	blank := 0
	for _, c := range g.Cells {
		ours, known := c.Metrics["probe_accuracy"]
		switch value, measured := want[c.Cell]; {
		case measured != (c.Verdict["probe_accuracy"] == report.Assumed) || !known || len(c.Paper) != 1:
			t.Errorf("%s: %v, %v, %v", c.Cell, c.Verdict, c.Metrics, c.Paper)
		case measured && (ours == nil || ours.Value != value || ours.N != 10):
			t.Errorf("%s: %+v, want %v", c.Cell, ours, value)
		case !measured && (ours != nil || c.Why == ""):
			t.Errorf("%s: %+v, %q", c.Cell, ours, c.Why)
		case !measured:
			blank++
		}
	}
	if blank != 8 {
		t.Errorf("%d cells without a run", blank)
	}
}

// Tables 1 and 2: figures are multiples of 1/70 and 1/10 (ten questions, seven members),
// and BFTI is FAA − IAA, so errors in copying the figures are found.
func TestCPFiguresAgree(t *testing.T) {
	for table, rows := range map[int]int{1: 28, 2: 28, 3: 12} {
		paper := printed(t, "cpwbft.csv", fmt.Sprint(table))
		if len(paper) != rows {
			t.Errorf("table %d has %d rows, want %d", table, len(paper), rows)
		}
		for row, f := range paper {
			if bfti, ok := f["bfti"]; ok && math.Abs(f["faa"].Value-f["iaa"].Value-bfti.Value) > 0.00011 {
				t.Errorf("%v: BFTI is %v, and FAA − IAA %v", row, bfti.Value, f["faa"].Value-f["iaa"].Value)
			}
			for metric, figure := range f {
				parts := map[string]float64{"iaa": 70, "faa": 70, "bfti": 70, "ra": 10, "decision_accuracy": 10}[metric]
				if off := math.Abs(figure.Value*parts - math.Round(figure.Value*parts)); parts > 0 && off > 0.04 {
					t.Errorf("table %d, %v: %s = %v is no share of %v", table, row, metric, figure.Value, parts)
				}
			}
		}
	}
}

// Table 1, traditional agents [CP-5]: the figures follow from the rule and the malicious
// nodes, independently of the questions.
func TestTable1Traditional(t *testing.T) {
	g := run(t, "cpwbft-table1", Options{N: 2, Only: "*-traditional-*"})
	if len(g.Cells) != 14 {
		t.Errorf("%d cells", len(g.Cells))
	}
	for _, c := range g.Cells {
		for metric, paper := range c.Paper {
			if ours := c.Metrics[metric]; ours == nil || math.Abs(ours.Value-paper) > 0.00051 {
				t.Errorf("%s, %s: %+v; the paper has %.3f", c.Cell, metric, ours, paper)
			}
		}
	}
}

// uncontrolled counts the cells that are not only controls of claims.
func uncontrolled(g *bench.Grid) (n int) {
	for _, c := range g.Cells {
		if c.Control == "" {
			n++
		}
	}
	return n
}

// [CP-5, CP-6] There is a cell for every number of malicious members at every attacked
// position of every graph, for both kinds of agents, with all parameters for a plot.
func TestPilotCells(t *testing.T) {
	g := draft(t, "cpwbft-pilot", Options{N: 1})
	if plain := uncontrolled(g); plain != 2*14*6 || len(g.Cells) != plain+2*14 {
		t.Errorf("%d cells and %d controls", plain, len(g.Cells)-plain)
	}
	figures := 0
	for i, c := range g.Cells {
		for _, key := range []string{"agents", "graph", "position", "b", "n", "probe", "task", "adversary"} {
			if c.Params[key] == nil {
				t.Errorf("%s has no %s", c.Name, key)
			}
		}
		malicious := 0
		for _, s := range g.Runs[i].Seats {
			if strings.HasPrefix(s.ID, "m") {
				malicious++
			}
			if (s.Adversary != "") != (c.Params["agents"] == "traditional" && s.ID[0] == 'm') {
				t.Errorf("%s seats %+v", c.Name, s)
			}
		}
		if malicious != number(c.Params["b"]) {
			t.Errorf("%s: %d malicious seats", c.Name, malicious)
		}
		if len(c.Paper) > 0 {
			figures++
		}
	}
	if figures != 6 { // complete and both stars, two kinds of agents
		t.Errorf("%d cells have figures of the paper", figures)
	}
	for name, seat := range map[string]string{"llm-star-centre-b1": "m0", "llm-chain-middle-b1": "m3",
		"llm-tree-root-b1": "m0", "llm-layered-bottom-b1": "m5"} {
		for i, c := range g.Cells {
			if c.Name == name && !strings.Contains(g.Runs[i].Council, "id: "+seat) {
				t.Errorf("%s does not seat %s", name, seat)
			}
		}
	}
}

// Table 1 of SAC with its CP-WBFT column, simulated: one Byzantine member with confidence
// 1.0 captures CP-WBFT on a complete graph, but not SAC [CP-7].
func TestSACColumnCollapses(t *testing.T) {
	g := run(t, "sac-table1", Options{N: 10, Only: "*-complete-b1-replay", Data: sharedData(t)})
	for _, c := range g.Cells {
		captured, faa := c.Metrics["capture"].Value, c.Metrics["faa"].Value
		if cp := c.Params["protocol"] == "cp-wbft"; cp && (captured != 1 || faa != 0) || !cp &&
			(captured > 0.2 || faa < 0.5) {
			t.Errorf("%s: captured %.2f, FAA %.2f", c.Cell, captured, faa)
		}
		if c.Params["protocol"] == "cp-wbft" && c.Rule != "protocol" {
			t.Errorf("%s: rule %s", c.Cell, c.Rule)
		}
	}
}

var everyCell = flag.Int("every", nightly.Size(21, 7),
	"TestPresetsRun plays each of so many cells of presets with more than 100 cells")

// some leaves each everyCell-th cell in a grid of many cells.
func some(g *bench.Grid) {
	if len(g.Readings) > 0 {
		return
	}
	if len(g.Computed) > 150 {
		all := g.Computed
		g.Computed = nil
		for i := 0; i < len(all); i += *everyCell {
			g.Computed = append(g.Computed, all[i])
		}
	}
	if len(g.Runs) <= 100 {
		return
	}
	cells, runs := g.Cells, g.Runs
	g.Cells, g.Runs = nil, nil
	for i := 0; i < len(runs); i += *everyCell {
		g.Cells, g.Runs = append(g.Cells, cells[i]), append(g.Runs, runs[i])
	}
}

// Every preset finishes with simulated members. Each cell has parameters, figures, the
// figures of the paper and verdicts. A cell that cannot be run has a reason and no
// verdict; all cells of CP-WBFT and SAC can be run.
func TestPresetsRun(t *testing.T) {
	for _, p := range Presets().All() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			all := *wholePreset(t, p.Name)
			all.Runs = slices.Clone(all.Runs)
			some(&all)
			g := play(t, p.Name, &all)
			for _, c := range g.Cells {
				if c.Cell == "" || len(c.Params) == 0 || len(c.Metrics) == 0 || c.Paper == nil || c.Verdict == nil {
					t.Errorf("%s: %+v", c.Cell, c)
				}
				if c.Why != "" {
					if len(c.Verdict) > 0 || strings.HasPrefix(p.Name, "cpwbft-") || strings.HasPrefix(p.Name, "sac-") {
						t.Errorf("%s has no run: %s, %v", c.Cell, c.Why, c.Verdict)
					}
					continue
				}
				for metric := range c.Paper {
					if c.Metrics[metric] == nil {
						t.Errorf("%s: the paper has %s, and the run has none", c.Cell, metric)
					}
				}
			}
		})
	}
}

func TestBadCPOptions(t *testing.T) {
	data := sharedData(t)
	for _, c := range []struct {
		preset string
		o      Options
		want   string
	}{
		{"cpwbft-table2", Options{Members: "recorded"}, "synod data pull traces/cp-wbft, or --data DIR"},
		{"cpwbft-table2", Options{Members: "recorded", Data: t.TempDir()}, "need traces/cp-wbft.jsonl"},
		{"cpwbft-table2", Options{Members: "recorded", Data: data, Repeat: 2}, "--repeat 1"},
		{"cpwbft-table2", Options{Members: "recorded", Data: data, N: 11}, "has 10 questions"},
		{"cpwbft-table2", Options{Members: "recorded", Data: data, Only: "*-pcp-*"}, "no stated confidence"},
		{"cpwbft-pilot", Options{Members: "recorded", Data: data}, "no recorded members"},
		{"cpwbft-table3", Options{Members: "embedded"}, "synod research probe train"},
		{"cpwbft-table3", Options{Members: "recordde"}, "none of simulated, embedded, recorded"},
	} {
		p, err := Presets().Find(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		c.o.Repeat = max(c.o.Repeat, 1)
		if _, err := p.Manifest.Draft(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.preset, c.o, err, c.want)
		}
	}
}

// CommonsenseQA with the recorded answers and stated confidences of the paper's repository: the strong model is right
// and the weak one wrong by selection, and CP-WBFT decides by them.
func TestCPCommonsense(t *testing.T) {
	g := run(t, "cpwbft-csqa", Options{Members: "recorded", Data: sharedData(t)})
	if len(g.Cells) != 7 {
		t.Fatalf("%d cells", len(g.Cells))
	}
	for _, c := range g.Cells {
		iaa, decided := c.Metrics["iaa"], c.Metrics["decision_accuracy"]
		if iaa == nil || iaa.N != 70 || iaa.Value != 1./7 || decided == nil || decided.N != 10 {
			t.Errorf("%s: iaa %+v, decisions %+v", c.Cell, iaa, decided)
		}
		if len(c.Paper) != 0 {
			t.Errorf("%s is compared with %v, which our copy of the paper does not have", c.Cell, c.Paper)
		}
	}
}

// A hundred members, six of seven of the weak model: on the complete graph hidden confidence finds the right answer.
func TestCPSizes(t *testing.T) {
	g := run(t, "cpwbft-sizes", Options{Members: "simulated", Only: "100-*", N: 4})
	if len(g.Cells) != 8 {
		t.Fatalf("%d cells", len(g.Cells))
	}
	for _, c := range g.Cells {
		if iaa := c.Metrics["iaa"]; iaa.N != 400 {
			t.Errorf("%s: %d answers, expected 400", c.Cell, iaa.N)
		}
		faa := c.Metrics["faa"].Value
		if c.Cell == "100-hcp-complete" && faa < 0.95 || c.Cell == "100-hcp-chain" && faa > 0.5 {
			t.Errorf("%s: FAA %.3f", c.Cell, faa)
		}
	}
}

// The pilot on XSTest has the cells of the pilot on GSM8K and the paper's figures for XSTest.
func TestCPPilotXSTest(t *testing.T) {
	one, other := draft(t, "cpwbft-pilot", Options{Members: "simulated"}),
		draft(t, "cpwbft-pilot-xstest", Options{Members: "simulated"})
	if uncontrolled(one) != 168 || uncontrolled(other) != 168 {
		t.Fatalf("%d and %d cells", len(one.Cells), len(other.Cells))
	}
	found := false
	for _, c := range other.Cells {
		if c.Name == "llm-star-leaf-b6" {
			found = c.Paper["faa"].Value == 0.9429 && c.Params["dataset"] == "xstest"
		}
	}
	if !found {
		t.Error("llm-star-leaf-b6 lacks the paper's FAA of 94.29")
	}
}
