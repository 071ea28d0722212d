package page

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// cookie is the name of the cookie with the secret of a session.
const cookie = "synod_session"

// loginPart is where a viewer logs in with an API key, and out.
var loginPart = part{open: true, routes: map[string]handler{
	"GET /login":   loginForm,
	"POST /login":  login,
	"POST /logout": logout,
}}

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

// loginData is what the form shows.
type loginData struct {
	To      string // where to go after the login
	Problem string
}

func loginForm(v *visit) error {
	return v.show("login.html", "Log in", loginData{To: ownPath(v.R.FormValue("to"))})
}

func login(v *visit) error {
	to := ownPath(v.R.PostFormValue("to"))
	if token := strings.TrimSpace(v.R.PostFormValue("key")); v.p.isToken(token) {
		c := v.cookie(token)
		c.Name = tokenCookie
		http.SetCookie(v.W, c)
		return v.redirect(to)
	}
	key, err := v.p.o.Store.Find(v.R.Context(), strings.TrimSpace(v.R.PostFormValue("key")))
	if errors.Is(err, store.ErrKey) {
		return v.send(http.StatusUnauthorized, "login.html", v.frame("Log in", loginData{to,
			"This key is not known, has expired or was revoked."}))
	}
	if err != nil {
		return err
	}
	secret, until, err := v.p.o.Store.NewSession(v.R.Context(), key.ID)
	if err != nil {
		return err
	}
	c := v.cookie(secret)
	c.Expires = until
	http.SetCookie(v.W, c)
	return v.redirect(to)
}

func logout(v *visit) error {
	if err := v.p.o.Store.EndSession(v.session); err != nil {
		return err
	}
	c := v.cookie("")
	c.MaxAge = -1
	http.SetCookie(v.W, c)
	return v.redirect("/")
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
