package llm_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm"
)

// A preflight finds what calls would fail on, sends nothing that costs, and takes a server
// that cannot be asked for free for one that may be well.
func TestPreflight(t *testing.T) {
	two := `{"data":[{"id":"gpt-4o-mini"},{"id":"gpt-4o"}]}`
	for _, c := range []struct {
		name   string
		status int
		body   string
		found  string
		why    string // of the failure; "": none
		advice string
		kind   synod.Status
	}{
		{"listed", 200, `{"data":[{"id":"m"},{"id":"n"}]}`, "lists the model", "", "", ""},
		{"latest", 200, `{"data":[{"id":"m:latest"},{"id":"n"}]}`, "lists the model", "", "", ""},
		{"one model", 200, `{"data":[{"id":"other"}]}`, "does not tell", "", "", ""},
		{"no list", 200, `<html>`, "does not tell", "", "", ""},
		{"unknown", 200, two, "", `knows no model called "m"; it lists: gpt-4o-mini, gpt-4o`, "correct models.x.model",
			synod.Unavailable},
		{"no path", 404, `{}`, "", "no such path: POST /v1/chat/completions (HTTP 404)", "correct models.x.model or " +
			"models.x.url", synod.Unavailable},
		{"no list and no model", 404, `{"error":"no model is named"}`, "HTTP 404", "", "", ""},
		{"no list", 405, `{}`, "", "no such path", "", synod.Unavailable},
		{"out of order", 503, `{}`, "HTTP 503", "", "", ""},
		{"wrong key", 401, `{"error":{"message":"bad sk-canary"}}`, "", "does not accept the key", "check the key",
			synod.Auth},
		{"forbidden", 403, `{}`, "", "may not use", "check the key", synod.Auth},
	} {
		var asked []string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
			if strings.HasSuffix(r.URL.Path, "/models/m") {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		m, err := llm.NewOpenAI(llm.OpenAIConfig{URL: s.URL, Model: "m", Key: llm.NewSecret("sk-canary")})
		if err != nil {
			t.Fatal(err)
		}
		found, err := m.Preflight(context.Background())
		f, fatal := llm.AsPreflight(err)
		switch {
		case asked[0] != "GET /v1/models Bearer sk-canary" || len(asked) > 2:
			t.Errorf("%s: sent %q", c.name, asked)
		case c.why == "" && (err != nil || !strings.Contains(found, c.found)):
			t.Errorf("%s: %q, %v", c.name, found, err)
		case c.why != "" && (!fatal || !strings.Contains(f.Reason(), c.why) || f.Status != c.kind):
			t.Errorf("%s: %v", c.name, err)
		case fatal && !strings.Contains(llm.Advice(f.Status, llm.Settings{Name: "x"}, "", f.Reason()), c.advice):
			t.Errorf("%s: advice %q", c.name, llm.Advice(f.Status, llm.Settings{Name: "x"}, "", f.Reason()))
		case fatal && strings.Contains(f.Error(), "canary"):
			t.Errorf("%s: the key is in %v", c.name, f)
		}
		s.Close()
	}
	m, err := llm.NewOpenAI(llm.OpenAIConfig{URL: "http://127.0.0.1:9", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Preflight(context.Background())
	if f, fatal := llm.AsPreflight(err); !fatal || f.Status != synod.Unavailable {
		t.Errorf("nobody listens: %v", err)
	}
}

// A server may offer no list and still have the path of calls, which refuses an empty request.
func TestPreflightPath(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer s.Close()
	for base, want := range map[string]bool{"/v1": true, "/api/v1": false, "/openai": false} {
		m, err := llm.NewOpenAI(llm.OpenAIConfig{URL: s.URL + base, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Preflight(t.Context()); (err == nil) != want {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// Advice names the key of a model only where it is written, and starts no server that has no name.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		keys        map[string]any
		server, why string
		want        string
	}{
		{map[string]any{"provider": "ollama"}, "localhost:11434", "connection refused",
			"start the server at localhost:11434, or correct OLLAMA_HOST"},
		{map[string]any{"provider": "openai", "url": "http://x"}, "x:80", "connection refused",
			"start the server at x:80, or correct models.m.url"},
		{map[string]any{"provider": "openai"}, "x:80", "the name x cannot be resolved",
			"correct the name of the server in OPENAI_BASE_URL, or check the network"},
		{nil, "", "connection refused", "start the server, or correct models.m.url"},
	} {
		got := llm.Advice(synod.Unavailable, llm.Settings{Name: "m", Keys: c.keys}, c.server, c.why)
		if got != c.want {
			t.Errorf("%v, %s: %q", c.keys, c.why, got)
		}
	}
	for why, want := range map[string]string{
		llm.ErrLate.Error():           "wait for every member with patience: {spare: 0}",
		llm.ErrSlow.Error():           "give calls more time with pace.think",
		"no complete reply within 1m": "give it more time with models.m.timeout",
	} {
		if got := llm.Advice(synod.Timeout, llm.Settings{Name: "m"}, "", why); got != want {
			t.Errorf("%s: %q; want %q", why, got, want)
		}
	}
}
