package plan_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/trust"
)

// oddsFrom are the odds of a council of two tiers whose trust file has 40 graded questions.
func oddsFrom(t *testing.T, probe string, sure func(question int) float64) []*odds.Predictor {
	t.Helper()
	spec := plan.Spec{Protocol: plan.Params{"name": "cascade", "tiers": []any{[]any{"a"}, []any{"b"}}},
		Graph:  plan.Params{"family": "complete"},
		Models: map[string]plan.Params{"a": {"provider": "simulated"}, "b": {"provider": "simulated", "ability": 0.7}},
		Seats:  []plan.SeatSpec{{ID: "a", Model: "a"}, {ID: "b", Model: "b"}},
		Trust:  plan.Trust{File: filepath.Join(t.TempDir(), "trust.json")}}
	if probe != "" {
		spec.Protocol["probe"] = probe
	}
	names, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	var all []reliability.Observation
	for k := range 40 {
		for _, m := range plan.TrustNames(names) {
			o := reliability.Observation{Question: fmt.Sprint(k), Kind: "number", Member: m, Answer: "r",
				Label: reliability.Right, Sure: sure(k)}
			if k%3 == 0 {
				o.Answer, o.Label = "w", reliability.Wrong
			}
			all = append(all, o)
		}
	}
	if err := trust.Update(spec.Trust.File, func(h *trust.History) error { h.Add(all); return nil }); err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	models, _ := p.Full().Protocol["odds"].([]*odds.Predictor)
	if len(models) != 2 {
		t.Fatalf("%d odds", len(models))
	}
	return models
}

// The likelihoods of a trust file count where the council's members report them, with probe: likelihood; else the odds
// are those of a file without likelihoods.
func TestOddsOfLikelihoods(t *testing.T) {
	none, telling := func(int) float64 { return 0 }, func(k int) float64 { return 0.5 + 0.4*float64(k%3)/2 }
	plain := oddsFrom(t, "", none)
	for what, c := range map[string]struct {
		probe string
		sure  func(int) float64
		marks bool
	}{
		"no probe":                   {"", telling, false},
		"probe: none":                {"none", telling, false},
		"a file without likelihoods": {"likelihood", none, false},
		"likelihood":                 {"likelihood", telling, true},
	} {
		got := oddsFrom(t, c.probe, c.sure)
		if (got[0].Marks != nil) != c.marks || (got[1].Marks != nil) != c.marks {
			t.Errorf("%s: marks %v", what, got[0].Marks)
		}
		if !c.marks && !reflect.DeepEqual(got, plain) {
			t.Errorf("%s: %+v, want %+v", what, got[1], plain[1])
		}
	}
}
