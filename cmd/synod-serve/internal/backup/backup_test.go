package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// archive writes an archive with entries as they are given.
func archive(t *testing.T, heads ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	out := tar.NewWriter(packed)
	for _, h := range heads {
		h.Mode, h.Size = 0o644, 1
		if h.Typeflag == tar.TypeSymlink {
			h.Size = 0
		}
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := out.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	out.Close()
	packed.Close()
	path := filepath.Join(t.TempDir(), "a.tar.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is written is read again, links to files with their text; files are their owner's alone, those that exist stay.
func TestWriteAndRead(t *testing.T) {
	from, to, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "b.tar.gz")
	for name, text := range map[string]string{"a": "one", "sub/b": "two"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	w, err := Write(file, []Part{{"p", from}, {"none", filepath.Join(from, "absent")}})
	if err != nil || w.Files["p"] != 3 || w.Files["none"] != 0 || w.Bytes == 0 {
		t.Fatal(w, err)
	}
	if _, err := Write(file, nil); !os.IsExist(err) {
		t.Errorf("an archive was overwritten: %v", err)
	}
	if err := os.WriteFile(filepath.Join(to, "a"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Read(file, func(string) (string, error) { return to, nil })
	if err != nil || r.Files["p"] != 2 || !reflect.DeepEqual(r.Kept, []string{filepath.Join(to, "a")}) {
		t.Errorf("%+v %v", r, err)
	}
	for name, want := range map[string]string{"a": "mine", "sub/b": "two", "link": "one"} {
		path := filepath.Join(to, name)
		b, err := os.ReadFile(path)
		info, stat := os.Lstat(path)
		if err != nil || stat != nil || string(b) != want || info.Mode() != 0o600 {
			t.Errorf("%s: %q %v %v %v", name, b, err, info, stat)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b[:len(b)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file, func(string) (string, error) { return t.TempDir(), nil }); err == nil {
		t.Error("an archive that was cut off is read as whole")
	}
}

// An archive of somebody else writes nothing outside the folders.
func TestHostileArchives(t *testing.T) {
	outside := t.TempDir()
	for _, heads := range [][]tar.Header{
		{{Name: "p/../../x", Typeflag: tar.TypeReg}}, {{Name: "p//etc/x", Typeflag: tar.TypeReg}},
		{{Name: "p", Typeflag: tar.TypeReg}}, {{Name: "p/x", Typeflag: tar.TypeSymlink, Linkname: outside}},
		{{Name: "p/x/y", Typeflag: tar.TypeReg}},
	} {
		into := filepath.Join(t.TempDir(), "into")
		if err := os.Mkdir(into, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(into, "x")); err != nil { // somebody has prepared the folder
			t.Fatal(err)
		}
		r, err := Read(archive(t, heads...), func(string) (string, error) { return into, nil })
		left, _ := os.ReadDir(outside)
		around, _ := os.ReadDir(filepath.Dir(into))
		if err == nil || len(left) > 0 || len(around) > 1 {
			t.Errorf("%s: %+v %v; outside %v, around %v", heads[0].Name, r, err, left, around)
		}
	}
	if _, err := Read(archive(t, tar.Header{Name: "p/y", Typeflag: tar.TypeReg}), func(string) (string, error) {
		return t.TempDir(), nil
	}); err != nil {
		t.Errorf("the control: %v", err)
	}
	if _, err := Read(os.Args[0], nil); err == nil || !strings.Contains(err.Error(), "no backup") {
		t.Error(err)
	}
}
