package store

import (
	"context"
	"database/sql"
	"time"
)

// keyDay is a row of the table days.
type keyDay struct {
	key string
	day int64
}

// sums are what a flush adds to a row of the table days.
type sums struct {
	requests        int
	spent, reserved Money
}

// store writes entries of the log in a transaction: a row for each request, and for each key the sum of its day.
func (s *Store) store(ctx context.Context, tx *sql.Tx, batch []taken, last int64) error {
	insert, err := tx.PrepareContext(ctx, insertRequest+" ON CONFLICT (id) DO NOTHING")
	if err != nil {
		return err
	}
	defer insert.Close()
	days, used := map[keyDay]*sums{}, map[string]int64{}
	for i := range batch {
		t := &batch[i]
		if err := s.storeOne(ctx, tx, insert, t, days); err != nil {
			return err
		}
		if t.now.Key != "" {
			used[t.now.Key] = max(used[t.now.Key], t.now.Begun)
		}
	}
	for at, d := range days {
		if _, err := tx.ExecContext(ctx, `INSERT INTO days (key_id, day, requests, spent, reserved)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key_id, day) DO UPDATE SET requests = requests + $3,
			spent = spent + $4, reserved = reserved + $5`, at.key, at.day, d.requests, int64(d.spent),
			int64(d.reserved)); err != nil {
			return err
		}
	}
	for key, at := range used {
		if _, err := tx.ExecContext(ctx, "UPDATE keys SET used = $1 WHERE id = $2 AND used < $1", at, key); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO spooled (gateway, generation) VALUES ($1, $2)
		ON CONFLICT (gateway) DO UPDATE SET generation = $2`, s.gateway, last)
	return err
}

// storeOne writes an entry and adds it to the sums of its key's day.
func (s *Store) storeOne(ctx context.Context, tx *sql.Tx, insert *sql.Stmt, t *taken, days map[keyDay]*sums) error {
	r, at := &t.now, keyDay{t.now.Key, t.now.day()}
	d := days[at]
	if d == nil {
		d = &sums{}
		if r.Key != "" {
			days[at] = d
		}
	}
	if t.stored {
		if r.Result == nil {
			return nil
		}
		n, err := end(ctx, tx, r.ID, time.UnixMilli(r.Ended), *r.Result)
		if err == nil && n > 0 {
			d.reserved -= r.Want
			d.spent += r.Result.Spent
		}
		return err
	}
	end, status, reserved := Result{Journal: r.Kept}, "open", r.Want
	d.requests++
	if r.Result != nil {
		end = *r.Result
		status = end.Status
		d.spent += end.Spent
	} else {
		d.reserved += r.Want
	}
	_, err := insert.ExecContext(ctx, r.ID, s.gateway, r.Key, r.API, r.Model, r.Begun, r.Ended, status, end.HTTP,
		int64(reserved), int64(end.Spent), bit(end.Unpriced), end.Calls, end.Prompt, end.Completion, end.Journal,
		end.Bytes)
	if err == nil && end.Journal != "" {
		_, err = tx.ExecContext(ctx, insertText+" ON CONFLICT (id) DO NOTHING", r.ID, searchable(r.Question),
			searchable(end.Answer))
	}
	return err
}
