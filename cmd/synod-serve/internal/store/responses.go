package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// KeepResponse keeps the conversation of a response for the requests that go on from it.
func (s *Store) KeepResponse(id, key string, conversation []byte) error {
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO responses (id, key_id, at, conversation) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, id, key, s.now().UnixMilli(), string(conversation))
		return err
	})
}

// Response returns the conversation of a response to the same key; nil if there is none.
func (s *Store) Response(id, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	var text string
	err := s.db.QueryRowContext(ctx, "SELECT conversation FROM responses WHERE id = $1 AND key_id = $2", id,
		key).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return []byte(text), nil
}
