package gateway

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// trio is a council of three servers' models.
func trio(url, third string) string {
	return `council: trio
protocol: {name: majority}
f: 0
form: number
models:
  a: {provider: openai, url: "` + url + `", model: a}
  b: {provider: openai, url: "` + url + `", model: b}
  c: {provider: openai, url: "` + third + `", model: c}
seats: [{id: a, model: a}, {id: b, model: b}, {id: c, model: c}]
`
}

// troubled starts a gateway, which tends its members, with a council of which one member never replies to texts.
func troubled(t *testing.T, hangs *atomic.Pointer[string], change ...func(*Options)) (h *house, calls *atomic.Int64,
	metrics *Metrics) {
	t.Helper()
	up := llmtest.Start(t, llmtest.Fixed("42", 0.9))
	calls = &atomic.Int64{}
	third := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.With(func(x *llmtest.Exchange) {
		text := x.Call.System + x.Call.User
		if !strings.Contains(text, "word ok") {
			calls.Add(1)
		}
		if p := hangs.Load(); p != nil && strings.Contains(text, *p) {
			for hangs.Load() != nil && x.R.Context().Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
		}
		x.OK()
	}))
	h = open(t, map[string]string{"trio": trio(up.URL, third.URL)}, change...)
	metrics = NewMetrics()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.Tend(ctx, metrics) }()
	t.Cleanup(func() { cancel(); <-done })
	return h, calls, metrics
}

// scraped is what the metrics say.
func scraped(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler(false).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// A member that hangs is waited for in three questions and called in no further one, until a call in the background is
// answered. The log and the metrics name it.
func TestHangingMemberIsOut(t *testing.T) {
	var hangs atomic.Pointer[string]
	all := ""
	hangs.Store(&all)
	h, calls, metrics := troubled(t, &hangs)
	ask := func() {
		t.Helper()
		if r := h.post(t, chats, questionBody("trio", sum)); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
	}
	for range 3 {
		ask()
	}
	if n := calls.Load(); n != 3 {
		t.Fatalf("%d calls to the member that hangs in three questions", n)
	}
	until(t, 20*time.Second, "out in the metrics", func() bool {
		return strings.Contains(scraped(metrics), `synod_member_out{model="c",server="`)
	})
	for range 5 {
		ask()
	}
	if n := calls.Load(); n != 3 {
		t.Errorf("it was called for %d questions after it was out", n-3)
	}
	hangs.Store(nil)
	until(t, 20*time.Second, "back in the log", func() bool { return strings.Contains(h.log.String(), "is back") })
	ask()
	if n := calls.Load(); n != 4 {
		t.Errorf("%d calls after it was back, want 4", n)
	}
	if text := scraped(metrics); !strings.Contains(text, `synod_background_calls_total{model="c",result="back",`) ||
		!strings.Contains(h.log.String(), `test it" member=c`) {
		t.Errorf("metrics: %s\nlog: %s", text, h.log.String())
	}
}

// A key whose prompts make a member hang loses the member for itself; another key's questions go on with it.
func TestHangingPromptTakesNothingFromOthers(t *testing.T) {
	var hangs atomic.Pointer[string]
	poison := "poison"
	hangs.Store(&poison)
	h, calls, _ := troubled(t, &hangs, func(o *Options) { o.NeedKey = true })
	hog, honest := h.key(t, store.Key{Name: "hog"}), h.key(t, store.Key{Name: "honest"})
	ask := func(key, text string) {
		t.Helper()
		if r := h.post(t, chats, questionBody("trio", text), "Authorization", key); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
	}
	for range 5 {
		ask(hog, "What is 17 + 25? poison")
	}
	for range 3 {
		ask(honest, sum)
	}
	if n := calls.Load(); n < 6 {
		t.Errorf("the member was called %d times, 3 of them for the key that poisons", n)
	}
	if strings.Contains(h.log.String(), `test it" member=c`) {
		t.Errorf("it is out for all: %s", h.log.String())
	}
}

// A member that is out when its council is removed is no longer out: it is nowhere. When it is used again, it is out
// again, until it works.
func TestMemberOutIsForgotten(t *testing.T) {
	var hangs atomic.Pointer[string]
	all := ""
	hangs.Store(&all)
	h, _, metrics := troubled(t, &hangs)
	for range 3 {
		if r := h.post(t, chats, questionBody("trio", sum)); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
	}
	out := func() bool { return strings.Contains(scraped(metrics), `synod_member_out{model="c",server="`) }
	until(t, 20*time.Second, "out in the metrics", out)
	file, err := os.ReadFile(filepath.Join(h.dir, "trio.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := removeFile(h, "trio"); err != nil {
		t.Fatal(err)
	}
	until(t, 20*time.Second, "forgotten by the metrics", func() bool { return !out() })
	if !strings.Contains(h.log.String(), "a member that was out is no longer used") {
		t.Error(h.log.String())
	}
	h.file(t, "trio", string(file))
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	until(t, 20*time.Second, "out again", out)
	hangs.Store(nil)
}
