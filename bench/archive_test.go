package bench_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/bench"
)

// An archive has every file of the folder but its lock and a hub's keys, a digest of each, and a folder that can be
// reported. The same folder gives the same bytes, and a changed byte another digest.
func TestArchive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	g := grid(t, 1)
	if err := g.Create(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Work(context.Background(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "hub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hub", "worker.key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(more string) (file []byte, digest string) {
		opened, err := bench.OpenGrid(dir)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		digest, err = opened.Archive(&b, []string{"Ada: \"A\""}, map[string][]byte{"report.md": []byte(more)})
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes(), digest
	}
	file, digest := write("figures")
	again, _ := write("figures")
	if _, other := write("figured"); !bytes.Equal(file, again) || other == digest {
		t.Error("the same content has two archives, or another content the same digest")
	}
	names, sums := unpacked(t, file)
	for _, want := range []string{"CITATION.cff", "setting.json", "report.md", "run/results.db", "run/journals-1.seg"} {
		if !strings.Contains(names, want+"\n") {
			t.Errorf("the archive lacks %s; it has\n%s", want, names)
		}
	}
	if strings.Contains(names, "lock") || strings.Contains(names, "key") {
		t.Errorf("the archive has the lock or a key:\n%s", names)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(sums))); got != digest {
		t.Errorf("the digest is %s, that of the sums %s", digest, got)
	}
}

// unpacked returns the names of the files in an archive and its sums, which fit its content.
func unpacked(t *testing.T, file []byte) (names, sums string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	made := ""
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == bench.ArchiveSums {
			sums = string(content)
			continue
		}
		names += f.Name + "\n"
		made += fmt.Sprintf("%x  %s\n", sha256.Sum256(content), f.Name)
	}
	if made != sums {
		t.Errorf("the sums are\n%s\nwant\n%s", sums, made)
	}
	return names, sums
}
