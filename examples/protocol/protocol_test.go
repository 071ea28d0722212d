package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/protocol/catalog"
)

const council = `
protocol: {name: echo}
f: 0
rule: {name: plurality}
models: {right: {provider: simulated, ability: 1}, wrong: {provider: simulated, ability: 0}}
seats: [{id: r, model: right, count: 1}, {id: w, model: wrong, count: 4}]
`

// All members take the answer of the first one, whose model is always right.
func TestEcho(t *testing.T) {
	catalog.Protocols.Add(Echo)
	home := t.TempDir()
	file := filepath.Join(home, "council.yaml")
	if err := os.WriteFile(file, []byte(council), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	args := []string{"ask", "--home", home, "-c", file, "--seed", "1", "--json", "What is 17 + 25?"}
	if code := cli.Run(t.Context(), args, nil, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var o struct {
		Members []struct{ ID, First, Final string }
	}
	if err := json.Unmarshal([]byte(out.String()), &o); err != nil {
		t.Fatal(err)
	}
	for _, m := range o.Members[1:] {
		if m.Final != o.Members[0].First || m.First == m.Final {
			t.Errorf("%s began with %q and ends on %q; the first member answered %q", m.ID, m.First, m.Final,
				o.Members[0].First)
		}
	}
}
