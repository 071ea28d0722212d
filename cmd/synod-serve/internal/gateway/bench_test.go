package gateway

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSolo measures a request through solo: against the same request to the model's server itself. All three
// are one process, so cpu-µs/op counts client and server too: the gateway's own is the difference.
func BenchmarkSolo(b *testing.B) {
	reply := []byte(`{"id":"x","object":"chat.completion","model":"stub","choices":[{"index":0,"message":{"role":` +
		`"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Write(reply)
	}))
	defer up.Close()
	h := openHouse(b, map[string]string{"seven": stubbed(up.URL)},
		func(o *Options) {
			o.Observe, o.Log = NewMetrics().Observe, slog.New(slog.DiscardHandler)
		})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	defer client.CloseIdleConnections()
	body := []byte(questionBody("solo:stub", strings.Repeat("word ", 100)))
	for _, target := range []struct{ name, url string }{{"stub", up.URL + "/chat/completions"}, {"solo", h.url +
		chats}} {
		for _, at := range []int{1, 32, 256} {
			b.Run(target.name+"/"+map[int]string{1: "1", 32: "32", 256: "256"}[at], func(b *testing.B) {
				begun := cpu()
				work := make(chan struct{})
				var wait sync.WaitGroup
				for range at {
					wait.Go(func() {
						for range work {
							post(b, client, target.url, body)
						}
					})
				}
				for b.Loop() {
					work <- struct{}{}
				}
				close(work)
				wait.Wait()
				b.ReportMetric(float64((cpu()-begun).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}

func post(b *testing.B, client *http.Client, url string, body []byte) {
	res, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if res.StatusCode != 200 {
		b.Error(res.Status)
	}
}
