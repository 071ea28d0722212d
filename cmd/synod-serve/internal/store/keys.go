package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// prefix begins every key, so that secret scanners recognise it.
const prefix = "sk-synod-"

// NewKey makes a key. The secret is returned once and cannot be read again.
func (s *Store) NewKey(k Key) (secret string, made Key, err error) {
	if err := k.check(s.now()); err != nil {
		return "", k, err
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
			used, admin, owner, expires, tokens_day, label) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, $8, $9, $10, $11,
			$12)`, k.ID,
			k.Name, hashOf(secret), int64(k.PerDay), k.PerMinute, strings.Join(k.Councils, ","), k.Created.UnixMilli(),
			bit(k.Admin), k.Owner, milliseconds(k.Expires), k.TokensPerDay, bit(k.Label)); err != nil {
			return err
		}
		return note(ctx, tx, k.Created, "key made", k.ID, k.Name)
	})
	return secret, k, err
}

// milliseconds is how a column keeps a time.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// EditKey changes the limits, the owner and the expiry of a key that is not revoked, by its name or id, and returns it.
// Gateways that run keep to the new limits within five seconds.
func (s *Store) EditKey(name string, change func(*Key)) (edited *Key, err error) {
	if s.spool != nil {
		defer s.spool.recheck()
	}
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		now := s.now()
		k, err := scanKey(tx.QueryRowContext(ctx, keyColumns+" WHERE (name = $2 OR id = $2) AND revoked = 0", day(now),
			name))
		if err != nil {
			return orOwn(passed(err), noKey(name))
		}
		before := *k
		change(k)
		if err := k.check(now); err != nil {
			return ownError{err}
		}
		edited = k
		_, err = tx.ExecContext(ctx, `UPDATE keys SET usd_day = $1, rpm = $2, councils = $3, admin = $4, owner = $5,
			expires = $6, tokens_day = $7, label = $8 WHERE id = $9`, int64(k.PerDay), k.PerMinute,
			strings.Join(k.Councils, ","), bit(k.Admin), k.Owner, milliseconds(k.Expires), k.TokensPerDay,
			bit(k.Label), before.ID)
		return errors.Join(err, note(ctx, tx, now, "key changed", before.ID, before.Name))
	})
	return edited, err
}

func noKey(name string) error {
	return fmt.Errorf("there is no valid key called %q; see: synod serve keys list", name)
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
			return ownError{noKey(name)}
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

const keyColumns = `SELECT id, name, usd_day, rpm, councils, created, revoked, used, admin, owner, expires,
	COALESCE(days.spent, 0), COALESCE(days.reserved, 0), tokens_day, COALESCE(days.tokens, 0),
	COALESCE(days.reserved_tokens, 0), label FROM keys LEFT JOIN days ON days.key_id = keys.id AND days.day = $1`

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
	k, err := scanKey(s.db.QueryRowContext(ctx, keyColumns+" WHERE hash = $2 AND "+valid+"$3)", day(s.now()),
		hashOf(secret), s.now().UnixMilli()))
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
	var created, revoked, used, admin, expires, label int64
	err := row.Scan(&k.ID, &k.Name, &k.PerDay, &k.PerMinute, &councils, &created, &revoked, &used, &admin,
		&k.Owner, &expires, &k.Today, &k.Reserved, &k.TokensPerDay, &k.TokensToday,
		&k.TokensReserved, &label)
	if err != nil {
		return nil, err
	}
	k.Admin, k.Label = admin != 0, label != 0
	if councils != "" {
		k.Councils = strings.Split(councils, ",")
	}
	at := func(ms int64) (t time.Time) {
		if ms > 0 {
			t = time.UnixMilli(ms)
		}
		return t
	}
	k.Created, k.Revoked, k.Used, k.Expires = at(created), at(revoked), at(used), at(expires)
	return &k, nil
}
