// Package origin tells files that this user has written on this machine from files that come from elsewhere. A file
// from elsewhere may name addresses and keys that its author has chosen, so the command line asks before it uses them.
//
// A mark is an HMAC-SHA256 with a secret key of the user, which is in a file that only the user can read.
package origin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"synod.dev/synod/internal/durable"
)

// Key is the secret of a user. A nil Key marks nothing and knows no mark.
type Key []byte

const keyBytes = 32

// Load reads the key in a folder, and creates it if there is none.
func Load(dir string) (Key, error) {
	path := filepath.Join(dir, "origin.key")
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("origin: %w", err)
		}
		key, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("origin: %w", err)
	}
	if len(key) != keyBytes {
		return nil, fmt.Errorf("origin: %s has %d bytes and must have %d; remove it, and resume older runs with "+
			"--trust", path, len(key), keyBytes)
	}
	return key, nil
}

// create writes a new key under another name and links it, so that two processes get the same key.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".origin-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keyBytes)
	rand.Read(key)
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// Mark returns the mark of a text of a kind, such as "journal": 64 hexadecimal digits; "" without a key.
func (k Key) Mark(kind string, text []byte) string {
	if len(k) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, k)
	fmt.Fprintf(h, "synod %s 1\n", kind)
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// Wrote reports whether a mark is that of this key for a text of a kind.
func (k Key) Wrote(kind string, text []byte, mark string) bool {
	return len(k) > 0 && hmac.Equal([]byte(k.Mark(kind, text)), []byte(mark))
}
