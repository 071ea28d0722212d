package store

import (
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"time"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/durable"
)

// When a batch is committed: when it has so many results or bytes, or when its first result has waited so long.
const (
	batchResults = 512
	batchBytes   = 1 << 20
	batchTime    = time.Second
)

// segmentBytes is the size from which another segment is begun.
const segmentBytes = 256 << 20

// batch is what waits to be committed.
type batch struct {
	results  []Result
	bodies   []Body
	bytes    int
	attempts []Attempt
	done     []func() error // called when the batch is on disk
	flushed  chan struct{}  // closed then; nil: nobody waits
}

func (b *batch) empty() bool {
	return b == nil || len(b.results)+len(b.attempts)+len(b.done) == 0 && b.flushed == nil
}

// writer is the goroutine that commits batches, one after another.
type writer struct {
	full    chan *batch
	ended   chan struct{}
	file    *os.File // the last segment
	segment int
	size    int64
}

// OpenWriting opens the store of a folder for writing and reading. The caller keeps other processes from opening it
// for writing. What a crash has left behind the last block of a segment is cut off.
func OpenWriting(dir string) (*Store, error) {
	if !Exists(dir) {
		return nil, fmt.Errorf("store: %s: %w", dir, ErrNone)
	}
	s, err := open(dir, writing)
	if err != nil {
		return nil, err
	}
	s.write = true
	s.out = &writer{full: make(chan *batch, 1), ended: make(chan struct{})}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.blocks.close(), s.db.Close())
	}
	go s.run()
	return s, nil
}

// begin opens the last segment at the end of its last block.
func (s *Store) begin() error {
	rows, err := s.db.Query("SELECT segment, MAX(offset + bytes), SUM(bytes) FROM blocks GROUP BY segment " +
		"ORDER BY segment")
	if err != nil {
		return s.named(err)
	}
	defer rows.Close()
	s.out.segment = 1
	for rows.Next() {
		var sum int64
		if err := rows.Scan(&s.out.segment, &s.out.size, &sum); err != nil {
			return s.named(err)
		}
		if sum != s.out.size {
			return s.named(fmt.Errorf("the blocks of segment %d leave gaps: %w", s.out.segment, journal.ErrChanged))
		}
		info, err := os.Stat(s.segment(s.out.segment))
		if err != nil || info.Size() < s.out.size {
			return fmt.Errorf("store: %s is missing or has fewer than %d bytes: %w", s.segment(s.out.segment),
				s.out.size, journal.ErrChanged)
		}
	}
	if err := rows.Err(); err != nil {
		return s.named(err)
	}
	return s.openSegment()
}

// openSegment opens the segment that is written and cuts off what no row names.
func (s *Store) openSegment() (err error) {
	w := s.out
	if w.file, err = os.OpenFile(s.segment(w.segment), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := w.file.Truncate(w.size); err != nil {
		return errors.Join(fmt.Errorf("store: %w", err), w.file.Close())
	}
	return durable.SyncDir(s.dir)
}

// Put adds a finished question, unless it is there: then it reports false, and done is not called. It is durable when
// done is called, or after Flush; it is visible to Results and to other processes then too. about is what else the
// result depends on: Body needs the same text. An error ends all writing.
func (s *Store) Put(r Result, about string, body Body, done func() error) (bool, error) {
	f, err := s.finished(r.Cell)
	if err != nil {
		return false, err
	}
	r.crc = r.sum(about, body)
	s.mu.Lock()
	if s.err != nil || !s.write {
		defer s.mu.Unlock()
		return false, errors.Join(s.err, errReading(s.write))
	}
	k, err := f.index(r.Key)
	if err != nil || f.has(k) {
		s.mu.Unlock()
		return false, err
	}
	f.set(k)
	b := s.waiting()
	r.place = len(b.bodies)
	b.results, b.bodies = append(b.results, r), append(b.bodies, body)
	b.bytes += len(body.Text) + len(body.Words)
	if done != nil {
		b.done = append(b.done, done)
	}
	if len(b.results) < batchResults && b.bytes < batchBytes {
		s.mu.Unlock()
		return true, nil
	}
	s.batch = nil
	s.mu.Unlock()
	s.out.full <- b
	return true, nil
}

func errReading(write bool) error {
	if write {
		return nil
	}
	return errors.New("store: it is open for reading")
}

// waiting returns the batch that waits. s.mu is held.
func (s *Store) waiting() *batch {
	if s.batch == nil {
		s.batch = &batch{}
	}
	return s.batch
}

// Attempted adds an attempt. It is durable as a result is.
func (s *Store) Attempted(a Attempt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || !s.write {
		return errors.Join(s.err, errReading(s.write))
	}
	a.Ended = a.Ended.UTC().Truncate(time.Millisecond)
	s.waiting().attempts = append(s.waiting().attempts, a)
	return nil
}

// Flush commits everything that was put before.
func (s *Store) Flush() error {
	s.mu.Lock()
	b := s.waiting()
	b.flushed = make(chan struct{})
	s.batch = nil
	s.mu.Unlock()
	s.out.full <- b
	<-b.flushed
	return s.failure()
}

func (s *Store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// stop commits what is left and ends the goroutine.
func (s *Store) stop() error {
	err := s.Flush()
	close(s.out.full)
	<-s.out.ended
	s.write = false
	return errors.Join(err, s.out.file.Close())
}

// run commits batches until the channel is closed.
func (s *Store) run() {
	defer close(s.out.ended)
	tick := time.NewTicker(batchTime)
	defer tick.Stop()
	for {
		select {
		case b, more := <-s.out.full:
			if !more {
				return
			}
			s.commit(b)
		case <-tick.C:
			s.mu.Lock()
			b := s.batch
			s.batch = nil
			s.mu.Unlock()
			if !b.empty() {
				s.commit(b)
			}
		}
	}
}

// commit writes a batch. Its journals are on disk before its rows.
func (s *Store) commit(b *batch) {
	err := s.failure()
	if err == nil && len(b.results)+len(b.attempts) > 0 {
		err = s.put(b)
	}
	for _, done := range b.done {
		if err == nil {
			err = done()
		}
	}
	if err != nil {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	if b.flushed != nil {
		close(b.flushed)
	}
}

func (s *Store) put(b *batch) error {
	w := s.out
	raw, err := encode(b.bodies)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if len(b.results) == 0 {
		raw = nil
	}
	if w.size > 0 && w.size+int64(len(raw)) > segmentBytes {
		if err := w.file.Close(); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		w.segment, w.size = w.segment+1, 0
		if err := s.openSegment(); err != nil {
			return err
		}
	}
	if len(raw) > 0 {
		if _, err := w.file.WriteAt(raw, w.size); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if err := w.file.Sync(); err != nil {
			return fmt.Errorf("store: %s: %w", filepath.Base(w.file.Name()), err)
		}
	}
	now := time.Now()
	err = s.transact(func(tx *sql.Tx) error {
		if len(raw) > 0 {
			res, err := tx.Exec("INSERT INTO blocks (segment, offset, bytes, entries, crc, committed) "+
				"VALUES (?, ?, ?, ?, ?, ?)",
				w.segment, w.size, len(raw), len(b.results), crc32.Checksum(raw, castagnoli), stamp(now))
			if err != nil {
				return err
			}
			id, err := res.LastInsertId()
			if err != nil {
				return err
			}
			if err := insertResults(tx, id, b.results); err != nil {
				return err
			}
		}
		return insertAttempts(tx, b.attempts)
	})
	if err == nil {
		w.size += int64(len(raw))
	}
	return err
}

// rowsAtOnce is how many rows one statement inserts: fewer statements cost less.
const rowsAtOnce = 64

const row = "(?,?,?,?,?,?,?,?,?,?,?,?,?)"

func insertResults(tx *sql.Tx, block int64, results []Result) error {
	for len(results) > 0 {
		some := results[:min(len(results), rowsAtOnce)]
		results = results[len(some):]
		args := make([]any, 0, 13*len(some))
		for _, r := range some {
			args = append(args, r.Cell, r.Question, r.Repeat, block, r.place, flag(r.Answered), optional(r.Right),
				r.Calls, r.Prompt, r.Completion, optional(r.USD), r.Ms, int64(r.crc))
		}
		insert := "INSERT INTO results VALUES " + row + strings.Repeat(","+row, len(some)-1)
		if _, err := tx.Exec(insert, args...); err != nil {
			return err
		}
	}
	return nil
}

func optional[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

func insertAttempts(tx *sql.Tx, attempts []Attempt) error {
	var block int64
	if err := tx.QueryRow("SELECT COALESCE(MAX(id), 0) FROM blocks").Scan(&block); err != nil {
		return err
	}
	for _, a := range attempts {
		a.Block = block
		question, repeat := any(a.Question), any(a.Repeat)
		if a.None {
			question, repeat = nil, nil
		}
		if _, err := tx.Exec("INSERT INTO attempts (cell, question, repeat, stopped, failed, reason, seconds, ended, "+
			"block, crc) VALUES (?,?,?,?,?,?,?,?,?,?)", a.Cell, question, repeat, a.Stopped,
			flag(a.Failed), a.Reason, a.Seconds,
			stamp(a.Ended), block, int64(a.sum())); err != nil {
			return err
		}
	}
	return nil
}

// finished has a bit for each result of a cell.
type finished struct {
	n, repeats int
	bits       []uint64
}

func (f *finished) index(k Key) (int, error) {
	if k.Question < 0 || k.Question >= f.n || k.Repeat < 0 || k.Repeat >= f.repeats {
		return 0, fmt.Errorf("store: cell %d has no question %d, repeat %d", k.Cell, k.Question, k.Repeat)
	}
	return k.Repeat*f.n + k.Question, nil
}

func (f *finished) has(k int) bool { return f.bits[k/64]&(1<<(k%64)) != 0 }
func (f *finished) set(k int)      { f.bits[k/64] |= 1 << (k % 64) }

// finished returns what is finished or put of a cell.
func (s *Store) finished(cell int64) (*finished, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.have[cell]; f != nil {
		return f, nil
	}
	f := &finished{}
	err := s.db.QueryRow("SELECT n, repeats FROM cells WHERE id = ?", cell).Scan(&f.n, &f.repeats)
	if err != nil {
		return nil, s.named(fmt.Errorf("cell %d: %w", cell, err))
	}
	f.bits = make([]uint64, (f.n*f.repeats+63)/64)
	rows, err := s.db.Query("SELECT repeat, question FROM results WHERE cell = ?", cell)
	if err != nil {
		return nil, s.named(err)
	}
	defer rows.Close()
	for rows.Next() {
		k := Key{Cell: cell}
		if err := rows.Scan(&k.Repeat, &k.Question); err != nil {
			return nil, s.named(err)
		}
		at, err := f.index(k)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, journal.ErrChanged)
		}
		f.set(at)
	}
	s.have[cell] = f
	return f, s.named(rows.Err())
}

// Has reports whether a question is finished, or was put. It does not look at what other processes have written
// since the first call for the cell.
func (s *Store) Has(k Key) (bool, error) {
	f, err := s.finished(k.Cell)
	if err != nil {
		return false, err
	}
	at, err := f.index(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	return err == nil && f.has(at), err
}
