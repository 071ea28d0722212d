package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli"
)

const council = `
protocol: {name: majority}
f: 0
models: {m: {provider: simulated, ability: 1}}
seats: [{id: m, model: m, count: 3}]
`

// A council of perfect simulated members answers all twenty sums.
func TestSums(t *testing.T) {
	task.Catalogue.Add(Sums)
	home := t.TempDir()
	file, dir := filepath.Join(home, "council.yaml"), filepath.Join(home, "run")
	if err := os.WriteFile(file, []byte(council), 0o600); err != nil {
		t.Fatal(err)
	}
	synod := func(args ...string) string {
		var out, errs strings.Builder
		if code := cli.Run(t.Context(), append([]string{"--home", home}, args...), nil, &out, &errs); code != 0 {
			t.Fatalf("synod %v: exit %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	synod("bench", "run", "sums", "-c", file, "-o", dir)
	var report struct {
		Questions int
		Metrics   map[string]struct{ Value float64 }
	}
	if err := json.Unmarshal([]byte(synod("bench", "report", dir, "--format", "json")), &report); err != nil {
		t.Fatal(err)
	}
	if report.Questions != 20 || report.Metrics["decision_accuracy"].Value < 0.9 {
		t.Errorf("%+v", report)
	}
}
