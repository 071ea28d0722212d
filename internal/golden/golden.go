// Package golden compares what tests produce with files of it that are kept in the repository.
//
// Its rank is -2: it uses nothing of this module, and tests of all packages may use it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rewrite is the flag -rewrite of tests.
var Rewrite = flag.Bool("rewrite", false, "rewrite the golden files of tests; then read the diff")

// Compare compares a text with that of a file, and reports the first line that differs. With -rewrite it writes the
// file instead.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if *Rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) == got {
		return
	}
	want, have := strings.Split(string(b), "\n"), strings.Split(got, "\n")
	for i := range max(len(want), len(have)) {
		if i >= len(want) || i >= len(have) || want[i] != have[i] {
			t.Fatalf("%s: line %d differs.\n got %s\nwant %s\nIf the change is meant, play the test with -rewrite and "+
				"read the diff.", path, i+1, lineOf(have, i), lineOf(want, i))
		}
	}
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
