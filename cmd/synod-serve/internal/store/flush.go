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
	spent, reserved Amount
}

// store writes entries of the log in a transaction: a row for each request, and for each key the sum of its day.
func (s *books) store(ctx context.Context, tx *sql.Tx, batch []taken, last int64) error {
	days, used := map[keyDay]*sums{}, map[string]int64{}
	rows := make([]any, 0, rowsAtOnce*columns)
	for i := range batch {
		t := &batch[i]
		var err error
		if rows, err = s.storeOne(ctx, tx, rows, t, days); err != nil {
			return err
		}
		if len(rows) == cap(rows) {
			if err := s.exec(ctx, tx, insertMany, rows...); err != nil {
				return err
			}
			rows = rows[:0]
		}
		if t.now.Result != nil {
			s.unstick(t.now.Key, t.now.ID)
		}
		if t.now.Key != "" {
			used[t.now.Key] = max(used[t.now.Key], t.now.Begun)
		}
	}
	for ; len(rows) > 0; rows = rows[columns:] {
		if err := s.exec(ctx, tx, insertRequest+once, rows[:columns]...); err != nil {
			return err
		}
	}
	for at, d := range days {
		if err := s.exec(ctx, tx, addToDay, at.key, at.day, d.requests, int64(d.spent.Money),
			int64(d.reserved.Money), d.spent.Tokens, d.reserved.Tokens); err != nil {
			return err
		}
	}
	for key, at := range used {
		if err := s.exec(ctx, tx, "UPDATE keys SET used = $1 WHERE id = $2 AND used < $1", at, key); err != nil {
			return err
		}
	}
	return s.exec(ctx, tx, `INSERT INTO spooled (gateway, generation) VALUES ($1, $2)
		ON CONFLICT (gateway) DO UPDATE SET generation = $2`, s.gateway, last)
}

// storeOne writes an entry, or appends its row to those that are to be written, and adds it to the sums of its key's
// day.
func (s *books) storeOne(ctx context.Context, tx *sql.Tx, rows []any, t *taken, days map[keyDay]*sums) ([]any, error) {
	r, at := &t.now, keyDay{t.now.Key, t.now.day()}
	d := days[at]
	if d == nil {
		d = &sums{}
		if r.Key != "" {
			days[at] = d
		}
	}
	if t.stored {
		return rows, s.storeMore(ctx, tx, r, d)
	}
	end, status := Result{Journal: r.Kept}, "open"
	if !r.Counted {
		d.requests++
		d.reserved = d.reserved.Plus(r.want())
	}
	if r.Result != nil {
		end = *r.Result
		status = end.Status
		d.end(r, r.want())
	}
	rows = append(rows, r.ID, s.gateway, r.Key, r.API, r.Model, r.Begun, r.Ended, status, end.HTTP,
		int64(r.Want), int64(end.Spent), bit(end.Unpriced), end.Calls, end.Prompt, end.Completion, end.Journal,
		end.Bytes, r.Tokens, int64(end.Alone), bit(end.Compared))
	if end.Journal == "" {
		return rows, nil
	}
	return rows, s.exec(ctx, tx, insertText+once, r.ID, searchable(r.Question), searchable(end.Answer))
}

// storeMore writes what is new of an entry whose beginning the database has: what it reserves now, or how it ended.
func (s *books) storeMore(ctx context.Context, tx *sql.Tx, r *record, d *sums) error {
	before := r.want() // what the sums have
	if !r.Counted {
		var err error
		if before, err = s.reserved(ctx, tx, r.ID); err != nil {
			return err
		}
	}
	if r.Result == nil {
		d.reserved = d.reserved.Plus(r.want().Minus(before))
		return s.exec(ctx, tx, setReserved, int64(r.Want), r.Tokens, r.ID)
	}
	n, err := s.end(ctx, tx, r.ID, time.UnixMilli(r.Ended), *r.Result)
	if err == nil && n > 0 {
		d.end(r, before)
	}
	return err
}

// end adds what a request has cost in place of what it had reserved.
func (d *sums) end(r *record, reserved Amount) {
	d.reserved = d.reserved.Minus(reserved)
	d.spent = d.spent.Plus(r.Result.cost())
}
