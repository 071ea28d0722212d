package council_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
)

const confident = `
protocol: {name: cp-wbft, rounds: %d, adopt: %s}
graph: {family: %s}
f: 0
rule: {name: %s}
models:
  good: {provider: simulated, ability: %v, noise: 0.3, skill: %v}
seats:
  - {id: a, model: good, count: %d}
  - {id: m, model: good%s}
`

// A protocol that decides by itself does so under rule "protocol", on the members'
// last opinions; one that cannot is refused before anything is asked.
func TestRuleProtocol(t *testing.T) {
	text := fmt.Sprintf(confident, 1, "paper", "chain", "protocol", 0.3, 0.6, 6, "")
	c := convene(t, text)
	if b := c.Plan().Bound(); b.Guarantee != plan.None || !strings.Contains(b.Note, "captures all that hear it") {
		t.Errorf("[CP-7] bound %+v", b)
	}
	for seed := range uint64(20) {
		o := decide(t, c, council.Ask{Question: sum, Seed: seed})
		means := map[synod.Answer][2]float64{}
		for _, m := range o.Rounds.All()[o.Rounds.Len()-1].Members {
			n := means[*m.Answer]
			means[*m.Answer] = [2]float64{n[0] + *m.Confidence, n[1] + 1}
		}
		for a, n := range means {
			if o.Answer == nil || n[0]/n[1] > means[*o.Answer][0]/means[*o.Answer][1]+1e-9 {
				t.Errorf("seed %d: decided %v, and %s has mean %v of %v", seed, o.Answer, a, n[0]/n[1], means)
			}
		}
	}
	_, err := plan.Parse([]byte("protocol: {name: sac}\nrule: {name: protocol}\nmodels: {d: {provider: " +
		"simulated}}\nseats: [{id: a, model: d, count: 3}]\n"))
	if err == nil || !strings.Contains(err.Error(), "no decision step of its own") {
		t.Errorf("sac under rule protocol: %v", err)
	}
}

// A run that stops early decides as the same run played to its last round: a
// confidence that still travels keeps a run going as an answer does.
func TestEarlyStopWithConfidence(t *testing.T) {
	stopped := 0
	rapid.Check(t, func(t *rapid.T) {
		text := fmt.Sprintf(confident, 6,
			rapid.SampledFrom([]string{"paper", "pooled", "majority"}).Draw(t, "adopt"),
			rapid.SampledFrom([]string{"complete", "ring", "chain", "tree"}).Draw(t, "graph"),
			rapid.SampledFrom([]string{plan.Majority, plan.Plurality, plan.ByProtocol}).Draw(t, "rule"),
			rapid.Float64Range(0, 1).Draw(t, "ability"), rapid.Float64Range(0, 1).Draw(t, "skill"),
			rapid.IntRange(3, 8).Draw(t, "seats"),
			adversary(rapid.SampledFrom([]string{"", "replay", "weak-answer", "overconfident", "silent",
				"equivocator"}).Draw(t, "adversary")))
		if rapid.Bool().Draw(t, "reflect") {
			text = strings.Replace(text, "cp-wbft,", "cp-wbft, reflect: true,", 1)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		early, whole := study(t, text, seed), study(t, text+"faults: {loss: 1e-300}\n", seed)
		if early.Stopped == outcome.Early {
			stopped++
		}
		if early.Status != whole.Status || fmt.Sprint(early.Votes) != fmt.Sprint(whole.Votes) {
			t.Fatalf("stopped early (%s) after round %d: %v; played to the end: %v", early.Stopped,
				early.Rounds.Len()-1, early.Votes, whole.Votes)
		}
		if (early.Answer == nil) != (whole.Answer == nil) || early.Answer != nil && *early.Answer != *whole.Answer {
			t.Fatalf("decided %v early and %v at the end", early.Answer, whole.Answer)
		}
	})
	if stopped == 0 {
		t.Error("no run stopped early, so nothing was compared")
	}
}
