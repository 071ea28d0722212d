package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// Every refusal is in the log and in the metrics, with the key where it is known.
func TestRefusalsAreSeen(t *testing.T) {
	m := NewMetrics()
	h := open(t, map[string]string{"dice": dice}, func(o *Options) { o.NeedKey, o.Observe = true, m.Observe })
	key := h.key(t, store.Key{Name: "alice", PerMinute: 1})
	seed := 0 // a request that equals the one before may be joined with it
	ask := func(model, auth string, headers ...string) {
		seed++
		h.post(t, chats, questionBody(model, sum, fmt.Sprintf(`"seed": %d`, seed)), append([]string{"Authorization", auth}, headers...)...)
	}
	ask("dice", key)
	ask("dice", key)
	ask("dice", "Bearer sk-synod-WRONG")
	ask("absent", key)
	ask("dice", key, "Origin", "http://evil.example")
	h.post(t, "/v1/absent", "{}")
	w := httptest.NewRecorder()
	m.Handler(false).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for code, want := range map[string]string{
		"rate_limit_exceeded": `{api="chat",code="Too Many Requests",key="alice",model="dice",status="rate_limit_exceeded"} 1`,
		"invalid_api_key":     `{api="chat",code="Unauthorized",key="",model="",status="invalid_api_key"} 1`,
		"model_not_found":     `{api="chat",code="Not Found",key="alice",model="",status="model_not_found"} 1`,
		"cross_origin":        `{api="other",code="Forbidden",key="",model="",status="cross_origin"} 1`,
		"not_found":           `{api="other",code="Not Found",key="",model="",status="not_found"} 1`,
		"agreed":              `{api="chat",code="OK",key="alice",model="dice",status="agreed"} 1`,
	} {
		if !strings.Contains(w.Body.String(), "synod_requests_total"+want) {
			t.Errorf("%s is not counted", code)
		}
		if !strings.Contains(h.log.String(), "status="+code) {
			t.Errorf("%s is not in the log", code)
		}
	}
	if !strings.Contains(w.Body.String(), `synod_member_replies_total{member="d1",model="dice",status="ok"}`) {
		t.Error("no metric has a member")
	}
}

// What a server says about its machines reaches no client, of a council and of a single model.
func TestErrorsOfServersStayInside(t *testing.T) {
	const secret = "CUDA error in /opt/vllm/worker.py at 10.1.2.3:8000 of gpu-7.dc.internal, see " +
		"http://10.1.2.3/debug?k=1"
	for _, status := range []int{400, 500} {
		up := serveModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, `{"error": {"message": "`+secret+`"}}`)
		}))
		defer up.Close()
		h := open(t, map[string]string{"seven": stubbed(up.URL)})
		for _, model := range []string{"seven", "solo:stub"} {
			r := h.post(t, chats, questionBody(model, sum))
			for _, word := range []string{"/opt", "10.1.2.3", "gpu-7", "debug", strings.TrimPrefix(up.URL, "http://")} {
				if strings.Contains(string(r.body), word) {
					t.Errorf("%d %s: the client gets %q in %s", status, model, word, r.body)
				}
			}
		}
	}
	for in, want := range map[string]string{
		"max_tokens is 5; it must be 1.5 to 3:1": "max_tokens is 5; it must be 1.5 to 3:1",
		"open /etc/ssl/key.pem: denied":          "open …: denied",
		"dial tcp [::1]:8000":                    "dial tcp …",
		"the name gpu7 cannot be resolved":       "the name of the server cannot be resolved",
		"and/or text, at 12:30":                  "and/or text, at 12:30",
	} {
		if got := hide(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

// Samples are samples: requests that are alike are joined only at temperature 0, with a seed or an idempotency key.
func TestSamplesAreNotJoined(t *testing.T) {
	for more, joined := range map[string]bool{`"temperature": 1`: false, `"user": "a"`: false, `"temperature": 0`: true,
		`"seed": 7`: true, `"temperature": 1, "seed": 7`: true} {
		stub := watch(t, llmtest.Fixed("42", 0.9))
		h := open(t, map[string]string{"seven": stubbed(stub.URL)})
		release := stub.stop()
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() { h.post(t, chats, questionBody("seven", sum, more)) })
		}
		until(t, limitOfTests, "asked", func() bool { return h.places.now() == 3 && stub.open.Load() >= 5 })
		release()
		wait.Wait()
		if n := len(h.rows(t)["agreed"]); joined != (n == 1) {
			t.Errorf("%s: %d runs of three requests", more, n)
		}
	}
}
