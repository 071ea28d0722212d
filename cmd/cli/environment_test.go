package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// internalVariables are set by the program for its own child processes, or by tests.
var internalVariables = []string{"SYNOD_ENGINE_CHILD", "SYNOD_FAST_SERVER", "SYNOD_NIGHTLY"}

// Every environment variable that the code names is in the table, and docs/use/ask.md has the table;
// UPDATE_SCRIPTS=1 renews the page.
func TestEnvironment(t *testing.T) {
	name := regexp.MustCompile(`"((?:SYNOD|XDG|OPENAI|OPENROUTER|ANTHROPIC|GEMINI|OLLAMA|LD|DYLD|HF|NO)_[A-Z_]+)=?"|Getenv\("([A-Z_]+)"\)`)
	found := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err == nil && path == "../../internal/mutants" { // no part of the program
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range name.FindAllStringSubmatch(string(src), -1) {
			found[m[1]+m[2]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	made := "| variable | meaning |\n|---|---|\n"
	var listed string
	for _, v := range variables {
		made += fmt.Sprintf("| `%s` | %s |\n", v.name, v.meaning)
		listed += v.name + " " + v.meaning + "\n"
	}
	if len(found) < 12 {
		t.Errorf("found only %v", found)
	}
	for v := range found {
		if !strings.Contains(listed, v) && !slices.Contains(internalVariables, v) {
			t.Errorf("the code reads %s, which the table does not have", v)
		}
	}
	const path = "../../docs/use/ask.md"
	const begin = "<!-- environment: UPDATE_SCRIPTS=1 go test ./cmd/cli -run TestEnvironment -->\n"
	const end = "<!-- end of environment -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(page), begin)
	onPage, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no table of variables", path)
	}
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := os.WriteFile(path, []byte(before+begin+made+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		onPage = made
	}
	if onPage != made {
		t.Errorf("the table of %s is not the present one; UPDATE_SCRIPTS=1 renews it", path)
	}
}
