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

// Amount is money and tokens: what a request may cost or has cost, or a limit, where 0 is none.
type Amount struct {
	Money  Money
	Tokens int64
}

// Plus returns the sum.
func (a Amount) Plus(b Amount) Amount { return Amount{a.Money + b.Money, a.Tokens + b.Tokens} }

// Minus returns the difference.
func (a Amount) Minus(b Amount) Amount { return Amount{a.Money - b.Money, a.Tokens - b.Tokens} }

// Covers reports whether a is as much as b of both.
func (a Amount) Covers(b Amount) bool { return a.Money >= b.Money && a.Tokens >= b.Tokens }

// least returns the smaller amount of both.
func (a Amount) least(b Amount) Amount { return Amount{min(a.Money, b.Money), min(a.Tokens, b.Tokens)} }

// Request is a request as it begins.
type Request struct {
	ID    string
	Key   *Key // nil: none is needed
	API   string
	Model string
	Kept  string // the name of the journal that it will have; "": none
	// Question is kept beside the journal for searches; "" with Kept "".
	Question string
	Want     Amount // what is reserved for it; it gets less if its key has less left
	Whole    bool   // less than Want is of no use to it
}

// Grant is what a request may spend.
type Grant struct {
	Request
	Limit Amount // of a key with limits for a day; 0 of what has none
	Begun time.Time
}

// Result is how a request ended.
type Result struct {
	Status     string // of the decision, or what went wrong
	HTTP       int
	Spent      Money
	Tokens     int64 // what counts against a limit in tokens, if that is more than Prompt and Completion together
	Unpriced   bool  // the price of a part is not known
	Calls      int
	Prompt     int
	Completion int
	Journal    string // its file's name; "": none is kept
	Answer     string // the decision, kept beside the journal for searches; "": there is none
	Bytes      int64  // size of the journal
}

// cost is what counts against the limits of a key.
func (r *Result) cost() Amount {
	return Amount{r.Spent, max(r.Tokens, int64(r.Prompt)+int64(r.Completion))}
}

// LimitError reports that a limit of a key is reached.
type LimitError struct {
	Limit string        // "rpm", "usd_day" or "tokens_day"
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
			"open", 0, int64(g.Want.Money), 0, 0, 0, 0, 0, r.Kept, 0, g.Want.Tokens)
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
	return s.count(ctx, tx, g)
}

// count checks the limits of the key of a request that begins, and adds the request to the sums of the key, which all
// processes that use the store keep to.
func (s *Store) count(ctx context.Context, tx *sql.Tx, g *Grant) error {
	k := g.Key
	if k.PerMinute > 0 {
		if err := s.rate(ctx, tx, g); err != nil {
			return err
		}
	}
	if err := s.fit(ctx, tx, g); err != nil {
		return err
	}
	if k.PerMinute > 0 {
		if err := s.exec(ctx, tx, addRate, k.ID, g.Begun.Unix()); err != nil {
			return err
		}
	}
	return s.exec(ctx, tx, addToDay, k.ID, day(g.Begun), 1, 0, int64(g.Want.Money), 0, g.Want.Tokens)
}

// fit lowers what a request wants to what its key has left today. The error is a *LimitError if that is nothing, or
// too little for it.
func (s *Store) fit(ctx context.Context, tx *sql.Tx, g *Grant) error {
	if g.Key.perDay() == (Amount{}) {
		return nil
	}
	spent, reserved, err := s.dayOf(ctx, tx, g)
	if err != nil {
		return err
	}
	for _, b := range g.Key.bounds(spent, reserved) {
		want, left := b.of(&g.Want), b.most-b.spent-b.reserved
		if left <= 0 || g.Whole && left < *want {
			stuck := s.stuckOf(g.Key.ID)
			return ownError{b.quota(g, *b.of(&stuck))}
		}
		*want = min(*want, left)
		*b.of(&g.Limit) = *want
	}
	return nil
}

// dayOf returns what a key has spent on the day of a request, and what is reserved.
func (s *Store) dayOf(ctx context.Context, tx *sql.Tx, g *Grant) (spent, reserved Amount, err error) {
	row, err := s.stmt(ctx, tx, findDay)
	if err == nil {
		err = passed(row.QueryRowContext(ctx, g.keyID(), day(g.Begun)).Scan(&spent.Money, &reserved.Money,
			&spent.Tokens, &reserved.Tokens))
	}
	return spent, reserved, err
}

// bound is the limit of a key for a day in money or in tokens, and what of it is used.
type bound struct {
	limit                 string               // as LimitError has it
	of                    func(*Amount) *int64 // the part of an amount that it bounds
	text                  func(n int64) string // an amount for people
	most, spent, reserved int64
}

// perDay are the limits of a key for a day.
func (k *Key) perDay() Amount {
	if k == nil {
		return Amount{}
	}
	return Amount{k.PerDay, k.TokensPerDay}
}

// bounds are the limits of a key for a day.
func (k *Key) bounds(spent, reserved Amount) (all []bound) {
	limits := k.perDay()
	for _, b := range []bound{
		{limit: "usd_day", of: func(a *Amount) *int64 { return (*int64)(&a.Money) },
			text: func(n int64) string { return fmt.Sprintf("$%.4g", Money(n).USD()) }},
		{limit: "tokens_day", of: func(a *Amount) *int64 { return &a.Tokens },
			text: func(n int64) string { return fmt.Sprintf("%d tokens", n) }},
	} {
		if b.most, b.spent, b.reserved = *b.of(&limits), *b.of(&spent), *b.of(&reserved); b.most > 0 {
			all = append(all, b)
		}
	}
	return all
}

func orOwn(err, own error) error {
	if err != nil {
		return err
	}
	return ownError{own}
}

// quota is the error of a request that does not fit into a limit. stuck is what of it is reserved and does not come
// back before those who wait for more get it.
func (b *bound) quota(g *Grant, stuck int64) error {
	verb := "is"
	if b.limit == "tokens_day" {
		verb = "are"
	}
	text := fmt.Sprintf("the key %q may use %s a day (UTC, %s); %s %s spent", g.Key.Name, b.text(b.most), b.limit,
		b.text(b.spent), verb)
	if b.reserved > 0 {
		text += fmt.Sprintf(" and %s %s reserved by requests that have not ended", b.text(b.reserved), verb)
	}
	want := *b.of(&g.Want)
	if g.Whole {
		text += fmt.Sprintf("; this request may cost %s, and less with fewer max_tokens", b.text(want))
	}
	next := time.Unix((day(g.Begun)+1)*86400, 0)
	free := b.most - b.spent - stuck
	held := b.reserved > 0 && free > 0 && (!g.Whole || free >= want)
	return &LimitError{b.limit, held, g.Key.Name, next.Sub(g.Begun), text}
}

// Draw is what a request that runs wants to have reserved.
type Draw struct {
	Least, Need Amount
	Idle        bool // it has no call in flight: Least is spent, and does not come back
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

// change is Draw for the sums of the request's key, of a request that has reserved now.
func (s *Store) change(ctx context.Context, tx *sql.Tx, g Grant, d Draw, now Amount) (reserved Amount, wait bool,
	err error) {
	spent, all, err := s.dayOf(ctx, tx, &g)
	if err != nil {
		return now, false, err
	}
	s.unstick(g.keyID(), g.ID)
	var lacks bool
	if lacks, wait = s.lacks(&g, d.Need, spent, all.Minus(now)); lacks {
		if reserved = now.least(d.Least); wait && d.Idle {
			s.stick(g, reserved)
		}
	} else {
		reserved = d.Need
	}
	if more := reserved.Minus(now); more != (Amount{}) && g.Key != nil {
		err = s.exec(ctx, tx, addToDay, g.Key.ID, day(g.Begun), 0, 0, int64(more.Money), 0, more.Tokens)
	}
	return reserved, wait, err
}

// lacks reports whether a key has less than a request needs, beside what others of its requests have reserved, and
// whether they may return what is missing.
func (s *Store) lacks(g *Grant, need, spent, others Amount) (lacks, wait bool) {
	stuck := s.stuckOf(g.keyID())
	wait = true
	for _, b := range g.Key.bounds(spent, others) {
		if n := *b.of(&need); n > b.most-b.spent-b.reserved {
			lacks, wait = true, wait && b.reserved > 0 && n <= b.most-b.spent-*b.of(&stuck)
		}
	}
	return lacks, lacks && wait
}

// stick notes that a request waits and will return nothing of what it has reserved: it is spent. Only the writer
// plays stick, unstick and stuckOf.
func (s *Store) stick(g Grant, spent Amount) {
	if s.stuck[g.Key.ID] == nil {
		s.stuck[g.Key.ID] = map[string]Amount{}
	}
	s.stuck[g.Key.ID][g.ID] = spent
}

func (s *Store) unstick(key, id string) {
	if all := s.stuck[key]; all != nil {
		if delete(all, id); len(all) == 0 {
			delete(s.stuck, key)
		}
	}
}

func (s *Store) stuckOf(key string) (sum Amount) {
	for _, a := range s.stuck[key] {
		sum = sum.Plus(a)
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
	if s.spool != nil {
		return s.spool.settle(g, r)
	}
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		s.unstick(g.keyID(), g.ID)
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
	cost := r.cost()
	return s.exec(ctx, tx, addToDay, key, day, 0, int64(cost.Money), -int64(reserved.Money), cost.Tokens,
		-reserved.Tokens)
}

// reserved returns what a request has reserved.
func (s *Store) reserved(ctx context.Context, tx *sql.Tx, id string) (a Amount, err error) {
	find, err := s.stmt(ctx, tx, findReserved)
	if err == nil {
		err = passed(find.QueryRowContext(ctx, id).Scan(&a.Money, &a.Tokens))
	}
	return a, err
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
		rows, err := tx.QueryContext(ctx, `SELECT id, key_id, begun, reserved, reserved_tokens, journal FROM requests
			WHERE ended = 0 AND (gateway = $1 OR gateway NOT IN (SELECT id FROM gateways WHERE seen > $2))`, own,
			now.Add(-deadAfter).UnixMilli())
		if err != nil {
			return err
		}
		var open []Grant
		for rows.Next() {
			var g Grant
			var key string
			var begun int64
			if err := rows.Scan(&g.ID, &key, &begun, &g.Want.Money, &g.Want.Tokens, &g.Kept); err != nil {
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
