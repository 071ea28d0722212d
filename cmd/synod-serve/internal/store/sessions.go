package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// sessionTime is how long a login of the web page lasts.
const sessionTime = 7 * 24 * time.Hour

// NewSession begins a session of the web page for a key. Only a hash of the secret is kept.
func (s *Store) NewSession(_ context.Context, key string) (secret string, until time.Time, err error) {
	secret, until = rand.Text(), s.now().Add(sessionTime)
	return secret, until, s.run(func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE until < $1", s.now().UnixMilli())
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO sessions (hash, key_id, until) VALUES ($1, $2, $3)",
				hashOf(secret), key, until.UnixMilli())
		}
		return err
	})
}

// Session returns the key of a session; ErrKey if the session has ended or its key is no longer valid.
func (s *Store) Session(ctx context.Context, secret string) (*Key, error) {
	k, err := scanKey(s.db.QueryRowContext(ctx, keyColumns+` JOIN sessions ON sessions.key_id = keys.id
		WHERE sessions.hash = $2 AND sessions.until > $3 AND `+valid+"$3)", day(s.now()), hashOf(secret),
		s.now().UnixMilli()))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrKey
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return k, nil
}

// EndSession ends a session. There need not be one.
func (s *Store) EndSession(secret string) error {
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE hash = $1", hashOf(secret))
		return err
	})
}
