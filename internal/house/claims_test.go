package house_test

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

// commands are the files outside of tests and internal/ that may start a program, and which (SC-41). None of them
// starts a shell, and what a model has written is in none of the commands.
var commands = map[string]string{
	"llm/engine/client.go":         "this program itself, as the process that runs the embedded model",
	"llm/models/pull.go":           "a package client, with names of the catalogue",
	"record/ledger/child/child.go": "the ledger's program beside this one",
	"cmd/cli/app/beside.go":        "a program beside this one, with the user's arguments",
	"cmd/cli/bench/export.go":      "the program synod-parquet beside this one, with rows of a grid as its input",
	"council/escalate.go":          "the user's command for an escalation, with the event on its standard input",
}

// TestHouseCommands finds every file that starts a program [SC-41].
func TestHouseCommands(t *testing.T) {
	starts := regexp.MustCompile(`\bexec\.Command(Context)?\(|\bos\.StartProcess\(|\bsyscall\.(Exec|ForkExec)\(`)
	shell := regexp.MustCompile(`exec\.Command(Context)?\((ctx, )?"(ba|z)?sh"`)
	found := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		slashed := filepath.ToSlash(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(slashed, "internal/") || strings.Contains(slashed, "/internal/") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !starts.Match(b) {
			return err
		}
		found++
		if commands[slashed] == "" || shell.Match(b) {
			t.Errorf("%s starts a program: list it with the reason, and start no shell", slashed)
		}
		return nil
	})
	if err != nil || found < 5 {
		t.Errorf("%d files start programs: %v", found, err)
	}
}

// named finds the tests that a line of a table names: `folder` TestA, FuzzB.
var named = regexp.MustCompile("`([a-zA-Z0-9/.-]+)` ((?:Test|Fuzz)[A-Za-z0-9]+(?:, (?:Test|Fuzz)[A-Za-z0-9]+)*)")

// TestHouseChecklist: every rule of the security checklist stands in identifiersFile, the fuzz targets stand in
// docs/extend/testing.md, and the tests that they name exist [SC-42].
func TestHouseChecklist(t *testing.T) {
	checklist, err := os.ReadFile(identifiersFile)
	if err != nil {
		t.Fatal(err)
	}
	fuzzed, err := os.ReadFile("docs/extend/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	page, targets := string(checklist)+string(fuzzed), 0
	for i := range 42 {
		if !strings.Contains(page, fmt.Sprintf("\n| SC-%02d |", i+1)) {
			t.Errorf("%s has no row for SC-%02d", identifiersFile, i+1)
		}
	}
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		for name := range strings.SplitSeq(m[2], ", ") {
			if !defined(t, m[1], name) {
				t.Errorf("docs/extend names %s in %s, which does not exist", name, m[1])
			}
			if strings.HasPrefix(name, "Fuzz") {
				targets++
			}
		}
	}
	if targets < 24 {
		t.Errorf("docs/extend/testing.md names %d fuzz targets; 24 are wanted", targets)
	}
	security, err := os.ReadFile("SECURITY.md")
	for _, want := range []string{"private advisory", "Only the latest release", "## Track record",
		"docs/extend/testing.md"} {
		if err != nil || !strings.Contains(strings.Join(strings.Fields(string(security)), " "), want) {
			t.Errorf("SECURITY.md does not say %q: %v", want, err)
		}
	}
}

// defined reports whether a test of a folder has a function.
func defined(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(path string) bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(b), "func "+name+"(")
	})
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pathOfDocs   = regexp.MustCompile(`(?:^|[^\w/.-])(docs/[\w/-]+\.(?:md|json|svg|txt))`)
)

// TestHouseLinks: every relative link of a page leads to a file and, with #, to a heading of it, every page of docs is
// in the index, and every path in docs that code, help or an error names exists.
func TestHouseLinks(t *testing.T) {
	index, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	links, paths := 0, 0
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && slices.Contains([]string{".git", ".tools", "bin", "dist", "runs"}, path) {
				return fs.SkipDir
			}
			return err
		}
		page := strings.HasSuffix(path, ".md")
		if !page && !slices.Contains([]string{".go", ".yaml", ".html", ".sh", ".txt", ".py", ""}, filepath.Ext(path)) {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if page {
			links += checkLinks(t, path, string(b))
			name, inDocs := strings.CutPrefix(filepath.ToSlash(path), "docs/")
			if inDocs && strings.Count(name, "/") == 1 && !strings.Contains(string(index), "("+name+")") {
				t.Errorf("docs/README.md does not link to %s", path)
			}
		}
		for _, m := range pathOfDocs.FindAllStringSubmatch(string(b), -1) {
			paths++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s, which does not exist", path, m[1])
			}
		}
		return nil
	})
	if err != nil || links < 100 || paths < 50 {
		t.Errorf("%d links and %d paths are few: %v", links, paths, err)
	}
}

// checkLinks reports the relative links of a page that lead nowhere, and how many it has.
func checkLinks(t *testing.T, path, text string) int {
	links := markdownLink.FindAllStringSubmatch(text, -1)
	for _, m := range links {
		target, heading, _ := strings.Cut(m[1], "#")
		if strings.Contains(target, ":") {
			continue
		}
		page := text
		if target != "" {
			b, err := os.ReadFile(filepath.Join(filepath.Dir(path), target))
			if _, exists := os.Stat(filepath.Join(filepath.Dir(path), target)); exists != nil {
				t.Errorf("%s links to %s, which does not exist", path, m[1])
			}
			if err != nil {
				continue // a folder
			}
			page = string(b)
		}
		if heading != "" && !slices.Contains(anchors(page), heading) {
			t.Errorf("%s links to %s, and that page has no such heading", path, m[1])
		}
	}
	return len(links)
}

// anchors returns the names under which the headings of a page can be linked to.
func anchors(page string) (names []string) {
	other := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(page) {
		if heading, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); found && line[0] == '#' {
			name := other.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			names = append(names, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return names
}
