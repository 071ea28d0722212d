package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// count adds a request to the sums of its key, if its limits allow that. Where too little is left, what requests that
// have ended return is added first.
func (sp *spool) count(g *Grant) error {
	r := g.Request
	try := func(whole bool) error {
		return sp.s.run(func(ctx context.Context, tx *sql.Tx) error {
			g.Want, g.Limit, g.Whole = r.Want, Amount{}, whole
			err := sp.s.count(ctx, tx, g)
			g.Whole = r.Whole
			return err
		})
	}
	err := try(true)
	if limit := new(LimitError); !errors.As(err, &limit) || limit.Limit == "rpm" {
		return err
	}
	if err := sp.flush(); err != nil {
		return err
	}
	return try(r.Whole)
}

// uncount takes a request that cannot be recorded off the sums of its key.
func (sp *spool) uncount(g *Grant) error {
	return sp.s.run(func(ctx context.Context, tx *sql.Tx) error {
		return sp.s.exec(ctx, tx, addToDay, g.Key.ID, day(g.Begun), -1, 0, -int64(g.Want.Money), 0, -g.Want.Tokens)
	})
}

// draw is Draw.
func (sp *spool) draw(g Grant, d Draw) (reserved Amount, wait bool, err error) {
	now, counted, open := sp.reserved(g.ID)
	if !open {
		return now, false, fmt.Errorf("store: the request %s is not open", g.ID)
	}
	reserved = d.Need
	if counted {
		if reserved, wait, err = sp.change(g, d, now); err == nil && !reserved.Covers(d.Need) {
			if err = sp.flush(); err == nil { // what requests that have ended return
				reserved, wait, err = sp.change(g, d, reserved)
			}
		}
	}
	if err != nil {
		return reserved, wait, err
	}
	return reserved, wait, sp.redraw(g, reserved)
}

// change is Store.change in a transaction.
func (sp *spool) change(g Grant, d Draw, now Amount) (reserved Amount, wait bool, err error) {
	err = sp.s.run(func(ctx context.Context, tx *sql.Tx) error {
		var err error
		reserved, wait, err = sp.s.change(ctx, tx, g, d, now)
		return err
	})
	return reserved, wait, err
}

// reserved returns what a request has reserved, and whether the sums of its key have it; false if it is not open.
func (sp *spool) reserved(id string) (a Amount, counted, open bool) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	e := sp.open[id]
	if e == nil {
		return Amount{}, false, false
	}
	return e.want(), e.Counted, true
}

// redraw records what an open request reserves now.
func (sp *spool) redraw(g Grant, now Amount) error {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	e := sp.open[g.ID]
	if e == nil {
		return fmt.Errorf("store: the request %s is not open", g.ID)
	}
	more := e.record
	more.Want, more.Tokens, more.Drawn = now.Money, now.Tokens, true
	if err := sp.write(&more); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	e.record = more
	sp.queue(e)
	sp.signal()
	return nil
}
