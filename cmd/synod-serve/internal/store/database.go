package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite
)

// database plays operations on SQLite or PostgreSQL. Those that come together share a transaction.
type database struct {
	db       *sql.DB
	postgres bool
	ops      chan op
	stopped  chan struct{}        // closed when the writer has ended
	prepared map[string]*sql.Stmt // by text; read only after Open
}

// schema is the same for both databases. Times are milliseconds since 1970, money is in 1e-9 USD.
const schema = `
CREATE TABLE IF NOT EXISTS keys (
	id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash TEXT NOT NULL UNIQUE, usd_day BIGINT NOT NULL,
	rpm BIGINT NOT NULL, councils TEXT NOT NULL, created BIGINT NOT NULL, revoked BIGINT NOT NULL,
	used BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS requests (
	id TEXT PRIMARY KEY, gateway TEXT NOT NULL, key_id TEXT NOT NULL, api TEXT NOT NULL, model TEXT NOT NULL,
	begun BIGINT NOT NULL, ended BIGINT NOT NULL, status TEXT NOT NULL, http BIGINT NOT NULL,
	reserved BIGINT NOT NULL, spent BIGINT NOT NULL, unpriced BIGINT NOT NULL, calls BIGINT NOT NULL,
	prompt BIGINT NOT NULL, completion BIGINT NOT NULL, journal TEXT NOT NULL, bytes BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS requests_key ON requests (key_id, begun);
CREATE INDEX IF NOT EXISTS requests_begun ON requests (begun);
CREATE INDEX IF NOT EXISTS requests_open ON requests (gateway) WHERE ended = 0;
CREATE TABLE IF NOT EXISTS texts (id TEXT PRIMARY KEY, question TEXT NOT NULL, answer TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS days (
	key_id TEXT NOT NULL, day BIGINT NOT NULL, requests BIGINT NOT NULL, spent BIGINT NOT NULL,
	reserved BIGINT NOT NULL, PRIMARY KEY (key_id, day));
CREATE TABLE IF NOT EXISTS rates (
	key_id TEXT NOT NULL, second BIGINT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (key_id, second));
CREATE TABLE IF NOT EXISTS responses (
	id TEXT PRIMARY KEY, key_id TEXT NOT NULL, at BIGINT NOT NULL, conversation TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (hash TEXT PRIMARY KEY, key_id TEXT NOT NULL, until BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
	id TEXT PRIMARY KEY, key_id TEXT NOT NULL, at BIGINT NOT NULL, version BIGINT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS tasks_key ON tasks (key_id, at);
CREATE TABLE IF NOT EXISTS spooled (gateway TEXT PRIMARY KEY, generation BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS gateways (id TEXT PRIMARY KEY, seen BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS labels (
	run TEXT NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, at BIGINT NOT NULL, mark TEXT NOT NULL,
	answers TEXT NOT NULL, predicted DOUBLE PRECISION NOT NULL, correct BIGINT NOT NULL, PRIMARY KEY (run, key_id));
CREATE INDEX IF NOT EXISTS labels_model ON labels (model, at);
CREATE TABLE IF NOT EXISTS audit (at BIGINT NOT NULL, event TEXT NOT NULL, key_id TEXT NOT NULL, detail TEXT NOT NULL)
`

// openFile opens a SQLite file that only its owner can read. What is deleted is overwritten at once, and a new file can
// give back free pages bit by bit; the mode of a file of an earlier release stays until it is written anew.
func openFile(path string) (*sql.DB, error) {
	if strings.Contains(path, "://") {
		return nil, fmt.Errorf("%q is neither a file nor postgres://USER:PASSWORD@HOST/DATABASE", safe(path))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+escape.Replace(path)+"?_pragma=busy_timeout(10000)&_pragma=auto_vacuum(2)"+
		"&_pragma=journal_mode(WAL)&_pragma=secure_delete(1)&_pragma=synchronous(NORMAL)&_txlock=immediate")
	if err == nil {
		db.SetMaxOpenConns(4)
		db.SetMaxIdleConns(4)
	}
	return db, err
}

var escape = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")

// safe returns a URL without what may be a password.
func safe(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "***@" + rest[i+1:]
	}
	return scheme + "://" + rest
}

// noPassword returns the error of a connection, which quotes the user and the database but no password.
func noPassword(err error) string {
	text := err.Error()
	if i := strings.Index(text, "password="); i >= 0 {
		text = text[:i] + "…"
	}
	return text
}

// bit is how a column keeps a bool.
func bit(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

func (s *database) prepare(ctx context.Context) error {
	if s.postgres { // two gateways that start together must not make tables at once
		c, err := s.db.Conn(ctx)
		if err != nil {
			return errors.New("PostgreSQL cannot be reached: " + noPassword(err))
		}
		defer c.Close()
		if _, err := c.ExecContext(ctx, "SELECT pg_advisory_lock(7306211)"); err != nil {
			return err
		}
		defer c.ExecContext(ctx, "SELECT pg_advisory_unlock(7306211)")
		s.db.SetMaxOpenConns(16)
		s.db.SetMaxIdleConns(16)
	}
	for _, statement := range strings.Split(schema, ";") {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if err := s.addColumns(ctx); err != nil {
		return err
	}
	return s.prepareAll(ctx)
}

// added are columns that stores of earlier releases lack.
var added = []struct{ table, column, kind string }{
	{"keys", "admin", "BIGINT NOT NULL DEFAULT 0"}, {"keys", "owner", "TEXT NOT NULL DEFAULT ''"},
	{"keys", "expires", "BIGINT NOT NULL DEFAULT 0"}, {"responses", "body", "TEXT NOT NULL DEFAULT ''"},
	{"keys", "tokens_day", "BIGINT NOT NULL DEFAULT 0"}, {"requests", "reserved_tokens", "BIGINT NOT NULL DEFAULT 0"},
	{"keys", "label", "BIGINT NOT NULL DEFAULT 0"}, {"requests", "alone", "BIGINT NOT NULL DEFAULT 0"},
	{"requests", "compared", "BIGINT NOT NULL DEFAULT 0"},
	{"days", "tokens", "BIGINT NOT NULL DEFAULT 0"}, {"days", "reserved_tokens", "BIGINT NOT NULL DEFAULT 0"},
}

func (s *database) addColumns(ctx context.Context) error {
	for _, a := range added {
		rows, err := s.db.QueryContext(ctx, "SELECT "+a.column+" FROM "+a.table+" WHERE 1 = 0")
		if err == nil {
			rows.Close()
			continue
		}
		if _, err := s.db.ExecContext(ctx, "ALTER TABLE "+a.table+" ADD COLUMN "+a.column+" "+a.kind); err != nil {
			return err
		}
	}
	return nil
}

// Ping reports whether the store can be used.
func (s *database) Ping(ctx context.Context) error {
	var one int
	return s.db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// op is a part of a transaction. It must write nothing before it is sure that it does not fail for a reason
// of its own, since other operations share the transaction.
type op struct {
	do   func(ctx context.Context, tx *sql.Tx) error
	done chan error
}

// run has the writer play an operation, and returns when its transaction is durable.
func (s *database) run(do func(ctx context.Context, tx *sql.Tx) error) error {
	o := op{do, make(chan error, 1)}
	s.ops <- o
	return <-o.done
}

// prepareAll has the database parse the statements of requests once for each connection.
func (s *database) prepareAll(ctx context.Context) error {
	all := statements
	if !s.postgres {
		all = append(slices.Clip(all), insertMany)
	}
	for _, query := range all {
		p, err := s.db.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		s.prepared[query] = p
	}
	return nil
}

// stmt returns a statement for a transaction.
func (s *database) stmt(ctx context.Context, tx *sql.Tx, query string) (*sql.Stmt, error) {
	if p := s.prepared[query]; p != nil {
		return tx.StmtContext(ctx, p), nil
	}
	return tx.PrepareContext(ctx, query)
}

// exec plays a statement in a transaction.
func (s *database) exec(ctx context.Context, tx *sql.Tx, query string, args ...any) error {
	p, err := s.stmt(ctx, tx, query)
	if err == nil {
		_, err = p.ExecContext(ctx, args...)
	}
	return err
}

// together is how many operations share a transaction at most.
const together = 256

// write plays operations until Close.
func (s *database) write() {
	defer close(s.stopped)
	for first := range s.ops {
		batch := []op{first}
		for more := true; more && len(batch) < together; {
			select {
			case o, open := <-s.ops:
				if more = open; open {
					batch = append(batch, o)
				}
			default:
				more = false
			}
		}
		s.commit(batch)
	}
}

// ownError is the reason of one operation, which does not concern the others of its transaction.
type ownError struct{ error }

func (e ownError) Unwrap() error { return e.error }

// commit plays operations in one transaction. With PostgreSQL another gateway may be in the way; then they
// are played again.
func (s *database) commit(batch []op) {
	results := make([]error, len(batch))
	var err error
	for range 5 {
		if err = s.try(batch, results); err == nil || !passing(err) {
			break
		}
	}
	for i, o := range batch {
		if err != nil {
			results[i] = fmt.Errorf("store: %w", err)
		}
		o.done <- results[i]
	}
}

// passing reports whether a transaction failed only because of another one.
func passing(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && (state.SQLState() == "40P01" || state.SQLState() == "40001")
}

// writeTime bounds a transaction.
const writeTime = 20 * time.Second

func (s *database) try(batch []op, results []error) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after Commit
	if !s.postgres {
		ctx = context.WithoutCancel(ctx) // the driver starts a goroutine for each statement that can be cancelled
	}
	for i, o := range batch {
		var own ownError
		switch err := o.do(ctx, tx); {
		case errors.As(err, &own):
			results[i] = own.error
		case err != nil:
			return err
		default:
			results[i] = nil
		}
	}
	return tx.Commit()
}

func orOwn(err, own error) error {
	if err != nil {
		return err
	}
	return ownError{own}
}

// passed returns nil for no row.
func passed(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
