package graph

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The search on 128 nodes is a copy of the one on 64, renamed.
func TestPairIsACopyOfWord(t *testing.T) {
	sources, err := filepath.Glob("word_*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal("no sources", err)
	}
	for _, name := range sources {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		copied := "pair_" + strings.TrimPrefix(name, "word_")
		want := "// Code generated from " + name + " by go generate; DO NOT EDIT.\n\n" +
			strings.NewReplacer("word", "pair", "Word", "Pair").Replace(string(source))
		if got, err := os.ReadFile(copied); err != nil || string(got) != want {
			t.Errorf("%s is not the copy of %s: run go generate in this folder", copied, name)
		}
	}
}
