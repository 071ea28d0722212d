package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Key is an API key without its secret, of which only a hash is kept.
type Key struct {
	ID        string
	Name      string
	PerDay    Money    // 0: no limit
	PerMinute int      // requests; 0: no limit
	Councils  []string // model ids that it may use; empty: all
	Admin     bool     // it may change council files and see the lab
	Created   time.Time
	Used      time.Time // zero: never
	Revoked   time.Time // zero: it is valid
	Today     Money     // spent today, in UTC
	Reserved  Money     // reserved today by requests that have not ended
}

// ErrKey reports a key that is not known or was revoked.
var ErrKey = errors.New("the API key is not known or was revoked")

// May reports whether the key may use a model.
func (k *Key) May(model string) bool {
	return k == nil || len(k.Councils) == 0 || slices.Contains(k.Councils, model)
}

// Administers reports whether the key may change council files and see the lab. No key may, because none is
// needed then.
func (k *Key) Administers() bool { return k == nil || k.Admin }

// limited reports whether the key has a limit, which every process that uses the store must keep.
func (k *Key) limited() bool { return k != nil && (k.PerDay > 0 || k.PerMinute > 0) }

// prefix begins every key, so that secret scanners recognise it.
const prefix = "sk-synod-"

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// NewKey makes a key. The secret is returned once and cannot be read again.
func (s *Store) NewKey(k Key) (secret string, made Key, err error) {
	switch {
	case !keyName.MatchString(k.Name):
		return "", k, fmt.Errorf("the name of a key may have letters, digits and ._@- only, at most 64: %q", k.Name)
	case k.PerDay < 0 || k.PerMinute < 0:
		return "", k, errors.New("a limit of a key cannot be negative; 0 is no limit")
	case slices.ContainsFunc(k.Councils, func(c string) bool { return c == "" || strings.ContainsAny(c, ", ") }):
		return "", k, errors.New("a list of councils is written a,b without spaces")
	}
	secret, id := prefix+rand.Text()+rand.Text()[:10], strings.ToLower(rand.Text()[:10])
	k.ID, k.Created = id, s.now()
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM keys WHERE name = $1", k.Name).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return ownError{fmt.Errorf("there is a key called %q, or there was one; choose another name", k.Name)}
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO keys (id, name, hash, usd_day, rpm, councils, created, revoked,
			used, admin) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, $8)`, k.ID, k.Name, hashOf(secret),
			int64(k.PerDay), k.PerMinute, strings.Join(k.Councils, ","), k.Created.UnixMilli(),
			bit(k.Admin)); err != nil {
			return err
		}
		return note(ctx, tx, k.Created, "key made", k.ID, k.Name)
	})
	return secret, k, err
}

// note adds to the audit.
func note(ctx context.Context, tx *sql.Tx, at time.Time, event, key, detail string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO audit (at, event, key_id, detail) VALUES ($1, $2, $3, $4)",
		at.UnixMilli(), event, key, detail)
	return err
}

// Audit records that a key, by its id, has changed something; "" for nobody's.
func (s *Store) Audit(event, key, detail string) error {
	return s.run(func(ctx context.Context, tx *sql.Tx) error { return note(ctx, tx, s.now(), event, key, detail) })
}

// hashOf needs no salt and no slow function: the secret has 180 random bits.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Revoke makes a key invalid, by its name or id.
func (s *Store) Revoke(name string) error {
	if s.spool != nil {
		defer s.spool.recheck()
	}
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		var id string
		err := tx.QueryRowContext(ctx, "SELECT id FROM keys WHERE (name = $1 OR id = $1) AND revoked = 0",
			name).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return ownError{fmt.Errorf("there is no valid key called %q; see: synod serve keys list", name)}
		}
		if err != nil {
			return err
		}
		now := s.now()
		if _, err := tx.ExecContext(ctx, "UPDATE keys SET revoked = $1 WHERE id = $2", now.UnixMilli(),
			id); err != nil {
			return err
		}
		return note(ctx, tx, now, "key revoked", id, name)
	})
}

const keyColumns = `SELECT id, name, usd_day, rpm, councils, created, revoked, used, admin, COALESCE(days.spent, 0),
	COALESCE(days.reserved, 0) FROM keys LEFT JOIN days ON days.key_id = keys.id AND days.day = $1`

// Keys returns all keys, by name.
func (s *Store) Keys(ctx context.Context) (all []Key, err error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, keyColumns+" ORDER BY name", day(s.now()))
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		all = append(all, *k)
	}
	return all, rows.Err()
}

// Find returns the valid key with a secret; ErrKey if there is none.
func (s *Store) Find(ctx context.Context, secret string) (*Key, error) {
	if !strings.HasPrefix(secret, prefix) || len(secret) > 100 {
		return nil, ErrKey
	}
	k, err := scanKey(s.db.QueryRowContext(ctx, keyColumns+" WHERE hash = $2 AND revoked = 0", day(s.now()),
		hashOf(secret)))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrKey
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return k, nil
}

func scanKey(row interface{ Scan(...any) error }) (*Key, error) {
	var k Key
	var councils string
	var created, revoked, used, admin int64
	err := row.Scan(&k.ID, &k.Name, &k.PerDay, &k.PerMinute, &councils, &created, &revoked, &used, &admin,
		&k.Today, &k.Reserved)
	if err != nil {
		return nil, err
	}
	k.Admin = admin != 0
	if councils != "" {
		k.Councils = strings.Split(councils, ",")
	}
	at := func(ms int64) (t time.Time) {
		if ms > 0 {
			t = time.UnixMilli(ms)
		}
		return t
	}
	k.Created, k.Revoked, k.Used = at(created), at(revoked), at(used)
	return &k, nil
}
