package keyfile

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/core/sign"
)

func words(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }

func TestKeyFiles(t *testing.T) {
	secret, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	none := func() ([]byte, error) { return nil, errors.New("asked for a passphrase") }
	for name, passphrase := range map[string]string{"open": "", "locked": "a long one"} {
		path := filepath.Join(dir, name)
		if err := Create(path, secret, []byte(passphrase)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if Create(path, secret, nil) == nil {
			t.Errorf("%s: a key was replaced", name)
		}
		ask := none
		if passphrase != "" {
			ask = words(passphrase)
		}
		if got, err := Read(path, ask); err != nil || got.Reveal() != secret.Reveal() {
			t.Errorf("%s: %v", name, err)
		}
		b, _ := os.ReadFile(path)
		if passphrase != "" && strings.Contains(string(b), strings.TrimPrefix(secret.Reveal(), "synod-secret-")) {
			t.Error("the encrypted file shows the secret")
		}
	}
	locked := filepath.Join(dir, "locked")
	if _, err := Read(locked, words("another")); err == nil || strings.Contains(err.Error(), secret.Reveal()) {
		t.Errorf("another passphrase: %v", err)
	}
	if _, err := Read(locked, none); err == nil || !strings.Contains(err.Error(), "asked for") {
		t.Errorf("without a passphrase: %v", err)
	}
	b, _ := os.ReadFile(locked)
	b[len(b)-8] ^= 1
	damaged := filepath.Join(dir, "damaged")
	os.WriteFile(damaged, b, 0o600)
	if _, err := Read(damaged, words("a long one")); err == nil {
		t.Error("a damaged file is read")
	}
	if err := os.Chmod(locked, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(locked, words("a long one")); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}
