package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
)

const pendingDir = "pending"

// Queue is a folder with the entries that were promised to a ledger and are not in it yet.
type Queue string

// Put promises an entry: it is on disk when Put returns without an error.
func (q Queue) Put(e *Entry) error {
	b, err := e.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(q), 0o700); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	sum := sha256.Sum256(b)
	if err := durable.WriteFile(q.path(hex.EncodeToString(sum[:])), b); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

func (q Queue) path(name string) string { return filepath.Join(string(q), name) }

// names returns the files of the entries that wait, ascending.
func (q Queue) names() (names []string, err error) {
	files, err := os.ReadDir(string(q))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	for _, f := range files {
		if _, err := hex.DecodeString(f.Name()); err == nil && f.Type().IsRegular() {
			names = append(names, f.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// write appends the entry of a file to a ledger and removes the file.
func (q Queue) write(ctx context.Context, l Ledger, name string) error {
	b, err := durable.ReadFile(q.path(name), maxEntry)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	e, err := DecodeEntry(b)
	if err != nil { // it must not keep others from the ledger for ever
		return errors.Join(fmt.Errorf("%s: %w", q.path(name), err), os.Rename(q.path(name), q.path(name)+".unreadable"))
	}
	if _, err := l.Append(ctx, e); err != nil && !errors.Is(err, ErrWaits) {
		return err
	}
	if err := os.Remove(q.path(name)); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// Submit promises that an entry will be in the log of a folder: it is on disk in a queue
// when Submit returns without an error. No decision waits for the log: if another process
// has it open, or it cannot be written, the next Drain appends the entry.
func Submit(dir string, e *Entry) error { return Queue(filepath.Join(dir, pendingDir)).Put(e) }

// Drain appends what was promised to the log of a folder, in the order of the files' names,
// and returns the log, which the caller closes. An entry stays in the queue until it is in
// the log; one that cannot be read is an error.
func Drain(ctx context.Context, dir string, secret sign.Secret) (*Log, error) {
	l, err := Open(dir, secret)
	if err != nil {
		return nil, err
	}
	q := Queue(filepath.Join(dir, pendingDir))
	names, err := q.names()
	for i := 0; i < len(names) && err == nil; i++ {
		err = q.write(ctx, l, names[i])
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
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
