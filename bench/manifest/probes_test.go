package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/llm/probe"
)

// A probe that was trained on one task leaves the cells of tasks with other answers blank and says which probe is
// missing, in place of failing at each of their questions. One that was trained on answers of several forms fits all.
func TestProbeOfAnotherForm(t *testing.T) {
	const text = "experiment: probes\nsummary: s\nbase:\n  task: builtin\n  questions: 1\n  needs: hidden-states\n" +
		"  protocol: {name: cp-wbft, probe: hidden}\n  rule: {name: protocol}\n" +
		"  models: {m: {provider: embedded, model: smollm2-135m-instruct, probe: probe.json}}\n" +
		"  seats: [{id: a, model: m, count: 3}]\n"
	for form, want := range map[string]string{"number": "", probe.Mixed: "",
		"stance": "model m was trained on answers of the form stance"} {
		p := probe.Probe{Version: probe.Version, Position: "mean", Weights: []float64{1}, Subject: probe.Subject{
			Model: "m", Layers: 1, Width: 1, Form: form}}
		file, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "probe.json"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Parse([]byte(text), dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Draft(Options{}) // it always fails: no model has this probe
		said := fmt.Sprint(err)
		if strings.Contains(said, "was trained on answers of the form") != (want != "") ||
			!strings.Contains(said, want) || want != "" && !strings.Contains(said, "--collect builtin") {
			t.Errorf("%s: %v", form, err)
		}
	}
}
