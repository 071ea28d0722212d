// Package store keeps what a gateway must not forget: requests with their cost, API keys with their limits,
// and which journals exist. It is SQLite in a file, or PostgreSQL for several gateways that share keys, spend
// and limits.
//
// Money and tokens are reserved before a request may cost any, in the same transaction that checks the limits of its
// key, and settled when the request has ended. So no number of requests at once exceeds a limit, and a gateway that
// is killed leaves reservations, which then count as spent. Requests that come together share a transaction.
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

// Store is an open store. Its methods may be called concurrently.
type Store struct {
	db       *sql.DB
	postgres bool
	gateway  string // this gateway, in the rows of its requests
	ops      chan op
	stopped  chan struct{} // closed when the writer has ended
	now      func() time.Time
	spool    *spool // of the gateway Local of a file; nil: every request is a transaction
	stop     chan struct{}
	prepared map[string]*sql.Stmt         // by text; read only after Open
	stuck    map[string]map[string]Amount // by key and request; see stick
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
CREATE TABLE IF NOT EXISTS audit (at BIGINT NOT NULL, event TEXT NOT NULL, key_id TEXT NOT NULL, detail TEXT NOT NULL)
`

// Local names the gateway of a file, of which there is one at a time. What it records of requests without limits
// goes through a log of its own.
const Local = "local"

// Open opens the store at a URL: postgres://…, or sqlite:PATH or a path for a file, which is made if it is
// missing. gateway names this process among those that share the store; "": the store is only administered.
func Open(ctx context.Context, url, gateway string) (*Store, error) {
	s := &Store{gateway: gateway, ops: make(chan op, 1024), stopped: make(chan struct{}), now: time.Now,
		stop: make(chan struct{}), prepared: map[string]*sql.Stmt{}, stuck: map[string]map[string]Amount{}}
	var err error
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		s.postgres = true
		s.db, err = sql.Open("pgx", url)
	} else {
		s.db, err = openFile(strings.TrimPrefix(url, "sqlite:"))
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), s.db.Close())
	}
	go s.write()
	if !s.postgres && gateway == Local {
		if s.spool, err = openSpool(ctx, s, strings.TrimPrefix(url, "sqlite:")); err != nil {
			return nil, errors.Join(fmt.Errorf("store: %w", err), s.Close())
		}
		go s.spool.run(s.stop)
	}
	return s, nil
}

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

func (s *Store) prepare(ctx context.Context) error {
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
	{"days", "tokens", "BIGINT NOT NULL DEFAULT 0"}, {"days", "reserved_tokens", "BIGINT NOT NULL DEFAULT 0"},
}

func (s *Store) addColumns(ctx context.Context) error {
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

// bit is how a column keeps a bool.
func bit(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// noPassword returns the error of a connection, which quotes the user and the database but no password.
func noPassword(err error) string {
	text := err.Error()
	if i := strings.Index(text, "password="); i >= 0 {
		text = text[:i] + "…"
	}
	return text
}

// Close waits for what has been begun, and closes the store.
func (s *Store) Close() error {
	var err error
	if s.spool != nil {
		close(s.stop)
		err = s.spool.close()
	}
	close(s.ops)
	<-s.stopped
	return errors.Join(err, s.db.Close())
}

// flush has the database say what was begun and settled until now.
func (s *Store) flush() error {
	if s.spool == nil {
		return nil
	}
	return s.spool.flush()
}

// Ping reports whether the store can be used.
func (s *Store) Ping(ctx context.Context) error {
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
func (s *Store) run(do func(ctx context.Context, tx *sql.Tx) error) error {
	o := op{do, make(chan error, 1)}
	s.ops <- o
	return <-o.done
}

// prepareAll has the database parse the statements of requests once for each connection.
func (s *Store) prepareAll(ctx context.Context) error {
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
func (s *Store) stmt(ctx context.Context, tx *sql.Tx, query string) (*sql.Stmt, error) {
	if p := s.prepared[query]; p != nil {
		return tx.StmtContext(ctx, p), nil
	}
	return tx.PrepareContext(ctx, query)
}

// exec plays a statement in a transaction.
func (s *Store) exec(ctx context.Context, tx *sql.Tx, query string, args ...any) error {
	p, err := s.stmt(ctx, tx, query)
	if err == nil {
		_, err = p.ExecContext(ctx, args...)
	}
	return err
}

// together is how many operations share a transaction at most.
const together = 256

// write plays operations until Close.
func (s *Store) write() {
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
func (s *Store) commit(batch []op) {
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

func (s *Store) try(batch []op, results []error) error {
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
