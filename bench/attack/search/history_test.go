package search_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod/bench/attack/search"
	"synod.dev/synod/council/plan"
)

// Before each try a council that learns has a history, with the attack in place: who follows the plurality there has
// more weight than others in the worst attack, which can be asked with these weights. The file plays again, a search
// goes on, and without a history the same attack does something else.
func TestHistory(t *testing.T) {
	text := "protocol: {name: cascade}\nf: 1\nmodels: {m: {provider: simulated, ability: 0.75, wrong: 5}}\n" +
		"seats: [{id: a, model: m, count: 6}]\n"
	items, fresh := problems(t, 20, 100)
	o := search.Options{Spec: spec(t, text), Tries: 4, Seed: 5, Adversaries: []string{"follow-defect"}, Items: items,
		Fresh: fresh[:20], History: fresh[20:], Seats: []string{"a3"}, Env: noEnv}
	dir := t.TempDir()
	o.Tries = 1
	run(t, dir, o)
	o.Tries = 4
	r := run(t, dir, o)
	if again := run(t, t.TempDir(), o); !reflect.DeepEqual(r, again) {
		t.Errorf("resumed %+v, and at once %+v", r, again)
	}
	weights, _ := r.Learned["weights"].(map[string][]float64)
	if len(weights) == 0 {
		t.Fatalf("nothing was learned: %+v", r.Learned)
	}
	for kind, w := range weights {
		others := 0.0
		for i, x := range w {
			if i != 2 {
				others += x / float64(len(w)-1)
			}
		}
		if len(w) != 6 || w[2] <= others {
			t.Errorf("%s: who follows the plurality is a3, and the weights are %v", kind, w)
		}
	}
	f, err := o.File(r, "test")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "worst.json")
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := search.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := read.Replay(t.Context(), noEnv); err != nil || len(again.Differs) > 0 {
		t.Errorf("the file plays again differently: %v, %q", err, again.Differs)
	}
	attacked, err := read.Attacked()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := plan.Parse(attacked); err != nil || c.Protocol["weights"] == nil ||
		!strings.Contains(string(attacked), "defects: 1") {
		t.Errorf("%v: the council with the attack in it is\n%s", err, attacked)
	}
	read.History = nil
	if again, err := read.Replay(t.Context(), noEnv); err != nil || len(again.Differs) == 0 {
		t.Errorf("without its history the attack does the same (%v)", err)
	}
	o.History = nil
	if _, err := search.Run(t.Context(), t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "trust.learn") {
		t.Errorf("a council that does not learn is poisoned: %v", err)
	}
}
