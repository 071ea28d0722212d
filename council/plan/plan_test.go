package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
)

const planFile = `
graph: {family: random, p: 0.6, seed: %d}
f: 1
models: {d: {provider: simulated, ability: %v}}
seats: [{id: a, model: d, count: 9}]
limits: {calls: 0, tokens: 0, deadline: 0s}
`

func parsed(t *testing.T, text string) Spec {
	t.Helper()
	spec, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Equal specs share one plan, and another spec has another one, whatever differs.
func TestPlanIsCached(t *testing.T) {
	base := fmt.Sprintf(planFile, 1, 0.9)
	first, err := New(parsed(t, base))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := New(parsed(t, base)); again != first {
		t.Error("the plan of an equal spec was made again")
	}
	for _, change := range [][2]string{
		{"f: 1", "f: 2"}, {"count: 9", "count: 10"}, {"0.9", "0.8"}, {"f: 1", "f: 1\nprotocol: {name: sac, rounds: 2}"},
		{"f: 1", "f: 1\npace: {think: 1s}"},
		{"f: 1", "f: 1\nfaults: {loss: 0.5}"}, {"f: 1", "f: 1\npatience: {spare: 1}"}, {"f: 1", "f: 1\nhedge: p95"},
		{"count: 9", "count: 9, adversary: {name: silent}"},
	} {
		other, err := New(parsed(t, strings.Replace(base, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if other == first || other.Digest() == first.Digest() {
			t.Errorf("%q: the same plan", change[1])
		}
	}
}

// One seat can be built without opening any model.
func TestMachine(t *testing.T) {
	plan, err := New(parsed(t, "models: {m: {provider: openai, url: \"http://127.0.0.1:9/v1\", model: x}}\nseats: "+
		"[{id: a, model: m, count: 3}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	q := synod.Question{Text: "What is 17 + 25?", Form: synod.Number}
	m, err := plan.Machine(sign.Identity{Seat: 2, Seed: 7}, &q)
	if err != nil {
		t.Fatal(err)
	}
	effects := m.Step(0, synod.Begin{})
	if _, calls := effects[len(effects)-1].(synod.Consult); !calls || len(effects) != 2 {
		t.Errorf("a member of SAC begins with a call of its model, and an end of commitments: %v", effects)
	}
	m.Step(0, synod.Halt{})
	for _, seat := range []synod.NodeID{-1, 3} {
		if _, err := plan.Machine(sign.Identity{Seat: seat}, &q); err == nil {
			t.Errorf("seat %d was built", seat)
		}
	}
}

// pace, patience, hedge and faults are checked, with units and ranges in the errors.
func TestTimesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"pace: {think: 60}":                                 "is not a duration (example: 2m)",
		"pace: {think: 25h}":                                "think is 25h0m0s; it must be between 1ms and 24h",
		"pace: {within: 2h}":                                "within is 2h0m0s; it must be between 1ms and 1h",
		"pace: {within: 1.5ms}":                             "whole milliseconds",
		"pace: {wihtin: 2s}":                                `did you mean "within"`,
		"f: 1\npatience: {spare: 2}":                        "spare is 2; it must be between 0 and f, 1",
		"f: 1\npatience: {spare: 1, after: 0.5x}":           "after is 0.5x; it must be between 1x and 100x",
		"f: 1\npatience: {spare: 1, after: 0x}":             "must be between 1x and 100x",
		"f: 1\npatience: {spare: 1, after: soon}":           "soon",
		"f: 1\nexact: paper\npatience: {spare: 1}":          "exact: paper waits for every call",
		"hedge: p30":                                        "percentile",
		"exact: paper\nhedge: p95":                          "exact: paper makes no second requests",
		"faults: {delay: {max: -1s}}":                       "delay.max is -1s; it must be between 0s and 24h",
		"faults: {delay: {min: 2s, max: 1s}}":               "delay",
		"faults: {delay: {max: 3}}":                         "is not a duration (example: 50ms)",
		"faults: {crashes: [{node: 9}]}":                    "crash",
		"faults: {partitions: [{to: 1s, groups: [[0,7]]}]}": "partition",
		"limits: {calls: -1}":                               "between 0 and 1000000000 calls",
	} {
		_, err := Parse([]byte(text + "\nmodels: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 3}]\n"))
		found := false
		for _, w := range strings.Split(want, "|") {
			found = found || err != nil && strings.Contains(err.Error(), w)
		}
		if !found {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	var bad *ConfigError
	if _, err := Parse([]byte("models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 3}]\npace:\n " +
		" think: 25h\n")); !errors.As(err, &bad) || bad.Line < 3 {
		t.Errorf("the line is missing: %v", err)
	}
}

// Times of the file become ticks of a millisecond, and the spec that a journal keeps
// reads back to the same plan.
func TestTimesBecomeTicks(t *testing.T) {
	p, err := New(parsed(t, `
f: 1
pace: {think: 90s, within: 250ms}
patience: {spare: 1, after: 1.5x}
faults: {delay: {min: 5ms, max: 20ms}, crashes: [{node: 1, at: 2s}]}
models: {d: {provider: simulated}}
seats: [{id: a, model: d, count: 3}]
`))
	if err != nil {
		t.Fatal(err)
	}
	if p.pace != (synod.Pace{Think: 90_000, Within: 250}) || p.faults.Delay.Max != 20 ||
		p.faults.Crashes[0].At != 2000 {
		t.Errorf("pace %+v, faults %+v", p.pace, p.faults)
	}
	again, err := New(parsed(t, decodeRecord(t, p)))
	if err != nil || again.Digest() != p.Digest() || again.patience != p.patience ||
		again.spec.Pace != p.spec.Pace {
		t.Errorf("%v: %+v, %+v", err, again.spec.Patience, again.spec.Pace)
	}
	p, err = New(parsed(t, fmt.Sprintf(planFile, 1, 0.9)))
	if err != nil || p.pace != (synod.Pace{Think: 60_000, Within: 2_000}) {
		t.Errorf("the default pace is %+v (%v)", p.pace, err)
	}
}

// A network that breaks the bound on delays withdraws the claim.
func TestFaultsWithdrawTheClaim(t *testing.T) {
	for faults, holds := range map[string]bool{
		"{}": true, "{delay: {max: 1999ms}}": true, "{crashes: [{node: 0, at: 1s}]}": true,
		"{delay: {max: 2s}}": false, "{delay: {min: 1s, max: 5s}}": false, "{loss: 0.1}": false,
		"{partitions: [{to: 1s, groups: [[0,1]]}]}": false,
	} {
		p, err := New(parsed(t, "f: 1\nmodels: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: "+
			"5}]\nfaults: "+faults))
		if err != nil {
			t.Fatal(err)
		}
		if b := p.Bound(); (b.Guarantee != None) != holds || !holds &&
			!strings.Contains(b.Note, "no guarantee: faults: ") {
			t.Errorf("%s: %+v", faults, b)
		}
	}
}

// decodeRecord is the council file in the head of a plan's journals.
func decodeRecord(t *testing.T, p *Plan) (text string) {
	t.Helper()
	if err := json.Unmarshal(p.Record(), &text); err != nil {
		t.Fatal(err)
	}
	return text
}
