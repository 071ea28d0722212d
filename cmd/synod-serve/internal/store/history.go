package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Row is a request as it is kept.
type Row struct {
	Request
	Key      string // the id of its key; "": none
	Gateway  string
	Begun    time.Time
	Ended    time.Time // zero: it has not
	Reserved Money
	Result
}

// Recent returns the requests of the last time, the newest first.
func (s *Store) Recent(ctx context.Context, most int) ([]Row, error) {
	return s.rows(ctx, "", nil, most)
}

// Filter selects requests. Zero fields select all.
type Filter struct {
	ID     string
	Key    *string // the id of the key; "": requests without one
	Model  string
	Status string
	Text   string    // is in the question or the answer
	From   time.Time // begun then or later
	To     time.Time // begun before
	After  *Row      // those that are listed after it
}

// escapeLike makes a text match itself.
var escapeLike = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// Search returns requests, the newest first.
func (s *Store) Search(ctx context.Context, f Filter, most int) ([]Row, error) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	if f.ID != "" {
		add("requests.id = ?", f.ID)
	}
	if f.Key != nil {
		add("key_id = ?", *f.Key)
	}
	if f.Model != "" {
		add("model = ?", f.Model)
	}
	if f.Status != "" {
		add("status = ?", f.Status)
	}
	if f.Text != "" {
		like := "%" + escapeLike.Replace(strings.ToLower(f.Text)) + "%"
		add(`(LOWER(texts.question) LIKE ? ESCAPE '\' OR LOWER(texts.answer) LIKE ? ESCAPE '\')`, like, like)
	}
	if !f.From.IsZero() {
		add("begun >= ?", f.From.UnixMilli())
	}
	if !f.To.IsZero() {
		add("begun < ?", f.To.UnixMilli())
	}
	if f.After != nil {
		at := f.After.Begun.UnixMilli()
		add("(begun < ? OR begun = ? AND requests.id < ?)", at, at, f.After.ID)
	}
	return s.rows(ctx, strings.Join(where, " AND "), args, most)
}

// rows returns the requests that a condition selects, the newest first.
func (s *Store) rows(ctx context.Context, where string, args []any, most int) ([]Row, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	if where != "" {
		where = " WHERE " + where
	}
	rows, err := s.db.QueryContext(ctx, `SELECT requests.id, gateway, key_id, api, model, begun, ended, status, http,
		reserved, spent, unpriced, calls, prompt, completion, journal, bytes, alone, compared,
		COALESCE(texts.question, ''),
		COALESCE(texts.answer, '') FROM requests LEFT JOIN texts ON texts.id = requests.id`+where+
		fmt.Sprintf(" ORDER BY begun DESC, requests.id DESC LIMIT %d", most), args...)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	var all []Row
	for rows.Next() {
		var r Row
		var begun, ended, unpriced, compared int64
		if err := rows.Scan(&r.ID, &r.Gateway, &r.Key, &r.API, &r.Model, &begun, &ended, &r.Status, &r.HTTP,
			&r.Reserved, &r.Spent, &unpriced, &r.Calls, &r.Prompt, &r.Completion, &r.Journal, &r.Bytes,
			&r.Alone, &compared, &r.Question, &r.Answer); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		r.Begun, r.Unpriced, r.Compared = time.UnixMilli(begun), unpriced != 0, compared != 0
		if ended > 0 {
			r.Ended = time.UnixMilli(ended)
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// DaySpend is what a key spent on a day, in UTC.
type DaySpend struct {
	Key      string // its id; "": requests without a key
	Day      time.Time
	Requests int
	Spent    Money
}

// SpendByDay returns what was spent on each day since a time, the oldest first. Days of keys are kept longer than
// requests; what requests without a key cost is known as long as they are kept. If key is not nil,
// only its requests count.
func (s *Store) SpendByDay(ctx context.Context, since time.Time, key *string) ([]DaySpend, error) {
	const perDay = `SELECT key_id, day, requests, spent FROM days WHERE day >= $1 UNION ALL
		SELECT '', begun / 86400000, COUNT(*), COALESCE(SUM(spent), 0) FROM requests
		WHERE key_id = '' AND begun / 86400000 >= $1 GROUP BY begun / 86400000 ORDER BY 2, 1`
	if err := s.flush(); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, perDay, day(since))
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	var all []DaySpend
	for rows.Next() {
		var one DaySpend
		var d int64
		if err := rows.Scan(&one.Key, &d, &one.Requests, &one.Spent); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		one.Day = time.Unix(d*86400, 0).UTC()
		if key == nil || *key == one.Key {
			all = append(all, one)
		}
	}
	return all, rows.Err()
}
