package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"
)

// Money is an amount in 1e-9 USD.
type Money int64

// USD returns the amount in 1e-9 USD, rounded up: a sum of rounded amounts never falls below what was spent.
func USD(usd float64) Money {
	if usd >= math.MaxInt64/2e9 {
		return math.MaxInt64 / 2
	}
	return Money(math.Ceil(usd * 1e9))
}

// USD returns the amount in USD.
func (m Money) USD() float64 { return float64(m) / 1e9 }

// Request is a request as it begins.
type Request struct {
	ID    string
	Key   *Key // nil: none is needed
	API   string
	Model string
	Kept  string // the name of the journal that it will have; "": none
	// Question is kept beside the journal for searches; "" with Kept "".
	Question string
	Want     Money // what is reserved for it; it gets less if its key has less left
	Whole    bool  // less than Want is of no use to it
}

// Grant is what a request may spend.
type Grant struct {
	Request
	Limit Money // of a key with a limit in money
	Begun time.Time
}

// Result is how a request ended.
type Result struct {
	Status     string // of the decision, or what went wrong
	HTTP       int
	Spent      Money
	Unpriced   bool // the price of a part is not known
	Calls      int
	Prompt     int
	Completion int
	Journal    string // its file's name; "": none is kept
	Answer     string // the decision, kept beside the journal for searches; "": there is none
	Bytes      int64  // size of the journal
}

// LimitError reports that a limit of a key is reached.
type LimitError struct {
	Limit string        // "rpm" or "usd_day"
	Held  bool          // requests that have not ended have reserved what is missing, so some of it comes back
	Key   string        // the name of the key
	Wait  time.Duration // until the limit allows a request
	Text  string
}

// Error says which limit is reached.
func (e *LimitError) Error() string { return e.Text }

// Begin records a request and reserves what it may cost. When it returns, both are durable. The error is a
// *LimitError if a limit of the key is reached and ErrKey if the key is no longer valid.
func (s *Store) Begin(r Request) (Grant, error) {
	if s.spool != nil && !r.Key.limited() {
		return s.spool.begin(r)
	}
	g := Grant{Request: r, Begun: s.now()}
	err := s.run(func(ctx context.Context, tx *sql.Tx) error {
		g.Limit = 0
		if err := s.admit(ctx, tx, &g); err != nil {
			return err
		}
		err := s.exec(ctx, tx, insertRequest, r.ID, s.gateway, g.keyID(), r.API, r.Model, g.Begun.UnixMilli(), 0,
			"open", 0, int64(g.Want), 0, 0, 0, 0, 0, r.Kept, 0)
		if err == nil && r.Kept != "" {
			err = s.exec(ctx, tx, insertText, r.ID, searchable(r.Question), "")
		}
		return err
	})
	return g, err
}

func (g *Grant) keyID() string {
	if g.Key == nil {
		return ""
	}
	return g.Key.ID
}

// day is the day of a time, in UTC, as a count.
func day(t time.Time) int64 { return t.Unix() / 86400 }

// admit checks the limits of the key and reserves. Its first statement locks the key's row against other
// gateways.
func (s *Store) admit(ctx context.Context, tx *sql.Tx, g *Grant) error {
	k := g.Key
	if k == nil {
		return nil
	}
	now := g.Begun.UnixMilli()
	valid, err := s.stmt(ctx, tx, useKey)
	if err != nil {
		return err
	}
	res, err := valid.ExecContext(ctx, now, k.ID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return orOwn(err, ErrKey)
	}
	if k.PerMinute > 0 {
		if err := s.rate(ctx, tx, g); err != nil {
			return err
		}
	}
	if k.PerDay > 0 {
		var spent, reserved int64
		row, err := s.stmt(ctx, tx, findDay)
		if err != nil {
			return err
		}
		if err := row.QueryRowContext(ctx, k.ID, day(g.Begun)).Scan(&spent, &reserved); err != nil &&
			!errors.Is(err, sql.ErrNoRows) {
			return err
		}
		left := k.PerDay - Money(spent) - Money(reserved)
		if left <= 0 || g.Whole && left < g.Want {
			return ownError{quota(g, Money(spent), Money(reserved), s.stuckOf(k.ID))}
		}
		g.Want = min(g.Want, left)
		g.Limit = g.Want
	}
	if k.PerMinute > 0 {
		if err := s.exec(ctx, tx, addRate, k.ID, g.Begun.Unix()); err != nil {
			return err
		}
	}
	return s.exec(ctx, tx, addToDay, k.ID, day(g.Begun), 1, 0, int64(g.Want))
}

func orOwn(err, own error) error {
	if err != nil {
		return err
	}
	return ownError{own}
}

func quota(g *Grant, spent, reserved, stuck Money) error {
	k := g.Key
	text := fmt.Sprintf("the key %q may spend $%.4g a day (UTC); $%.4g is spent", k.Name, k.PerDay.USD(), spent.USD())
	if reserved > 0 {
		text += fmt.Sprintf(" and $%.4g is reserved by requests that have not ended", reserved.USD())
	}
	if g.Whole {
		text += fmt.Sprintf("; this request may cost $%.4g, and less with fewer max_tokens", g.Want.USD())
	}
	next := time.Unix((day(g.Begun)+1)*86400, 0)
	free := k.PerDay - spent - stuck
	held := reserved > 0 && free > 0 && (!g.Whole || free >= g.Want)
	return &LimitError{"usd_day", held, k.Name, next.Sub(g.Begun), text}
}

// Draw is what a request that runs wants to have reserved.
type Draw struct {
	Least, Need Money
	Idle        bool // it has no call in flight: Least is spent, and does not come back
}

// Draw changes what a request that runs has reserved to d.Need, if its key has as much left. If not, it keeps no more
// than d.Least, so that no two requests wait for what the other one does not use; wait says that others of this
// gateway, or of another one, have calls in flight and may return what is missing. It returns what is reserved. Only
// one call for a request may run at a time.
func (s *Store) Draw(g Grant, d Draw) (reserved Money, wait bool, err error) {
	if s.spool != nil && !g.Key.limited() {
		return d.Need, false, s.spool.draw(g, d.Need)
	}
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		var now, spent, all int64
		err := tx.QueryRowContext(ctx, "SELECT reserved FROM requests WHERE id = $1 AND ended = 0", g.ID).Scan(&now)
		if err != nil {
			return orOwn(passed(err), fmt.Errorf("the request %s is not open", g.ID))
		}
		if err := s.lockDay(ctx, tx, g); err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, findDay, g.keyID(), day(g.Begun)).Scan(&spent, &all)
		if err = passed(err); err != nil {
			return err
		}
		others := Money(all - now)
		reserved, wait = d.Need, false
		s.unstick(g)
		if g.Key != nil && g.Key.PerDay > 0 && d.Need > g.Key.PerDay-Money(spent)-others {
			reserved = min(Money(now), d.Least)
			if wait = d.Need <= g.Key.PerDay-Money(spent)-s.stuckOf(g.Key.ID) && others > 0; wait && d.Idle {
				s.stick(g, reserved)
			}
		}
		return s.reserve(ctx, tx, g.ID, g.keyID(), day(g.Begun), reserved, Money(now))
	})
	return reserved, wait, err
}

// stick notes that a request waits and will return nothing of what it has reserved: it is spent. Only the writer
// plays stick, unstick and stuckOf.
func (s *Store) stick(g Grant, spent Money) {
	if s.stuck[g.Key.ID] == nil {
		s.stuck[g.Key.ID] = map[string]Money{}
	}
	s.stuck[g.Key.ID][g.ID] = spent
}

func (s *Store) unstick(g Grant) {
	if all := s.stuck[g.keyID()]; all != nil {
		if delete(all, g.ID); len(all) == 0 {
			delete(s.stuck, g.Key.ID)
		}
	}
}

func (s *Store) stuckOf(key string) (sum Money) {
	for _, m := range s.stuck[key] {
		sum += m
	}
	return sum
}

// passed returns nil for no row.
func passed(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// lockDay keeps other gateways from changing the sums of a key's day in the same moment.
func (s *Store) lockDay(ctx context.Context, tx *sql.Tx, g Grant) error {
	if !s.postgres || g.Key == nil {
		return nil
	}
	return s.exec(ctx, tx, lockKey, s.now().UnixMilli(), g.Key.ID)
}

// reserve writes what an open request reserves now, in place of before.
func (s *Store) reserve(ctx context.Context, tx *sql.Tx, id, key string, day int64, now, before Money) error {
	if now == before {
		return nil
	}
	err := s.exec(ctx, tx, "UPDATE requests SET reserved = $1 WHERE id = $2", int64(now), id)
	if err != nil || key == "" {
		return err
	}
	return s.exec(ctx, tx, addToDay, key, day, 0, 0, int64(now-before))
}

// rate counts the requests of the last 60 seconds, refused ones excepted, by the second in which they began.
func (s *Store) rate(ctx context.Context, tx *sql.Tx, g *Grant) error {
	var n, oldest sql.NullInt64
	now := g.Begun.Unix()
	rows, err := s.stmt(ctx, tx, sumRates)
	if err != nil {
		return err
	}
	if err := rows.QueryRowContext(ctx, g.Key.ID, now-60).Scan(&n, &oldest); err != nil {
		return err
	}
	if n.Int64 >= int64(g.Key.PerMinute) {
		return ownError{tooMany(g.Key, time.Unix(oldest.Int64, 0), g.Begun)}
	}
	if !oldest.Valid || oldest.Int64 < now-30 { // now and then
		return s.exec(ctx, tx, "DELETE FROM rates WHERE key_id = $1 AND second <= $2", g.Key.ID, now-60)
	}
	return nil
}

// tooMany is the error of a key whose last requests began no longer than a minute ago, the first of them then.
func tooMany(k *Key, first, now time.Time) error {
	return &LimitError{"rpm", true, k.Name, max(first.Add(time.Minute).Sub(now), time.Second), fmt.Sprintf(
		"the key %q may make %d requests a minute, and has made them", k.Name, k.PerMinute)}
}

// Settle records how a request ended, and what it cost in place of what was reserved. A second call for a
// request changes nothing.
func (s *Store) Settle(g Grant, r Result) error {
	if s.spool != nil && !g.Key.limited() {
		return s.spool.settle(g, r)
	}
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		s.unstick(g)
		return s.settle(ctx, tx, g.ID, g.keyID(), day(g.Begun), s.now(), r)
	})
}

func (s *Store) settle(ctx context.Context, tx *sql.Tx, id, key string, day int64, now time.Time, r Result) error {
	reserved, err := s.reserved(ctx, tx, id)
	if err != nil {
		return err
	}
	n, err := s.end(ctx, tx, id, now, r)
	if err != nil || n == 0 || key == "" {
		return err
	}
	return s.exec(ctx, tx, addToDay, key, day, 0, int64(r.Spent), -int64(reserved))
}

// reserved returns what a request has reserved.
func (s *Store) reserved(ctx context.Context, tx *sql.Tx, id string) (n Money, err error) {
	find, err := s.stmt(ctx, tx, findReserved)
	if err == nil {
		err = passed(find.QueryRowContext(ctx, id).Scan(&n))
	}
	return n, err
}

// end records how an open request ended; 0 if it is not open.
func (s *Store) end(ctx context.Context, tx *sql.Tx, id string, now time.Time, r Result) (int64, error) {
	ended, err := s.stmt(ctx, tx, endRequest)
	if err != nil {
		return 0, err
	}
	res, err := ended.ExecContext(ctx, now.UnixMilli(), r.Status, r.HTTP, int64(r.Spent), bit(r.Unpriced), r.Calls,
		r.Prompt, r.Completion, r.Journal, r.Bytes, id)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.keepText(ctx, tx, id, r)
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
		rows, err := tx.QueryContext(ctx, `SELECT id, key_id, begun, reserved, journal FROM requests WHERE ended = 0 AND
			(gateway = $1 OR gateway NOT IN (SELECT id FROM gateways WHERE seen > $2))`, own,
			now.Add(-deadAfter).UnixMilli())
		if err != nil {
			return err
		}
		var open []Grant
		for rows.Next() {
			var g Grant
			var key string
			var begun int64
			if err := rows.Scan(&g.ID, &key, &begun, &g.Want, &g.Kept); err != nil {
				rows.Close()
				return err
			}
			g.Key, g.Begun = &Key{ID: key}, time.UnixMilli(begun)
			open = append(open, g)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for _, g := range open {
			err := s.settle(ctx, tx, g.ID, g.Key.ID, day(g.Begun), now, Result{Status: Lost, Spent: g.Want,
				Journal: g.Kept})
			if err != nil {
				return err
			}
		}
		lost = len(open)
		return nil
	})
	return lost, err
}

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
