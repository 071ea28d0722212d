package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/adversary"
	"synod.dev/synod/cmd/cli"
)

// The members judge better than any measured judge: SAC relies on them.
const council = `
models: {m: {provider: simulated, ability: 0.98, skill: 0.975, primacy: 0, shared: 0}}
graph: {family: complete}
f: 1
seats: [{id: m, model: m, count: 4}, {id: x, model: m, adversary: {name: insister, answer: "1000"}}]
`

// One insister captures CP-WBFT, which trusts stated confidence, and not SAC, whose members judge well.
func TestInsister(t *testing.T) {
	adversary.Catalogue.Add(Insister)
	home := t.TempDir()
	file := filepath.Join(home, "council.yaml")
	if err := os.WriteFile(file, []byte(council), 0o600); err != nil {
		t.Fatal(err)
	}
	for protocol, captured := range map[string]bool{"cp-wbft": true, "sac": false} {
		var out, errs strings.Builder
		args := []string{"ask", "--home", home, "-c", file, "--set", "protocol.name=" + protocol, "--seed", "1",
			"What is 17 + 25?"}
		if code := cli.Run(t.Context(), args, nil, &out, &errs); code != 0 {
			t.Fatalf("%s: exit %d: %s", protocol, code, errs.String())
		}
		if answer := strings.TrimSpace(out.String()); (answer == "1000") != captured {
			t.Errorf("%s answers %s", protocol, answer)
		}
	}
}
