package adversary

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/adversaries.md has a row for every adversary and for nothing else, and every
// test that it names exists.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/adversaries.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## What each does")
	table, _, _ = strings.Cut(table, "## What holds")
	rows := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(table, -1) {
		rows[m[1]]++
	}
	for _, name := range Catalogue.Names() {
		if rows[name] != 1 {
			t.Errorf("%s has %d rows", name, rows[name])
		}
		delete(rows, name)
	}
	if len(rows) > 0 {
		t.Errorf("rows for unknown adversaries: %v", rows)
	}
	tests := declared(t)
	for _, name := range regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9]*`).FindAllString(string(text), -1) {
		if !strings.Contains(tests, "func "+name+"(t *testing.T)") {
			t.Errorf("%s does not exist", name)
		}
	}
}

// declared returns the source of the tests here and in the protocols.
func declared(t *testing.T) string {
	var all strings.Builder
	for _, dir := range []string{".", "../protocol"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
