package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"synod.dev/synod/core/clean"
)

// books are what requests have reserved and spent, by key and day, and the limits that keys have.
type books struct {
	*database
	gateway string // this gateway, in the rows of its requests
	now     func() time.Time
	stuck   map[string]map[string]Amount // by key and request; see stick
}

// admit checks the limits of the key and reserves. Its first statement locks the key's row against other
// gateways.
func (s *books) admit(ctx context.Context, tx *sql.Tx, g *Grant) error {
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
func (s *books) count(ctx context.Context, tx *sql.Tx, g *Grant) error {
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
func (s *books) fit(ctx context.Context, tx *sql.Tx, g *Grant) error {
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
func (s *books) dayOf(ctx context.Context, tx *sql.Tx, g *Grant) (spent, reserved Amount, err error) {
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

// change is Draw for the sums of the request's key, of a request that has reserved now.
func (s *books) change(ctx context.Context, tx *sql.Tx, g Grant, d Draw, now Amount) (reserved Amount, wait bool,
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
func (s *books) lacks(g *Grant, need, spent, others Amount) (lacks, wait bool) {
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
func (s *books) stick(g Grant, spent Amount) {
	if s.stuck[g.Key.ID] == nil {
		s.stuck[g.Key.ID] = map[string]Amount{}
	}
	s.stuck[g.Key.ID][g.ID] = spent
}

func (s *books) unstick(key, id string) {
	if all := s.stuck[key]; all != nil {
		if delete(all, id); len(all) == 0 {
			delete(s.stuck, key)
		}
	}
}

func (s *books) stuckOf(key string) (sum Amount) {
	for _, a := range s.stuck[key] {
		sum = sum.Plus(a)
	}
	return sum
}

// lockDay keeps other gateways from changing the sums of a key's day in the same moment.
func (s *books) lockDay(ctx context.Context, tx *sql.Tx, g Grant) error {
	if !s.postgres || g.Key == nil {
		return nil
	}
	return s.exec(ctx, tx, lockKey, s.now().UnixMilli(), g.Key.ID)
}

// rate counts the requests of the last 60 seconds, refused ones excepted, by the second in which they began.
func (s *books) rate(ctx context.Context, tx *sql.Tx, g *Grant) error {
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

func (s *books) settle(ctx context.Context, tx *sql.Tx, id, key string, day int64, now time.Time, r Result) error {
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
func (s *books) reserved(ctx context.Context, tx *sql.Tx, id string) (a Amount, err error) {
	find, err := s.stmt(ctx, tx, findReserved)
	if err == nil {
		err = passed(find.QueryRowContext(ctx, id).Scan(&a.Money, &a.Tokens))
	}
	return a, err
}

// end records how an open request ended; 0 if it is not open.
func (s *books) end(ctx context.Context, tx *sql.Tx, id string, now time.Time, r Result) (int64, error) {
	ended, err := s.stmt(ctx, tx, endRequest)
	if err != nil {
		return 0, err
	}
	res, err := ended.ExecContext(ctx, now.UnixMilli(), r.Status, r.HTTP, int64(r.Spent), bit(r.Unpriced), r.Calls,
		r.Prompt, r.Completion, r.Journal, r.Bytes, int64(r.Alone), bit(r.Compared), id)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.keepText(ctx, tx, id, r)
}

// keepText keeps the decision for searches as long as the journal, and nothing without a journal.
func (s *books) keepText(ctx context.Context, tx *sql.Tx, id string, r Result) (err error) {
	switch {
	case r.Journal == "":
		err = s.exec(ctx, tx, "DELETE FROM texts WHERE id = $1", id)
	case r.Answer != "":
		err = s.exec(ctx, tx, "UPDATE texts SET answer = $1 WHERE id = $2", searchable(r.Answer), id)
	}
	return err
}

// searchable is what is kept of a question or an answer for searches.
func searchable(text string) string {
	const most = 4 << 10
	return strings.ReplaceAll(strings.ToValidUTF8(clean.Head(text, most), "\ufffd"), "\x00", "\ufffd")
}
