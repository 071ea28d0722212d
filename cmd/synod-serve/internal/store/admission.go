package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Begin records a request and reserves what it may cost. When it returns, both are durable. The error is a
// *LimitError if a limit of the key is reached and ErrKey if the key is no longer valid.
func (s *Store) Begin(r Request) (Grant, error) {
	if s.spool != nil {
		return s.spool.begin(r)
	}
	g := Grant{Request: r, Begun: s.now()}
	err := s.run(func(ctx context.Context, tx *sql.Tx) error {
		g.Want, g.Limit = r.Want, Amount{}
		if err := s.admit(ctx, tx, &g); err != nil {
			return err
		}
		err := s.exec(ctx, tx, insertRequest, r.ID, s.gateway, g.keyID(), r.API, r.Model, g.Begun.UnixMilli(), 0,
			"open", 0, int64(g.Want.Money), 0, 0, 0, 0, 0, r.Kept, 0, g.Want.Tokens, 0, 0)
		if err == nil && r.Kept != "" {
			err = s.exec(ctx, tx, insertText, r.ID, searchable(r.Question), "")
		}
		return err
	})
	return g, err
}

// Draw changes what a request that runs has reserved to d.Need, if its key has as much left. If not, it keeps no more
// than d.Least, so that no two requests wait for what the other one does not use; wait says that others of this
// gateway, or of another one, have calls in flight and may return what is missing. It returns what is reserved. Only
// one call for a request may run at a time.
func (s *Store) Draw(g Grant, d Draw) (reserved Amount, wait bool, err error) {
	if s.spool != nil {
		return s.spool.draw(g, d)
	}
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		var now Amount
		err := tx.QueryRowContext(ctx, "SELECT reserved, reserved_tokens FROM requests WHERE id = $1 AND ended = 0",
			g.ID).Scan(&now.Money, &now.Tokens)
		if err != nil {
			return orOwn(passed(err), fmt.Errorf("the request %s is not open", g.ID))
		}
		if err := s.lockDay(ctx, tx, g); err != nil {
			return err
		}
		reserved, wait, err = s.change(ctx, tx, g, d, now)
		if err != nil || reserved == now {
			return err
		}
		return s.exec(ctx, tx, setReserved, int64(reserved.Money), reserved.Tokens, g.ID)
	})
	return reserved, wait, err
}

// Settle records how a request ended, and what it cost in place of what was reserved. A second call for a
// request changes nothing.
func (s *Store) Settle(g Grant, r Result) error {
	if s.spool != nil {
		return s.spool.settle(g, r)
	}
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		s.unstick(g.keyID(), g.ID)
		return s.settle(ctx, tx, g.ID, g.keyID(), day(g.Begun), s.now(), r)
	})
}

// Lost is the status of a request whose gateway was killed.
const Lost = "lost"

// deadAfter is how long a gateway that shares a store may be silent.
const deadAfter = time.Minute

// Beat says that this gateway lives, and settles the requests of gateways that do not: what they had reserved
// counts as spent. At the start every open request that is this gateway's own, or of nobody, is such a request.
func (s *Store) Beat(start bool) (lost int, err error) {
	if err := s.flush(); err != nil {
		return 0, err
	}
	if start && s.spool != nil {
		defer s.spool.forget()
	}
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		lost = 0
		now := s.now()
		if _, err := tx.ExecContext(ctx, `INSERT INTO gateways (id, seen) VALUES ($1, $2)
			ON CONFLICT (id) DO UPDATE SET seen = $2`, s.gateway, now.UnixMilli()); err != nil {
			return err
		}
		own := ""
		if start {
			own = s.gateway
		}
		open, err := abandoned(ctx, tx, own, now)
		if err != nil {
			return err
		}
		for _, g := range open {
			err := s.settle(ctx, tx, g.ID, g.Key.ID, day(g.Begun), now, Result{Status: Lost,
				Spent: g.Want.Money, Tokens: g.Want.Tokens, Journal: g.Kept})
			if err != nil {
				return err
			}
		}
		lost = len(open)
		return nil
	})
	return lost, err
}

// abandoned lists the open requests of one gateway, and of those that have been silent for long.
func abandoned(ctx context.Context, tx *sql.Tx, gateway string, now time.Time) (open []Grant, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, key_id, begun, reserved, reserved_tokens, journal FROM requests
		WHERE ended = 0 AND (gateway = $1 OR gateway NOT IN (SELECT id FROM gateways WHERE seen > $2))`, gateway,
		now.Add(-deadAfter).UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var g Grant
		var key string
		var begun int64
		if err := rows.Scan(&g.ID, &key, &begun, &g.Want.Money, &g.Want.Tokens, &g.Kept); err != nil {
			return nil, err
		}
		g.Key, g.Begun = &Key{ID: key}, time.UnixMilli(begun)
		open = append(open, g)
	}
	return open, rows.Err()
}
