package page

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// dice is a council of simulated members.
const dice = `council: dice
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
models: {dice: {provider: simulated, ability: 0.9, skill: 0.875, primacy: 0, shared: 0}}
seats: [{id: d, model: dice, count: 5}]
`

// prices of the stub, in USD for a million tokens.
var prices = llm.Prices{{Server: "*", Model: "stub", Price: llm.Price{Prompt: 1, Completion: 10}}}

// house is a gateway with its page, and a viewer with a cookie jar.
type house struct {
	gateway  *gateway.Gateway
	page     *Page
	store    *store.Store
	councils *councils.Registry
	url      string
	dir      string // of council files
	journals string
	viewer   *http.Client
	log      *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *safeBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *safeBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// open starts a gateway with council files by name.
func open(t testing.TB, files map[string]string, change ...func(*gateway.Options)) *house {
	t.Helper()
	h := &house{dir: t.TempDir(), journals: t.TempDir(), log: &safeBuffer{}}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(h.dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := slog.New(slog.NewTextHandler(h.log, nil))
	var err error
	if h.store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "serve.db"), "local"); err != nil {
		t.Fatal(err)
	}
	reg, err := councils.Open(councils.Options{Dir: h.dir, Log: log, Labels: h.store,
		Env: llm.Env{Prices: prices}})
	if err != nil {
		t.Fatal(err)
	}
	h.councils = reg
	o := gateway.Options{Councils: reg, Store: h.store, Log: log, Prices: prices, Journals: h.journals,
		Settings: gateway.DefaultSettings()}
	for _, f := range change {
		f(&o)
	}
	h.gateway = gateway.New(o)
	h.page = New(Options{Gateway: h.gateway, Councils: reg, Store: h.store, Log: log, Prices: prices,
		Journals: o.Journals, NeedKey: o.NeedKey, Owner: owner(t)})
	h.gateway.Mount("/", h.page)
	s := httptest.NewServer(h.gateway.Handler())
	h.url = s.URL
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	h.viewer = &http.Client{Jar: jar}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		h.gateway.Drain(ctx)
		h.viewer.CloseIdleConnections()
		s.Close()
		reg.Close()
		h.store.Close()
	})
	return h
}

// owner returns a key that signs certificates.
func owner(t testing.TB) func() (sign.Secret, error) {
	secret, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return func() (sign.Secret, error) { return secret, nil }
}

// seen is a response that was read to its end.
type seen struct {
	*http.Response
	body string
}

func (h *house) do(t testing.TB, req *http.Request) seen {
	t.Helper()
	res, err := h.viewer.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return seen{res, string(b)}
}

// get loads a page.
func (h *house) get(t testing.TB, path string) seen {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.do(t, req)
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// token returns the CSRF token of a page.
func (s seen) token(t testing.TB) string {
	t.Helper()
	m := csrfField.FindStringSubmatch(s.body)
	if m == nil {
		t.Fatalf("there is no token in %s", s.body)
	}
	return m[1]
}

// post sends a form: names and values in turn.
func (h *house) post(t testing.TB, path string, fields ...string) seen {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return h.do(t, req)
}

// key makes an API key and returns its secret.
func (h *house) key(t testing.TB, k store.Key) string {
	t.Helper()
	secret, _, err := h.store.NewKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// login logs the viewer in.
func (h *house) login(t testing.TB, secret string) seen {
	t.Helper()
	return h.post(t, "/login", "csrf", h.get(t, "/login").token(t), "key", secret)
}
