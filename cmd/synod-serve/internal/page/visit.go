package page

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// policy is the Content-Security-Policy of all pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// maxForm bounds the body of a form, files included.
const maxForm = 8 << 20

// visit is one request of a viewer.
type visit struct {
	p       *Page
	W       http.ResponseWriter
	R       *http.Request
	Key     *store.Key // of the viewer; nil: there is no login
	session string     // secret of the session; "": none
	owner   bool       // the viewer has the owner's token, or none is needed
}

// problem is an error that the viewer has to know.
type problem struct {
	Status int
	Text   string
}

// Error returns the text.
func (p *problem) Error() string { return p.Text }

func problemf(status int, format string, args ...any) error {
	return &problem{status, fmt.Sprintf(format, args...)}
}

// wrap finds out who the viewer is, checks the token of posts, calls a handler and shows its error. open pages
// need no login.
func (p *Page) wrap(open bool, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin") // browsers hide the origin of our own forms under no-referrer
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		v := &visit{p: p, W: w, R: r}
		if token := r.URL.Query().Get(tokenField); token != "" && r.Method == http.MethodGet && p.isToken(token) {
			v.enter(token)
			return
		}
		err := v.identify()
		if err == nil && (p.o.NeedKey || !v.owner) && v.Key == nil && !open {
			if r.Method == http.MethodGet {
				err = v.redirect("/login?to=" + url.QueryEscape(r.URL.RequestURI()))
			} else {
				err = problemf(http.StatusUnauthorized, "Log in first.")
			}
		} else if err == nil {
			if err = v.checkPost(); err == nil {
				err = h(v)
			}
		}
		if err != nil {
			v.fail(err)
		}
	})
}

// checkPost reads the form of a post and checks its token.
func (v *visit) checkPost() error {
	r := v.R
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	r.Body = http.MaxBytesReader(v.W, r.Body, maxForm)
	err := r.ParseForm()
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		err = r.ParseMultipartForm(maxForm)
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return problemf(http.StatusRequestEntityTooLarge, "The form is longer than %d MB.", maxForm>>20)
	case err != nil:
		return problemf(http.StatusBadRequest, "The form cannot be read.")
	case subtle.ConstantTimeCompare([]byte(r.PostFormValue("csrf")), []byte(v.csrf())) != 1:
		return problemf(http.StatusForbidden, "The page was out of date, so nothing was done. Go back, reload it "+
			"and try again.")
	}
	return nil
}

// link is an entry of the navigation.
type link struct {
	Name, Path string
	Here       bool
}

// frame is what every page has.
type frame struct {
	Title   string
	Nav     []link
	Key     *store.Key // of the viewer; nil: no login
	NeedKey bool
	NoLogin bool // there is no page to log in
	Token   bool // the owner's token is needed
	CSRF    string
	Refresh int // seconds after which a browser without scripts loads the page again; 0: never
	Data    any
}

func (v *visit) frame(title string, data any) frame {
	f := frame{Title: title, Key: v.Key, NeedKey: v.p.o.NeedKey, NoLogin: v.p.o.OnlyRuns,
		Token: !v.owner, CSRF: v.csrf(), Data: data}
	for _, part := range v.p.parts {
		if part.name != "" {
			here := v.R.URL.Path == part.path || part.path != "/" && strings.HasPrefix(v.R.URL.Path, part.path+"/")
			f.Nav = append(f.Nav, link{part.name, part.path, here})
		}
	}
	return f
}

// show sends a page: the template of a file with data.
func (v *visit) show(file, title string, data any) error {
	return v.send(http.StatusOK, file, v.frame(title, data))
}

func (v *visit) send(status int, file string, f frame) error {
	var b bytes.Buffer
	if err := v.p.views()[file].ExecuteTemplate(&b, "layout", f); err != nil {
		return err
	}
	v.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.W.WriteHeader(status)
	_, _ = v.W.Write(b.Bytes()) // the client may be gone
	return nil
}

// fragment renders one template of a file, for a live part of a page.
func (p *Page) fragment(file, name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := p.views()[file].ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}

// redirect sends the viewer to an address of this page.
func (v *visit) redirect(to string) error {
	http.Redirect(v.W, v.R, to, http.StatusSeeOther)
	return nil
}

// mine reports whether the viewer may see what belongs to a key, by its id. Without a login the viewer is the
// owner of the machine, who sees everything.
func (v *visit) mine(key string) bool {
	if v.Key == nil {
		return !v.p.o.NeedKey
	}
	return v.Key.ID == key
}

// fail shows an error.
func (v *visit) fail(err error) {
	shown := &problem{http.StatusInternalServerError, "The gateway has a defect; its log has the details."}
	var known *problem
	var api *wire.Error
	switch {
	case errors.As(err, &known):
		shown = known
	case errors.As(err, &api):
		shown = &problem{api.HTTP, api.Message}
	default:
		v.p.o.Log.Error("page", "path", v.R.URL.Path, "error", err.Error())
	}
	if err := v.send(shown.Status, "error.html", v.frame("Error", shown)); err != nil {
		v.p.o.Log.Error("page", "path", v.R.URL.Path, "error", err.Error())
		http.Error(v.W, shown.Text, shown.Status)
	}
}

// mayEdit returns why the viewer may not change council files; nil if that is allowed.
func (v *visit) mayEdit() error {
	switch {
	case !v.Key.Administers():
		return problemf(http.StatusForbidden, "The key %s may not change council files. The owner of the gateway "+
			"makes a key that may with: synod serve keys new NAME --admin", v.Key.Name)
	case v.p.o.Councils.Dir() == "":
		return problemf(http.StatusNotFound, "The gateway has no folder of council files, so none can be changed "+
			"here. Start it with: synod serve --councils FOLDER")
	}
	return nil
}
