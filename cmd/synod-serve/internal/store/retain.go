package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Keep is how much of the past is kept. Zero fields set no limit.
type Keep struct {
	Age   time.Duration // of requests and their journals
	Bytes int64         // of all journals together; the oldest go first
}

// keptDays is how long the spend of a day is kept, and a label.
const keptDays = 400

// Gone is what Retain has removed.
type Gone struct{ Requests, Journals int }

// Retain removes requests and journals that are older than the limits. Journals are files in a folder, named
// by day and request; days of which no request is younger go whole, whichever gateway has written them. What keys have
// spent is kept.
func (s *Store) Retain(ctx context.Context, k Keep, journals string) (gone Gone, err error) {
	if err := s.flush(); err != nil {
		return gone, err
	}
	now := s.now()
	if k.Age > 0 {
		before := now.Add(-k.Age).UnixMilli()
		if gone.Journals, err = s.dropJournals(ctx, journals, "begun < $1 AND ended > 0 AND journal <> ''",
			before); err != nil {
			return gone, err
		}
		if err := dropDays(journals, now.Add(-k.Age)); err != nil {
			return gone, fmt.Errorf("store: retention: %w", err)
		}
		if gone.Requests, err = s.dropRequests(before); err != nil {
			return gone, err
		}
	}
	if k.Bytes > 0 {
		since, err := s.since(ctx, k.Bytes)
		if err != nil {
			return gone, err
		}
		n, err := s.dropJournals(ctx, journals, "begun < $1 AND ended > 0 AND journal <> ''", since)
		if gone.Journals += n; err != nil {
			return gone, err
		}
	}
	return gone, s.run(func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM days WHERE day < $1", day(now)-keptDays)
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM labels WHERE at < $1", (day(now)-keptDays)*86400000)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM gateways WHERE seen < $1", now.Add(-time.Hour).UnixMilli())
		}
		return err
	})
}

// dropRequests removes what ended before a time, in milliseconds, and returns how many requests there were.
func (s *Store) dropRequests(before int64) (gone int, err error) {
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM requests WHERE begun < $1 AND ended > 0", before)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		gone = int(n)
		for _, table := range []string{"responses", "tasks"} {
			if err == nil {
				_, err = tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE at < $1", before)
			}
		}
		return err
	})
	return gone, err
}

// since returns the time after which journals together have at most so many bytes.
func (s *Store) since(ctx context.Context, most int64) (int64, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT begun, bytes FROM requests WHERE gateway = $1 AND journal <> ''
		ORDER BY begun DESC`, s.gateway)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	var sum int64
	for rows.Next() {
		var begun, bytes int64
		if err := rows.Scan(&begun, &bytes); err != nil {
			return 0, fmt.Errorf("store: %w", err)
		}
		if sum += bytes; sum > most {
			return begun + 1, nil
		}
	}
	return 0, rows.Err()
}

// dropJournals removes the journals of this gateway's requests that a condition selects.
func (s *Store) dropJournals(ctx context.Context, folder, where string, arg int64) (n int, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, journal, begun FROM requests WHERE gateway = $2 AND "+where, arg,
		s.gateway)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	var ids []string
	for rows.Next() {
		var id, name string
		var begun int64
		if err = rows.Scan(&id, &name, &begun); err != nil {
			break
		}
		day := time.UnixMilli(begun).UTC().Format(time.DateOnly)
		if err = remove(filepath.Join(folder, day), filepath.Base(name)+".jsonl"); err != nil {
			break
		}
		ids = append(ids, id)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return 0, fmt.Errorf("store: retention: %w", err)
	}
	return len(ids), s.run(func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, "UPDATE requests SET journal = '', bytes = 0 WHERE id = $1",
				id); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM texts WHERE id = $1", id); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropDays removes the journals of days that were over at a time. They are those of gateways that were killed, or of a
// store that another one has replaced: no request names them any more.
func dropDays(folder string, before time.Time) error {
	days, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, d := range days {
		at, no := time.Parse(time.DateOnly, d.Name())
		if no == nil && d.IsDir() && at.Add(24*time.Hour).Before(before) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, d.Name())))
		}
	}
	return err
}

// remove removes a file, and its folder when that is empty.
func remove(dir, name string) error {
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_ = os.Remove(dir) // it fails while there are others in it
	return nil
}
