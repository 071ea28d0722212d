package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
)

// SigningKey returns the key in a file. If path is empty, it is the key of this user, which is
// made when it is needed for the first time.
func (a *App) SigningKey(path string) (sign.Secret, string, error) {
	own := path == ""
	if own {
		path = filepath.Join(a.Dirs.Config, "owner.key")
	}
	const most = 1 << 10
	text, err := durable.ReadFile(path, most)
	if own && errors.Is(err, fs.ErrNotExist) {
		if err := createKey(path); err != nil {
			return sign.Secret{}, path, err
		}
		text, err = durable.ReadFile(path, most)
	}
	if err != nil {
		return sign.Secret{}, path, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return sign.Secret{}, path, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return sign.Secret{}, path, fmt.Errorf("others may read the key %s: run chmod 600 %s", path,
			ShellWord(path))
	}
	secret, err := sign.ParseSecret(string(text))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return secret, path, err
}

// createKey writes a new key that only the user can read. If another process was faster,
// its key stays.
func createKey(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	secret, err := sign.Generate(rand.Reader)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(secret.File())
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// FillKey names the user's own key (owner.key in the folder of configuration files), which is made if it is absent, in
// a council of nodes that names none.
func (a *App) FillKey(spec *plan.Spec) error {
	if !spec.Runner.Capabilities().Owned || spec.Runner.Key != "" {
		return nil
	}
	_, path, err := a.SigningKey("")
	if err != nil {
		return Fail(ExitFailure, err)
	}
	spec.Runner.Key = path
	return nil
}

// OwnerKey returns the user's own key (owner.key in the folder of configuration files), which is made if it is
// absent. It signs certificates.
func (a *App) OwnerKey() (sign.Secret, error) {
	secret, _, err := a.SigningKey("")
	return secret, err
}

// HasOwnerKey reports whether the user's own key has been made.
func (a *App) HasOwnerKey() bool {
	_, err := os.Stat(filepath.Join(a.Dirs.Config, "owner.key"))
	return err == nil
}
