package cascade_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/cascade"
)

// seven is a council of seven simulated members, the first of them adversaries.
func seven(stop string, f int, ability float64, adversaries ...string) plan.Spec {
	spec := plan.Spec{Protocol: plan.Params{"name": "cascade", "stop": stop}, F: f,
		Graph:  plan.Params{"family": "complete"},
		Models: map[string]plan.Params{"m": {"provider": "simulated", "ability": ability, "wrong": 2}}}
	for i := range 7 {
		seat := plan.SeatSpec{ID: fmt.Sprint("s", i), Model: "m"}
		if i < len(adversaries) {
			seat.Adversary = plan.Params{"name": adversaries[i]}
		}
		spec.Seats = append(spec.Seats, seat)
	}
	return spec
}

func ask(t *testing.T, spec plan.Spec, seed uint64, path string) outcome.Outcome {
	t.Helper()
	c, err := council.Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o, err := c.Decide(context.Background(), council.Ask{Seed: seed, Journal: path, Final: true,
		Question: synod.Question{ID: fmt.Sprint("q", seed), Text: "What is 17 + 25?", Form: synod.Number}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// In runs with adversaries that answer wrongly, fall silent, tell members different things, or wait for the answers of
// others, every decision was given independently by an honest member, asked lists whom it cost a call, and the journal
// replays to the same outcome.
func TestPlay(t *testing.T) {
	statuses, contested, calls := map[string]int{}, 0, 0
	casts := [][]string{{}, {"inverter", "silent"}, {"equivocator", "equivocator"}, {"replay", "silent"},
		{"lie-to-win", "lie-to-win"}, {"abstain", "constant"}, {"follow-defect", "turns"}}
	runs := nightly.Size(20, 60)
	for seed := range uint64(runs) {
		for _, cast := range casts {
			for _, stop := range []string{"certain", "probable"} {
				path := filepath.Join(t.TempDir(), "j")
				o := ask(t, seven(stop, 2, 0.6, cast...), seed, path)
				statuses[o.Status]++
				check(t, o, len(cast))
				replays(t, path, o)
				if len(cast) > 0 {
					continue // members that hear different things may contest what the records decide
				}
				if contested := o.Rounds.Len() > 1; contested == (o.Withstands != nil) && o.Answer != nil {
					t.Errorf("seed %d: %d rounds, and it withstands %+v", o.Seed, o.Rounds.Len(), o.Withstands)
				}
				if o.Rounds.Len() > 1 {
					contested++
				}
				if stop == "probable" {
					calls += len(o.Asked)
				}
			}
		}
	}
	if statuses["agreed"] == 0 || statuses["undecided"] == 0 || contested == 0 {
		t.Errorf("not every way to end occurred: %v, %d contested", statuses, contested)
	}
	if calls >= 7*runs*9/10 {
		t.Errorf("%d first answers in %d runs: hardly any was saved", calls, runs)
	}
}

func check(t *testing.T, o outcome.Outcome, byzantine int) {
	t.Helper()
	for i, m := range o.Members {
		if i >= byzantine && m.First != nil && !slices.Contains(o.Asked, m.ID) {
			t.Errorf("seed %d: asked %v, and %s answered %v", o.Seed, o.Asked, m.ID, m.First)
		}
	}
	if len(o.Asked) < 3 || o.Calls.Made > o.Calls.Planned {
		t.Errorf("seed %d: asked %v, %+v", o.Seed, o.Asked, o.Calls)
	}
	if o.Answer == nil {
		if o.Withstands != nil || o.Fragile == "" {
			t.Errorf("seed %d: undecided, and it withstands %+v %q", o.Seed, o.Withstands, o.Fragile)
		}
		return
	}
	if !slices.ContainsFunc(o.Members[byzantine:], func(m outcome.Member) bool {
		return m.First != nil && *m.First == *o.Answer
	}) {
		t.Errorf("seed %d: no honest member gave %s by itself: %s", o.Seed, *o.Answer, o.Reason)
	}
}

func replays(t *testing.T, path string, o outcome.Outcome) {
	t.Helper()
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := council.Replay(run); err != nil || digest != o.Digest {
		t.Fatalf("seed %d: replay: %v", o.Seed, err)
	}
	p, err := plan.Of(run)
	if err != nil {
		t.Fatal(err)
	}
	again := outcome.Judge(p, outcome.InstanceOf(run), outcome.RecordsOf(p, run))
	if again.Decision != o.Decision || again.Reason != o.Reason || !slices.Equal(again.Asked, o.Asked) {
		t.Fatalf("seed %d: the journal gives %q %v, the run gave %q %v", o.Seed, again.Decision, again.Asked,
			o.Decision,
			o.Asked)
	}
}

// A council that could not work is refused with the reason.
func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*plan.Spec){
		"rule: protocol cascade decides":              func(s *plan.Spec) { s.Rule.Name = "majority" },
		"f: cascade: f is 4":                          func(s *plan.Spec) { s.F = 4 },
		"graph: protocol cascade needs a complete gr": func(s *plan.Spec) { s.Graph["family"] = "ring" },
	} {
		spec := seven("certain", 2, 1)
		change(&spec)
		if _, err := plan.New(spec); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Failed calls are no votes: a council whose members cannot be reached is degraded, not undecided.
func TestUnreachable(t *testing.T) {
	spec := seven("probable", 1, 1)
	spec.Faults.Crashes = []plan.Crash{{Node: 0}, {Node: 1}, {Node: 2}, {Node: 3}, {Node: 4}, {Node: 5}}
	if o := ask(t, spec, 1, filepath.Join(t.TempDir(), "j")); o.Status != outcome.Degraded || o.Answer != nil {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
	if cascade.New().Calls([]int{6, 6, 6, 6, 6, 6, 6}) != 7+2*56+12 {
		t.Error("the planned calls of seven members")
	}
}
