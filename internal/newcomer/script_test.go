package newcomer_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var playScript = flag.Bool("script", false, "play the script of CONTRIBUTING.md in a clone, for some minutes")

// TestScript plays each block of the script in a clone of the last commit. Each may change two files, beside tests and
// docs.
func TestScript(t *testing.T) {
	if !*playScript {
		t.Skip("-script plays this test")
	}
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "\n```sh\n")[1:]
	if len(blocks) != 4 {
		t.Fatalf("the script has %d blocks, not 4", len(blocks))
	}
	for _, block := range blocks {
		commands, _, _ := strings.Cut(block, "\n```\n")
		clone := filepath.Join(t.TempDir(), "clone")
		bash(t, t.TempDir(), "git clone -q '"+root+"' '"+clone+"'")
		bash(t, clone, commands)
		touched := strings.Fields(bash(t, clone, "git add -A && git diff --cached --name-only"))
		code := slices.DeleteFunc(slices.Clone(touched), func(path string) bool {
			return strings.HasPrefix(path, "docs/") || strings.Contains(path, "/testdata/") ||
				strings.HasSuffix(path, "_test.go")
		})
		if t.Logf("%d files of code: %v; in all: %v", len(code), code, touched); len(code) != 2 {
			t.Errorf("a block changes %d files", len(code))
		}
	}
}

// bash runs commands in a folder until one fails, and returns what they print.
func bash(t *testing.T, dir, commands string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-e")
	c.Dir, c.Stdin = dir, strings.NewReader(commands)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%s%v", commands, out, err)
	}
	return string(out)
}
