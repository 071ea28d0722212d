package page

import (
	"errors"
	"net/http"
	"strings"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// loginPart is where a viewer logs in with an API key, and out.
var loginPart = part{open: true, routes: map[string]handler{
	"GET /login":   loginForm,
	"POST /login":  login,
	"POST /logout": logout,
}}

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
