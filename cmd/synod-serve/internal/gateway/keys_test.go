package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

func (h *house) key(t *testing.T, k store.Key) string {
	t.Helper()
	secret, _, err := h.store.NewKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + secret
}

// Where a key is needed, nothing is answered without one; a key sees and uses its own models only.
func TestNeedsKey(t *testing.T) {
	h := open(t, map[string]string{"dice": dice, "other": dice}, func(o *Options) { o.NeedKey = true })
	key := h.key(t, store.Key{Name: "alice", Councils: []string{"dice"}})
	for _, test := range []struct {
		model, auth string
		status      int
	}{
		{"dice", "", 401}, {"dice", "Bearer sk-synod-WRONG", 401}, {"dice", "Bearer sk-other", 401}, {"dice", key, 200},
		{"other", key, 404}, {"solo:dice", key, 404}, {"absent", key, 404},
	} {
		if r := h.post(t, chats, questionBody(test.model, sum), "Authorization",
			test.auth); r.StatusCode != test.status {
			t.Errorf("%+v: %d %s", test, r.StatusCode, r.body)
		}
	}
	if r := h.post(t, chats, questionBody("dice", sum), "X-Api-Key", strings.TrimPrefix(key,
		"Bearer ")); r.StatusCode != 200 {
		t.Errorf("x-api-key: %d", r.StatusCode)
	}
	for auth, status := range map[string]int{"": 401, key: 200} {
		req, _ := http.NewRequest(http.MethodGet, h.url+"/v1/models", nil)
		req.Header.Set("Authorization", auth)
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != status {
			t.Errorf("%q: %v %v", auth, res, err)
		}
		res.Body.Close()
	}
	if err := h.store.Revoke("alice"); err != nil {
		t.Fatal(err)
	}
	if r := h.post(t, chats, questionBody("dice", sum), "Authorization", key); r.StatusCode != 401 {
		t.Errorf("a revoked key: %d %s", r.StatusCode, r.body)
	}
	if strings.Contains(h.log.String(), "sk-synod-") || strings.Contains(h.log.String(), "17 + 25") {
		t.Error("the log has a key or a question")
	}
}

// However many requests of a key come at once, to councils and models, as streams or not, they never cost more
// than the day's limit by the prices of the gateway and the calls that the server counted.
func TestSpendIsHard(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9), llmtest.Latency(2*time.Millisecond))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	const limit = 0.05
	key := h.key(t, store.Key{Name: "bob", PerDay: store.USD(limit)})
	var wait sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for i := range 80 {
		wait.Go(func() {
			model := []string{"seven", "solo:stub"}[i%2]
			more := []string{`"seed": ` + fmt.Sprint(i), `"stream": ` + fmt.Sprint(i%4 == 0), `"max_tokens": 100`}
			r := h.post(t, chats, questionBody(model, sum, more...), "Authorization", key)
			mu.Lock()
			defer mu.Unlock()
			codes[r.StatusCode]++
		})
	}
	wait.Wait()
	keys, err := h.store.Keys(t.Context())
	if err != nil || keys[0].Today > store.USD(limit) || keys[0].Reserved != 0 || keys[0].Today == 0 {
		t.Errorf("%+v, %v", keys, err)
	}
	if codes[429]+codes[422] == 0 || codes[200] == 0 {
		t.Errorf("codes %v; want some requests answered and some refused", codes)
	}
	r := h.post(t, chats, questionBody("solo:stub", strings.Repeat("x", 60_000)), "Authorization", key)
	if p := r.problem(t); r.StatusCode != 429 || p.Error.Code != "insufficient_quota" ||
		p.Error.Type != "insufficient_quota" ||
		r.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// A key with a limit in money cannot use a model whose price nobody knows.
func TestUnknownPrice(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": strings.ReplaceAll(stubbed(stub.URL), "model: stub, attempts",
		"model: gpt-4-unpriced, attempts")})
	key := h.key(t, store.Key{Name: "bob", PerDay: store.USD(1)})
	for _, model := range []string{"seven", "solo:stub"} {
		r := h.post(t, chats, questionBody(model, sum), "Authorization", key)
		if p := r.problem(t); r.StatusCode != 403 || p.Error.Code != "price_unknown" {
			t.Errorf("%s: %d %s", model, r.StatusCode, r.body)
		}
	}
	if stub.total.Load() != 0 {
		t.Error("a model was called")
	}
}

// Requests above the rate get 429 with the time to wait.
func TestRate(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	key := h.key(t, store.Key{Name: "bob", PerMinute: 3})
	codes := map[int]int{}
	var last reply
	for i := range 5 {
		r := h.post(t, chats, questionBody("dice", sum, `"seed": `+fmt.Sprint(i)), "Authorization", key)
		if codes[r.StatusCode]++; r.StatusCode == 429 {
			last = r
		}
	}
	if codes[200] != 3 || codes[429] != 2 || last.Header.Get("Retry-After") == "" ||
		last.problem(t).Error.Code != "rate_limit_exceeded" || last.Header.Get("X-Ratelimit-Limit-Requests") != "3" {
		t.Errorf("%v %v %s", codes, last.Header, last.body)
	}
}

// Without a store nothing is answered, because nothing could be counted.
func TestStoreFails(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	h.breakStore(t)
	h.post(t, chats, questionBody("seven", "Is 7 prime?")) // it is in the log, and the database does not take it
	if _, err := h.store.Recent(t.Context(), 1); err == nil {
		t.Error("the store works without a table")
	}
	called := stub.total.Load()
	for _, model := range []string{"seven", "solo:stub"} {
		r := h.post(t, chats, questionBody(model, sum))
		if p := r.problem(t); r.StatusCode != 503 || p.Error.Code != "store_unavailable" {
			t.Errorf("%s: %d %s", model, r.StatusCode, r.body)
		}
	}
	if stub.total.Load() != called {
		t.Error("a model was called")
	}
}

// Files that change under load drop no request; one with a mistake leaves the council that was there.
func TestReloadUnderLoad(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	stop := make(chan struct{})
	var wait sync.WaitGroup
	var mu sync.Mutex
	codes, prints := map[int]int{}, map[string]bool{}
	for w := range 4 {
		wait.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				r := h.post(t, chats, questionBody("dice", sum, fmt.Sprintf(`"seed": %d`, 1000*w+i)))
				var got struct {
					Fingerprint string `json:"system_fingerprint"`
				}
				r.into(t, &got)
				mu.Lock()
				codes[r.StatusCode]++
				prints[got.Fingerprint] = true
				mu.Unlock()
			}
		})
	}
	for i := range 6 {
		h.file(t, "dice", strings.Replace(dice, "0.9", fmt.Sprintf("0.9%d", i+1), 1)+strings.Repeat(" \n", i))
		if err := h.reg.Reload(); err != nil {
			t.Error(err)
		}
		time.Sleep(30 * time.Millisecond)
	}
	h.file(t, "dice", "council: dice\nseets: []\n")
	if err := h.reg.Reload(); err != nil {
		t.Error(err)
	}
	time.Sleep(30 * time.Millisecond)
	close(stop)
	wait.Wait()
	if len(codes) != 1 && codes[422] == 0 || codes[404]+codes[500]+codes[503] > 0 || len(prints) < 3 {
		t.Errorf("codes %v, %d councils", codes, len(prints))
	}
	if p := h.reg.Problems()["dice"]; !strings.Contains(p, "seets") || !strings.Contains(p, "served on") ||
		strings.Contains(p, "/dice.yaml") {
		t.Errorf("the problem is %q", p)
	}
	if r := h.post(t, chats, questionBody("dice", sum)); r.StatusCode == 404 {
		t.Error("the council is gone because of a mistake in its file")
	}
	if err := removeFile(h, "dice"); err != nil {
		t.Fatal(err)
	}
	if r := h.post(t, chats, questionBody("dice", sum)); r.StatusCode != 404 {
		t.Errorf("the file is gone: %d", r.StatusCode)
	}
}
