package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/core/robust"
)

// One hostile vector of five does not move the result out of the honest range.
func TestMidrange(t *testing.T) {
	var w robust.Workspace
	honest := [][]float64{{10, 12}, {11, 13}, {12, 14}, {13, 15}}
	r, err := Midrange.Compute(&w, append(honest, []float64{1e9, -1e9}), 1)
	if err != nil || r.Vector[0] < 10 || r.Vector[0] > 13 || r.Vector[1] < 12 || r.Vector[1] > 15 {
		t.Fatalf("%v, %v", r, err)
	}
}

const council = `
protocol: {name: decentllms, aggregate: midrange}
f: 1
models: {m: {provider: simulated, ability: 0.9}}
seats: [{id: w, model: m, count: 3, role: worker}, {id: e, model: m, count: 3, role: evaluator}]
`

// A council file names the aggregate like any other.
func TestCouncil(t *testing.T) {
	robust.Catalogue.Add(Midrange)
	home := t.TempDir()
	file := filepath.Join(home, "council.yaml")
	if err := os.WriteFile(file, []byte(council), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	code := cli.Run(t.Context(), []string{"ask", "--home", home, "-c", file, "--seed", "1", "What is 17 + 25?"}, nil,
		&out, &errs)
	if code != 0 || strings.TrimSpace(out.String()) == "" {
		t.Fatalf("exit %d, stdout %q, stderr %s", code, out.String(), errs.String())
	}
}
