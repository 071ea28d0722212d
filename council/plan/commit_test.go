package plan

import (
	"fmt"
	"strings"
	"testing"
)

// seven is a council of seven simulated members.
func seven(more string) string {
	return more + "\nf: 2\nmodels: {m: {provider: simulated, ability: 0.7}}\nseats: [{id: a, model: m, count: 7}]\n"
}

// The distance that members wait for is the greatest one of the graph.
func TestWidest(t *testing.T) {
	for graph, want := range map[string]int{"{family: complete}": 1, "{family: ring}": 3, "{family: star}": 2,
		"{family: circulant, k: 2}": 2} {
		p, err := New(parsed(t, seven("protocol: {name: sac}\ngraph: "+graph)))
		if err != nil {
			t.Fatal(err)
		}
		if p.hops != want {
			t.Errorf("%s: %d steps, want %d", graph, p.hops, want)
		}
	}
	far := strings.Replace(seven("protocol: {name: sac}\ngraph: {family: ring}"), "count: 7", "count: 400", 1)
	if p, err := New(parsed(t, far)); err != nil || p.hops != mostHops {
		t.Errorf("a ring of 400: %v", err)
	}
}

// An adversary that changes its messages by itself rules a fixed point out; one that only repeats does not.
func TestWhoAllowsAnEarlyEnd(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "protocol: {name: game}\n": false, "faults: {loss: 0.1}\n": false,
		"faults: {crashes: [{node: 0, at: 1s}]}\n":                    false,
		"adversaries: {adversary: {name: replay}, seats: [a1]}\n":     true,
		"adversaries: {adversary: {name: oscillator}, seats: [a1]}\n": false,
	} {
		if p := planOf(t, 4, text); p.Settles() != want {
			t.Errorf("%q: a run may end early: %v", text, !want)
		}
	}
}

// Any breaker alone is watched, and a council without one is not.
func TestAnyBreaker(t *testing.T) {
	if (&Breakers{}).Any() || (&Breakers{Escalate: Escalate{Webhook: "http://x"}}).Any() {
		t.Error("without a breaker there is nothing to watch")
	}
	for _, b := range []Breakers{{NoProgress: 1}, {Oscillation: 1}, {Drift: 1}, {Quorum: true}, {Equivocation: true}} {
		if !b.Any() {
			t.Errorf("%+v is not watched", b)
		}
	}
}

// planOf returns the plan of a council of simulated members, with more text of the file.
func planOf(t *testing.T, seats int, more string) *Plan {
	t.Helper()
	p, err := New(parsed(t, fmt.Sprintf(
		"models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: %d}]\n%s", seats, more)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
