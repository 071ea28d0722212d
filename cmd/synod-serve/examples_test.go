package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/council/plan"
)

// The files in examples/serve can be read, and use flags that exist.
func TestExamples(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "serve")
	if _, err := plan.Load(filepath.Join(dir, "councils", "three.yaml")); err != nil {
		t.Error(err)
	}
	cmd := serveCommand()
	for _, name := range []string{"synod-serve.service", "Dockerfile", "compose.yaml", "kubernetes.yaml", "Caddyfile",
		"alerts.yaml", "README.md"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".yaml") {
			for d := yaml.NewDecoder(bytes.NewReader(b)); ; {
				var v any
				if err := d.Decode(&v); err != nil {
					if err.Error() != "EOF" {
						t.Errorf("%s: %v", name, err)
					}
					break
				}
			}
		}
		between := func(r rune) bool { return strings.ContainsRune(" \n\t\",[]`", r) }
		for word := range strings.FieldsFuncSeq(string(b), between) {
			flag, ok := strings.CutPrefix(word, "--")
			others := []string{"usd-day", "rpm", "from", "to", "rm", "from-literal", "now", "chown=65532:65532",
				"from=build", "-"}
			if ok && flag != "" && !strings.HasPrefix(flag, "from-") && !slices.Contains(others, flag) &&
				cmd.Flags().Lookup(flag) == nil && cmd.PersistentFlags().Lookup(flag) == nil {
				t.Errorf("%s has --%s, which synod serve does not know", name, flag)
			}
		}
	}
}
