//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"github.com/ebitengine/purego"
)

// Library is one set of loaded shared libraries. There can be one a process.
type Library struct {
	Version string // llama.cpp's own version, such as 0.5.0
	Ggml    string // version and commit of ggml
	Dir     string

	calls
}

// Open loads the libraries in dir, binds every symbol and checks the struct
// layouts. It loads no model and no compute backend yet: see LoadBackends.
func Open(dir string) (*Library, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	lib := &Library{Dir: abs}
	handles := map[string]uintptr{}
	for _, name := range []string{"ggml-base", "ggml", "llama"} { // each needs the ones before it
		path, err := find(abs, name)
		if err != nil {
			return nil, err
		}
		h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w%s", filepath.Base(path), err, hint(err.Error()))
		}
		handles[name] = h
	}
	if err := lib.bind(handles); err != nil {
		return nil, err
	}
	lib.Version = strings.TrimPrefix(lib.llamaVersion(), "v")
	lib.Ggml = strings.TrimSpace(lib.ggmlVersion() + " " + lib.ggmlCommit())
	return lib, lib.checkLayout()
}

// find returns the file of a library: its plain name, or the versioned name
// that packages ship without the usual link.
func find(dir, name string) (string, error) {
	ext := ".so"
	if runtime.GOOS == "darwin" {
		ext = ".dylib"
	}
	plain := filepath.Join(dir, "lib"+name+ext)
	if _, err := os.Stat(plain); err == nil {
		return plain, nil
	}
	var found []string
	for _, pattern := range []string{"lib" + name + ".v*" + ext, "lib" + name + ext + ".*", "lib" + name + ".[0-9]*" + ext} {
		m, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are constant: no error
		found = append(found, m...)
	}
	sort.Strings(found)
	if len(found) == 0 {
		return "", fmt.Errorf("no lib%s%s in %s", name, ext, dir)
	}
	return found[0], nil
}

// hint names the Debian package of a system library the loader did not find.
func hint(message string) string {
	for lib, pkg := range map[string]string{
		"libstdc++.so.6": "libstdc++6", "libgcc_s.so.1": "libgcc-s1", "libgomp.so.1": "libgomp1",
		"libffi.so.8": "libffi8", "GLIBC_": "a newer libc6 (2.34 or later)", "libm.so.6": "libc6",
	} {
		if strings.Contains(message, lib) && (lib != "GLIBC_" || strings.Contains(message, "not found")) {
			return " (on Debian: package " + pkg + ")"
		}
	}
	return ""
}

// checkLayout compares fields with known defaults, spread over both structs.
// If any differs the library was built from another llama.h.
func (l *Library) checkLayout() error {
	m, c := l.modelDefaults(), l.contextDefaults()
	ok := m.Tail == [4]uint64{} && c.Tail == [4]uint64{} &&
		m.UseExtraBufts <= 1 && m.LoadMTP <= 1 && m.SplitMode == 1 && m.TensorSplit == nil && m.VocabOnly == 0 &&
		c.NCtx == 512 && c.NBatch == 2048 && c.NUbatch == 512 && c.NSeqMax == 1 && c.NThreads == 4 && c.NThreadsBatch == 4 &&
		c.RopeScalingType == -1 && c.PoolingType == -1 && c.AttentionType == -1 && c.FlashAttentionType == -1 &&
		c.YarnExtFactor == -1 && c.TypeK == 1 && c.TypeV == 1 && c.OffloadKQV == 1 && c.NSamplers == 0 && c.CtxOther == 0
	if !ok {
		return fmt.Errorf("%w: version %s: its parameter structs are laid out otherwise", ErrLayout, l.Version)
	}
	return nil
}
