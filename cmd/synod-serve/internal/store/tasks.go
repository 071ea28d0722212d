package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Task is a question of an agents' protocol as it is kept, so that its asker can come back for the answer: also
// after a restart, and at another gateway that shares the store.
type Task struct {
	ID      string
	Key     string // the id of its key; "": none
	At      time.Time
	Version int64 // of the body; it grows with each change
	Body    json.RawMessage
}

// The errors of tasks.
var (
	ErrTaskExists  = errors.New("there is a task with this id")
	ErrNoTask      = errors.New("there is no such task, or it belongs to another key")
	ErrTaskChanged = errors.New("the task was changed meanwhile")
)

// NewTask keeps a new task, with version 1.
func (s *Store) NewTask(id, key string, body []byte) error {
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO tasks (id, key_id, at, version, body) VALUES ($1, $2, $3, 1, $4)
			ON CONFLICT DO NOTHING`, id, key, s.now().UnixMilli(), string(body))
		return changed(res, err, ErrTaskExists)
	})
}

// ChangeTask replaces the body of a task that has a version, 0: whichever it has.
func (s *Store) ChangeTask(id, key string, version int64, body []byte) (now int64, err error) {
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT version FROM tasks WHERE id = $1 AND key_id = $2", id, key).Scan(&now)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ownError{ErrNoTask}
		case err != nil:
			return err
		case version != 0 && now != version:
			return ownError{ErrTaskChanged}
		}
		res, err := tx.ExecContext(ctx, "UPDATE tasks SET version = $1, body = $2 WHERE id = $3 AND version = $4",
			now+1, string(body), id, now)
		now++
		return changed(res, err, ErrTaskChanged)
	})
	return now, err
}

func changed(res sql.Result, err, none error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return orOwn(err, none)
	}
	return nil
}

// Task returns a task of a key. The error is ErrNoTask if there is none.
func (s *Store) Task(ctx context.Context, id, key string) (Task, error) {
	t := Task{ID: id, Key: key}
	var at int64
	var body string
	err := s.db.QueryRowContext(ctx, "SELECT at, version, body FROM tasks WHERE id = $1 AND key_id = $2", id,
		key).Scan(&at, &t.Version, &body)
	t.At, t.Body = time.UnixMilli(at), json.RawMessage(body)
	if errors.Is(err, sql.ErrNoRows) {
		return t, ErrNoTask
	}
	if err != nil {
		return t, fmt.Errorf("store: %w", err)
	}
	return t, nil
}

// Tasks returns the tasks of a key whose ids begin so, the newest first.
func (s *Store) Tasks(ctx context.Context, key, prefix string, most int) ([]Task, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, at, version, body FROM tasks WHERE key_id = $1 AND id LIKE $2 "+
		"ORDER BY at DESC, id LIMIT $3", key, prefix+"%", most)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	var all []Task
	for rows.Next() {
		t := Task{Key: key}
		var at int64
		var body string
		if err := rows.Scan(&t.ID, &at, &t.Version, &body); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		t.At, t.Body = time.UnixMilli(at), json.RawMessage(body)
		all = append(all, t)
	}
	return all, rows.Err()
}

// settling is how long the outcome of a request that has ended may take to be in its task.
const settling = time.Minute

// Abandoned reports whether nobody will write what came of a request: its gateway was killed, or has ended right
// after the request.
func (s *Store) Abandoned(ctx context.Context, request string) (bool, error) {
	if err := s.flush(); err != nil {
		return false, err
	}
	var ended int64
	var status string
	err := s.db.QueryRowContext(ctx, "SELECT ended, status FROM requests WHERE id = $1", request).Scan(&ended, &status)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("store: %w", err)
	}
	return ended > 0 && (status == Lost || s.now().Sub(time.UnixMilli(ended)) > settling), nil
}
