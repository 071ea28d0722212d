package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod/internal/llmtest"
)

// load is a number of equal requests, some at once.
type load struct {
	url, body, key string
	at, requests   int
}

// figures of a load: processor time in µs a request, latencies in ms, memory in MiB.
type figures struct{ cpu, p50, p99, now, most float64 }

// run sends the requests, after a few that warm the target up, and measures a process.
func (l load) run(ctx context.Context, p *process) (figures, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: l.at, DisableCompression: true}}
	defer client.CloseIdleConnections()
	if _, err := l.send(ctx, client, max(l.requests/20, l.at)); err != nil {
		return figures{}, err
	}
	before, err := p.cpu()
	if err != nil {
		return figures{}, err
	}
	took, err := l.send(ctx, client, l.requests)
	if err != nil {
		return figures{}, err
	}
	time.Sleep(300 * time.Millisecond) // what is written after the replies counts too
	after, err := p.cpu()
	if err != nil {
		return figures{}, err
	}
	now, most, err := p.memory()
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return figures{cpu: float64((after - before).Microseconds()) / float64(l.requests), p50: ms(took[len(took)/2]),
		p99: ms(took[len(took)*99/100]), now: now, most: most}, err
}

var seed atomic.Int64

// send returns how long each request took.
func (l load) send(ctx context.Context, client *http.Client, n int) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	errs := make([]error, l.at)
	var next atomic.Int64
	var wait sync.WaitGroup
	for worker := range l.at {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				begun := time.Now()
				if errs[worker] = l.one(ctx, client); errs[worker] != nil {
					return
				}
				took[i] = time.Since(begun)
			}
		})
	}
	wait.Wait()
	return took, errors.Join(errs...)
}

func (l load) one(ctx context.Context, client *http.Client) error {
	body := strings.Replace(l.body, "SEED", strconv.FormatInt(seed.Add(1), 10), 1)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if l.key != "" {
		req.Header.Set("Authorization", "Bearer "+l.key)
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %.300s", l.url, res.Status, b)
	}
	return err
}

// reply is what the stub answers to a request that is passed on.
const reply = `{"id":"chatcmpl-1","object":"chat.completion","created":1760000000,"model":"stub","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"The words are all the same."},"finish_reason":"stop"}],"usage":{` +
	`"prompt_tokens":110,"completion_tokens":7,"total_tokens":117}}`

// stub serves a model: /v1 answers at once, /council as a member that reads its prompt, /calls counts those.
func stub(ctx context.Context) error {
	members := llmtest.New(llmtest.Fixed("42", 0.9))
	var calls atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, reply) // the client may be gone
		}
	})
	mux.HandleFunc("POST /council/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		members.ServeHTTP(w, r)
	})
	mux.HandleFunc("POST /faulty/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, members)
	})
	mux.HandleFunc("POST /sound/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		sounds(w, r, members)
	})
	mux.HandleFunc("GET /calls", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, calls.Load()) })
	return listen(ctx, mux)
}

// count asks the stub how often members were called.
func count(ctx context.Context, url string) (int, error) {
	b, err := get(ctx, url+"/calls")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(b))
}
