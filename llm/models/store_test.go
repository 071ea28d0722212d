package models

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/core/clean"
)

func libraryEntry(path string, pin bool) (Entry, Source) {
	src := Source{Via: "npm", Packages: []string{"lib@1"}, Members: []string{"package/bins/"}}
	if pin {
		_, src.SHA256, _ = digest(path)
	}
	return Entry{Name: Library, Kind: Libraries, Version: "0.5.0", Sources: []Source{src}}, src
}

var goodLibrary = []tarMember{
	{name: "package/bins/libllama.v0.5.0.so", body: "l"}, {name: "package/bins/libggml.v0.5.0.so", body: "g"},
	{name: "package/bins/libggml-base.so", body: "b"}, {name: "package/bins/libggml-cpu-x64.so", body: "c"},
}

func TestLibraries(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names of Linux libraries")
	}
	hostile := []tarMember{
		{name: "package/bins/../../libggml-evil.so", body: "x"}, {name: "/package/bins/libggml-abs.so", body: "x"},
		{name: "package/bins/libggml-link.so", link: "/etc/passwd"}, {name: "package/bins/libggml-\\win.so", body: "x"},
		{name: "package/bins/libggml-nul\x01.so", body: "x"}, {name: "package/bins/libggml-d\u2024so.so", body: "x"},
		{name: "package/bins/" + "libggml-" + strings.Repeat("x", 200) + ".so", body: "x"},
		{name: "package/bins/llama-addon.node", body: "x"}, {name: "package/other/libllama.so", body: "x"},
		{name: "package/bins/libllama-common.so", body: "x"},
	}
	archive := tgz(t, append(hostile, goodLibrary...)...)
	s := toyStore(t)
	s.clients["npm"] = [][]string{client(t, archive)}
	e, _ := libraryEntry(archive, true)
	if err := s.put(e, Options{}); err != nil {
		t.Fatal(err)
	}
	in, err := s.installed(Library)
	if err != nil || !in.Pinned {
		t.Fatal(in, err)
	}
	var got []string
	for _, f := range in.Files {
		got = append(got, filepath.Base(f.Name))
	}
	want := []string{"libggml-base.so", "libggml-cpu-x64.so", "libggml.v0.5.0.so", "libllama.v0.5.0.so"}
	if !slices.Equal(got, want) {
		t.Fatalf("unpacked %q, want %q", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, ".pull-*")); len(left) > 0 {
		t.Error("files remain:", left)
	}
	bad, _ := libraryEntry(archive, true)
	bad.Sources[0].SHA256 = strings.Repeat("0", 64)
	mustContain(t, s.put(bad, Options{}), "wrong content")
	if _, err := s.installed(Library); err != nil {
		t.Error("a failed pull removed the installed libraries:", err)
	}
}

func TestLibrariesIncomplete(t *testing.T) {
	s := toyStore(t)
	archive := tgz(t, goodLibrary[1:]...)
	s.clients["npm"] = [][]string{client(t, archive)}
	e, _ := libraryEntry(archive, true)
	mustContain(t, s.put(e, Options{}), "it has no libllama")
	s.clients["npm"] = [][]string{client(t, filepath.Join(s.Dir, "no.tgz"))}
	mustContain(t, s.put(e, Options{}), "exit status 1")
}

func TestResolve(t *testing.T) {
	s := toyStore(t)
	_, err := s.Resolve(Default)
	mustContain(t, err, "synod models pull "+Library)
	s.LibDir = "/my/libs"
	_, err = s.Resolve(Default)
	mustContain(t, err, "synod models pull "+Default)
	if !errors.Is(err, ErrMissing) {
		t.Error("not ErrMissing")
	}
	_, err = s.Resolve("gpt-9")
	mustContain(t, err, "known:", Default)
	mine := filepath.Join(t.TempDir(), "mine.gguf")
	if err := os.WriteFile(mine, gguf(64), 0o644); err != nil {
		t.Fatal(err)
	}
	loc, err := s.Resolve(mine)
	if err != nil || loc.Model != mine || loc.LibDir != "/my/libs" || !loc.AnyLibrary {
		t.Fatal(loc, err)
	}
}

func TestListRemoveDamage(t *testing.T) {
	content := gguf(4000)
	hub := newHub(t, content)
	s := toyStore(t)
	if err := s.put(pinned(content, hub.URL), Options{}); err != nil {
		t.Fatal(err)
	}
	if l, err := s.List(); err != nil || len(l) != 1 || l[0].Bytes() != 4000 {
		t.Fatal(l, err)
	}
	file := filepath.Join(s.Dir, "toy.gguf")
	flipped := slices.Clone(content)
	flipped[99] ^= 1
	if err := os.WriteFile(file, flipped, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify("toy"); !errors.Is(err, ErrDigest) {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 10); err != nil {
		t.Fatal(err)
	}
	_, err := s.List()
	mustContain(t, err, "another size")
	if err := s.Remove("toy"); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(s.Dir); len(left) != 0 {
		t.Error("files remain:", left)
	}
	mustContain(t, s.Remove("toy"), "not pulled")
	mustContain(t, s.Remove("../x"), "not a valid name")
}

// Entries are complete, tested entries are pinned, and packages have exact versions.
func TestCatalog(t *testing.T) {
	defaults := 0
	for _, e := range Catalog() {
		if !validName(e.Name) || e.Licence == "" || e.Bytes <= 0 || len(e.Sources) == 0 || e.Summary == "" {
			t.Errorf("%s %s: incomplete", e.Name, e.Platform)
		}
		if e.Tried && !e.Pinned() {
			t.Errorf("%s: tested but not pinned", e.Name)
		}
		if e.Name == Default {
			defaults++
		}
		for _, src := range e.Sources {
			if (src.Via == "https") != strings.HasPrefix(src.URL, "https://") || len(src.Packages) != len(src.Members) {
				t.Errorf("%s: source %s is invalid", e.Name, src)
			}
			for _, p := range src.Packages {
				if strings.Count(strings.TrimPrefix(p, "@"), "@")+strings.Count(p, "==") != 1 {
					t.Errorf("%s: package %s has no exact version", e.Name, p)
				}
			}
		}
	}
	if defaults != 1 {
		t.Errorf("%d entries have the name of the default model", defaults)
	}
}

func FuzzValidMember(f *testing.F) {
	for _, s := range []string{"libllama.so", "../x", "a/b", "", ".", "..", "a\x00b", "CON", "x.", "ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if base, ok := wanted(name, ""); ok && (strings.ContainsAny(base, "/\\\x00") || !filepath.IsLocal(base)) {
			t.Errorf("%q is accepted as %q", name, base)
		}
	})
}

// FuzzManifest reads the manifest of an entry, which another program may have written. What is used lies in the folder
// of the store and has the name that was asked for, and removing the entry removes nothing beside it.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"name":"toy","kind":"weights","files":[{"name":"toy.gguf","bytes":4,"sha256":"00"}]}`))
	f.Add([]byte(`{"name":"toy","files":[{"name":"../secret","bytes":6}]}`))
	f.Add([]byte(`{"name":"\u001b[2J","kind":"weights","files":[{"name":"toy.gguf","bytes":4}]}`))
	f.Add([]byte(`{"files":[]}`))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		outside := t.TempDir()
		secret := filepath.Join(outside, "secret")
		s := Store{Dir: filepath.Join(outside, "models"), LibDir: outside}
		err := os.Mkdir(s.Dir, 0o700)
		for path, text := range map[string]string{secret: "secret", filepath.Join(s.Dir, "toy.gguf"): "GGUF",
			filepath.Join(s.Dir, "toy.json"): string(manifest)} {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		if at, err := s.Resolve("toy"); err == nil {
			if rel, err := filepath.Rel(s.Dir, at.Model); err != nil || !filepath.IsLocal(rel) {
				t.Errorf("%s is used as %s", manifest, at.Model)
			}
		}
		if all, err := s.List(); err == nil && len(all) == 1 && (all[0].Name != "toy" || clean.Escape(all[0].Version+
			all[0].Licence+all[0].Source) != all[0].Version+all[0].Licence+all[0].Source) {
			t.Errorf("the entry is listed as %q", fmt.Sprint(all[0]))
		}
		_ = s.Verify("toy") // must not panic
		_ = s.Remove("toy")
		if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
			t.Errorf("a file beside the store is %q, %v", b, err)
		}
	})
}
