package preset

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Fig. 6: what is ranked first is right more often than what a quorum of two thirds
// lets through, and that more often than what a majority lets through.
func TestDecentFig6(t *testing.T) {
	for _, o := range []Options{{N: 30}, {N: 40, Members: "recorded", Data: "shared"}} {
		kinds := []string{"simulated"}
		if o.Data != "" {
			o.Data = sharedData(t)
			kinds = []string{"recorded", "simulated"}
		}
		r := finished(t, "decentllms-fig6", o)
		first, most, half := cellOf(t, r, "decentllms"), cellOf(t, r, "quorum-two-thirds"), cellOf(t, r, "quorum-majority")
		a, b, c := first.Metrics["decision_accuracy"], most.Metrics["decision_accuracy"], half.Metrics["decision_accuracy"]
		t.Logf("%s: %.2f, %.2f, %.2f", o.Members, a.Value, b.Value, c.Value)
		if a.Value <= b.Value || b.Value <= c.Value || a.Value != first.Metrics["rank_1"].Value {
			t.Errorf("%s: %v, %v, %v", o.Members, a, b, c)
		}
		if !slices.Equal(most.MembersKind, kinds) || !slices.Equal(r.MembersKind, kinds) {
			t.Errorf("members %v and %v, want %v", most.MembersKind, r.MembersKind, kinds)
		}
		if o.Members == "" { // the rivals themselves lie between: their members mark worse and vote
			if two, maj := cellOf(t, r, "rotating-leader-played").Metrics["decision_accuracy"].Value, cellOf(t, r, "fixed-leader-played").Metrics["decision_accuracy"].Value; two >= a.Value || maj >= two {
				t.Errorf("played: %v, %v", two, maj)
			}
		}
		n := first.Params["n_w"].(float64)
		if most.Params["rank"] != math.Ceil((n+1)/3) || half.Params["rank"] != math.Ceil((n+1)/2) {
			t.Errorf("ranks %v and %v of %v", most.Params["rank"], half.Params["rank"], n)
		}
	}
}

// Fig. 7: with b Byzantine leaders one after another DecentLLMs takes what it took
// without them; both rivals take linearly longer, the one with three rounds a leader
// the longer.
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
	for b := 1; b <= fig7Bound; b++ {
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

// Recorded members need their recording, each question once; a cell that is read of
// another needs it.
func TestDecentBadOptions(t *testing.T) {
	data := sharedData(t)
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"decentllms-fig6", Options{Members: "recorded"}, "need --data"},
		{"decentllms-fig6", Options{Members: "recorded", Data: t.TempDir()}, "it is not there"},
		{"decentllms-fig6", Options{Members: "recorded", Data: data, Repeat: 2}, "--repeat 1"},
		{"decentllms-fig6", Options{Members: "recorded", Data: data, N: 201}, "200 questions"},
		{"decentllms-fig6", Options{Only: "quorum-*"}, "read of cell decentllms"},
		{"decentllms-fig7", Options{Members: "recorded"}, "no recorded members"},
	} {
		p, err := Catalogue.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		c.o.Repeat = max(c.o.Repeat, 1)
		if _, err := p.Draft(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.name, c.o, err, c.want)
		}
	}
}
