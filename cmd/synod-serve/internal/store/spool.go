package store

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/internal/durable"
)

// spool takes the requests of the gateway of a file. A transaction of SQLite for each request would cost more
// processor time than the rest of it. So each beginning and end of a request is appended to a log, from which a
// gateway that was killed reads them again. Twice a second the database gets what is new in one transaction, with the
// generation of the log: what is of that generation or an earlier one is in the database, and nothing is counted twice.
//
// Limits of keys hold for all processes that use the file. So what a request of a key with limits reserves is added to
// the sums of its key in a transaction before its line is written, and the line says that it is counted there. What it
// returns at its end is added with what is new: until then others may have too little, never too much. A gateway that
// is killed between the transaction and the line leaves an amount that stays reserved until the day ends.
type spool struct {
	s    *books
	path string // of the log, without the generation

	flushing sync.Mutex // one flush at a time; it is locked before mu

	mu         sync.Mutex
	file       *os.File
	size       int64
	object     []byte // the last record that was written
	line       []byte // it, with its checksum
	generation int64
	open       map[string]*entry    // requests that have not ended
	fresh      []*entry             // what the database does not have yet
	valid      map[string]time.Time // by key: when the database was asked whether it is valid
	failed     error                // of the last flush
	wake       chan struct{}
	stopped    chan struct{}
}

const (
	flushEvery = 500 * time.Millisecond
	flushAt    = 1024 // entries that do not wait so long
)

// openSpool reads the log of a gateway that was killed into the database, and begins a new one.
func openSpool(ctx context.Context, s *books, path string) (*spool, error) {
	sp := &spool{s: s, path: path, open: map[string]*entry{}, valid: map[string]time.Time{},
		wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	var flushed sql.NullInt64
	err := s.db.QueryRowContext(ctx, "SELECT generation FROM spooled WHERE gateway = $1", s.gateway).Scan(&flushed)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	sp.generation = flushed.Int64
	logs, err := sp.generations()
	if err != nil {
		return nil, err
	}
	for _, g := range logs {
		if g > flushed.Int64 {
			if err := sp.replay(g); err != nil {
				return nil, err
			}
			sp.generation = g
		}
	}
	if err := sp.rotate(); err != nil {
		return nil, err
	}
	if err := sp.apply(sp.take(), sp.generation-1); err != nil {
		return nil, errors.Join(err, sp.file.Close())
	}
	return sp, nil
}

func (sp *spool) name(generation int64) string {
	return fmt.Sprintf("%s-spool-%d", sp.path, generation)
}

// generations lists those of which there is a log, in order.
func (sp *spool) generations() (all []int64, err error) {
	files, err := os.ReadDir(filepath.Dir(sp.path))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name, ours := strings.CutPrefix(f.Name(), filepath.Base(sp.path)+"-spool-")
		if g, err := strconv.ParseInt(name, 10, 64); ours && err == nil {
			all = append(all, g)
		}
	}
	slices.Sort(all)
	return all, nil
}

// replay reads a log. A last line that was cut off is that of a request that had not begun. Lines of earlier versions
// have no checksum.
func (sp *spool) replay(generation int64) error {
	f, err := os.Open(sp.name(generation))
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		var r record
		if err == nil {
			_, err = durable.DecodeSealed(line, &r)
		}
		if err != nil || r.ID == "" {
			return fmt.Errorf("%s, line %d: %w; restore the file, or remove it: then the requests that it has are not "+
				"counted", f.Name(), n, cmp.Or(err, errors.New("it has no request")))
		}
		e := sp.open[r.ID]
		if e == nil {
			e = &entry{stored: r.Result != nil || r.Drawn}
			sp.open[r.ID] = e
		}
		e.record = r
		sp.queue(e)
	}
}

// rotate begins a new log.
func (sp *spool) rotate() error {
	f, err := os.OpenFile(sp.name(sp.generation+1), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if sp.file != nil {
		err = sp.file.Close()
	}
	sp.file, sp.size = f, 0
	sp.generation++
	return err
}

// write appends a record; it is on disk for every process when write returns. After an error nothing of it is left.
func (sp *spool) write(r *record) error {
	sp.object = r.append(sp.object[:0])
	sp.line = durable.AppendSealed(sp.line[:0], sp.object)
	n, err := sp.file.Write(sp.line)
	if err != nil {
		if cut := sp.file.Truncate(sp.size); cut != nil {
			return errors.Join(err, cut)
		}
		_, seek := sp.file.Seek(sp.size, 0)
		return errors.Join(err, seek)
	}
	sp.size += int64(n)
	return nil
}

// queue adds an entry to what the database does not have yet.
func (sp *spool) queue(e *entry) {
	if !e.queued {
		e.queued = true
		sp.fresh = append(sp.fresh, e)
	}
}

// begin is Begin.
func (sp *spool) begin(r Request) (Grant, error) {
	if err := sp.healthy(); err != nil {
		return Grant{}, err
	}
	g, err := sp.admit(r)
	if err != nil {
		return g, err
	}
	if r.Key.limited() {
		if err := sp.count(&g); err != nil {
			return g, err
		}
	}
	if err := sp.record(&g); err != nil {
		if r.Key.limited() {
			err = errors.Join(err, sp.uncount(&g))
		}
		return g, fmt.Errorf("store: %w", err)
	}
	return g, nil
}

// admit checks the key and the id of a request that begins.
func (sp *spool) admit(r Request) (Grant, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	g := Grant{Request: r, Begun: sp.s.now()}
	if sp.open[g.ID] != nil {
		return g, fmt.Errorf("store: a request with the id %s is open", g.ID)
	}
	return g, sp.check(&g)
}

// record writes that a request has begun.
func (sp *spool) record(g *Grant) error {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	e := &entry{record: record{ID: g.ID, Key: g.keyID(), API: g.API, Model: g.Model, Kept: g.Kept, Want: g.Want.Money,
		Tokens: g.Want.Tokens, Question: g.Question, Begun: g.Begun.UnixMilli(), Counted: g.Key.limited()}}
	if err := sp.write(&e.record); err != nil {
		return err
	}
	sp.open[g.ID] = e
	sp.queue(e)
	sp.signal()
	return nil
}

// checkEvery is how long a key that another process has revoked may begin requests.
const checkEvery = time.Second

// check reports whether the key of a request is valid.
func (sp *spool) check(g *Grant) error {
	if g.Key == nil {
		return nil
	}
	if age := g.Begun.Sub(sp.valid[g.Key.ID]); age >= 0 && age <= checkEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	var one int
	err := sp.s.db.QueryRowContext(ctx, "SELECT 1 FROM keys WHERE id = $1 AND "+valid+"$2)",
		g.Key.ID, g.Begun.UnixMilli()).Scan(&one)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrKey
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	sp.valid[g.Key.ID] = g.Begun
	return nil
}

// signal wakes the flusher.
func (sp *spool) signal() {
	if n := len(sp.fresh); n == 1 || n == flushAt {
		select {
		case sp.wake <- struct{}{}:
		default:
		}
	}
}

// healthy tries to write to the database again if that has failed, and returns why it still does.
func (sp *spool) healthy() error {
	sp.mu.Lock()
	failed := sp.failed
	sp.mu.Unlock()
	if failed == nil {
		return nil
	}
	return sp.flush()
}

// settle is Settle.
func (sp *spool) settle(g Grant, r Result) error {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	e := sp.open[g.ID]
	if e == nil {
		return nil
	}
	ended := e.record
	ended.Result, ended.Ended = &r, sp.s.now().UnixMilli()
	if err := sp.write(&ended); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	e.record = ended
	delete(sp.open, g.ID)
	sp.queue(e)
	sp.signal()
	return nil
}

// run flushes until stop is closed, and a last time then.
func (sp *spool) run(stop <-chan struct{}) {
	defer close(sp.stopped)
	for open := true; open; {
		select {
		case <-sp.wake:
			t := time.NewTimer(flushEvery)
			select {
			case <-t.C:
			case <-sp.wake:
			case <-stop:
				open = false
			}
			t.Stop()
		case <-stop:
			open = false
		}
		if sp.flush() != nil && open { // the next request, or a later flush, tries it again
			t := time.NewTimer(5 * flushEvery)
			select {
			case <-t.C:
				sp.again()
			case <-stop:
			}
			t.Stop()
		}
	}
}

func (sp *spool) again() {
	select {
	case sp.wake <- struct{}{}:
	default:
	}
}

// take takes what is new.
func (sp *spool) take() []taken {
	all := make([]taken, len(sp.fresh))
	for i, e := range sp.fresh {
		e.queued = false
		all[i] = taken{e, e.record, e.stored}
	}
	sp.fresh = nil
	return all
}

// flush writes to the database what is new.
func (sp *spool) flush() error {
	sp.flushing.Lock()
	defer sp.flushing.Unlock()
	sp.mu.Lock()
	if len(sp.fresh) == 0 {
		sp.mu.Unlock()
		return nil
	}
	if sp.size > 0 {
		if err := sp.rotate(); err != nil {
			sp.failed = fmt.Errorf("store: %w", err)
			sp.mu.Unlock()
			return sp.failed
		}
	}
	batch, last := sp.take(), sp.generation-1
	sp.mu.Unlock()
	return sp.apply(batch, last)
}

// apply writes entries to the database, which then has everything to a generation of the log.
func (sp *spool) apply(batch []taken, last int64) error {
	err := sp.s.run(func(ctx context.Context, tx *sql.Tx) error { return sp.s.store(ctx, tx, batch, last) })
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.failed = err
	if err != nil {
		for _, t := range batch {
			sp.queue(t.entry)
		}
		return err
	}
	for _, t := range batch {
		t.entry.stored = true
		if t.now.Result != nil {
			delete(sp.open, t.now.ID) // of a log that was read again
		}
	}
	logs, _ := sp.generations() // an old log that stays is not read again
	for _, g := range logs {
		if g <= last {
			_ = os.Remove(sp.name(g))
		}
	}
	return nil
}

// close writes what is left. The log stays if the database does not take it.
func (sp *spool) close() error {
	<-sp.stopped
	sp.mu.Lock()
	defer sp.mu.Unlock()
	err := sp.file.Close()
	if len(sp.fresh) == 0 && err == nil {
		err = os.Remove(sp.name(sp.generation))
	}
	return err
}

// forget forgets the requests that are open, after they were settled as lost.
func (sp *spool) forget() {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	clear(sp.open)
}

// recheck has the database asked again whether keys are valid.
func (sp *spool) recheck() {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	clear(sp.valid)
}
