package manifest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
)

// finished drafts and runs a preset, opens its folder again and returns the report.
func finished(t *testing.T, name string, o Options) *report.Grid {
	t.Helper()
	g := draft(t, name, o)
	dir := filepath.Join(t.TempDir(), name)
	if err := g.Create(dir); err != nil {
		t.Fatal(err)
	}
	if p, err := g.Work(context.Background(), bench.Options{Parallel: 2}); err != nil || p.Failed > 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	g, err := bench.OpenGrid(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Report()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func cellOf(t *testing.T, r *report.Grid, name string) *report.Cell {
	t.Helper()
	for i := range r.Cells {
		if r.Cells[i].Cell == name {
			return &r.Cells[i]
		}
	}
	t.Fatalf("no cell %s", name)
	return nil
}

// DecentLLMs, Table I: the medians of the printed totals are exact, w6 and w7 tie for the
// first place with right answers, and the Byzantine w9 is last. Of the spreads of the grades that of 2 is the
// nearest to the paper's robust scores and has its ranking; these figures are assumed.
func TestDecentTableI(t *testing.T) {
	r := finished(t, "decentllms-table1", Options{})
	c := cellOf(t, r, "median-total")
	if want := []float64{49, 83, 79, 55, 44, 41, 84, 84, 82, 34}; !slices.Equal(c.Lists["medians"], want) {
		t.Errorf("medians %v, want %v", c.Lists["medians"], want)
	}
	if !slices.Equal(c.Lists["winners"], []float64{6, 7}) ||
		!slices.Equal(c.Lists["last"], []float64{9}) {
		t.Errorf("winners %v, last %v", c.Lists["winners"], c.Lists["last"])
	}
	if d := c.Metrics["decision_accuracy"]; d == nil || d.Value != 1 || d.N != 1 {
		t.Errorf("decision %+v", d)
	}
	fit := cellOf(t, r, "robust-s2")
	if fit.Paper["score_w7"] != 88.2 || fit.Verdict["score_w7"] != report.Assumed ||
		!slices.Equal(fit.Lists["ranking"], []float64{7, 6, 1, 8, 2, 3, 0, 4, 5, 9}) {
		t.Errorf("%v, %v, ranking %v", fit.Paper, fit.Verdict, fit.Lists["ranking"])
	}
	for _, other := range []string{"robust-s0", "robust-s1", "robust-s3", "robust-s5", "robust-s8"} {
		c := cellOf(t, r, other)
		if c.Metrics["distance"].Value <= fit.Metrics["distance"].Value || len(c.Verdict) != 0 {
			t.Errorf("%s: distance %.2f, with a spread of 2 %.2f; verdicts %v", other, c.Metrics["distance"].Value,
				fit.Metrics["distance"].Value, c.Verdict)
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"medians":[49,83,79,55,44,41,84,84,82,34]`, `"ranking":[7,6,1,8,2,3,0,4,5,9]`,
		`"params":{"aggregate":"median-total"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the JSON lacks %s", want)
		}
	}
}

// The whole preset with few trials is resumable and reproducible, and differs from one
// with another number of trials.
func TestDecentFig8(t *testing.T) {
	one, two := finished(t, "decentllms-fig8", Options{N: 5, Only: "*-s8-f7"}),
		finished(t, "decentllms-fig8", Options{N: 5, Only: "*-s8-f7"})
	for _, r := range []*report.Grid{one, two} {
		for _, c := range r.Cells {
			c.Seconds = 0
		}
	}
	a, err := json.Marshal(one.Cells)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(two.Cells)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Error("two grids of one seed differ")
	}
	c := cellOf(t, one, "geometric-median-s8-f7")
	if c.Params["n_e"] != 15.0 || c.Params["f_e"] != 7.0 || c.Params["spread"] != 8.0 || c.Metrics["capture"].N != 5 {
		t.Errorf("%v %+v", c.Params, c.Metrics["capture"])
	}
	g := draft(t, "decentllms-fig8", Options{N: 5})
	if d := g.Changes(draft(t, "decentllms-fig8", Options{N: 5})); len(d) != 0 {
		t.Errorf("the same grid differs in %v", d)
	}
	if d := g.Changes(draft(t, "decentllms-fig8", Options{N: 6})); len(d) == 0 {
		t.Error("a grid of more trials is the same")
	}
}

// The protocol with a cartel of evaluators [I-DL-7]: with a small spread it resists seven of
// fifteen; with a large spread the geometric median is captured, and the median of totals
// not earlier.
func TestDecentCouncilsFall(t *testing.T) {
	r := finished(t, "decentllms-fig8", Options{N: 10, Only: "council-*-s[38]-f[067]"})
	taken := func(aggregate string, spread, f int) float64 {
		return cellOf(t, r, fmt.Sprintf("council-%s-s%d-f%d", aggregate, spread, f)).Metrics["capture"].Value
	}
	for _, aggregate := range []string{"geometric-median", "median-total"} {
		for _, spread := range []int{3, 8} {
			if taken(aggregate, spread, 0) > 0 {
				t.Errorf("%s at spread %d: captured without a cartel", aggregate, spread)
			}
		}
		if taken(aggregate, 3, 7) > 0 {
			t.Errorf("%s: captured though the marks are close", aggregate)
		}
	}
	if gm, median := taken("geometric-median", 8, 6), taken("median-total", 8, 6); gm < 0.5 || median > 0.2 {
		t.Errorf("six of fourteen, spread 8: captured %v by the geometric median and %v by the median of totals", gm,
			median)
	}
}

// Fig. 6: the answer of the first rank is right more often than that of a two-thirds
// quorum, which is right more often than that of a majority quorum.
func TestDecentFig6(t *testing.T) {
	for _, o := range []Options{{N: 30}, {N: 40, Members: "recorded", Data: "shared"}} {
		kinds := []string{"simulated"}
		if o.Data != "" {
			o.Data = sharedData(t)
			kinds = []string{"recorded", "simulated"}
		}
		r := finished(t, "decentllms-fig6", o)
		first, most, half := cellOf(t, r, "decentllms"), cellOf(t, r, "quorum-two-thirds"),
			cellOf(t, r, "quorum-majority")
		a, b, c := first.Metrics["decision_accuracy"], most.Metrics["decision_accuracy"],
			half.Metrics["decision_accuracy"]
		t.Logf("%s: %.2f, %.2f, %.2f", o.Members, a.Value, b.Value, c.Value)
		if a.Value <= b.Value || b.Value <= c.Value || a.Value != first.Metrics["rank_1"].Value {
			t.Errorf("%s: %v, %v, %v", o.Members, a, b, c)
		}
		if !slices.Equal(most.MembersKind, kinds) || !slices.Equal(r.MembersKind, kinds) {
			t.Errorf("members %v and %v, want %v", most.MembersKind, r.MembersKind, kinds)
		}
		if o.Members == "" { // the rivals themselves lie between: their members mark worse and vote
			if two, maj := cellOf(t, r, "rotating-leader-played").Metrics["decision_accuracy"].Value,
				cellOf(t, r, "fixed-leader-played").Metrics["decision_accuracy"].Value; two >= a.Value || maj >= two {
				t.Errorf("played: %v, %v", two, maj)
			}
		}
		n := first.Params["n_w"].(float64)
		if most.Params["rank"] != math.Ceil((n+1)/3) || half.Params["rank"] != math.Ceil((n+1)/2) {
			t.Errorf("ranks %v and %v of %v", most.Params["rank"], half.Params["rank"], n)
		}
	}
}

// Fig. 7: the latency of DecentLLMs does not depend on the number b of Byzantine leaders;
// that of both leader-based protocols grows linearly, faster for the one with three rounds
// for each leader.
func TestDecentFig7Shape(t *testing.T) {
	r := finished(t, "decentllms-fig7", Options{N: 3})
	took := map[string][]float64{}
	for _, c := range r.Cells {
		name := c.Params["protocol"].(string)
		if b := c.Params["b"].(float64); int(b) != len(took[name]) {
			t.Fatalf("cell %s is out of order", c.Cell)
		}
		took[name] = append(took[name], c.Metrics["latency"].Value)
	}
	step := func(name string, b int) float64 { return took[name][b] - took[name][b-1] }
	for b := 1; b <= 4; b++ {
		if took["decentllms"][b] != took["decentllms"][0] {
			t.Errorf("decentllms is not flat: %v", took["decentllms"])
		}
		for _, name := range []string{"rotating-leader", "fixed-leader"} {
			if step(name, b) <= 0 || step(name, b) != step(name, 1) {
				t.Errorf("%s is not linear: %v", name, took[name])
			}
		}
	}
	if step("fixed-leader", 1) <= 2*step("rotating-leader", 1) {
		t.Errorf("a fixed leader costs %v, a rotating one %v", step("fixed-leader", 1), step("rotating-leader", 1))
	}
	t.Log(took)
}

// Recorded members need their recording and allow no repeats. A cell that takes its
// figures from another cell needs it.
func TestDecentBadOptions(t *testing.T) {
	data := sharedData(t)
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"decentllms-fig6", Options{Members: "recorded"}, "need traces/mmlu-pro.jsonl"},
		{"decentllms-fig6", Options{Members: "recorded", Data: t.TempDir()}, "has none"},
		{"decentllms-fig6", Options{Members: "recorded", Data: data, Repeat: 2}, "--repeat 1"},
		{"decentllms-fig6", Options{Members: "recorded", Data: data, N: 201}, "200 questions"},
		{"decentllms-fig6", Options{Only: "quorum-*"}, "takes its figures from cell decentllms"},
		{"decentllms-fig7", Options{Members: "recorded"}, "no recorded members"},
	} {
		p, err := Presets().Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		c.o.Repeat = max(c.o.Repeat, 1)
		if _, err := p.Manifest.Draft(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.name, c.o, err, c.want)
		}
	}
}

// A members file can give every worker and evaluator of Fig. 6 and 7 a model of its own. A model for all takes the
// place of those that it lacks, and without one the error says what is missing.
func TestHeterogeneousCasts(t *testing.T) {
	data := sharedData(t)
	members := func(text string) string {
		path := filepath.Join(t.TempDir(), "models.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model := func(names ...string) (text string) {
		text = "models:\n"
		for i, name := range names {
			text += fmt.Sprintf("  %s: {provider: simulated, seed: %d}\n", name, i+1)
		}
		return text
	}
	modelsOf := func(preset, cell, file string) string {
		g := draft(t, preset, Options{Data: data, Members: file, Only: cell})
		spec, err := g.Runs[0].Spec()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range g.Runs[0].Seats {
			all = append(all, s.ID+"="+fmt.Sprint(spec.Models[s.Model]["seed"]))
		}
		return strings.Join(all, " ")
	}
	file := members(model("worker", "evaluator", "w3", "e7", "member"))
	got := modelsOf("decentllms-fig6", "decentllms", file)
	if want := "w0=1 w1=1 w2=1 w3=3 w4=1 w5=1 w6=1 w7=1 w8=1 e0=2 e1=2 e2=2 e3=2 e4=2 e5=2 e6=2 e7=4"; got != want {
		t.Errorf("Fig. 6: %s, want %s", got, want)
	}
	if got := modelsOf("decentllms-fig6", "fixed-leader-played", file); !strings.Contains(got, "w2=1 w3=3 w4=1") {
		t.Error("Fig. 6, played:", got)
	}
	file = members(model("member", "w1", "e8"))
	const others = "e0=1 e1=1 e2=1 e3=1 e4=1 e5=1 e6=1 e7=1 e8=3"
	for cell, want := range map[string]string{"fixed-leader-b2": "m1=1 m2=1 " + others + " r1=1 r2=1",
		"rotating-leader-b0": others + " r1=1 r2=1 r3=1 r4=1",
		"decentllms-b4":      "w0=1 w1=2 w2=1 w3=1 w4=1 m1=1 m2=1 m3=1 m4=1 " + others} {
		if got := modelsOf("decentllms-fig7", cell, file); got != want {
			t.Errorf("Fig. 7, %s: %s, want %s", cell, got, want)
		}
	}
	p, err := Presets().Find("decentllms-fig6")
	if err != nil {
		t.Fatal(err)
	}
	lacks := members(model("worker", "e0"))
	if _, err := p.Manifest.Draft(Options{Data: data, Members: lacks}); err == nil ||
		!strings.Contains(err.Error(), `neither a model "e1" nor one for all such members, "evaluator"`) {
		t.Error(err)
	}
}
