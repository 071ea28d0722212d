package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/bench"
)

// opened is a cell whose models a worker has open.
type opened struct {
	player *bench.Player
	once   sync.Once
	err    error
	users  int
	used   time.Time
}

// maxOpen is how many cells a worker keeps open that nobody plays.
const maxOpen = 32

// cell opens a cell, or returns it if it is open. The caller puts it back.
func (w *worker) cell(ctx context.Context, key string) (*opened, error) {
	w.mu.Lock()
	c := w.cells[key]
	if c == nil {
		c = &opened{}
		w.cells[key] = c
	}
	c.users++
	w.mu.Unlock()
	c.once.Do(func() { c.player, c.err = w.openCell(ctx, key) })
	if c.err != nil {
		w.mu.Lock()
		if w.cells[key] == c {
			delete(w.cells, key)
		}
		w.mu.Unlock()
		return nil, c.err
	}
	return c, nil
}

// put puts a cell back. Of the cells that nobody plays those used last stay open.
func (w *worker) put(c *opened) {
	w.mu.Lock()
	c.users--
	c.used = time.Now()
	var oldest *opened
	unused, idle := "", 0
	for k, o := range w.cells {
		if o.users == 0 {
			idle++
			if oldest == nil || o.used.Before(oldest.used) {
				oldest, unused = o, k
			}
		}
	}
	if idle <= maxOpen {
		oldest = nil
	} else {
		delete(w.cells, unused)
	}
	w.mu.Unlock()
	if oldest != nil {
		if err := oldest.player.Close(); err != nil {
			fmt.Fprintln(w.log, err)
		}
	}
}

func (w *worker) closeCells() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.cells {
		if c.player != nil {
			err = errors.Join(err, c.player.Close())
		}
	}
	return err
}

// openCell gets a cell from the hub and opens its models with this worker's own keys. A council that names addresses,
// keys or files is only opened if the worker's user trusts the hub.
func (w *worker) openCell(ctx context.Context, key string) (*bench.Player, error) {
	packed, err := w.download(ctx, key)
	if err != nil {
		return nil, err
	}
	text, err := unpack(packed, 2*maxJournal)
	if err != nil {
		return nil, fmt.Errorf("the hub's cell %.12s cannot be read: %w", key, err)
	}
	var p bench.Parcel
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("the hub's cell %.12s cannot be read: %w", key, err)
	}
	hash, _, _ := strings.Cut(key, ".")
	run, err := p.Unpack(hash)
	if err != nil {
		return nil, fmt.Errorf("the hub's cell %.12s: %w", hash, err)
	}
	spec, err := run.Spec()
	if err != nil {
		return nil, err
	}
	if starts := spec.Starts(); len(starts) > 0 && !w.trust {
		return nil, &foreignError{starts}
	}
	run.Prices = w.env.Prices
	player, err := run.Player(bench.Options{Env: w.env, Program: w.program, Outage: w.outage})
	if err != nil {
		return nil, fmt.Errorf("this worker cannot play the council %s: %w", run.Name, err)
	}
	return player, nil
}

// foreignError reports that a council of the hub names what the worker's user has not allowed.
type foreignError struct{ starts []string }

func (e *foreignError) Error() string {
	return "the councils of the hub use this machine's keys, files or network:\n  " + strings.Join(e.starts, "\n  ") +
		"\nif you trust the hub, start the worker with --trust"
}

func (w *worker) download(ctx context.Context, key string) (packed []byte, err error) {
	for {
		var part cellPart
		if err := w.insist(ctx, askCell, &cellRequest{w.hello(), key, len(packed)}, &part); err != nil {
			return nil, err
		}
		packed = append(packed, part.Part...)
		switch {
		case part.Total < 1 || part.Total > maxPacked || len(part.Part) == 0 || len(packed) > part.Total:
			return nil, fmt.Errorf("the hub sends a cell of %d bytes; at most %d are accepted", part.Total, maxPacked)
		case len(packed) == part.Total:
			return packed, nil
		}
	}
}
