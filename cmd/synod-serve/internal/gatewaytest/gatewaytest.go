// Package gatewaytest starts gateways for the tests of other protocols.
package gatewaytest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// Prices of the stub, in USD for a million tokens.
var Prices = llm.Prices{{Server: "*", Model: "stub", Price: llm.Price{Prompt: 1, Completion: 10}}}

// Stubbed is a council of five seats behind the server at a URL.
func Stubbed(url string) string {
	return `council: stubbed
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
models: {stub: {provider: openai, url: "` + url + `", model: stub, attempts: 1, max_tokens: 100}}
seats: [{id: s, model: stub, count: 5}]
`
}

// House is a gateway under test.
type House struct {
	*gateway.Gateway
	Store *store.Store
	Log   *slog.Logger
	URL   string // after Start
}

// Open opens a gateway with council files by name. It is drained when the test ends, after what t cleans up later.
func Open(t testing.TB, files map[string]string, change ...func(*gateway.Options)) *House {
	t.Helper()
	dir, h := t.TempDir(), &House{Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reg, err := councils.Open(councils.Options{Dir: dir, Log: h.Log, Env: llm.Env{Prices: Prices}})
	if err != nil {
		t.Fatal(err)
	}
	if h.Store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "serve.db"), store.Local); err != nil {
		t.Fatal(err)
	}
	o := gateway.Options{Councils: reg, Store: h.Store, Log: h.Log, Prices: Prices, Journals: t.TempDir(),
		Settings: gateway.DefaultSettings()}
	for _, f := range change {
		f(&o)
	}
	h.Gateway = gateway.New(o)
	t.Cleanup(func() {
		h.Gateway.Drain(expired())
		reg.Close()
		h.Store.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return h
}

func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Start serves all routes of the gateway over HTTP until the test ends.
func (h *House) Start(t testing.TB) {
	s := httptest.NewServer(h.Handler())
	h.URL = s.URL
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
}

// Models is a server of models that tells how many calls are open.
type Models struct {
	*httptest.Server
	Open, Total atomic.Int64
	hold        atomic.Pointer[chan struct{}]
}

// Watch starts a server of models until the test ends.
func Watch(t testing.TB, handler llmtest.Handler) *Models {
	m, inner := &Models{}, llmtest.New(handler)
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.Total.Add(1)
		m.Open.Add(1)
		defer m.Open.Add(-1)
		b, _ := io.ReadAll(r.Body) // a client that is gone is seen below
		r.Body = io.NopCloser(bytes.NewReader(b))
		if hold := m.hold.Load(); hold != nil {
			select {
			case <-*hold:
			case <-r.Context().Done():
				return
			}
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

// Hold makes calls wait until the function that it returns is called.
func (m *Models) Hold() (release func()) {
	c := make(chan struct{})
	m.hold.Store(&c)
	return sync.OnceFunc(func() { m.hold.Store(nil); close(c) })
}

// Split returns a handler of models that all answer differently, each time.
func Split() llmtest.Handler {
	var n atomic.Int64
	return func(c llmtest.Call) string {
		if c.Scoring() {
			return llmtest.Fixed("", 0.5)(c)
		}
		return llmtest.Fixed(strconv.FormatInt(n.Add(1), 10), 0.5)(c)
	}
}

// Until waits until a condition holds, and fails the test if it does not within the limit.
func Until(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > limit {
			t.Fatalf("after %v: not %s", limit, what)
		}
	}
}
