// Package keyfile stores the secret of a member or a caller in a file, which may be encrypted with a
// passphrase.
//
// The passphrase is stretched with scrypt, which needs much memory, and the secret is sealed with
// NaCl's secretbox; both are of golang.org/x/crypto. The package has rank 2: it uses sign.
package keyfile

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/nacl/secretbox"
	"golang.org/x/crypto/scrypt"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
)

const (
	lockedPrefix = "synod-locked-1 "
	saltSize     = 16
	nonceSize    = 24
	scryptN      = 1 << 16 // 64 MiB and about 0.2 s
	maxFile      = 4 << 10
)

// Create writes a secret to a new file that only its owner can read. With a passphrase it is
// encrypted. It does not replace a file.
func Create(path string, s sign.Secret, passphrase []byte) error {
	text := s.File()
	if len(passphrase) > 0 {
		var fresh [saltSize + nonceSize]byte
		if _, err := rand.Read(fresh[:]); err != nil {
			return err
		}
		key, err := stretch(passphrase, fresh[:saltSize])
		if err != nil {
			return err
		}
		sealed := secretbox.Seal(fresh[:], []byte(text), (*[nonceSize]byte)(fresh[saltSize:]), key)
		text = lockedPrefix + base64.StdEncoding.EncodeToString(sealed)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(path)
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

func stretch(passphrase, salt []byte) (*[32]byte, error) {
	b, err := scrypt.Key(passphrase, salt, scryptN, 8, 1, 32)
	if err != nil {
		return nil, err
	}
	return (*[32]byte)(b), nil
}

// Read reads a secret. passphrase is called if the file is encrypted. A file that others may read is
// refused. Errors do not repeat the secret.
func Read(path string, passphrase func() ([]byte, error)) (sign.Secret, error) {
	b, err := durable.ReadFile(path, maxFile)
	if err != nil {
		return sign.Secret{}, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		return sign.Secret{}, fmt.Errorf("others may read the key %s: run chmod 600 %s", path, path)
	}
	text := strings.TrimSpace(string(b))
	if rest, locked := strings.CutPrefix(text, lockedPrefix); locked {
		if text, err = unlock(rest, passphrase); err != nil {
			return sign.Secret{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	s, err := sign.ParseSecret(text)
	if err != nil {
		return sign.Secret{}, fmt.Errorf("%s: %w; make a key with: synod node init FILE", path, err)
	}
	return s, nil
}

func unlock(text string, passphrase func() ([]byte, error)) (string, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < saltSize+nonceSize+secretbox.Overhead {
		return "", errors.New("the encrypted key is damaged")
	}
	words, err := passphrase()
	if err != nil {
		return "", err
	}
	key, err := stretch(words, b[:saltSize])
	if err != nil {
		return "", err
	}
	open, ok := secretbox.Open(nil, b[saltSize+nonceSize:], (*[nonceSize]byte)(b[saltSize:saltSize+nonceSize]), key)
	if !ok {
		return "", errors.New("the passphrase is not the one of this key, or the file is damaged")
	}
	return string(open), nil
}
