package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/nightly"
)

// storeWithKeys makes a store as a gateway leaves it, with two keys.
func storeWithKeys(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "serve.db")
	s, err := Open(t.Context(), path, Local)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ann", "bob"} {
		if _, _, err := s.NewKey(Key{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A change of a store while no gateway uses it, or of its sum, is never accepted.
func TestDamagedStore(t *testing.T) {
	path := storeWithKeys(t)
	as := map[string][]byte{}
	for _, name := range []string{path, path + SealName} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		as[name] = b
	}
	read := func(of string) func() (string, error) {
		return func() (string, error) {
			for name, text := range as {
				if name != of {
					if err := os.WriteFile(name, text, 0o600); err != nil {
						return "", err
					}
				}
			}
			s, err := Open(t.Context(), path, "")
			if err != nil {
				return "", err
			}
			keys, err := s.Keys(t.Context())
			text := fmt.Sprint(keys)
			return text, errors.Join(err, s.Close(), os.WriteFile(path, as[path], 0o600))
		}
	}
	for name, changes := range map[string]int{path: nightly.Size(300, 1900), path + SealName: nightly.Size(20, 100)} {
		for _, b := range damage.Silent(t, name, changes, read(name)) {
			t.Errorf("%s: a change is accepted: %.200q", name, b)
		}
	}
}

// There is a sum only while nobody has the store open. A store without one, as after a crash, is opened.
func TestSealed(t *testing.T) {
	path := storeWithKeys(t)
	sealed := func() bool { _, err := os.Stat(path + SealName); return !errors.Is(err, fs.ErrNotExist) }
	if !sealed() {
		t.Fatal("a gateway leaves no sum")
	}
	a, err := Open(t.Context(), path, "")
	if err != nil || sealed() {
		t.Fatal(err, "the sum is there while the store may change")
	}
	b, err := Open(t.Context(), path, Local)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil || sealed() {
		t.Error(err, "the sum of a store that somebody else has open")
	}
	if _, _, err := a.NewKey(Key{Name: "cyd"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil || !sealed() {
		t.Error(err, "the last to close the store leaves no sum")
	}
	if a, err = Open(t.Context(), path, ""); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Local); err == nil || !strings.Contains(err.Error(), "serve restore") {
		t.Errorf("another file: %v", err)
	}
	if err := os.Remove(path + SealName); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Local); err == nil || strings.Contains(err.Error(), "serve restore") {
		t.Errorf("without a sum SQLite decides: %v", err)
	}
}
