package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// careless is a server that writes as many tokens as the most careless reading of a request allows, and bills them.
type careless struct {
	*httptest.Server
	mu     sync.Mutex
	usd    float64
	counts int64 // tokens
}

// tokens reads a number as Python's int(float()) does, of numbers and of texts.
func (c *careless) tokens(v any) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(fmt.Sprint(v)), 64)
	if err != nil {
		return 0
	}
	return x
}

func newCareless(t *testing.T) *careless {
	c := &careless{}
	c.Server = serveModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var all map[string]any
		b, _ := io.ReadAll(r.Body)
		if json.Unmarshal(b, &all) != nil {
			w.WriteHeader(400)
			return
		}
		made := max(c.tokens(all["max_tokens"]), c.tokens(all["max_completion_tokens"]), 1) *
			max(c.tokens(all["n"]), c.tokens(all["best_of"]), 1)
		c.mu.Lock()
		c.usd += (float64(len(b))/4 + 10*made) / 1e6
		c.counts += int64(len(b)/4) + int64(made)
		c.mu.Unlock()
		fmt.Fprintf(w, `{"object":"chat.completion","model":"stub","choices":[{"index":0,"message":{"role":"assistant",`+
			`"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`,
			len(b)/4, int(made))
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *careless) spent() float64 { c.mu.Lock(); defer c.mu.Unlock(); return c.usd }

// Whatever spelling a request of a key with a limit uses, the model's server cannot be made to bill more than that.
func TestSpendHoldsInAnySpelling(t *testing.T) {
	const limit, tokens = 0.05, 5000
	for _, k := range []store.Key{{Name: "money", PerDay: store.USD(limit)}, {Name: "tokens", TokensPerDay: tokens}} {
		up := newCareless(t)
		h := open(t, map[string]string{"seven": stubbed(up.URL)})
		key := h.key(t, k)
		for _, more := range []string{`"max_completion_tokens": 1e6`, `"max_completion_tokens": 1000000.0`,
			`"max_completion_tokens": "1000000"`, `"n": 1e2, "max_tokens": 100`, `"best_of": 100, "max_tokens": 100`,
			`"n": "100"`, `"max_tokens": 1, "max_tokens": 1e6`, `"Max_Tokens": 1000000`, `"prediction": {}`} {
			h.post(t, chats, questionBody("solo:stub", "hi", more), "Authorization", key)
		}
		if spent := up.spent(); k.PerDay > 0 && spent > limit || k.TokensPerDay > 0 && up.counts > tokens {
			t.Errorf("%s: %.4f USD and %d tokens were spent", k.Name, spent, up.counts)
		}
		r := h.post(t, chats, questionBody("solo:stub", "hi", `"max_completion_tokens": 1e2`), "Authorization", key)
		if r.StatusCode != 200 || up.spent() == 0 {
			t.Errorf("100 tokens, written 1e2: %d %s", r.StatusCode, r.body)
		}
		keys, err := h.store.Keys(t.Context())
		if now := keys[0]; err != nil || now.Today.USD() < up.spent() || now.TokensToday < up.counts ||
			k.PerDay > 0 && now.Today > k.PerDay || k.TokensPerDay > 0 && now.TokensToday > tokens {
			t.Errorf("%+v; the server bills %v and counts %d", keys, up.spent(), up.counts)
		}
	}
}

// Questions at once that together cost a small part of a limit are all answered, though each could cost more: what is
// reserved and not used comes back, and the others wait for it.
func TestManyWithinALimit(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9), llmtest.Latency(2*time.Millisecond))
	long := strings.Replace(stubbed(stub.URL), "max_tokens: 100", "max_tokens: 8000", 1)
	h := open(t, map[string]string{"seven": long})
	key := h.key(t, store.Key{Name: "bob", PerDay: store.USD(0.5)})
	for _, model := range []string{"seven", "solo:stub"} {
		codes := map[int]int{}
		var mu sync.Mutex
		var wait sync.WaitGroup
		for i := range 12 {
			wait.Go(func() {
				r := h.post(t, chats, questionBody(model, sum, `"seed": `+strconv.Itoa(i)), "Authorization", key)
				mu.Lock()
				defer mu.Unlock()
				if codes[r.StatusCode]++; r.StatusCode != 200 {
					t.Logf("%s: %s", model, r.body)
				}
			})
		}
		wait.Wait()
		if codes[200] != 12 {
			t.Errorf("%s: %v; want 12 answers", model, codes)
		}
	}
	keys, err := h.store.Keys(t.Context())
	if err != nil || keys[0].Reserved != 0 || keys[0].Today == 0 || keys[0].Today > keys[0].PerDay/2 {
		t.Errorf("%+v, %v", keys, err)
	}
}

// A request that is lost when its gateway is killed counts what its calls that had begun can have cost, and not what
// the whole question could.
func TestLostCountsWhatBegan(t *testing.T) {
	for name, k := range map[string]store.Key{"limit": {Name: "a", PerDay: store.USD(100)}, "none": {Name: "b"}} {
		stub := watch(t, llmtest.Fixed("42", 0.9))
		rounds := strings.Replace(stubbed(stub.URL), "rounds: 2", "rounds: 30", 1)
		h := open(t, map[string]string{"seven": rounds})
		key := h.key(t, k)
		release := stub.stop()
		done := make(chan reply, 1)
		go func() { done <- h.post(t, chats, questionBody("seven", sum), "Authorization", key) }()
		until(t, 5*time.Second, "five calls", func() bool { return stub.open.Load() == 5 })
		lost, err := h.store.Beat(true) // as the next gateway does
		if err != nil || lost != 1 {
			t.Fatal(lost, err)
		}
		row := h.rows(t)[store.Lost][0]
		price := llm.Price{Prompt: 1, Completion: 10}
		least := 5 * 100 * price.Completion / 1e6
		if usd := row.Spent.USD(); usd < least || usd > 10*least {
			t.Errorf("%s: five calls count %v USD; each can have cost %v and a prompt", name, usd, least/5)
		}
		release()
		<-done
	}
}
