package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
)

var budgetTrials = []ClaimTrial{
	{Claim: claimOf("RU-3"), councils: true, try: withinBudget},
	{Claim: claimOf("RU-4"), councils: true, try: keysUnwritten},
}

// dearReply is how many tokens a reply of the server of a trial has at most, and dearPrice what they cost.
const dearReply = 50

var dearPrice = llm.Price{Prompt: 1000, Completion: 5000}

// meter is a server of models on this machine that counts what it was asked for and what that costs.
type meter struct {
	mu                        sync.Mutex
	rand                      *rand.Rand
	calls, prompt, completion int
	repeats                   bool // it repeats the key in errors and headers
}

// ServeHTTP implements http.Handler: one of five calls fails, and the others cost any number of tokens that they may.
func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Messages []struct{ Content string } }
	b, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(b, &asked) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	length := 0
	for _, part := range asked.Messages {
		length += len(part.Content)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	key := ""
	if m.repeats {
		key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Retry-After", key)
	}
	if m.rand.IntN(5) == 0 {
		w.WriteHeader([]int{http.StatusBadRequest, http.StatusInternalServerError}[m.rand.IntN(2)])
		fmt.Fprintf(w, `{"error": {"message": "the key is %s", "code": %q}}`, key, key)
		return
	}
	prompt, completion := 1+m.rand.IntN(length), 1+m.rand.IntN(dearReply)
	m.prompt, m.completion = m.prompt+prompt, m.completion+completion
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", `+
		`"content": "Answer: %d"}}], "usage": {"prompt_tokens": %d, "completion_tokens": %d, "total_tokens": %d}}`,
		m.rand.IntN(3), prompt, completion, prompt+completion)
}

// spent returns calls, tokens and USD so far.
func (m *meter) spent() [3]float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	usd := (dearPrice.Prompt*float64(m.prompt) + dearPrice.Completion*float64(m.completion)) / 1e6
	return [3]float64{float64(m.calls), float64(m.prompt + m.completion), usd}
}

// withinBudget has councils ask a server over connections. In which order calls arrive, and so which of them a limit
// still allows, is not determined by the number.
func withinBudget(t *ClaimTried) {
	m := &meter{rand: rand.New(rand.NewPCG(t.Number, 0xb06e7))}
	t.serve(m, func(address string) {
		for range 5 {
			t.spend(m, address)
		}
	})
}

// serve starts a server on this machine while it is used.
func (t *ClaimTried) serve(h http.Handler, use func(address string)) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if !t.Need(err) {
		return
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until it is closed
	}()
	defer func() {
		t.Need(server.Close())
		<-done
	}()
	use(listener.Addr().String())
}

// asking convenes a council whose members are at a server. limits is a part of the file.
func (t *ClaimTried) asking(address, limits, key string) (*council.Council, bool) {
	protocol := t.protocol()
	return t.convene(protocol, 4+t.Rand.IntN(3),
		fmt.Sprintf("provider: openai, url: %q, model: m, key_env: KEY, max_tokens: %d, attempts: 1",
			"http://"+address+"/v1", dearReply),
		"rule: {name: plurality}\n"+limits,
		llm.Env{Getenv: func(string) string { return key },
			Prices: llm.Prices{{Server: "127.0.0.1:*", Model: "*", Price: dearPrice}}})
}

// spend has a council with a limit of one kind decide a question.
func (t *ClaimTried) spend(m *meter, address string) {
	which, limits := t.Rand.IntN(3), [3]float64{float64(1 + t.Rand.IntN(30)), float64(100 + t.Rand.IntN(8000)),
		float64(1+t.Rand.IntN(1000)) / 100}
	name := []string{"calls", "tokens", "usd"}[which]
	c, ok := t.asking(address, fmt.Sprintf("limits: {%s: %v}", name, limits[which]), "secret")
	if !ok {
		return
	}
	defer func() { t.Need(c.Close()) }()
	before := m.spent()
	_, err := c.Decide(context.Background(), council.Ask{Seed: t.Rand.Uint64(), Program: "claims",
		Question: synod.Question{Form: synod.Number, Text: "How many?"}})
	if !t.Need(err) {
		return
	}
	used := m.spent()[which] - before[which]
	t.Check(used <= limits[which]*(1+1e-9), "%v %s are spent of %v", used, name, limits[which])
}

// keysUnwritten has a council ask a server that repeats the key in errors and headers.
func keysUnwritten(t *ClaimTried) {
	dir, ok := t.folder()
	if !ok {
		return
	}
	defer t.remove(dir)
	m := &meter{rand: rand.New(rand.NewPCG(t.Number, 0x5ec7e7)), repeats: true}
	key := fmt.Sprintf("sk-%016x", t.Rand.Uint64())
	t.serve(m, func(address string) {
		c, ok := t.asking(address, "", key)
		if !ok {
			return
		}
		defer func() { t.Need(c.Close()) }()
		path := filepath.Join(dir, "run.jsonl")
		o, err := c.Decide(context.Background(), council.Ask{Seed: t.Rand.Uint64(), Program: "claims", Journal: path,
			Question: synod.Question{Form: synod.Number, Text: "How many?"}})
		t.Check(err == nil || !shows(err.Error(), key), "an error shows a key")
		text, err := json.Marshal(o)
		t.Check(err == nil && !shows(string(text), key), "an outcome shows a key: %v", err)
		if written, err := os.ReadFile(path); t.Need(err) {
			t.Check(!shows(string(written), key), "a journal shows a key")
		}
	})
}
