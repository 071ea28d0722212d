package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	goTest  = regexp.MustCompile("go test [^`\n]*")
	folder  = regexp.MustCompile(`\./[\w./-]+`)
	pattern = regexp.MustCompile(`-(run|bench) ('[^']*'|"[^"]*"|[\w.$^]+)`)
	target  = regexp.MustCompile("`make ([a-z-]+)")
	played  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)
)

// TestHousePagesCommands: a command "go test" in a page that names packages plays some test or benchmark of them, and a
// target of make exists.
func TestHousePagesCommands(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob("docs/*/*.md")
	found := 0
	for _, page := range append(pages, "docs/guarantees.md", "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range target.FindAllSubmatch(text, -1) {
			if found++; !strings.Contains(string(makefile), "\n"+string(m[1])+":") && string(m[1]) != "bin" {
				t.Errorf("%s: the Makefile has no target %s", page, m[1])
			}
		}
		for _, command := range goTest.FindAllString(string(text), -1) {
			found++
			command = strings.ReplaceAll(command, `\|`, "|") // in a table
			if why := playsNothing(command); why != "" {
				t.Errorf("%s: %s: %s", page, command, why)
			}
		}
	}
	if found < 100 || playsNothing("go test ./internal/house -run NoSuchName") == "" {
		t.Errorf("%d commands were found, or a name that is nowhere passes", found)
	}
}

// playsNothing says what a command lacks; "" if it plays something, or names no package.
func playsNothing(command string) string {
	var names []string
	packages := folder.FindAllString(command, -1)
	for _, dir := range packages {
		files, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(dir, "/..."), "*_test.go"))
		for _, path := range files {
			b, _ := os.ReadFile(path)
			for _, m := range played.FindAllSubmatch(b, -1) {
				names = append(names, string(m[1]))
			}
		}
	}
	if len(packages) > 0 && len(names) == 0 {
		return "there are no tests in these packages"
	}
	for _, m := range pattern.FindAllStringSubmatch(command, -1) {
		first, _, _ := strings.Cut(strings.Trim(m[2], `'"`), "/")
		if len(packages) == 0 || first == "^$" || first == "xxx" {
			continue
		}
		of, bench := regexp.MustCompile(first), m[1] == "bench"
		if !slices.ContainsFunc(names, func(name string) bool {
			return of.MatchString(name) && strings.HasPrefix(name, "Benchmark") == bench
		}) {
			return "nothing is called " + m[2]
		}
	}
	return ""
}
