package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// billing is a server of models that sums the tokens that it reports.
type billing struct {
	*httptest.Server
	tokens atomic.Int64
}

var reported = regexp.MustCompile(`"(?:prompt|completion)_tokens":\s*(\d+)`)

func newBilling(t *testing.T) *billing {
	b := &billing{}
	inner := llmtest.New(llmtest.Fixed("42", 0.9), llmtest.Latency(2*time.Millisecond))
	b.Server = serveModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := httptest.NewRecorder()
		inner.ServeHTTP(kept, r)
		for _, m := range reported.FindAllStringSubmatch(kept.Body.String(), -1) {
			n, _ := strconv.ParseInt(m[1], 10, 64)
			b.tokens.Add(n)
		}
		w.Header().Set("Content-Type", kept.Header().Get("Content-Type"))
		w.WriteHeader(kept.Code)
		_, _ = w.Write(kept.Body.Bytes()) // the client may be gone
	}))
	t.Cleanup(b.Close)
	return b
}

// However many requests of a key come at once, to councils and models, as streams or not, they never use more tokens
// than it may on a day, by what the server counts; prices need not be known for that. What they did not use comes back.
func TestTokensAreHard(t *testing.T) {
	const limit = 15_000
	for _, name := range []string{"stub", "unpriced"} {
		t.Run(name, func(t *testing.T) {
			up := newBilling(t)
			file := strings.Replace(stubbed(up.URL), "model: stub, attempts", "model: "+name+", attempts", 1)
			h := open(t, map[string]string{"seven": file})
			key := h.key(t, store.Key{Name: "bob", TokensPerDay: limit})
			ask := func(i int) reply {
				model := []string{"seven", "solo:stub"}[i%2]
				more := []string{`"seed": ` + fmt.Sprint(i), `"stream": ` + fmt.Sprint(i%4 == 0), `"max_tokens": 100`}
				return h.post(t, chats, questionBody(model, sum, more...), "Authorization", key)
			}
			codes := atOnce(60, ask)
			keys, err := h.store.Keys(t.Context())
			if err != nil || keys[0].TokensToday > limit || keys[0].TokensReserved != 0 ||
				keys[0].TokensToday < up.tokens.Load() {
				t.Errorf("the server counts %d; %+v, %v", up.tokens.Load(), keys, err)
			}
			if codes[429]+codes[422] == 0 || codes[200] == 0 {
				t.Errorf("codes %v; want some requests answered and some refused", codes)
			}
			r := h.post(t, chats, questionBody("solo:stub", strings.Repeat("x", limit)), "Authorization", key)
			if p := r.problem(t); r.StatusCode != 429 || p.Error.Code != "insufficient_quota" ||
				p.Error.Type != "insufficient_quota" || !strings.Contains(p.Error.Message, "tokens_day") ||
				r.Header.Get("X-Should-Retry") != "false" || r.Header.Get("Retry-After") == "" {
				t.Errorf("%d %v %s", r.StatusCode, r.Header, r.body)
			}
		})
	}
}

// atOnce sends requests at once and returns how many got which status.
func atOnce(n int, ask func(i int) reply) map[int]int {
	var wait sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for i := range n {
		wait.Go(func() {
			r := ask(i)
			mu.Lock()
			defer mu.Unlock()
			codes[r.StatusCode]++
		})
	}
	wait.Wait()
	return codes
}

// Questions at once that together use a small part of a limit in tokens are all answered, though each could use more.
func TestManyWithinTokens(t *testing.T) {
	up := newBilling(t)
	h := open(t, map[string]string{"seven": strings.Replace(stubbed(up.URL), "max_tokens: 100", "max_tokens: 8000", 1)})
	key := h.key(t, store.Key{Name: "bob", TokensPerDay: 400_000})
	for _, model := range []string{"seven", "solo:stub"} {
		codes := atOnce(12, func(i int) reply {
			return h.post(t, chats, questionBody(model, sum, `"seed": `+strconv.Itoa(i)), "Authorization", key)
		})
		if codes[200] != 12 {
			t.Errorf("%s: %v; want 12 answers", model, codes)
		}
	}
}

// A server that reports no usage makes nothing free: what its replies can have had counts against the limit of a key,
// in money and in tokens.
func TestSilentServersCount(t *testing.T) {
	silent := llmtest.New(llmtest.Fixed("42", 0.9), llmtest.With(llmtest.Usage("null")))
	up := serveModel(t, silent)
	t.Cleanup(up.Close)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	for _, k := range []store.Key{{Name: "money", PerDay: store.USD(0.05)}, {Name: "tokens", TokensPerDay: 40_000}} {
		key := h.key(t, k)
		for _, model := range []string{"seven", "solo:stub"} {
			answered, code := 0, 200
			for ; code == 200 && answered < 200; answered++ {
				code = h.post(t, chats, questionBody(model, sum, `"max_tokens": 100`), "Authorization", key).StatusCode
			}
			if code != 429 && code != 422 {
				t.Errorf("%s, %s: %d after %d answers; want the limit reached", k.Name, model, code, answered)
			}
		}
	}
	keys, err := h.store.Keys(t.Context())
	if err != nil || keys[0].Today == 0 || keys[0].Today > keys[0].PerDay || keys[1].TokensToday == 0 ||
		keys[1].TokensToday > keys[1].TokensPerDay {
		t.Errorf("%+v, %v", keys, err)
	}
}
