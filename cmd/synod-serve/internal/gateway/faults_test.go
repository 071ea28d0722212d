package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// terminal counts the ends of a response: a whole body is one, a stream has [DONE] or an error.
func terminal(r reply) int {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		if r.StatusCode == 0 || !json.Valid(r.body) {
			return 0
		}
		return 1
	}
	return strings.Count(string(r.body), "data: [DONE]") + strings.Count(string(r.body), `data: {"error"`)
}

// Wherever a stream or a body of a model's server is cut, the client gets one end: that of the whole answer if all
// of it had come, else an error.
func TestCutAtEveryByte(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	whole := delta("12", "") + delta("34", "stop") + usageChunk + "data: [DONE]\n\n"
	complete := strings.Index(whole, `"finish_reason":"stop"`)
	for at := len(whole); at >= 0; at -= 3 {
		up.chunk = func(w io.Writer, flush func()) {
			io.WriteString(w, whole[:at])
			flush()
			panic(http.ErrAbortHandler)
		}
		r := h.post(t, chats, questionBody("solo:stub", "hi", `"stream": true`))
		done := strings.Contains(string(r.body), "[DONE]")
		if n := terminal(r); n != 1 || done && at < complete || !done && at == len(whole) {
			t.Fatalf("cut at %d of %d: %d ends: %d %s", at, len(whole), n, r.StatusCode, r.body)
		}
	}
	all := up.whole
	for at := 0; at < len(all); at += 5 {
		up.whole = all[:at]
		if r := h.post(t, chats, questionBody("solo:stub", "hi")); r.StatusCode != 502 || terminal(r) != 1 {
			t.Fatalf("a body cut at %d: %d %s", at, r.StatusCode, r.body)
		}
	}
}

// 500 councils at once all decide, with one end each, and every reservation is settled.
func TestManyCouncilsAtOnce(t *testing.T) {
	const councils = 500
	stub := watch(t, llmtest.Fixed("42", 0.9), llmtest.Latency(20*time.Millisecond))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)}, func(o *Options) { o.Journals = "" })
	var good atomic.Int64
	var wait sync.WaitGroup
	for i := range councils {
		wait.Go(func() {
			stream := i%2 == 0
			r := h.post(t, chats, questionBody("seven", sum, fmt.Sprintf(`"seed": %d, "stream": %t`, i, stream)))
			if r.StatusCode == 200 && terminal(r) == 1 && strings.Contains(string(r.body), `"42"`) {
				good.Add(1)
			} else {
				t.Errorf("council %d: %d, %d ends: %.300s", i, r.StatusCode, terminal(r), r.body)
			}
		})
	}
	wait.Wait()
	if n := good.Load(); n != councils {
		t.Errorf("%d of %d decided", n, councils)
	}
	if rows := h.rows(t); len(rows["agreed"]) != councils || len(rows["open"]) > 0 {
		t.Errorf("%d are recorded, %d open", len(rows["agreed"]), len(rows["open"]))
	}
}

// A member that hangs costs its time limit, and the others decide; it is reported as failed and not as dissent.
func TestOneMemberHangs(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	hung := make(chan struct{})
	slow := watch(t, func(llmtest.Call) string { <-hung; return "" })
	defer close(hung)
	text := strings.Replace(stubbed(stub.URL), "models: {", `models: {hangs: {provider: openai, url: "`+
		slow.URL+`", model: stub, attempts: 1, timeout: 300ms}, `, 1)
	text = strings.Replace(text, "count: 5}]", "count: 4}, {id: h, model: hangs}]", 1)
	h := open(t, map[string]string{"seven": text})
	if p := h.reg.Problems(); len(p) > 0 {
		t.Fatal(p)
	}
	begun := time.Now()
	r := h.post(t, chats, questionBody("seven", sum))
	var got struct{ Synod Report }
	if r.into(t, &got); r.StatusCode != 200 || time.Since(begun) > 5*time.Second || len(got.Synod.Dissent) > 0 {
		t.Fatalf("after %v: %d %s", time.Since(begun), r.StatusCode, r.body)
	}
	for _, m := range got.Synod.Members {
		if m.ID == "h" && (m.Final != nil || m.Trouble == "") {
			t.Errorf("the member that hangs is reported as %+v", m)
		}
	}
}

// Errors carry nothing of a server's body beyond its message, no key and no path of this machine.
func TestErrorsHaveNoSecrets(t *testing.T) {
	up := newUpstream(t)
	up.whole = `4{"error": {"message": "bad key sk-planted-0123456789 in /srv/secret/path"}, "debug": "planted-body"}`
	t.Setenv("PLANTED_KEY", "sk-planted-0123456789")
	h := open(t, map[string]string{"seven": strings.Replace(stubbed(up.URL), "model: stub,",
		"model: stub, key_env: PLANTED_KEY,", 1)})
	if p := h.reg.Problems(); len(p) > 0 {
		t.Fatal(p)
	}
	for _, model := range []string{"solo:stub", "seven"} {
		r := h.post(t, chats, questionBody(model, sum))
		if text := string(r.body) + h.log.String(); r.StatusCode < 400 || strings.Contains(text, "sk-planted") ||
			strings.Contains(text, "planted-body") || strings.Contains(text, h.dir) {
			t.Errorf("%s: %d %s\n%s", model, r.StatusCode, r.body, h.log)
		}
	}
}

// A body cannot choose another server or key (SC-04).
func TestNoUpstreamByRequest(t *testing.T) {
	up, other := newUpstream(t), newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	for _, key := range []string{"api_base", "base_url", "api_key", "extra_headers", "custom_llm_provider"} {
		more := fmt.Sprintf(`%q: %q`, key, other.URL)
		if r := h.post(t, chats, questionBody("seven", sum, more)); r.StatusCode != 400 {
			t.Errorf("%s: %d %s", key, r.StatusCode, r.body)
		}
		if key == "custom_llm_provider" || key == "extra_headers" {
			continue // they are nothing to a server
		}
		if r := h.post(t, chats, questionBody("solo:stub", sum, more)); r.StatusCode != 400 {
			t.Errorf("solo, %s: %d %s", key, r.StatusCode, r.body)
		}
	}
	if n := other.calls.Load(); n != 0 {
		t.Errorf("%d calls of a server that the request names", n)
	}
}

// A reply that is cut off when the time limit has just passed is an error like any other.
func TestCutAfterTheTimeLimit(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	for cause, status := range map[error]int{errSlow: 504, errShutdown: 503, errGone: 499} {
		served, _ := h.reg.Acquire("solo:stub")
		defer served.Release()
		p := &pass{Gateway: h.Gateway, job: &job{id: "req-" + fmt.Sprint(status), served: served},
			info: served.Model.Info()}
		if e := p.reserve(t.Context()); e != nil {
			t.Fatal(e)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		e := p.relayWhole(ctx, httptest.NewRecorder(), &llm.Relayed{Body: io.NopCloser(strings.NewReader(`{"choices": [`))})
		if e == nil || e.HTTP != status {
			t.Errorf("%v: %+v", cause, e)
		}
	}
}
