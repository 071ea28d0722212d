package page

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// cookie is the name of the cookie with the secret of a session.
const cookie = "synod_session"

// tokenCookie is the name of the cookie with the token of the owner, and tokenField that of the key in the address that
// synod serve prints.
const (
	tokenCookie = "synod_token"
	tokenField  = "token"
)

// isToken reports whether a text is the token of the owner.
func (p *Page) isToken(text string) bool {
	return p.o.Token != "" && subtle.ConstantTimeCompare([]byte(text), []byte(p.o.Token)) == 1
}

// enter logs the owner in, and leads to the same page without the token in its address.
func (v *visit) enter(token string) {
	c := v.cookie(token)
	c.Name = tokenCookie
	http.SetCookie(v.W, c)
	to := *v.R.URL
	q := to.Query()
	q.Del(tokenField)
	to.RawQuery = q.Encode()
	http.Redirect(v.W, v.R, ownPath(to.RequestURI()), http.StatusSeeOther)
}

// session returns the key of a session; nil if there is none.
func (p *Page) session(ctx context.Context, secret string) (*store.Key, error) {
	if secret == "" {
		return nil, nil
	}
	return p.o.Store.Session(ctx, secret)
}

// identify reads the session.
func (v *visit) identify() error {
	if v.owner = v.p.o.Token == ""; !v.owner {
		if c, err := v.R.Cookie(tokenCookie); err == nil {
			v.owner = v.p.isToken(c.Value)
		}
	}
	c, err := v.R.Cookie(cookie)
	if err != nil {
		return nil // no cookie
	}
	key, err := v.p.session(v.R.Context(), c.Value)
	if errors.Is(err, store.ErrKey) {
		return nil // it has ended, or its key was revoked
	}
	if err != nil {
		return err
	}
	v.Key, v.session = key, c.Value
	return nil
}

// csrf returns the token that forms of this viewer carry.
func (v *visit) csrf() string {
	if v.session == "" {
		return v.p.local
	}
	sum := sha256.Sum256([]byte("csrf " + v.session))
	return hex.EncodeToString(sum[:16])
}

func (v *visit) cookie(secret string) *http.Cookie {
	return &http.Cookie{Name: cookie, Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: v.R.TLS != nil || v.R.Header.Get("X-Forwarded-Proto") == "https"}
}

// ownPath returns a path of this page; the start page for anything else, such as an address elsewhere.
func ownPath(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n") {
		return "/"
	}
	return to
}
