package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/sign"
)

const pendingDir = "pending"

// Submit promises that an entry will be in the log of a folder: it is on disk in a queue
// when Submit returns without an error. No decision waits for the log: if another process
// has it open, or it cannot be written, the next Drain appends the entry.
func Submit(dir string, e *Entry) error {
	b, err := e.Encode()
	if err != nil {
		return err
	}
	queue := filepath.Join(dir, pendingDir)
	if err := os.MkdirAll(queue, 0o700); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	sum := sha256.Sum256(b)
	if err := durable.WriteFile(filepath.Join(queue, hex.EncodeToString(sum[:])), b); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// Drain appends what was promised to the log of a folder, in the order of the files' names,
// and returns the log, which the caller closes. An entry stays in the queue until it is in
// the log; one that cannot be read is an error.
func Drain(dir string, secret sign.Secret) (*Log, error) {
	l, err := Open(dir, secret)
	if err != nil {
		return nil, err
	}
	if err := l.drain(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Log) drain() error {
	queue := filepath.Join(l.dir, pendingDir)
	files, err := os.ReadDir(queue)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	names := []string{}
	for _, f := range files {
		if _, err := hex.DecodeString(f.Name()); err == nil && f.Type().IsRegular() {
			names = append(names, f.Name())
		}
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(queue, name)
		b, err := durable.ReadFile(path, maxEntry)
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		e, err := DecodeEntry(b)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if _, err := l.Append(e); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	return nil
}

// Find returns the index of an entry, if the log has it.
func (l *Log) Find(e *Entry) (uint64, bool) {
	b, err := e.Encode()
	if err != nil {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.known[[sha256.Size]byte(hasher.HashLeaf(b))]
	return at, ok
}
