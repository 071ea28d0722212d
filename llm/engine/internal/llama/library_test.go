//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	yzma "github.com/hybridgroup/yzma/pkg/llama"
)

// The structs of types.go have the same layout as those of yzma v1.27.0, which are for the
// supported version of the library.
func TestLayoutsMatchYzma(t *testing.T) {
	for _, c := range []struct{ here, yzma any }{
		{ModelParams{}, yzma.ModelParams{}},
		{ContextParams{}, yzma.ContextParams{}},
		{rawBatch{}, yzma.BatchData{}},
		{TokenData{}, yzma.TokenData{}},
		{tokenDataArray{}, yzma.TokenDataArray{}},
		{chatMessage{}, yzma.ChatMessage{}},
	} {
		a, b := reflect.TypeOf(c.here), reflect.TypeOf(c.yzma)
		if a.Size() != b.Size() || a.NumField() != b.NumField() {
			t.Errorf("%s: %d bytes in %d fields, yzma has %d in %d", a, a.Size(), a.NumField(), b.Size(), b.NumField())
			continue
		}
		for i := range a.NumField() {
			f, g := a.Field(i), b.Field(i)
			if f.Offset != g.Offset || f.Type.Size() != g.Type.Size() ||
				(f.Type.Kind() == reflect.Float32) != (g.Type.Kind() == reflect.Float32) ||
				!strings.EqualFold(f.Name, strings.ReplaceAll(g.Name, "_", "")) {
				t.Errorf("%s: field %d: %s %s at %d, yzma has %s %s at %d",
					a, i, f.Name, f.Type, f.Offset, g.Name, g.Type, g.Offset)
			}
		}
	}
}

func TestHint(t *testing.T) {
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

func TestFindVersionedNames(t *testing.T) {
	dir := t.TempDir()
	if _, err := find(dir, "llama"); err == nil {
		t.Error("a library was found in an empty directory")
	}
	// a file with the plain name is preferred
	for _, name := range []string{"libllama-common.so", "libllama.v0.5.0.so", "libllama.so"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := find(dir, "llama")
		if name == "libllama-common.so" {
			if err == nil {
				t.Errorf("%s is accepted as libllama", got)
			}
			continue
		}
		if err != nil || got != path {
			t.Errorf("%s, %v; want %s", got, err, path)
		}
	}
}
