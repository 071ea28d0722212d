// Package store keeps what a run or a grid of runs has found: the database results.db (SQLite) and the
// files journals-N.seg beside it.
//
// The database is the only truth about what is finished: a question is finished when the table results has its
// row. A row has the figures of the question and says where its journal is: the journals of many questions
// together are a compressed block, and a block is a part of a segment file. Results are committed in batches.
// The bytes of a block are on disk (fsync) before the transaction with its rows begins, and a committed
// transaction is on disk (synchronous=FULL). So after a crash a segment may end with bytes that no row names;
// they are cut off when the store is opened for writing.
//
// Tables (docs/measure/bench.md describes the columns): meta, cells, questions, results, attempts, blocks; and the view
// answers, which has results with names and ids. Times are informational: nothing is decided by them.
//
// Every row of results has a CRC-32C of its columns and its journal, blocks have one of their bytes, and
// manifests and questions have sums that package bench checks, so a byte that was changed is noticed.
//
// Its rank is below bench: it knows no council, and journals are bytes to it.
package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the driver sqlite

	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/durable"
)

// Version is the version of the tables and the segments. Open fails for any other one.
const Version = 4

// File is the name of the database in its folder.
const File = "results.db"

const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cells (id INTEGER PRIMARY KEY, name TEXT UNIQUE, hash TEXT NOT NULL, n INTEGER NOT NULL,
	repeats INTEGER NOT NULL, questions INTEGER NOT NULL, manifest TEXT NOT NULL);
CREATE TABLE questions (list INTEGER NOT NULL, question INTEGER NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
	PRIMARY KEY (list, question)) WITHOUT ROWID;
CREATE TABLE lists (id INTEGER PRIMARY KEY, sum TEXT NOT NULL UNIQUE);
CREATE TABLE results (cell INTEGER NOT NULL, question INTEGER NOT NULL, repeat INTEGER NOT NULL,
	block INTEGER NOT NULL, place INTEGER NOT NULL, answered INTEGER NOT NULL, right INTEGER, calls INTEGER NOT NULL,
	prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, usd REAL, ms INTEGER NOT NULL,
	crc INTEGER NOT NULL, PRIMARY KEY (cell, question, repeat)) WITHOUT ROWID;
CREATE TABLE attempts (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, question INTEGER, repeat INTEGER,
	stopped TEXT NOT NULL, failed INTEGER NOT NULL, reason TEXT NOT NULL, seconds REAL NOT NULL, ended TEXT NOT NULL,
	block INTEGER NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE blocks (id INTEGER PRIMARY KEY, segment INTEGER NOT NULL, offset INTEGER NOT NULL,
	bytes INTEGER NOT NULL, entries INTEGER NOT NULL, crc INTEGER NOT NULL, committed TEXT NOT NULL);
CREATE VIEW answers AS SELECT c.name AS cell, q.id AS question, r.repeat, r.answered, r.right, r.calls,
	r.prompt_tokens, r.completion_tokens, r.usd, r.ms, b.segment, b.offset, r.place, b.committed
	FROM results r JOIN cells c ON c.id = r.cell JOIN questions q ON q.list = c.questions AND q.question = r.question
	JOIN blocks b ON b.id = r.block;
`

// Store is an open store. All methods may be called concurrently.
type Store struct {
	dir   string
	db    *sql.DB
	write bool
	names sync.Once // see transact

	blocks blocks // that were read

	mu    sync.Mutex
	have  map[int64]*finished // by cell: what is finished or put
	batch *batch              // what waits to be committed
	err   error               // the first failed write: it ends all writing
	out   *writer             // nil: the store is open for reading
}

// ErrNone is returned for a folder without a store.
var ErrNone = errors.New("there is no results.db in this folder")

// Exists reports whether a folder has a database.
func Exists(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, File))
	return err == nil && info.Mode().IsRegular()
}

// Create makes the store of a folder with its cells, at once: an interrupted Create leaves no store. meta are texts
// that the caller finds again with Meta.
func Create(dir string, meta map[string]string, cells []*Cell) error {
	path := filepath.Join(dir, File)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	db, err := connect(path, writing)
	if err != nil {
		return err
	}
	s := &Store{dir: dir, db: db}
	err = s.transact(func(tx *sql.Tx) error {
		if _, err := tx.Exec(schema); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO meta VALUES ('version', ?)", strconv.Itoa(Version)); err != nil {
			return err
		}
		if err := setMeta(tx, meta); err != nil {
			return err
		}
		for i := range cells {
			if err := insertCell(tx, cells[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.settle()
	}
	if err := errors.Join(err, s.named(db.Close())); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

// The ways of opening a database.
const (
	writing = "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"
	reading = "&mode=ro&_pragma=query_only(1)"
	frozen  = "&mode=ro&immutable=1" // in a folder that cannot be written, if nothing waits in a write-ahead log
)

var escape = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")

func connect(path, how string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+escape.Replace(filepath.ToSlash(path))+"?_pragma=busy_timeout(10000)"+how)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db.SetMaxOpenConns(4)
	return db, nil
}

// Open opens the store of a folder for reading. Another process may write it meanwhile.
func Open(dir string) (*Store, error) {
	if !Exists(dir) {
		return nil, fmt.Errorf("store: %s: %w", dir, ErrNone)
	}
	s, err := open(dir, reading)
	if err == nil || !cannotOpen(err) {
		return s, err
	}
	wal, stat := os.Stat(filepath.Join(dir, File+"-wal"))
	if stat == nil && wal.Size() > 0 {
		return nil, fmt.Errorf("%w (the folder cannot be written, and the program that wrote it was killed; copy "+
			"the folder to a place that can be written and open it there)", err)
	}
	return open(dir, frozen)
}

// cannotOpen reports whether SQLite cannot make the files that it needs beside a database.
func cannotOpen(err error) bool {
	return errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "unable to open database file") ||
		strings.Contains(err.Error(), "readonly database")
}

func open(dir, how string) (*Store, error) {
	db, err := connect(filepath.Join(dir, File), how)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, db: db, have: map[int64]*finished{}}
	s.blocks.open(s)
	if err := s.check(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// check refuses stores of other versions, and those whose tables do not fit together.
func (s *Store) check() error {
	version, err := s.Meta("version")
	if err != nil && strings.Contains(err.Error(), "no such table") {
		return fmt.Errorf("store: %s: %w", s.dir, ErrNone)
	}
	if err != nil {
		return err
	}
	if version != strconv.Itoa(Version) {
		return fmt.Errorf("store: %s: the folder has version %q; this program reads version %d. Report it with the "+
			"version of Synod that wrote it, or run it again in a new folder", s.dir, version, Version)
	}
	if err := s.checkSizes(); err != nil {
		return err
	}
	var rows, entries int
	err = s.db.QueryRow("SELECT (SELECT COALESCE(SUM(n), 0) FROM (SELECT cell, COUNT(*) AS n "+
		"FROM results GROUP BY cell) WHERE cell IN (SELECT id FROM cells)), "+
		"(SELECT COALESCE(SUM(entries), 0) FROM blocks)").
		Scan(&rows, &entries)
	if err == nil && rows != entries {
		return s.named(fmt.Errorf("it has %d results and the journals of %d: %w", rows, entries, journal.ErrChanged))
	}
	return s.named(err)
}

// maxText bounds the texts of a database that are read whole: manifests and questions.
const maxText = 64 << 20

// checkSizes refuses a database with a text that is too long to be read.
func (s *Store) checkSizes() error {
	var longest int64
	err := s.db.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(octet_length(value)) FROM meta), 0),
		COALESCE((SELECT MAX(MAX(octet_length(manifest), octet_length(hash))) FROM cells), 0),
		COALESCE((SELECT MAX(MAX(octet_length(id), octet_length(record))) FROM questions), 0),
		COALESCE((SELECT MAX(octet_length(sum)) FROM lists), 0),
		COALESCE((SELECT MAX(MAX(octet_length(stopped), octet_length(reason), octet_length(ended))) FROM attempts), 0))`).
		Scan(&longest)
	if err == nil && longest > maxText {
		err = fmt.Errorf("it has a text of %d bytes; at most %d are read", longest, maxText)
	}
	return s.named(err)
}

// Dir returns the folder of the store.
func (s *Store) Dir() string { return s.dir }

// Close commits what was put, if the store is open for writing, and closes it.
func (s *Store) Close() error {
	var err error
	if s.out != nil {
		if err = s.stop(); err == nil {
			err = s.settle()
		}
	}
	return errors.Join(err, s.blocks.close(), s.named(s.db.Close()))
}

// named adds the name of the database to an error. A database that SQLite cannot read was changed.
func (s *Store) named(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); strings.Contains(text, "malformed") || strings.Contains(text, "not a database") {
		err = fmt.Errorf("%w: %w", err, journal.ErrChanged)
	}
	return fmt.Errorf("store: %s: %w", filepath.Join(s.dir, File), err)
}

// settle copies what the write-ahead log has into the database. SQLite does that too when it closes a database, but it
// says nothing if it fails.
func (s *Store) settle() error {
	_, err := s.db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	return s.named(err)
}

// transact runs a function in a transaction, all of which is on disk afterwards, or nothing. SQLite makes its log with
// the first one, and does not say if the name of the log cannot be put on disk.
func (s *Store) transact(do func(*sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return s.named(err)
	}
	if err := do(tx); err != nil {
		return errors.Join(s.named(err), tx.Rollback())
	}
	err = s.named(tx.Commit())
	s.names.Do(func() { err = errors.Join(err, durable.SyncDir(s.dir)) })
	return err
}
