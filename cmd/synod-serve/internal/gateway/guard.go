package gateway

import (
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// guard gives every request an id, refuses what a foreign web page could have sent, and turns a panic into
// an error.
func (g *Gateway) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := newID(time.Now())
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		defer func() {
			p := recover()
			if p == nil || p == http.ErrAbortHandler {
				return
			}
			g.o.Log.Error("panic", "request", id, "panic", p, "stack", string(debug.Stack()))
			fail(w, &wire.Error{HTTP: 500, Code: "internal_error", Final: true,
				Message: "the gateway has a defect; its log has the details under request " + id})
		}()
		if e := g.foreign(r); e != nil {
			g.deny(w, r, nil, e)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign refuses requests under a host name that is not the gateway's, as a web page sends them that has made
// its own name lead here, and requests of other web pages.
func (g *Gateway) foreign(r *http.Request) *wire.Error {
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
		return nil // probes of load balancers; they have no secrets
	}
	if !ownHost(r.Host, g.o.Hosts) {
		return &wire.Error{HTTP: http.StatusMisdirectedRequest, Code: "unknown_host",
			Message: "the gateway is not called " +
				printable(r.Host) + "; name the host in --hosts to allow it"}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document" && !strings.HasPrefix(r.URL.Path, "/v1/") {
		site = "" // somebody follows a link, and only he sees the page
	}
	own := true
	switch origin := r.Header.Get("Origin"); {
	case origin == "null": // a frame in a sandbox, a file; or a page of ours under a policy that hides it
		own = site == "same-origin"
	case origin != "":
		own = origin == "http://"+r.Host || origin == "https://"+r.Host
	}
	if site == "cross-site" || site == "same-site" || !own {
		return &wire.Error{HTTP: 403, Code: "cross_origin", Message: "requests of other web pages are not served"}
	}
	return nil
}

// ownHost reports whether a Host header names this gateway, which is also called by the names. An address is always
// fine: a page of another site can only use a name.
func ownHost(host string, names []string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || net.ParseIP(host) != nil {
		return true
	}
	for _, h := range names {
		if strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}
