package gateway

import (
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"synod.dev/synod/council/outcome"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// asking is what is known of a request while it is answered, so that one that is refused can be named.
type asking struct {
	api, id string
	begun   time.Time
	key     *store.Key
	model   string       // "": it names none that the key may use
	settled *atomic.Bool // the end of the request was recorded; nil: it has not begun
}

// refuse logs and counts a request that was refused before it was recorded, so that nobody probes the gateway unseen.
func (g *Gateway) refuse(a *asking, e *wire.Error) {
	name := ""
	if a.key != nil {
		name = a.key.Name
	}
	g.o.Log.Info("refused", "request", a.id, "api", a.api, "model", a.model, "status", e.Code, "http", e.HTTP,
		"key", name)
	if g.o.Observe != nil {
		g.o.Observe(Observed{ID: a.id, API: a.api, Model: a.model, Status: e.Code, HTTP: e.HTTP, Begun: a.begun,
			Took: time.Since(a.begun), Key: name, Refused: true, Result: store.Result{Status: e.Code, HTTP: e.HTTP}})
	}
}

// deny refuses a request of no dialect.
func (g *Gateway) deny(w http.ResponseWriter, r *http.Request, key *store.Key, e *wire.Error) {
	g.refuse(&asking{api: "other", id: requestID(w), begun: time.Now(), key: key}, e)
	fail(w, e)
}

// inside matches what an error may say about the machines of the gateway's owner: addresses, names of hosts and paths.
var inside = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+` +
	`|(?:[A-Za-z]:\\|~?/)[\w.@%+~-]+(?:[/\\][\w.@%+~-]*)+` +
	`|\[[0-9a-fA-F:.%]+\](?::\d+)?|\[?\b[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){2,7}\b\]?(?::\d+)?` +
	`|\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?` +
	`|\b[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*:\d{2,5}\b` +
	`|\b(?:[A-Za-z0-9_-]+\.)+(?:internal|local|lan|corp|svc|example|com|net|org|io|dev|ai)\b`)

// unresolved is a text of this program that has the name of a host.
var unresolved = regexp.MustCompile(`the name \S+ cannot`)

// unset is a text of this program that has the name of a variable of the gateway's environment.
var unset = regexp.MustCompile(`(?:no key: )?\S+ is not set`)

// troubleLevel is the level at which the log has why a model has failed: what only the owner can mend is always there.
func troubleLevel(why string) slog.Level {
	if unset.MatchString(why) {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// hide returns the text of an error without what only the owner of the gateway should know. The log has all of it.
func hide(text string) string {
	text = unset.ReplaceAllString(text, "the gateway has no key for this model")
	return inside.ReplaceAllString(unresolved.ReplaceAllString(text, "the name of the server cannot"), "…")
}

// hidden returns members without what their servers' errors say about machines.
func hidden(members []outcome.Member) []outcome.Member {
	members = slices.Clone(members)
	for i := range members {
		members[i].Trouble = hide(strings.TrimSpace(members[i].Trouble))
	}
	return members
}
