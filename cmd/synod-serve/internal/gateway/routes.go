package gateway

import (
	"context"
	"net/http"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// Handler returns all routes.
func (g *Gateway) Handler() http.Handler {
	mux, kept := http.NewServeMux(), responses{g}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200,
			map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", g.ready)
	mux.HandleFunc("GET /v1/models", g.models)
	mux.HandleFunc("GET /v1/models/{id...}", g.model)
	mux.HandleFunc("POST /v1/chat/completions", g.ask(chat{}))
	mux.HandleFunc("POST /v1/responses", g.ask(kept))
	mux.HandleFunc("POST /v1/messages", g.ask(messages{}))
	mux.HandleFunc("POST /v1/messages/count_tokens", g.countTokens)
	mux.HandleFunc("GET /v1/responses/{id}", kept.stored(sendStored))
	mux.HandleFunc("GET /v1/responses/{id}/input_items", kept.stored(sendInput))
	mux.HandleFunc("DELETE /v1/responses/{id}", kept.stored(kept.forget))
	mux.HandleFunc("POST /v1/synod/feedback", g.labelled(g.label))
	mux.HandleFunc("DELETE /v1/synod/feedback/{run}", g.labelled(g.unlabel))
	for pattern, h := range g.mounted {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			defer g.forms.meter(r)()
			h.ServeHTTP(w, r)
		})
	}
	rest := "/"
	if g.mounted[rest] != nil {
		rest = "/v1/"
	}
	mux.HandleFunc(rest, func(w http.ResponseWriter, r *http.Request) {
		g.deny(w, r, nil, &wire.Error{HTTP: 404, Code: "not_found", Message: "there is no " + r.Method + " " +
			printable(r.URL.Path) +
			"; the API has POST /v1/chat/completions, POST /v1/responses, POST /v1/messages and GET /v1/models, and " +
			"docs/operate/gateway.md has the others"})
	})
	return g.guard(mux)
}

// ready reports whether requests can be answered.
func (g *Gateway) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	problems := g.o.Councils.Problems()
	for id, text := range problems { // anybody may read this; the log has all of it
		problems[id] = hide(text)
	}
	state := map[string]any{"status": "ready", "models": len(g.o.Councils.List()), "problems": problems}
	var why string
	switch {
	case g.draining.Load():
		why = "draining"
	case g.o.Store.Ping(ctx) != nil:
		why = "the store cannot be used"
	case len(g.o.Councils.List()) == 0:
		why = "no council is open"
	}
	status := http.StatusOK
	if why != "" {
		status, state["status"] = http.StatusServiceUnavailable, why
	}
	writeJSON(w, status, state)
}

// modelObject is a model in OpenAI's list.
func modelObject(l councils.Listed) map[string]any {
	return map[string]any{"id": l.ID, "object": "model", "created": l.Since.Unix(), "owned_by": "synod"}
}

// models lists what the key may use.
func (g *Gateway) models(w http.ResponseWriter, r *http.Request) {
	key, e := g.Authorise(r.Context(), r.Header)
	if e != nil {
		g.deny(w, r, nil, e)
		return
	}
	data := []any{}
	for _, l := range g.o.Councils.List() {
		if key.May(l.ID) {
			data = append(data, modelObject(l))
		}
	}
	writeJSON(w, 200, map[string]any{"object": "list", "data": data})
}

func (g *Gateway) model(w http.ResponseWriter, r *http.Request) {
	key, e := g.Authorise(r.Context(), r.Header)
	if e != nil {
		g.deny(w, r, nil, e)
		return
	}
	id := r.PathValue("id")
	l, e := listed(g.o.Councils, key, id)
	if e != nil {
		g.deny(w, r, key, e)
		return
	}
	writeJSON(w, 200, modelObject(l))
}

// listed returns what is listed of a model; an error if there is no such model for the key.
func listed(reg *councils.Registry, key *store.Key, id string) (councils.Listed, *wire.Error) {
	for _, l := range reg.List() {
		if l.ID == id && key.May(id) {
			return l, nil
		}
	}
	return councils.Listed{}, noModel(id)
}
