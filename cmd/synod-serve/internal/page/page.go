// Package page is the web page of a gateway: ask a council and watch it, look back at earlier runs, see keys
// and spend. It works without scripts; with them, running councils are shown live.
//
// # Adding a page
//
// A page is one Go file and one template:
//
//   - FILE.go has a variable of type part: its entry in the navigation and its routes, whose handlers are
//     functions of a *visit. Add the variable to parts.
//   - templates/FILE.html defines "content". A handler shows it with v.show("FILE.html", title, data); the
//     template finds data under .Data, and beside it what every page has (type frame).
//   - A form posts to a route "POST /…" and has {{template "csrf" $}} in it; the token is checked before the
//     handler is called. After a post the handler returns v.redirect(address), so that the page which the user
//     then sees can be reloaded.
//   - A handler returns problemf(status, …) for what the user has to know, and any other error for a defect of
//     the gateway, which is logged and shown without details.
//   - Texts of members, files and users go through html/template only, with the function text for one line or
//     several, or markdown for prose. Templates have no inline script, style or event handler: the
//     Content-Security-Policy forbids them. A class and static/page.css do it.
//   - A drawing that the project's own code has made as SVG is put into a page with the function svg.
//
// v.Key is the API key of the viewer, nil on a loopback address without a login; what belongs to another key
// must not be shown (visit.mine).
package page

import (
	"html/template"
	"log/slog"
	"net/http"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// Options determine what the page shows. Gateway, Councils, Store and Log are required.
type Options struct {
	Gateway  *gateway.Gateway
	Councils *councils.Registry
	Store    *store.Store
	Log      *slog.Logger
	Prices   llm.Prices
	Journals string // folder of the journals; "": none is kept
	Runs     string // folder of the runs of experiments; "": there is none
	OnlyRuns bool   // the page has nothing but these runs
	NeedKey  bool   // nothing is shown without a login
	// Token is what the owner of the machine logs in with where no key is needed, because other users of the machine
	// reach the address too; "": everybody who reaches it is the owner.
	Token string
	// Owner returns the key that signs certificates; nil: there are none.
	Owner func() (sign.Secret, error)
}

// Page serves the web page. Use New.
type Page struct {
	o      Options
	views  func() map[string]*template.Template // by the name of the file; parsed when the first page is shown
	assets map[string]*asset                    // by address
	named  map[string]*asset                    // by the name of the file
	parts  []part
	local  string // CSRF token of viewers who have not logged in
	mux    *http.ServeMux
	lives  lives
	costs  costs
	labs   labs
	dry    chan struct{} // a place for each dry run at once
}

// handler answers a request of a viewer.
type handler func(v *visit) error

// part is a page with its routes.
type part struct {
	name   string             // in the navigation; "": it has no entry
	path   string             // that the entry leads to
	routes map[string]handler // by patterns of net/http
	open   bool               // it needs no login
}

// ServeHTTP serves all pages.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }
