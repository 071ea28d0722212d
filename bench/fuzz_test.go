package bench_test

import (
	"os"
	"path/filepath"
	"testing"

	"synod.dev/synod/bench"
	councilplan "synod.dev/synod/council/plan"
)

// FuzzFolder reads a folder with other bytes at a place of its database and of its segment.
func FuzzFolder(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "run")
	spec, err := councilplan.Parse([]byte(seven))
	if err != nil {
		f.Fatal(err)
	}
	run, err := bench.Draft(bench.RunPlan{Program: "test", Task: "sums", Items: sums(f, 2), Repeat: 1, Seed: 7,
		Spec: spec})
	if err == nil {
		err = run.Create(dir)
	}
	if err == nil {
		_, err = run.Work(f.Context(), bench.Options{})
	}
	if err != nil {
		f.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range []string{"results.db", "journals-1.seg"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		files[name] = b
	}
	f.Add(4096, []byte{13, 0, 0, 0, 9}, 0, []byte{})
	f.Add(0, []byte{}, 0, []byte{0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, page int, row []byte, at int, block []byte) {
		dir := t.TempDir()
		for name, b := range files {
			b, from, patch := append([]byte(nil), b...), page, row
			if name != "results.db" {
				from, patch = at, block
			}
			if from >= 0 && from < len(b) {
				copy(b[from:], patch)
			}
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		opened, err := bench.Open(dir)
		if err != nil {
			return
		}
		opened.Report() // must not panic or hang
	})
}
