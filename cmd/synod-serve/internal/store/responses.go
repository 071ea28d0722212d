package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Response is what is kept of a response for the requests that go on from it or read it again.
type Response struct {
	Conversation []byte // the turns, the answer among them, as JSON
	Body         []byte // as the client got it; empty: an earlier release has kept it
}

// KeepResponse keeps a response for its key.
func (s *Store) KeepResponse(id, key string, r Response) error {
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO responses (id, key_id, at, conversation, body)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, id, key, s.now().UnixMilli(), string(r.Conversation),
			string(r.Body))
		return err
	})
}

// Response returns a response to the same key; nil if there is none.
func (s *Store) Response(id, key string) (*Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	var r Response
	err := s.db.QueryRowContext(ctx, "SELECT conversation, body FROM responses WHERE id = $1 AND key_id = $2", id,
		key).Scan(&r.Conversation, &r.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return &r, nil
}

// DeleteResponse forgets a response of the key, and reports whether there was one.
func (s *Store) DeleteResponse(id, key string) (there bool, err error) {
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM responses WHERE id = $1 AND key_id = $2", id, key)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		there = n > 0
		return err
	})
	return there, err
}
