package models

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"synod.dev/synod/internal/fetch"
)

// Verify reads every file of an installed entry and compares its digest. It returns
// ErrDigest for a different one and ErrMissing if the entry is not installed.
func (s Store) Verify(name string) error {
	in, err := s.installed(name)
	if err != nil {
		return missing(err, name)
	}
	for _, f := range in.Files {
		_, sum, err := digest(filepath.Join(s.Dir, f.Name))
		if err != nil {
			return err
		}
		if sum != f.SHA256 {
			return fmt.Errorf("models: %s: %w: %s has SHA-256 %s; recorded is %s", name, ErrDigest, f.Name, sum, f.SHA256)
		}
	}
	return nil
}

func digest(path string) (size int64, sum string, err error) {
	if size, sum, err = fetch.Digest(path); err != nil {
		return 0, "", fmt.Errorf("models: %w", err)
	}
	return size, sum, nil
}

// record writes the manifest atomically. The entry is installed when it exists.
func (s Store) record(in Installed) error {
	raw, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	f, err := os.CreateTemp(s.Dir, ".manifest-*")
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	defer os.Remove(f.Name()) // fails if it has been renamed
	_, err = f.Write(append(raw, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), s.manifest(in.Name))
	}
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	return nil
}
