//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHintNamesThePackage(t *testing.T) {
	for message, want := range map[string]string{
		"libstdc++.so.6: cannot open shared object file: No such file or directory":       "libstdc++6",
		"libgcc_s.so.1: cannot open shared object file: No such file or directory":        "libgcc-s1",
		"/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by x)": "libc6",
		"file too short": "",
	} {
		if got := hint(message); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}

func TestFindTakesVersionedNames(t *testing.T) {
	dir := t.TempDir()
	if _, err := find(dir, "llama"); err == nil {
		t.Error("found in an empty directory")
	}
	for _, name := range []string{"libllama-common.so", "libllama.v0.5.0.so", "libllama.so"} { // the plain name wins
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := find(dir, "llama")
		if name == "libllama-common.so" {
			if err == nil {
				t.Errorf("%s passes for libllama", got)
			}
			continue
		}
		if err != nil || got != path {
			t.Errorf("%s, %v; want %s", got, err, path)
		}
	}
}
