package attack_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/manifest"
)

const members = `
models: {m: {provider: simulated, ability: 0.8}}
seats: [{id: a, model: m, count: 5}]
f: 1
`

// council writes a council file.
func council(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "council.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// play plays an attack and computes its table.
func play(t *testing.T, s attack.Spec) *attack.Table {
	t.Helper()
	m, err := s.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	grid, err := m.Draft(manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "grid")
	if err := grid.Create(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := grid.Work(context.Background(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	table, err := attack.Compute(grid)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// One member that claims to be certain captures CP-WBFT (finding F8), and does not capture a vote of the majority.
func TestCaptures(t *testing.T) {
	captured := func(protocol string) attack.Attack {
		all := play(t, attack.Spec{Council: council(t, protocol+members), Adversaries: []string{"replay"},
			Questions: 100})
		if len(all.Attacks) != 1 || all.Baseline.Finished != 100 || all.Attacks[0].Finished != 100 {
			t.Fatalf("%s: %+v", protocol, all)
		}
		return all.Attacks[0]
	}
	weak := captured("protocol: {name: cp-wbft}\nrule: {name: protocol}")
	if weak.Capture == nil || weak.Capture.Low < 0.5 || weak.AccuracyLost.Low < 0.5 || weak.Accuracy.High > 0.5 {
		t.Errorf("CP-WBFT: captured %+v, right %+v, lost %+v", weak.Capture, weak.Accuracy, weak.AccuracyLost)
	}
	vote := captured("protocol: {name: majority}")
	if vote.Capture == nil || vote.Capture.Value > 0.01 || vote.Members != 1 || len(vote.Seats) != 1 {
		t.Errorf("majority: %+v", vote)
	}
	if vote.CostFactor == nil || *vote.CostFactor >= 1 {
		t.Errorf("an adversary that asks no model costs %v of an honest member", vote.CostFactor)
	}
}

// A silent member costs decisions, and an attack that only takes answers away captures nothing.
func TestSilenceCostsLiveness(t *testing.T) {
	all := play(t, attack.Spec{Council: council(t, "protocol: {name: majority}\nrule: {name: supermajority}"+members),
		Adversaries: []string{"silent"}, Members: []int{1, 2}, Questions: 100})
	for _, a := range all.Attacks {
		if a.Capture.Value != 0 || a.LivenessLost.Value <= 0 || a.Liveness.Value >= all.Baseline.Liveness.Value {
			t.Errorf("%d silent: captured %+v, decided %+v, lost %+v", a.Members, a.Capture, a.Liveness, a.LivenessLost)
		}
	}
}

// Every format names the kind of the members, and a threshold fails the attacks above it only.
func TestFormats(t *testing.T) {
	all := play(t, attack.Spec{Council: council(t, "protocol: {name: cp-wbft}\nrule: {name: protocol}"+members),
		Adversaries: []string{"replay", "silent"}, Questions: 20})
	for _, format := range []string{"text", "md", "json", "junit", "html"} {
		var out bytes.Buffer
		if err := all.Write(&out, format, 0.05, nil); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if !strings.Contains(out.String(), "simulated") {
			t.Errorf("%s does not say that the members are simulated:\n%s", format, &out)
		}
	}
	var out bytes.Buffer
	if err := all.Write(&out, "junit", 0.05, nil); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(out.Bytes(), &suite); err != nil || suite.Failures != 1 || len(suite.Cases) != 2 {
		t.Fatalf("%v: %+v", err, suite)
	}
	for _, c := range suite.Cases {
		if failed := c.Failure != nil; failed != strings.HasPrefix(c.Name, "replay") {
			t.Errorf("%s failed: %v", c.Name, failed)
		}
	}
	if over := all.Captured(0.05); len(over) != 1 || over[0].Adversary != "replay" {
		t.Errorf("above the threshold: %+v", over)
	}
}

// A decision that nobody can read, because it is the text of an adversary, is captured and not right.
func TestUnreadableDecision(t *testing.T) {
	table := play(t, attack.Spec{Adversaries: []string{"null-model"}, Members: []int{3}, Questions: 20,
		Council: council(t, `protocol: {name: sac, rounds: 2, rationale: 600}
defences: {typed: off}
models: {m: {provider: simulated, ability: 0.9, fooled: 1}}
seats: [{id: a, model: m, count: 7}]
f: 3
`)})
	a := table.Attacks[0]
	if a.Accuracy.N != 20 || a.Capture.Value < 0.5 || a.Accuracy.Value+a.Capture.Value > 1 {
		t.Errorf("captured %+v, right %+v", a.Capture, a.Accuracy)
	}
}

// Every format says what the members are and what is assumed of them, also where the council file leaves it at its
// default.
func TestLabelled(t *testing.T) {
	table := play(t, attack.Spec{Adversaries: []string{"persuader"}, Questions: 2,
		Council: council(t, "protocol: {name: sac, rounds: 1, rationale: 600}"+members)})
	for _, format := range attack.Formats() {
		var b bytes.Buffer
		if err := table.Write(&b, format, 1, nil); err != nil {
			t.Fatal(err)
		}
		if s := b.String(); !strings.Contains(s, "simulated") ||
			!strings.Contains(s, "believes a derivation with probability 0.8") {
			t.Errorf("%s does not say it:\n%s", format, s)
		}
	}
}

// In a council with roles a rule chooses among the seats of each, because an attack may do nothing in one of them.
func TestRoles(t *testing.T) {
	s := attack.Spec{Adversaries: []string{"inverter"}, Members: []int{2, 3}, Questions: 1,
		Council: council(t, `protocol: {name: decentllms}
models: {m: {provider: simulated}}
seats: [{id: w, model: m, role: worker, count: 2}, {id: e, model: m, role: evaluator, count: 7}]
f: 1
`)}
	table := play(t, s)
	var got []string
	for _, a := range table.Attacks {
		got = append(got, a.Rule+": "+strings.Join(a.Seats, " "))
	}
	want := []string{"worst-evaluator: e1 e2", "worst-worker: w1 w2", "worst-evaluator: e1 e2 e3"}
	if !slices.Equal(got, want) {
		t.Errorf("seats %q, want %q", got, want)
	}
	for k, want := range map[int]string{0: "--members is 0", 8: "no role has 8 members; list the seats",
		9: "at least one must be honest"} {
		s.Members = []int{k}
		if _, err := s.Manifest(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d members: %v", k, err)
		}
	}
}

// "all" takes the adversaries that apply to the protocol, each once, and none that does not sit in a seat.
func TestApplicable(t *testing.T) {
	s := attack.Spec{Council: council(t, "protocol: {name: sac, rounds: 2}"+members), Questions: 1}
	m, err := s.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	grid, err := m.Draft(manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range grid.Cells {
		names = append(names, c.Name)
	}
	for name, want := range map[string]bool{"persuader-1-worst": true, "judge-hypnotist-1-worst": true,
		"baseline": true, "midpoint-1-worst": false, "flooder-1-worst": false, "calm-liar-1-worst": false} {
		if got := slices.Contains(names, name); got != want {
			t.Errorf("%s is a cell: %v, want %v", name, got, want)
		}
	}
}
