package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/llm"
)

const council = `
protocol: {name: majority}
f: 0
models: {p: {provider: parrot, answer: 7}}
seats: [{id: p, model: p, count: 3}]
`

// A council of three parrots agrees on what a parrot says.
func TestParrot(t *testing.T) {
	llm.Providers.Add(Provider)
	var out, errs strings.Builder
	home := t.TempDir()
	file := filepath.Join(home, "council.yaml")
	if err := os.WriteFile(file, []byte(council), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"ask", "--home", home, "-c", file, "How many legs has a spider?"}
	code := cli.Run(t.Context(), args, nil, &out, &errs)
	if code != 0 || strings.TrimSpace(out.String()) != "7" {
		t.Fatalf("exit %d, stdout %q, stderr %s", code, out.String(), errs.String())
	}
}
