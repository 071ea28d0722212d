package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// soak sends requests at a rate to a gateway whose models' servers fail in every way, some of whose clients leave,
// and whose council files change. Every response must be one that docs/operate/gateway.md states, with one end. Beside
// these, honest keys ask a model whose server is sound, and must get every answer, and hostile keys do what they can
// against them.
type soak struct {
	gateway *process
	client  *http.Client
	honests []*party
	hostile map[string]*party
	faulty  string       // the key of the clients of the server that fails
	slow    atomic.Int64 // slow bodies that are open
	mu      sync.Mutex
	seen    map[string]int // outcomes
	wrong   []string       // what no client may see
}

// faulty is a file with a council and a model behind a server that fails.
const faulty = `council: faulty
protocol: {name: sac, rounds: 1}
graph: {family: complete}
f: 1
models: {shaky: {provider: openai, url: "%s/faulty/v1", model: stub, max_tokens: 100, timeout: 2s, attempts: 2}}
seats: [{id: s, model: shaky, count: 5}]
`

func (o *options) soakAll(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "synod-soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	up, err := start(ctx, filepath.Join(dir, "stub.log"), nil, self, "stub")
	if err != nil {
		return err
	}
	defer up.end()
	file := filepath.Join(dir, "councils", "faulty.yaml")
	second := filepath.Join(dir, "councils", "sound.yaml")
	prices := filepath.Join(dir, "prices.yaml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(prices, []byte(priceFile), 0o600),
		os.WriteFile(file, fmt.Appendf(nil, faulty, up.url), 0o600),
		os.WriteFile(second, fmt.Appendf(nil, sound, up.url), 0o600)); err != nil {
		return err
	}
	home := []string{"SYNOD_HOME=" + filepath.Join(dir, "home"), "SYNOD_PRICES=" + prices}
	honest, hostile, key, err := o.keys(ctx, home)
	if err != nil {
		return err
	}
	g, err := start(ctx, filepath.Join(dir, "gateway.log"), home, o.gateway, "serve", "--listen", "127.0.0.1:0",
		"--councils", filepath.Dir(file), "--metrics", "127.0.0.1:0", "--no-journals", "--memory", "256MiB",
		"--hosts", "soak.example") // with a name every request needs a key
	if err != nil {
		return err
	}
	defer g.end()
	s := &soak{gateway: g, seen: map[string]int{}, honests: honest, hostile: hostile, faulty: key,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 500, DisableCompression: true,
			IdleConnTimeout: 20 * time.Second}}}
	memory, err := s.run(ctx, o.soak, o.rate, file)
	if err != nil {
		return err
	}
	s.client.CloseIdleConnections()
	time.Sleep(3 * time.Second) // the last requests are counted, and connections that are idle are closed
	spent, err := o.spent(ctx, home)
	if err != nil {
		return err
	}
	return errors.Join(s.settled(spent), s.verdict(memory))
}

// run sends requests for a time, and returns the memory of the gateway at its tenths.
func (s *soak) run(ctx context.Context, length time.Duration, rate int, file string) (memory []float64, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	begun, sent := time.Now(), 0
	var wait sync.WaitGroup
	for now := begun; now.Sub(begun) < length && ctx.Err() == nil; now = time.Now() {
		for due := int(now.Sub(begun).Seconds() * float64(rate)); sent < due; sent++ {
			n := sent
			wait.Go(func() { s.turn(ctx, n) })
			if sent%(5*rate) == 0 { // the file changes every five seconds
				text = append(text, '\n')
				if err := os.WriteFile(file, text, 0o600); err != nil {
					return nil, err
				}
			}
		}
		if now.Sub(begun) >= length/10*time.Duration(len(memory)+1) {
			resident, _, err := s.gateway.memory()
			if err != nil {
				return nil, fmt.Errorf("the gateway is gone: %w", err)
			}
			memory = append(memory, resident)
			if model, err := s.out(ctx); err != nil || model != "" {
				s.note("the model of honest keys is out", cmp.Or(model, fmt.Sprint(err)))
			}
			fmt.Printf("%s: %d requests, %.1f MiB\n", now.Sub(begun).Round(time.Second), sent, resident)
		}
		<-tick.C
	}
	wait.Wait()
	resident, _, err := s.gateway.memory()
	fmt.Printf("end: %d requests, %.1f MiB, %.0f a second\n", sent, resident, float64(sent)/time.Since(begun).Seconds())
	return append(memory, resident), err
}

// turn sends the next request: three of five are honest, and one is hostile.
func (s *soak) turn(ctx context.Context, n int) {
	switch n % 5 {
	case 0:
		s.one(ctx)
	case 1:
		s.assault(ctx, n/5)
	default:
		s.honest(ctx, s.honests[rand.IntN(len(s.honests))])
	}
}

// one sends a request of a random kind and notes how it ended.
func (s *soak) one(ctx context.Context) {
	model, stream := "solo:shaky", rand.IntN(2) == 0
	if rand.IntN(20) == 0 {
		model = "faulty"
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	leaves := rand.IntN(50) == 0
	if leaves {
		time.AfterFunc(rand.N(60*time.Millisecond), cancel)
	}
	body := fmt.Sprintf(`{"model": %q, "stream": %t, "seed": %d, "messages": [{"role": "user", "content": `+
		`"What is 17 + 25?"}]}`, model, stream, seed.Add(1))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.gateway.url+"/v1/chat/completions",
		strings.NewReader(body))
	if err != nil {
		s.note("no request", err.Error())
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.faulty)
	res, err := s.client.Do(req)
	var b []byte
	if err == nil {
		b, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	switch {
	case leaves && err != nil:
		s.note("the client has left", "")
	case err != nil:
		s.note("connection", err.Error())
	default:
		s.judge(res, b)
	}
}

// stated are the errors that docs/operate/gateway.md has, by HTTP status.
var stated = map[int][]string{422: {"no_consensus", "degraded", "budget_exceeded", "deadline_exceeded"},
	429: {"upstream_rate_limit"}, 502: {"upstream_error", "upstream_cut"}, 504: {"upstream_timeout"},
	503: {"all_members_failed", "overloaded", "upstream_out_of_order"}}

// judge notes a response.
func (s *soak) judge(res *http.Response, b []byte) {
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		ends := bytes.Count(b, []byte("data: [DONE]"))
		failures := bytes.Count(b, []byte(`data: {"error"`))
		if ends+failures != 1 {
			s.note("stream", fmt.Sprintf("%d ends and %d errors: %.500s", ends, failures, b))
			return
		}
		s.note([]string{"stream failed", "stream"}[ends], "")
		return
	}
	var e struct {
		Error struct{ Code string }
	}
	switch err := json.Unmarshal(b, &e); {
	case err != nil:
		s.note("no JSON", fmt.Sprintf("%d %.300s", res.StatusCode, b))
	case res.StatusCode == http.StatusOK:
		s.note("200", "")
	case slices.Contains(stated[res.StatusCode], e.Error.Code):
		s.note(strconv.Itoa(res.StatusCode)+" "+e.Error.Code, "")
	default:
		s.note("error", fmt.Sprintf("%d %.300s", res.StatusCode, b))
	}
}

// note counts an outcome; wrong is "" if a client may see it.
func (s *soak) note(outcome, wrong string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[outcome]++
	if wrong != "" {
		s.wrong = append(s.wrong, outcome+": "+wrong)
	}
}

// mostMemory is how many MiB the gateway is told to keep to.
const mostMemory = 256

var total = regexp.MustCompile(`goroutine profile: total (\d+)`)

// verdict prints what was seen, and returns an error if a client saw what it may not, or if something grew.
func (s *soak) verdict(memory []float64) error {
	for _, outcome := range slices.Sorted(maps.Keys(s.seen)) {
		fmt.Printf("%8d  %s\n", s.seen[outcome], outcome)
	}
	goroutines := s.goroutines()
	fmt.Printf("goroutines at the end: %d\n", goroutines)
	_, most, err := s.gateway.memory()
	third := max(len(memory)/3, 1)
	early, late := median(memory[:third]), median(memory[len(memory)-third:])
	fmt.Printf("memory: median %.1f MiB in the first third, %.1f in the last, %.1f at most\n", early, late, most)
	errs := []error{err}
	if most > mostMemory {
		errs = append(errs, fmt.Errorf("%.1f MiB were used of %d", most, mostMemory))
	}
	if panics, err := s.gateway.said("panic "); len(panics) > 0 || err != nil {
		errs = append(errs, fmt.Errorf("the gateway's log: %s, %v", panics, err))
	}
	for i, w := range s.wrong {
		if i < 10 {
			errs = append(errs, errors.New(w))
		}
	}
	if goroutines < 0 || goroutines > mostGoroutines {
		errs = append(errs, fmt.Errorf("%d goroutines are left", goroutines))
	}
	if late > 1.25*early+8 {
		errs = append(errs, errors.New("memory grows"))
	}
	return errors.Join(errs...)
}

// mostGoroutines is how many goroutines a gateway without requests may have.
const mostGoroutines = 200

// goroutines returns how many goroutines the gateway has when its idle connections to servers were closed; -1: it does
// not say.
func (s *soak) goroutines() (n int) {
	at, err := s.gateway.admin()
	if err != nil {
		return -1
	}
	for begun := time.Now(); time.Since(begun) < 2*time.Minute; time.Sleep(time.Second) {
		b, err := get(context.Background(), at+"/debug/pprof/goroutine?debug=1")
		found := total.FindSubmatch(b)
		if err != nil || found == nil {
			return -1
		}
		if n, _ = strconv.Atoi(string(found[1])); n <= mostGoroutines {
			break
		}
	}
	return n
}

func median(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }

// fail answers a call as a server does that fails now and then.
func fail(w http.ResponseWriter, r *http.Request, well http.Handler) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	streams := bytes.Contains(b, []byte(`"stream":true`))
	flush := func(text string) {
		_, _ = io.WriteString(w, text) // the client may be gone
		_ = http.NewResponseController(w).Flush()
	}
	const chunk = `data: {"id":"x","object":"chat.completion.chunk","model":"stub","choices":[{"index":0,"delta":` +
		`{"content":"42"},"finish_reason":%s}]}` + "\n\n"
	switch p := rand.IntN(100); {
	case p < 3:
		http.Error(w, `{"error":{"message":"stub"}}`, http.StatusInternalServerError)
	case p < 4:
		http.Error(w, `{"error":{"message":"stub"}}`, http.StatusTooManyRequests)
	case p < 5:
		flush(`{"choices": [{"mess`)
	case p < 7:
		flush(fmt.Sprintf(chunk, "null"))
		panic(http.ErrAbortHandler)
	case p < 8:
		<-r.Context().Done()
	case streams:
		w.Header().Set("Content-Type", "text/event-stream")
		flush(fmt.Sprintf(chunk, "null"))
		time.Sleep(rand.N(40 * time.Millisecond))
		flush(fmt.Sprintf(chunk, `"stop"`) + "data: [DONE]\n\n")
	default:
		time.Sleep(rand.N(40 * time.Millisecond))
		well.ServeHTTP(w, r)
	}
}
