package lab_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
)

// FuzzFolder reads the files of a run folder. Sums that the fuzzer cannot find are put right, so that it comes to what
// is behind them.
func FuzzFolder(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "run")
	spec, err := council.Parse([]byte(seven))
	if err != nil {
		f.Fatal(err)
	}
	run, err := lab.Draft(lab.Plan{Program: "test", Task: "sums", Items: sums(f, 2), Repeat: 1, Seed: 7, Spec: spec})
	if err == nil {
		err = run.Create(dir)
	}
	if err == nil {
		_, err = run.Work(f.Context(), lab.Options{})
	}
	if err != nil {
		f.Fatal(err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	manifest, items, journals := read("run.json"), read("items.jsonl"), read("journals.jsonl")
	f.Add(manifest, items, `{"question":"Sum 0/x","repeat":0,"stopped":"rounds","seconds":1}`, journals)
	f.Add([]byte(`{"version":3,"repeat":1000000000,"n":1}`), []byte("{}\n"), `{"question":""}`, []byte{})
	f.Fuzz(func(t *testing.T, manifest, items []byte, attempt string, journals []byte) {
		dir := t.TempDir()
		write := func(name string, b []byte) {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("items.jsonl", items)
		sum := sha256.Sum256(items)
		text := string(manifest)
		if at := strings.Index(text, `"items": "`); at >= 0 && len(text) > at+74 {
			text = text[:at+10] + hex.EncodeToString(sum[:]) + text[at+74:]
		}
		b, err := lab.Seal([]byte(text))
		if err != nil {
			return
		}
		write("run.json", b)
		write("attempts.jsonl", lab.SealLine(attempt))
		write("journals.jsonl", journals)
		opened, err := lab.Open(dir)
		if err != nil {
			return
		}
		opened.Report() // must not panic or hang
	})
}
