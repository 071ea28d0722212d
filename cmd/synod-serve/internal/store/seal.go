package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
)

// seal is the checksum of a SQLite file while nobody has it open, in a file beside it: SQLite itself notices few
// changes. Who opens the store checks the sum and removes it; who closes it last writes it again. After a process died
// there is none, and the next close makes one.
type seal struct {
	path  string // of the store
	write bool   // whether close makes a sum
}

// SealName is what follows the name of a store in that of its sum.
const SealName = ".sum"

// sealTime is how long another process that opens or closes the store is waited for; it holds the lock for as long as
// it reads the file.
const sealTime = time.Minute

// open checks the sum, removes it and calls connect, before which no other process can write a sum.
func (s *seal) open(connect func() error) error {
	return s.locked(func() error {
		want, err := os.ReadFile(s.path + SealName)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return connect()
		case err != nil:
			return err
		}
		s.write = true
		if !s.used() {
			if got, err := s.sum(); err != nil {
				return err
			} else if got != string(want) {
				return fmt.Errorf("%s is not as the last gateway left it: it was changed or damaged; put a backup in "+
					"its place (synod serve restore), or remove %s if you have changed it yourself", s.path,
					s.path+SealName)
			}
		}
		if err := os.Remove(s.path + SealName); err != nil {
			return err
		}
		return connect()
	})
}

// close writes the sum, unless another process has the store open.
func (s *seal) close() error {
	if !s.write {
		return nil
	}
	return s.locked(func() error {
		if s.used() {
			return nil
		}
		sum, err := s.sum()
		if err != nil {
			return err
		}
		return durable.WriteFile(s.path+SealName, []byte(sum))
	})
}

// used reports whether a process has the store open, or died with it: the log of SQLite is there.
func (s *seal) used() bool {
	_, err := os.Lstat(s.path + "-wal")
	return !errors.Is(err, fs.ErrNotExist)
}

func (s *seal) sum() (string, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)) + "\n", nil
}

// locked calls do while no other process opens or closes the store.
func (s *seal) locked(do func() error) error {
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		lock, err := filelock.Lock(s.path + SealName + ".lock")
		if err == nil {
			return errors.Join(do(), lock.Close())
		}
		if !errors.Is(err, filelock.ErrHeld) || time.Since(begun) > sealTime {
			return fmt.Errorf("lock %s: %w", s.path, err)
		}
	}
}

// openSealed opens a file whose sum, if there is one, is right.
func (s *Store) openSealed(url, gateway string) error {
	path := strings.TrimPrefix(url, "sqlite:")
	db, err := openFile(path)
	if err != nil {
		return err
	}
	s.seal = &seal{path: path, write: gateway == Local}
	if err := s.seal.open(func() error {
		_, err := db.Exec("PRAGMA schema_version") // now SQLite's log is there, which others see
		return err
	}); err != nil {
		return errors.Join(err, db.Close())
	}
	s.db = db
	return nil
}
