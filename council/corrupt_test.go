package council_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

const nine = `protocol: {name: sac, rounds: 2}
graph: %s
f: 1
models: {d: {provider: simulated, ability: 0.9}}
seats: [{id: a, model: d, count: 8}, {id: z, model: d}]
adversaries: %s
`

// corrupted returns the seats with an adversary.
func corrupted(t *testing.T, text string) (at []string, err error) {
	t.Helper()
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	p, err := plan.New(spec)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Seats() {
		if s.Adversary != "" {
			at = append(at, s.ID)
		}
	}
	return at, nil
}

// The seats of adversaries are picked from the graph or listed, and their number is a setting
// of its own: none to all.
func TestAdversariesArePlaced(t *testing.T) {
	const star = "{family: star}"
	const bridge = "{edges: [[0,1],[0,2],[1,2],[2,3],[3,4],[2,4],[4,5],[5,6],[6,7],[7,8],[8,5]]}"
	for _, x := range []struct{ graph, adversaries, want string }{
		{star, "{adversary: {name: replay}}", "a1"}, // worst: the hub
		{star, "{adversary: {name: replay}, members: 0}", ""},
		{star, "{adversary: {name: replay}, members: 2, seats: leaf}", "a8 z"},
		{star, "{adversary: {name: replay}, members: 9}", "a1 a2 a3 a4 a5 a6 a7 a8 z"},
		{star, "{adversary: {name: replay}, seats: [z, a3]}", "a3 z"},
		{star, "{adversary: {name: replay}, seats: [z, a3, a2], members: 1}", "z"},
		{bridge, "{adversary: {name: replay}, seats: worst}", "a3"}, // cuts the graph, with most edges
		{"{family: complete}", "{adversary: {name: replay}, members: 3, seats: random, seed: 1}", "a6 a7 a8"},
		{"{family: complete}", "{adversary: {name: replay}, members: 3, seats: random, seed: 2}", "a2 a8 z"},
	} {
		at, err := corrupted(t, fmt.Sprintf(nine, x.graph, x.adversaries))
		if got := strings.Join(at, " "); err != nil || got != x.want {
			t.Errorf("%s on %s: %q, %v; want %q", x.adversaries, x.graph, got, err, x.want)
		}
	}
}

func TestBadAdversaries(t *testing.T) {
	for text, want := range map[string]string{
		"{members: 2}":                                         "it names no adversary",
		"{adversary: {name: replai}}":                          `did you mean "replay"`,
		"{adversary: {name: replay}, members: 10}":             "between 0 and the number of seats to pick from, 9",
		"{adversary: {name: replay}, members: -1}":             "between 0 and",
		"{adversary: {name: replay}, seats: worse}":            `did you mean "worst"`,
		"{adversary: {name: replay}, seats: [b1]}":             `no seat is called "b1"`,
		"{adversary: {name: replay}, seats: [a1, a1]}":         "lists a1 twice",
		"{adversary: {name: replay}, seats: [a1], members: 2}": "members is 2, and seats lists 1",
		"{adversary: {name: replay}, seats: {a: 1}}":           "a list of seats such as [a1, a3]",
		"{adversary: {name: replay}, role: worker}":            `no seat has the role "worker"`,
		"{adversary: {name: replay}, seats: centre}":           "centre is defined for the family star only",
		"{adversary: {name: replay}, count: 2}":                "count",
	} {
		if _, err := corrupted(t, fmt.Sprintf(nine, "{family: complete}", text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	two := strings.Replace(fmt.Sprintf(nine, "{family: complete}", "{adversary: {name: replay}, seats: [z]}"),
		"{id: z, model: d}", "{id: z, model: d, adversary: {name: silent}}", 1)
	if _, err := corrupted(t, two); err == nil || !strings.Contains(err.Error(), "has the adversary silent already") {
		t.Errorf("%v", err)
	}
}

// Seats with a role are picked among themselves, and those that have an adversary are left out.
func TestAdversariesByRole(t *testing.T) {
	const panel = `protocol: {name: decentllms}
f: 1
models: {d: {provider: simulated}}
seats: [{id: w, model: d, role: worker, count: 3}, {id: e, model: d, role: evaluator, count: 4}]
adversaries: {adversary: {name: inverter}, role: evaluator, members: 2}
`
	if at, err := corrupted(t, panel); err != nil || fmt.Sprint(at) != "[e1 e2]" {
		t.Errorf("%v, %v", at, err)
	}
	listed := strings.Replace(panel, "members: 2", "seats: [e2, %s]", 1)
	if at, err := corrupted(t, fmt.Sprintf(listed, "e4")); err != nil || fmt.Sprint(at) != "[e2 e4]" {
		t.Errorf("%v, %v", at, err)
	}
	if _, err := corrupted(t, fmt.Sprintf(listed, "w1")); err == nil || !strings.Contains(err.Error(),
		`seats lists w1, whose role is "worker" and not "evaluator"`) {
		t.Errorf("a worker: %v", err)
	}
	other := strings.Replace(panel, "count: 4}",
		"count: 3}, {id: x, model: d, role: evaluator, adversary: {name: silent}}", 1)
	if at, err := corrupted(t, strings.Replace(other, "members: 2", "members: 3", 1)); err != nil ||
		fmt.Sprint(at) != "[e1 e2 e3 x]" {
		t.Errorf("%v, %v", at, err)
	}
}

// A journal has the seats that were picked, and replays with them.
func TestPlacedAdversariesAreRecorded(t *testing.T) {
	spec, err := plan.Parse(fmt.Appendf(nil, nine, "{family: star}", "{adversary: {name: replay}, seats: worst}"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := council.Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := filepath.Join(t.TempDir(), "j.jsonl")
	o, err := c.Decide(context.Background(), council.Ask{Question: sum, Seed: 1, Journal: path})
	if err != nil {
		t.Fatal(err)
	}
	if a := o.Members[0].Adversary; a == nil || *a != "replay" || o.Members[1].Adversary != nil {
		t.Errorf("members %+v", o.Members[:2])
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run, err := journal.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	again, err := plan.Of(run)
	if err != nil {
		t.Fatal(err)
	}
	if again.Digest() != c.Plan().Digest() || fmt.Sprint(again.Spec().Adversaries.Seats) != "[a1]" {
		t.Errorf("seats %v; digests %s and %s", again.Spec().Adversaries.Seats, again.Digest(), c.Plan().Digest())
	}
}
