package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tables in testdata were written by Arrow's library, like those of the public hub, in both of its ways to name the
// entries of a list. Their rows, as JSON lines, are what the tests of package task read.
func TestConvert(t *testing.T) {
	tables, err := filepath.Glob(filepath.Join("testdata", "*.parquet"))
	if err != nil || len(tables) != 5 {
		t.Fatal(tables, err)
	}
	for _, path := range tables {
		name := strings.TrimSuffix(filepath.Base(path), ".parquet")
		want, err := os.ReadFile(filepath.Join("..", "task", "testdata", "releases", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var got, notes bytes.Buffer
		if err := convert(path, "", &got, &notes); err != nil || got.String() != string(want) {
			t.Errorf("%s: %v; got\n%s\nwant\n%s", name, err, &got, want)
		}
		if !strings.Contains(notes.String(), "rows, SHA-256 ") {
			t.Errorf("%s: %q", name, &notes)
		}
	}
}

func TestRefused(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "arc-easy.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.parquet")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := convert(cut, "", io.Discard, io.Discard); err == nil {
		t.Error("half a table was read")
	}
	err = convert(filepath.Join("testdata", "arc-easy.parquet"), strings.Repeat("0", 64), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "expected 000") {
		t.Errorf("another table than the expected one: %v", err)
	}
}
