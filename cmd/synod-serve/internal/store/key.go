package store

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Key is an API key without its secret, of which only a hash is kept.
type Key struct {
	ID        string
	Name      string
	PerDay    Money // 0: no limit
	PerMinute int   // requests; 0: no limit
	// TokensPerDay bounds the tokens of prompts and replies of a day, in UTC; 0: no limit.
	TokensPerDay int64
	Councils     []string // model ids that it may use; empty: all
	Admin        bool     // it may change council files and see the lab
	Label        bool     // it may say which answers of its own runs are right
	Owner        string   // who answers for it, at most 200 bytes; may be empty
	Created      time.Time
	Expires      time.Time // from then on it is not valid; zero: never
	Used         time.Time // zero: never
	Revoked      time.Time // zero: it is not revoked
	Today        Money     // spent today, in UTC
	Reserved     Money     // reserved today by requests that have not ended
	// TokensToday and TokensReserved are the same in tokens.
	TokensToday, TokensReserved int64
}

// ErrKey reports a key that is not known, has expired or was revoked.
var ErrKey = errors.New("the API key is not known, has expired or was revoked")

// May reports whether the key may use a model.
func (k *Key) May(model string) bool {
	return k == nil || len(k.Councils) == 0 || slices.Contains(k.Councils, model)
}

// Administers reports whether the key may change council files and see the lab. No key may, because none is
// needed then.
func (k *Key) Administers() bool { return k == nil || k.Admin }

// Labels reports whether the key may say which answers of its own runs are right. No key may, because none is needed
// then.
func (k *Key) Labels() bool { return k == nil || k.Label }

// Expired reports whether the key is no longer valid at a time because it has expired.
func (k *Key) Expired(at time.Time) bool { return !k.Expires.IsZero() && !at.Before(k.Expires) }

// limited reports whether the key has a limit, which every process that uses the store must keep.
func (k *Key) limited() bool { return k != nil && (k.perDay() != (Amount{}) || k.PerMinute > 0) }

// perDay are the limits of a key for a day.
func (k *Key) perDay() Amount {
	if k == nil {
		return Amount{}
	}
	return Amount{k.PerDay, k.TokensPerDay}
}

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// check returns what is wrong with a key that is made or changed at a time.
func (k *Key) check(now time.Time) error {
	switch {
	case !keyName.MatchString(k.Name):
		return fmt.Errorf("the name of a key may have letters, digits and ._@- only, at most 64: %q", k.Name)
	case k.PerDay < 0 || k.PerMinute < 0 || k.TokensPerDay < 0:
		return errors.New("a limit of a key cannot be negative; 0 is no limit")
	case slices.ContainsFunc(k.Councils, func(c string) bool { return c == "" || strings.ContainsAny(c, ", ") }):
		return errors.New("a list of councils is written a,b without spaces")
	case len(k.Owner) > 200 || strings.ContainsFunc(k.Owner, unicode.IsControl) || !utf8.ValidString(k.Owner):
		return errors.New("the owner of a key is one line of at most 200 bytes")
	case !k.Expires.IsZero() && !k.Expires.After(now):
		return fmt.Errorf("the key would have expired already: %s", k.Expires.UTC().Format(time.DateTime))
	}
	return nil
}
