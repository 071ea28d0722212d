package store

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"time"

	"synod.dev/synod/core/journal"
)

// Key identifies a result.
type Key struct {
	Cell     int64
	Repeat   int // from 0
	Question int // index in the list of the cell
}

// Result is a row of the table results: a finished question.
type Result struct {
	Key
	Answered   bool  // whether the council decided an answer
	Right      *bool // whether the decision is right; nil: that is not known
	Calls      int
	Prompt     int // tokens
	Completion int
	USD        *float64 // nil: not known
	Ms         int      // time of the attempt by the clock, in milliseconds

	block int64
	place int
	crc   uint32
}

// Body is the journal of a result, as package bench encodes it. Words has a multiple of eight bytes.
type Body struct{ Text, Words []byte }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the CRC-32C of a result and its journal. about is what else the result depends on, such as the id of
// the question and the seed.
func (r *Result) sum(about string, b Body) uint32 {
	var buf [160]byte
	p := append(buf[:0], about...)
	for _, n := range []int{r.Repeat, r.Question, flag(r.Answered), right(r.Right), r.Calls, r.Prompt, r.Completion,
		r.Ms} {
		p = binary.AppendVarint(p, int64(n))
	}
	if r.USD != nil {
		p = binary.LittleEndian.AppendUint64(p, math.Float64bits(*r.USD))
	}
	crc := crc32.Update(0, castagnoli, p)
	return crc32.Update(crc32.Update(crc, castagnoli, b.Text), castagnoli, b.Words)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func right(b *bool) int {
	if b == nil {
		return -1
	}
	return flag(*b)
}

const columns = "repeat, question, block, place, answered, right, calls, prompt_tokens, completion_tokens, usd, ms, crc"

type scanner interface{ Scan(...any) error }

func (r *Result) scan(from scanner) error {
	return from.Scan(&r.Repeat, &r.Question, &r.block, &r.place, &r.Answered, &r.Right, &r.Calls, &r.Prompt,
		&r.Completion, &r.USD, &r.Ms, &r.crc)
}

// Results yields the results of a cell by question and repeat. Iteration ends after an error.
func (s *Store) Results(cell int64) iter.Seq2[Result, error] {
	return s.results(cell, "question, repeat")
}

// ByRepeat yields the results of a cell by repeat and question. Iteration ends after an error.
func (s *Store) ByRepeat(cell int64) iter.Seq2[Result, error] {
	return s.results(cell, "repeat, question")
}

func (s *Store) results(cell int64, order string) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		rows, err := s.db.Query("SELECT "+columns+" FROM results WHERE cell = ? ORDER BY "+order, cell)
		if err != nil {
			yield(Result{}, s.named(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			r := Result{Key: Key{Cell: cell}}
			if err := r.scan(rows); err != nil {
				yield(r, s.named(err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Result{}, s.named(err))
		}
	}
}

// Result returns one result; nil if the question is not finished.
func (s *Store) Result(k Key) (*Result, error) {
	r := &Result{Key: k}
	err := r.scan(s.db.QueryRow("SELECT "+columns+" FROM results WHERE cell = ? AND repeat = ? AND question = ?",
		k.Cell, k.Repeat, k.Question))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return r, s.named(err)
}

// Body returns the journal of a result. It fails if it was changed. about is what it was put with.
func (s *Store) Body(r *Result, about string) (Body, error) {
	block, err := s.blocks.get(r.block)
	if err != nil {
		return Body{}, err
	}
	if r.place < 0 || r.place >= len(block.bodies) {
		return Body{}, s.named(fmt.Errorf("a result names journal %d of the %d in block %d: %w", r.place,
			len(block.bodies), r.block, journal.ErrChanged))
	}
	if b := block.bodies[r.place]; r.sum(about, b) == r.crc {
		return b, nil
	}
	return Body{}, s.named(fmt.Errorf("the result of question %d, repeat %d, of cell %d does not have its checksum: %w",
		r.Question, r.Repeat, r.Cell, journal.ErrChanged))
}

// Counts are sums over the results of a cell.
type Counts struct {
	Finished, Answered, Right, Graded, Calls, Prompt, Completion int

	USD    float64 // of the results whose cost is known
	Priced int     // results whose cost is known
	Recent int     // results in blocks after the one that CountAfter was given
	Ms     int64
}

// Add adds the sums of another cell.
func (c *Counts) Add(d Counts) {
	c.Finished, c.Answered, c.Right = c.Finished+d.Finished, c.Answered+d.Answered, c.Right+d.Right
	c.Graded, c.Calls, c.Prompt = c.Graded+d.Graded, c.Calls+d.Calls, c.Prompt+d.Prompt
	c.Completion, c.USD, c.Priced = c.Completion+d.Completion, c.USD+d.USD, c.Priced+d.Priced
	c.Recent, c.Ms = c.Recent+d.Recent, c.Ms+d.Ms
}

// Count returns sums over the results of every cell.
func (s *Store) Count() (map[int64]Counts, error) { return s.CountAfter(math.MaxInt64) }

// CountAfter is Count; Recent counts the results in blocks with a larger id than that of block.
func (s *Store) CountAfter(block int64) (map[int64]Counts, error) {
	rows, err := s.db.Query("SELECT cell, COUNT(*), SUM(answered), COALESCE(SUM(right), 0), COUNT(right), "+
		"SUM(calls), SUM(prompt_tokens), SUM(completion_tokens), COALESCE(SUM(usd), 0.0), COUNT(usd), "+
		"SUM(block > ?), SUM(ms) FROM results GROUP BY cell", block)
	if err != nil {
		return nil, s.named(err)
	}
	defer rows.Close()
	all := map[int64]Counts{}
	for rows.Next() {
		var cell int64
		var c Counts
		if err := rows.Scan(&cell, &c.Finished, &c.Answered, &c.Right, &c.Graded, &c.Calls, &c.Prompt, &c.Completion,
			&c.USD, &c.Priced, &c.Recent, &c.Ms); err != nil {
			return nil, s.named(err)
		}
		all[cell] = c
	}
	return all, s.named(rows.Err())
}

// Attempt is a row of the table attempts: an attempt at a question that did not finish it, or an interruption of
// the work, which names no question. Its times are informational.
type Attempt struct {
	Key
	None    bool // it names no question
	Stopped string
	Failed  bool // it ended without a valid outcome because of the infrastructure
	Reason  string
	Seconds float64
	Ended   time.Time
	Block   int64 // the last block that was committed before, or with it
}

func (a *Attempt) sum() uint32 {
	return crc32.Checksum(fmt.Appendf(nil, "%v %v %q %v %q %v %d %s", a.Key, a.None, a.Stopped, a.Failed, a.Reason,
		a.Seconds, a.Block, stamp(a.Ended)), castagnoli)
}

// stampForm is the form of times in the database.
const stampForm = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string { return t.UTC().Format(stampForm) }

const attemptColumns = "cell, COALESCE(question, 0), COALESCE(repeat, 0), question IS NULL, stopped, failed, " +
	"reason, seconds, ended, block, crc"

// Attempts returns the attempts of a cell in the order in which they ended.
func (s *Store) Attempts(cell int64) ([]Attempt, error) {
	return s.attempts("SELECT "+attemptColumns+" FROM attempts WHERE cell = ? ORDER BY id", cell)
}

// Failed returns the last attempt of every question that is not finished, of all cells, where that attempt failed.
func (s *Store) Failed() ([]Attempt, error) {
	return s.attempts("SELECT " + attemptColumns + " FROM attempts a WHERE failed AND id IN (SELECT MAX(id) " +
		"FROM attempts WHERE question IS NOT NULL GROUP BY cell, question, repeat) AND NOT EXISTS (SELECT 1 " +
		"FROM results r WHERE r.cell = a.cell AND r.question = a.question AND r.repeat = a.repeat) " +
		"ORDER BY cell, question, repeat")
}

func (s *Store) attempts(query string, args ...any) (all []Attempt, err error) {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil, s.named(err)
	}
	defer rows.Close()
	for rows.Next() {
		a, crc, ended := Attempt{}, uint32(0), ""
		if err := rows.Scan(&a.Cell, &a.Question, &a.Repeat, &a.None, &a.Stopped, &a.Failed, &a.Reason, &a.Seconds,
			&ended, &a.Block, &crc); err != nil {
			return nil, s.named(err)
		}
		a.Ended, err = time.Parse(stampForm, ended)
		if err != nil || a.sum() != crc {
			return nil, s.named(fmt.Errorf("an attempt at question %d does not have its checksum: %w", a.Question,
				journal.ErrChanged))
		}
		all = append(all, a)
	}
	return all, s.named(rows.Err())
}

// Pace says how many results were committed lately.
type Pace struct {
	Block   int64     // the first of the blocks that are looked at; 0: there is none
	Begun   time.Time // when it was committed
	Last    time.Time // when the last block of the store was committed; zero: there is none
	Results int       // in later blocks than Block
}

// paceBlocks is how many blocks Pace looks at most: so many seconds of cheap questions, or so many that take long.
const paceBlocks = 100

// Pace looks at the blocks that were committed last, but not before a time.
func (s *Store) Pace(after time.Time) (p Pace, err error) {
	rows, err := s.db.Query("SELECT id, entries, committed FROM blocks ORDER BY id DESC LIMIT ?", paceBlocks)
	if err != nil {
		return p, s.named(err)
	}
	defer rows.Close()
	first := 0
	for rows.Next() {
		var id int64
		var entries int
		var text string
		if err := rows.Scan(&id, &entries, &text); err != nil {
			return p, s.named(err)
		}
		at, err := time.Parse(stampForm, text)
		if err != nil {
			return p, s.named(fmt.Errorf("block %d: %w", id, journal.ErrChanged))
		}
		if p.Last.IsZero() {
			p.Last = at
		}
		if at.Before(after) {
			break
		}
		p.Block, p.Begun, p.Results, first = id, at, p.Results+entries, entries
	}
	p.Results -= first
	return p, s.named(rows.Err())
}

// Committed returns when the result was committed.
func (s *Store) Committed(r *Result) (time.Time, error) {
	block, err := s.blocks.get(r.block)
	if err != nil {
		return time.Time{}, err
	}
	return block.committed, nil
}

// LastBlock returns the id of the block that was committed last; 0 if there is none.
func (s *Store) LastBlock() (id int64, err error) {
	err = s.db.QueryRow("SELECT COALESCE(MAX(id), 0) FROM blocks").Scan(&id)
	return id, s.named(err)
}
