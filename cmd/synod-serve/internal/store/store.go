// Package store keeps what a gateway must not forget: requests with their cost, API keys with their limits,
// and which journals exist. It is SQLite in a file, or PostgreSQL for several gateways that share keys, spend
// and limits.
//
// Money and tokens are reserved before a request may cost any, in the same transaction that checks the limits of its
// key, and settled when the request has ended. So no number of requests at once exceeds a limit, and a gateway that
// is killed leaves reservations, which then count as spent. Requests that come together share a transaction.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Store is an open store. Its methods may be called concurrently.
type Store struct {
	*books
	spool *spool // of the gateway Local of a file; nil: every request is a transaction
	stop  chan struct{}
	seal  *seal // nil: PostgreSQL
}

// Local names the gateway of a file, of which there is one at a time. What it records of requests goes through a log of
// its own.
const Local = "local"

// Open opens the store at a URL: postgres://…, or sqlite:PATH or a path for a file, which is made if it is
// missing. gateway names this process among those that share the store; "": the store is only administered.
func Open(ctx context.Context, url, gateway string) (*Store, error) {
	s := &Store{stop: make(chan struct{}), books: &books{gateway: gateway, now: time.Now,
		stuck: map[string]map[string]Amount{}, database: &database{ops: make(chan op, 1024),
			stopped: make(chan struct{}), prepared: map[string]*sql.Stmt{}}}}
	var err error
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		s.postgres = true
		s.db, err = sql.Open("pgx", url)
	} else {
		err = s.openSealed(url, gateway)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), s.db.Close())
	}
	go s.write()
	if !s.postgres && gateway == Local {
		if s.spool, err = openSpool(ctx, s.books, strings.TrimPrefix(url, "sqlite:")); err != nil {
			return nil, errors.Join(fmt.Errorf("store: %w", err), s.Close())
		}
		go s.spool.run(s.stop)
	}
	return s, nil
}

// Close waits for what has been begun, and closes the store.
func (s *Store) Close() error {
	var err error
	if s.spool != nil {
		close(s.stop)
		err = s.spool.close()
	}
	close(s.ops)
	<-s.stopped
	if !s.postgres { // SQLite does this too when it closes a file, but says nothing if it fails
		if _, settled := s.db.Exec("PRAGMA wal_checkpoint(PASSIVE)"); settled != nil {
			err = errors.Join(err, fmt.Errorf("store: what was settled last may not be on disk: %w", settled))
		}
	}
	if err = errors.Join(err, s.db.Close()); err == nil && s.seal != nil {
		err = s.seal.close()
	}
	return err
}

// flush has the database say what was begun and settled until now.
func (s *Store) flush() error {
	if s.spool == nil {
		return nil
	}
	return s.spool.flush()
}
