package attack_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"synod.dev/synod/bench/attack"
)

// fooled is a council of judges that are better than any measured one, so that what fools them does harm.
const fooled = `
protocol: {name: sac, rounds: 2, rationale: 600}
rule: {name: majority}
f: 3
models: {m: {provider: simulated, ability: 0.9, skill: 0.875, primacy: 0, shared: 0, fooled: 0.9}}
seats: [{id: a, model: m, count: 7}]
`

// An attack on plain delimiters captures only where fences are switched off; without adversaries the fence changes
// nothing. A defence that the council does not have is measured switched on.
func TestDefences(t *testing.T) {
	all := play(t, attack.Spec{Council: council(t, fooled), Adversaries: []string{"delimiter-forger"},
		Members: []int{3}, Questions: 60, Defences: []string{"fence", "strict-trim"}})
	if len(all.Attacks) != 1 || len(all.Defences) != 4 {
		t.Fatalf("%d attacks and %d measured", len(all.Attacks), len(all.Defences))
	}
	seen := 0
	for _, m := range all.Defences {
		c := m.Change
		switch {
		case m.Name == "fence" && m.Adversary == "":
			seen++
			if m.Defence != "off" || c.Capture != nil || c.Accuracy.Value != 0 || c.CostFactor == nil {
				t.Errorf("fence without adversaries: %+v", m)
			}
		case m.Name == "fence":
			seen++
			if m.Capture.Low < 0.3 || c.Capture.High > -0.3 || c.Accuracy.Low < 0.1 ||
				all.Attacks[0].Capture.Value > 0.05 {
				t.Errorf("fence: off %+v, change %+v, on %+v", m.Capture, c, all.Attacks[0].Capture)
			}
		case m.Name == "strict-trim":
			seen++
			if m.Defence != "on" {
				t.Errorf("strict-trim, which the council does not have, is measured %s", m.Defence)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d of 4 rows", seen)
	}
	formats(t, all)
}

// formats checks that every format shows the measured defences, and that a limit is about the council as it is.
func formats(t *testing.T, all *attack.Table) {
	t.Helper()
	for _, format := range attack.Formats() {
		var out bytes.Buffer
		if err := all.Write(&out, format, 0.05, nil); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if !strings.Contains(out.String(), "strict-trim") || !strings.Contains(out.String(), "fence") {
			t.Errorf("%s does not show the defences:\n%s", format, &out)
		}
	}
	var out bytes.Buffer
	if err := all.Write(&out, "json", 1, nil); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Attacks, Defences []struct {
			Defence string
			Name    *string `json:"defence_name"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Attacks[0].Defence != "on" ||
		*got.Attacks[0].Name != "" || got.Defences[0].Defence != "off" || *got.Defences[0].Name != "fence" {
		t.Errorf("%v: %s", err, &out)
	}
	out.Reset()
	if err := all.Write(&out, "junit", 0.05, nil); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal(out.Bytes(), &suite); err != nil || suite.Tests != 5 || suite.Failures != 0 {
		t.Errorf("junit: %v, %+v", err, suite)
	}
}

// A defence can be measured at seats of several rules: the cells of each rule have panels of their own in the plots.
func TestDefencesAtSeveralSeats(t *testing.T) {
	all := play(t, attack.Spec{Council: council(t, fooled), Adversaries: []string{"delimiter-forger"},
		Members: []int{1, 2}, Seats: []string{attack.Worst, attack.Random}, Questions: 2, Defences: []string{"fence"}})
	if len(all.Attacks) != 8 || len(all.Defences) != 9 {
		t.Errorf("%d attacks and %d measured", len(all.Attacks), len(all.Defences))
	}
}

// A name that is no defence, or that does nothing in the protocol, is an error that says what to do.
func TestDefencesMistakes(t *testing.T) {
	for name, want := range map[string]string{"fense": `did you mean "fence"?`,
		"one-answer": "does nothing in protocol sac"} {
		_, err := attack.Spec{Council: council(t, fooled), Defences: []string{name},
			Adversaries: []string{"silent"}}.Manifest()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
