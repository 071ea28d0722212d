package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// party is a key of the soak: an honest one, which must get every answer, or a hostile one.
type party struct {
	name, key string

	mu      sync.Mutex
	sent    int
	ended   int     // answered; of a hostile key with any success
	refused int     // of a hostile key
	usd     float64 // that the answers of an honest key have cost, by the usage that they report
}

func (p *party) count(at *int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*at++
}

// The prices of the stub in USD for a million tokens.
const (
	promptPrice     = 1
	completionPrice = 10
	priceFile       = "prices: [{server: '*', model: stub, prompt: 1, completion: 10}]\n"
)

// sound is a file with a council and a model behind a server that fails only where a prompt makes it.
const sound = `council: sound
protocol: {name: sac, rounds: 1}
graph: {family: complete}
f: 1
models: {good: {provider: openai, url: "%s/sound/v1", model: stub, max_tokens: 100, attempts: 2}}
seats: [{id: g, model: good, count: 5}]
`

// What a prompt makes of the sound server.
const (
	draws500 = "draw a status of 500"
	hangs    = "keep me waiting"
)

// sounds answers a call as a server does that only prompts can hurt.
func sounds(w http.ResponseWriter, r *http.Request, well http.Handler) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	switch {
	case bytes.Contains(b, []byte(draws500)):
		http.Error(w, `{"error":{"message":"CUDA error"}}`, http.StatusInternalServerError)
		return
	case bytes.Contains(b, []byte(hangs)):
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	}
	if !bytes.Contains(b, []byte(`"stream":true`)) {
		time.Sleep(rand.N(20 * time.Millisecond))
		well.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{`"choices":[{"index":0,"delta":{"content":"4"},"finish_reason":null}]`,
		`"choices":[{"index":0,"delta":{"content":"2"},"finish_reason":"stop"}]`,
		`"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":10,"total_tokens":100}`} {
		fmt.Fprintf(w, `data: {"id":"x","object":"chat.completion.chunk","model":"stub",%s}`+"\n\n", event)
		_ = http.NewResponseController(w).Flush() // the client may be gone
		time.Sleep(rand.N(10 * time.Millisecond))
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n") // the client may be gone
}

// manner is one way in which honest clients ask, and what shows that they have the whole answer.
type manner struct {
	path, body string
	ends       string // what the answer has once
	text       string // what the pieces of its text have
}

var manners = []manner{
	{"/v1/chat/completions", `"messages": [{"role": "user", "content": "What is 17 + 25? SEED"}]`,
		`"finish_reason":"stop"`, `42`},
	{"/v1/chat/completions", `"stream": true, "stream_options": {"include_usage": true}, "messages": [{"role": "user", ` +
		`"content": "What is 17 + 25? SEED"}]`, "data: [DONE]", `"content":"2"`},
	{"/v1/messages", `"stream": true, "max_tokens": 50, "messages": [{"role": "user", "content": "What is 17 + 25? SEED"}]`,
		"event: message_stop", `"text":"2"`},
	{"/v1/responses", `"stream": true, "store": false, "input": "What is 17 + 25? SEED"`, "event: response.completed",
		`"delta":"2"`},
}

// of a council there is no stream of pieces to compare.
var councilManner = manner{"/v1/chat/completions", `"seed": SEED, "messages": [{"role": "user", "content": "What is 17 + 25?"}]`,
	`"finish_reason":"stop"`, `"content":"42"`}

var (
	promptTokens     = regexp.MustCompile(`"(?:prompt|input)_tokens":(\d+)`)
	completionTokens = regexp.MustCompile(`"(?:completion|output)_tokens":(\d+)`)
)

// honest sends a request that must be answered.
func (s *soak) honest(ctx context.Context, p *party) {
	m, model := manners[rand.IntN(len(manners))], "solo:good"
	if rand.IntN(20) == 0 {
		m, model = councilManner, "sound"
	}
	own := strconv.FormatInt(seed.Add(1), 10)
	body := fmt.Sprintf(`{"model": %q, %s}`, model, strings.ReplaceAll(m.body, "SEED", own))
	p.count(&p.sent)
	status, b, err := s.post(ctx, p.key, m.path, body)
	whole := bytes.Count(b, []byte(m.ends)) == 1 && bytes.Contains(b, []byte(m.text))
	if err != nil || status != http.StatusOK || !whole {
		s.note("honest request lost", fmt.Sprintf("%s %s %s: %d, %v: %.600s", p.name, model, m.path, status, err, b))
		return
	}
	s.note("honest answer", "")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	p.usd += (last(promptTokens, b)*promptPrice + last(completionTokens, b)*completionPrice) / 1e6
}

// last returns the number that a pattern finds last.
func last(pattern *regexp.Regexp, b []byte) float64 {
	all := pattern.FindAllSubmatch(b, -1)
	if len(all) == 0 {
		return math.NaN() // no sum with it is equal to another
	}
	n, _ := strconv.ParseFloat(string(all[len(all)-1][1]), 64)
	return n
}

func (s *soak) post(ctx context.Context, key, path, body string) (status int, b []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.gateway.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	b, err = io.ReadAll(res.Body)
	return res.StatusCode, b, err
}

// keys makes the keys of the soak. shared is a control: all have one key, so no defence by key helps honest ones.
func (o *options) keys(ctx context.Context, home []string) (honest []*party, hostile map[string]*party, faulty string,
	err error) {
	make1 := func(name string, more ...string) string {
		if err != nil {
			return ""
		}
		var text string
		text, err = output(ctx, home, o.gateway, append([]string{"serve", "keys", "new", name}, more...)...)
		return secretIn(text)
	}
	shared := make1("shared")
	for i := range 4 {
		p := &party{name: fmt.Sprintf("honest-%d", i), key: shared}
		if !o.shared {
			p.key = make1(p.name, "--usd-day", "1000")
		}
		honest = append(honest, p)
	}
	hostile = map[string]*party{}
	for name, limits := range map[string][]string{"big bodies": nil, "slow bodies": nil, "schemas": nil,
		"spellings": {"--usd-day", "0.05"}, "prompts with a 500": nil, "bursts": {"--rpm", "600"}, "left streams": nil,
		"same requests": nil} {
		p := &party{name: name, key: shared}
		if !o.shared {
			p.key = make1(strings.ReplaceAll(name, " ", "-"), limits...)
		}
		hostile[name] = p
	}
	hostile["invalid keys"] = &party{name: "invalid keys", key: "sk-synod-0000000000000000000000000000"}
	return honest, hostile, make1("faulty"), err
}

// spent returns what each key has spent today, in USD, by its name.
func (o *options) spent(ctx context.Context, home []string) (map[string]float64, error) {
	text, err := output(ctx, home, o.gateway, "serve", "keys", "list", "--json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Keys []struct {
			Name  string  `json:"name"`
			Today float64 `json:"usd_today"`
		} `json:"keys"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("%w: %.200s", err, text)
	}
	all := map[string]float64{}
	for _, r := range list.Keys {
		all[r.Name] = r.Today
	}
	return all, nil
}

// settled prints what each party got and spent, and returns an error if an honest one lost or paid for something else
// than its answers, or if a model was taken from it.
func (s *soak) settled(spent map[string]float64) error {
	t := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0)
	fmt.Fprintln(t, "key\trequests\tanswers\tlost or refused\tUSD spent\tUSD of answers")
	var errs []error
	for _, p := range s.honests {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d lost\t%.6f\t%.6f\n", p.name, p.sent, p.ended, p.sent-p.ended, spent[p.name],
			p.usd)
		if p.sent == 0 || p.sent != p.ended {
			errs = append(errs, fmt.Errorf("%s: %d of %d requests were lost", p.name, p.sent-p.ended, p.sent))
		}
		if paid := spent[p.name]; !(math.Abs(paid-p.usd) < 1e-6) { // also where one is no number
			errs = append(errs, fmt.Errorf("%s: %.6f USD were counted for answers of %.6f", p.name, paid, p.usd))
		}
	}
	for _, p := range s.hostiles() {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d refused\t%.6f\t\n", p.name, p.sent, p.ended, p.refused,
			spent[strings.ReplaceAll(p.name, " ", "-")])
		if p.sent == 0 {
			errs = append(errs, fmt.Errorf("nothing was sent as %s", p.name))
		}
	}
	if most := spent["spellings"]; most > 0.05 {
		errs = append(errs, fmt.Errorf("spellings of limits: %.4f USD were spent of 0.05", most))
	}
	return errors.Join(append(errs, t.Flush())...)
}

// out returns the models that are out for all keys, by the metrics of the gateway.
func (s *soak) out(ctx context.Context) (string, error) {
	at, err := s.gateway.admin()
	if err != nil {
		return "", err
	}
	b, err := get(ctx, at+"/metrics")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, `synod_member_out{model="good"`) && !strings.HasSuffix(strings.TrimSpace(line), " 0") {
			return strings.TrimSpace(line), nil
		}
	}
	return "", nil
}
