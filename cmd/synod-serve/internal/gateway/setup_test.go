package gateway

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

func TestMain(m *testing.M) {
	holdHeaders, progressGap = 150*time.Millisecond, 10*time.Millisecond
	goleak.VerifyTestMain(m)
}

// dice is a council of simulated members.
const dice = `council: dice
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
models: {dice: {provider: simulated, ability: 0.9, skill: 0.875, primacy: 0, shared: 0}}
seats: [{id: d, model: dice, count: 5}]
`

// stubbed is a council of five seats behind the server at a URL.
func stubbed(url string, more ...string) string {
	return `council: stubbed
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
models: {stub: {provider: openai, url: "` + url + `", model: stub, attempts: 1, max_tokens: 100}}
seats: [{id: s, model: stub, count: 5}]
` + strings.Join(more, "\n")
}

// prices of the stub, in USD for a million tokens.
var prices = llm.Prices{{Server: "*", Model: "stub", Price: llm.Price{Prompt: 1, Completion: 10}}}

// house is a gateway under test.
type house struct {
	*Gateway
	url    string
	dir    string // of council files
	store  *store.Store
	reg    *councils.Registry
	log    *lockedBuffer
	server *http.Server
	file0  string // of the store
}

// breakStore removes the tables of the store, as another program could.
func (h *house) breakStore(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", h.file0)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DROP TABLE requests"); err != nil {
		t.Fatal(err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// open starts a gateway with council files by name.
func open(t *testing.T, files map[string]string, change ...func(*Options)) *house {
	t.Helper()
	return openHouse(t, files, change...)
}

func openHouse(t testing.TB, files map[string]string, change ...func(*Options)) *house {
	t.Helper()
	h := &house{dir: t.TempDir(), log: &lockedBuffer{}}
	for name, text := range files {
		h.file(t, name, text)
	}
	log := slog.New(slog.NewTextHandler(h.log, nil))
	var err error
	h.file0 = filepath.Join(t.TempDir(), "serve.db")
	if h.store, err = store.Open(t.Context(), h.file0, "local"); err != nil {
		t.Fatal(err)
	}
	if h.reg, err = councils.Open(councils.Options{Dir: h.dir, Log: log, Labels: h.store,
		Env: llm.Env{Prices: prices}}); err != nil {
		t.Fatal(err)
	}
	o := Options{Councils: h.reg, Store: h.store, Log: log, Prices: prices, Journals: t.TempDir(),
		Settings: DefaultSettings()}
	for _, f := range change {
		f(&o)
	}
	h.Gateway = New(o)
	s := httptest.NewServer(h.Handler())
	h.url, h.server = s.URL, s.Config
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		h.Drain(ctx)
		s.Close()
		h.reg.Close()
		h.store.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return h
}

func (h *house) file(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name+".yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reply is a response that was read to its end.
type reply struct {
	*http.Response
	body []byte
}

// into decodes the body.
func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
}

// problem is an error body.
type problem struct {
	Error struct {
		Message, Type, Code, Param string
	}
	Synod *Report
}

func (r reply) problem(t *testing.T) (p problem) {
	t.Helper()
	r.into(t, &p)
	return p
}

// post sends a body and reads the response.
func (h *house) post(t *testing.T, path, body string, headers ...string) reply {
	t.Helper()
	return h.do(t, t.Context(), path, body, headers...)
}

func (h *house) do(t *testing.T, ctx context.Context, path, body string, headers ...string) reply {
	t.Helper()
	return h.send(t, ctx, http.MethodPost, path, body, headers...)
}

func (h *house) send(t *testing.T, ctx context.Context, method, path, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{&http.Response{Header: http.Header{}}, []byte(err.Error())}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil && ctx.Err() == nil { // a client that leaves may have begun to read
		t.Error(err)
	}
	return reply{res, b}
}

// question is the body of a chat completion with one question.
func questionBody(model, text string, more ...string) string {
	return fmt.Sprintf(`{"model": %q, "messages": [{"role": "user", "content": %q}]%s}`, model, text,
		strings.Join(append([]string{""}, more...), ", "))
}

const sum = "What is 17 + 25?"

// watched is a server of models that tells how many calls are open, and when they ended.
type watched struct {
	*httptest.Server
	inner *llmtest.Server
	open  atomic.Int64
	total atomic.Int64
	via   atomic.Value // the header of the last call
	hold  atomic.Pointer[chan struct{}]
}

// watch starts a server whose calls wait while hold is set.
func watch(t *testing.T, handler llmtest.Handler, options ...llmtest.Option) *watched {
	w := &watched{inner: llmtest.New(handler, options...)}
	w.Server = serveModel(t, http.HandlerFunc(func(res http.ResponseWriter, r *http.Request) {
		w.total.Add(1)
		w.open.Add(1)
		defer w.open.Add(-1)
		w.via.Store(r.Header.Get(llm.Via))
		if hold := w.hold.Load(); hold != nil {
			b, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(b))
			select {
			case <-*hold:
			case <-r.Context().Done():
				return
			}
		}
		w.inner.ServeHTTP(res, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// stop makes calls wait until the function that it returns is called.
func (w *watched) stop() (release func()) {
	c := make(chan struct{})
	w.hold.Store(&c)
	return sync.OnceFunc(func() { w.hold.Store(nil); close(c) })
}

// until waits until a condition holds, and fails the test if it does not within the limit.
func until(t *testing.T, limit time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	for !holds() {
		if time.Since(begun) > limit {
			t.Fatalf("after %v: not %s", limit, what)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(begun)
}

// rows returns the requests in the store by status.
func (h *house) rows(t *testing.T) map[string][]store.Row {
	t.Helper()
	all, err := h.store.Recent(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]store.Row{}
	for _, r := range all {
		by[r.Status] = append(by[r.Status], r)
	}
	return by
}

// removeFile removes a council file.
func removeFile(h *house, name string) error {
	return errors.Join(os.Remove(filepath.Join(h.dir, name+".yaml")), h.reg.Reload())
}

// serveModel serves a model on an address that no other test has.
func serveModel(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := llmtest.NewListener()
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	s.Start()
	return s
}
