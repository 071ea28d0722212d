package manifest

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/presets"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/nightly"
)

// sharedData is a folder that may have real benchmark files beside the repository.
func sharedData(t *testing.T) string {
	t.Helper()
	path := cmp.Or(os.Getenv("SYNOD_TEST_DATA"), filepath.Join("..", "..", "..", "shared", "data"))
	if _, err := os.Stat(path); err != nil {
		t.Skip("SKIPPED: there is no public data at ../shared/data; set SYNOD_TEST_DATA to where it is")
	}
	return path
}

// wholePresets are the grids of wholePreset by name, which several tests read.
var wholePresets sync.Map

// wholePreset is the grid of all cells of a preset with few questions. It must not be changed; TestPresetsRun plays
// some of its runs.
func wholePreset(t *testing.T, name string) *bench.Grid {
	t.Helper()
	if g, ok := wholePresets.Load(name); ok {
		return g.(*bench.Grid)
	}
	o := Options{N: 1, Repeat: 2}
	switch {
	case strings.HasPrefix(name, "game-"):
		o.Set = []string{"protocol.rounds=3"}
	case name == "cascade-traces": // whose figures are means over 20 splits
		o.Set = []string{"compute.splits=2"}
	case name == "trust-attacks": // whose figures are means over 40 casts
		o.Set = []string{"compute.casts=2"}
	case name == "worth-it": // on recorded votes, whose figures are means over 10 or 40 casts
		o.Data, o.Set = sharedData(t), []string{"compute.splits=1", "compute.most=20"}
	}
	g := draft(t, name, o)
	wholePresets.Store(name, g)
	return g
}

func draft(t *testing.T, name string, o Options) *bench.Grid {
	t.Helper()
	p, err := Presets().Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if o.Repeat == 0 {
		o.Repeat = 1
	}
	o.Seed = 1
	g, err := p.Manifest.Draft(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// printed returns the figures of a table in a file of package presets, also those that are not compared,
// by what their rows have beside the figure.
func printed(t *testing.T, file, table string) map[string]map[string]report.Figure {
	t.Helper()
	text, err := presets.File(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	figures := map[string]map[string]report.Figure{}
	for _, line := range lines[1:] {
		if line[0] != table {
			continue
		}
		if at := slices.Index(lines[0], "unused"); at >= 0 {
			line[at] = ""
		}
		row, _, err := (&Paper{}).row(lines[0], line)
		if err != nil {
			t.Fatal(err)
		}
		var key []string
		for _, column := range lines[0] {
			if v, ok := row.where[column]; ok && column != "adversary" && column != "spread" {
				key = append(key, fmt.Sprint(v))
			}
		}
		name := strings.Join(key, " ")
		if figures[name] == nil {
			figures[name] = map[string]report.Figure{}
		}
		figures[name][row.metric] = row.figure
	}
	return figures
}

func number(v any) int {
	n, _ := strconv.Atoi(fmt.Sprint(v))
	return n
}

// SAC, Tables 1, 3, 5 and 6: an adversary is always wrong, so FAA follows from the groups,
// and BFTI is FAA − IAA, both up to rounding. Contradictions of the paper are listed.
func TestSACFiguresAgree(t *testing.T) {
	for table := 1; table <= 6; table++ {
		paper := printed(t, "sac.csv", fmt.Sprint(table))
		if len(paper) == 0 {
			t.Errorf("table %d has no figures", table)
		}
		for key, f := range paper {
			if bfti, ok := f["bfti"]; ok {
				if d := f["faa"].Value - f["iaa"].Value - bfti.Value; math.Abs(d) > 0.0011 {
					t.Errorf("table %d, %v: BFTI is off by %.4f", table, key, d)
				}
			}
			if table != 1 && table != 3 {
				continue
			}
			for _, at := range [][2]string{{"iaa", "before"}, {"faa", "after"}} {
				want := (2*f["weak_"+at[1]].Value + 4*f["strong_"+at[1]].Value) / 7
				if d := f[at[0]].Value - want; math.Abs(d) > 0.006 { // groups are printed in whole percent
					t.Errorf("table %d, %v: %s is %.3f, and the groups make %.3f", table, key, at[0], f[at[0]].Value,
						want)
				}
			}
		}
	}
}

// The last round of Table 2 equals Table 1, but Table 4 differs from Table 3 in some
// cells. The contradiction is in the paper and is kept.
func TestSACRoundsEndWhereGroupsEnd(t *testing.T) {
	off := map[string]bool{}
	for _, pair := range [][2]int{{1, 2}, {3, 4}} {
		ends, rounds := printed(t, "sac.csv", fmt.Sprint(pair[0])), printed(t, "sac.csv", fmt.Sprint(pair[1]))
		for key, f := range ends {
			for _, m := range [][2]string{{"weak_before", "weak_round_0"}, {"strong_before", "strong_round_0"},
				{"weak_after", "weak_round_6"}, {"strong_after", "strong_round_6"}} {
				if math.Abs(f[m[0]].Value-rounds[key][m[1]].Value) > 0.0051 {
					off[strings.Join([]string{strings.TrimSuffix(key, " 1"), m[0]}, " ")] = true
				}
			}
		}
	}
	t.Logf("cells where the by-round table ends elsewhere: %v", off)
	for _, known := range []string{"cp-wbft complete weak_before", "cp-wbft complete weak_after",
		"cp-wbft complete strong_after"} {
		if !off[known] {
			t.Errorf("%s: Tables 3 and 4 differ there in the paper", known)
		}
	}
}

// seatedAs reports whether adversaries and weak members sit where SAC's reference code puts
// them: {6}, {6,3} and {6,3,0} of seven nodes, {7} of nine; weak members at the first others.
func seatedAs(seats []plan.Seat, n, b int) bool {
	adversaries := map[int]map[int]string{7: {1: "6", 2: "36", 3: "036"}, 9: {1: "7"}}[n][b]
	weak := map[int]string{1: "01", 2: "0", 3: ""}[b]
	gotA, gotW := "", ""
	for node, s := range seats {
		switch {
		case s.Adversary != "":
			gotA += fmt.Sprint(node)
		case s.Group == "weak":
			gotW += fmt.Sprint(node)
		}
	}
	return gotA == adversaries && gotW == weak
}

// Every cell says what the adversaries' seats do to the graph, and who never hears one. On a MERG of
// seven, nodes 5 and 6 are joined to {0, 2, 3, 4}: nodes 1 and 5 do not hear 6, but they hear 3.
func TestWhoNeverHearsAnAdversary(t *testing.T) {
	for cell, want := range map[string]string{
		"sac-merg-b1-replay": "adversaries at m6: r=3 without them, at most 1 heard by one honest member, 4 edges to " +
			"others; never hear an adversary: w1, s5",
		"sac-merg-b2-replay":              "8 edges to others; every honest member hears an adversary",
		"cp-wbft-complete-b3-weak-answer": "at most 3 heard by one honest member, 12 edges to others; every honest",
	} {
		if c := draft(t, "sac-table5", Options{N: 1, Only: cell}).Cells[0]; !strings.Contains(c.Remark, want) {
			t.Errorf("%s: %q, want %q", cell, c.Remark, want)
		}
	}
	for _, c := range draft(t, "sac-table6", Options{N: 1}).Cells {
		if !strings.Contains(c.Remark, "without them") || !strings.Contains(c.Remark, "hear") {
			t.Errorf("%s does not say who never hears an adversary", c.Name)
		}
	}
}

// Every cell has a valid council, figures of the paper, and a graph with the r of the paper.
func TestSACTablesDraft(t *testing.T) {
	for name, cells := range map[string]int{"sac-table1": 6, "sac-table2": 6, "sac-table3": 6, "sac-table4": 6,
		"sac-table5": 18, "sac-table6": 8} {
		g := draft(t, name, Options{N: 2, Only: "sac-*"})
		if n := uncontrolled(g); n != cells {
			t.Errorf("%s: %d cells of SAC, want %d", name, n, cells)
		}
		for i, c := range g.Cells {
			if replay := c.Params["adversary"] == "replay"; (len(c.Paper) > 0) != (replay && c.Control == "") {
				t.Errorf("%s: cell %s has %d figures of the paper, which has the adversary replay", name, c.Name,
					len(c.Paper))
			}
			seats := g.Runs[i].Seats
			if n := number(c.Params["n"]); len(seats) != n || !seatedAs(seats, n, number(c.Params["b"])) {
				t.Errorf("%s: cell %s seats %+v", name, c.Name, seats)
			}
		}
	}
}

// The questions of the paper are used if they are available, else built-in ones, which
// the note states.
func TestQuestions(t *testing.T) {
	g := draft(t, "sac-table1", Options{Only: "sac-merg-b1-replay"})
	if g.Runs[0].Task != "builtin" || !strings.Contains(g.Note, "built-in") || g.Runs[0].N != 30 {
		t.Errorf("task %s, n %d, note %q", g.Runs[0].Task, g.Runs[0].N, g.Note)
	}
	g = draft(t, "sac-table1", Options{Only: "sac-merg-b1-replay", Data: sharedData(t)})
	if g.Runs[0].Task != "sac-math" || strings.Contains(g.Note, "built-in") ||
		!strings.Contains(g.Note, "1 of 30 questions: the paper prints another answer") {
		t.Errorf("task %s, note %q", g.Runs[0].Task, g.Note)
	}
	g = draft(t, "sac-table3", Options{Only: "sac-merg-b1-replay", Data: sharedData(t)})
	if !strings.Contains(g.Note, "replay: its answers are invented") {
		t.Errorf("the note does not say that replay's answers are invented: %q", g.Note)
	}
	if !strings.Contains(g.Note, "10 of 30 questions: the paper's shortened wording") ||
		!strings.Contains(g.Note, "263ebb80") {
		t.Errorf("the note does not list the abbreviated questions: %q", g.Note)
	}
}

// A figure that an experiment was tuned to, selected for or built from is assumed. All
// others could have failed.
func TestAssumed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "members.yaml")
	const members = "models:\n  strong: {provider: simulated, ability: 0.9}\n  weak: {provider: simulated}\n"
	if err := os.WriteFile(file, []byte(members), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ preset, members, cell, assumed, open string }{
		{"sac-table1", "simulated", "sac-merg-b1-replay", "iaa weak_before strong_before",
			"faa bfti ra h_majority weak_after strong_after"},
		{"sac-table1", file, "sac-merg-b1-replay", "", "iaa weak_before faa"},
		{"sac-table2", "simulated", "sac-er-b1-replay", "weak_round_0 strong_round_0", "weak_round_1 strong_round_6"},
		{"cpwbft-table2", "simulated", "gsm8k-pcp-complete", "iaa", "faa bfti decision_accuracy"},
		{"cpwbft-table2", "simulated", "gsm8k-hcp-complete", "iaa faa bfti decision_accuracy", ""},
		{"cpwbft-table2", file, "gsm8k-hcp-complete", "", "iaa faa bfti decision_accuracy"},
		{"cpwbft-table2", file, "gsm8k-hcp-random", "faa bfti", "iaa decision_accuracy"},
		{"cpwbft-table2", file, "gsm8k-pcp-random", "", "iaa faa bfti decision_accuracy"},
		{"cpwbft-table1", file, "gsm8k-traditional-tree", "iaa faa", "ra"},
		{"cpwbft-table1", file, "gsm8k-llm-tree", "", "iaa faa ra"},
		{"cpwbft-table3", "simulated", "gsm8k-llama-3-query", "probe_accuracy", ""},
	} {
		cell := draft(t, c.preset, Options{Members: c.members, Substitute: true, Only: c.cell}).Cells[0]
		for _, metric := range strings.Fields(c.assumed) {
			if _, known := cell.Paper[metric]; !known || cell.Assumed[metric] == "" {
				t.Errorf("%s, %s: %s is not assumed, or the paper does not have it", c.preset, c.cell, metric)
			}
		}
		for _, metric := range strings.Fields(c.open) {
			if _, known := cell.Paper[metric]; !known || cell.Assumed[metric] != "" {
				t.Errorf("%s, %s: %s is assumed (%s), or the paper does not have it", c.preset, c.cell, metric,
					cell.Assumed[metric])
			}
		}
	}
	for _, c := range draft(t, "decentllms-table1", Options{}).Computed {
		if len(c.Paper) != 0 && !strings.HasPrefix(c.Name, "robust-") {
			t.Errorf("%s is compared with %v, which the paper does not report", c.Name, c.Paper)
		}
	}
}

func TestBadOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "members.yaml")
	if err := os.WriteFile(file, []byte("models:\n  strong: {provider: simulated}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Presets().Find("sac-table1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Members: "recorded"}, "no recorded members"},
		{Options{Members: "simulatd"}, "none of simulated, embedded"},
		{Options{Members: file}, `no model "weak"`},
		{Options{Only: "nothing-*"}, "no cell matches"},
		{Options{Only: "["}, "pattern"},
		{Options{N: 31, Data: sharedData(t)}, "30 questions"},
		{Options{Data: t.TempDir()}, "none of"},
	} {
		c.o.Repeat = 1
		if _, err := p.Manifest.Draft(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

// Figure 2 of the game's paper: its seven means are compared with pooled games, and are assumed with the simulated
// players that were fitted to them. In these, liveness fails with larger groups, with the warning and with the second
// model, and values are never corrupted.
func TestGameFigure2(t *testing.T) {
	nightly.Only(t)
	g := draft(t, "game-fig2", Options{Members: "simulated", N: 25, Set: []string{"protocol.rounds=12"}})
	if len(g.Readings) != 7 || len(g.Cells) != 12 {
		t.Fatalf("%d means, %d cells", len(g.Readings), len(g.Cells))
	}
	for _, r := range g.Readings {
		if _, known := r.Paper["valid"]; !known || r.Assumed["valid"] == "" {
			t.Errorf("%s: paper %v, assumed %v", r.Name, r.Paper, r.Assumed)
		}
	}
	if err := g.Create(filepath.Join(t.TempDir(), "g")); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	report, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]map[string]float64{}
	for _, c := range report.Cells {
		of[c.Cell] = map[string]float64{}
		for _, name := range []string{"valid", "invalid", "premature"} {
			if r := c.Metrics[name]; r != nil {
				of[c.Cell][name] = r.Value
			}
		}
		if want := map[bool]int{true: 300, false: 25}[c.Cell == "mean-all"]; !strings.HasPrefix(c.Cell, "mean-") ||
			c.Cell == "mean-all" {
			if n := c.Metrics["valid"].N; n != want {
				t.Errorf("%s: %d games, expected %d", c.Cell, n, want)
			}
		}
	}
	for _, pair := range [][2]string{{"mean-n4", "mean-n16"}, {"mean-14b-no-adversary", "mean-14b-may-exist"},
		{"mean-14b", "mean-8b"}} {
		if of[pair[0]]["valid"] <= of[pair[1]]["valid"] {
			t.Errorf("valid: %s %.3f, %s %.3f; the paper's order is the other one", pair[0], of[pair[0]]["valid"],
				pair[1], of[pair[1]]["valid"])
		}
	}
	if all := of["mean-all"]; all["invalid"]+all["premature"] > 0.01 {
		t.Errorf("values are corrupted: %v", all)
	}
	file := filepath.Join(t.TempDir(), "members.yaml")
	if err := os.WriteFile(file, []byte("models: {player: {provider: simulated}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g = draft(t, "game-fig2", Options{Members: file, N: 1})
	if len(g.Cells) != 6 || len(g.Blank) != 6 || g.Readings[0].Assumed["valid"] != "" {
		t.Errorf("%d cells, %d without a model, %v", len(g.Cells), len(g.Blank), g.Readings[0].Assumed)
	}
}
