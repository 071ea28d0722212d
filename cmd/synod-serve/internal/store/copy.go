package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrServer reports that a store is PostgreSQL, whose own programs copy it.
var ErrServer = errors.New("the store is PostgreSQL: pg_dump copies it, and psql restores it")

// Copy writes the store as it is in one moment into a new file, also while a gateway uses it, and checks that file.
// What a gateway has not yet written from its log is in the logs: see Logs.
func (s *Store) Copy(ctx context.Context, path string) error {
	if s.postgres {
		return ErrServer
	}
	if _, err := s.db.ExecContext(ctx, "VACUUM INTO $1", path); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	c, err := openFile(path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	var found string
	err = c.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found)
	if err == nil && found != "ok" {
		err = errors.New("the copy is damaged: " + found)
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Logs lists the logs of the gateway of a file (see Local) that are there now, by their paths.
func Logs(file string) ([]string, error) {
	sp := &spool{path: file}
	all, err := sp.generations()
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = sp.name(g)
	}
	return names, err
}

// Size counts the keys and the requests that a store has.
func (s *Store) Size(ctx context.Context) (keys, requests int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM keys), (SELECT COUNT(*) FROM requests)").Scan(&keys,
		&requests)
	if err != nil {
		err = fmt.Errorf("store: %w", err)
	}
	return keys, requests, err
}
