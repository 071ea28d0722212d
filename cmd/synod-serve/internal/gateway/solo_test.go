package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// upstream is a server of one model that replies as a test wants, and says when its client left.
type upstream struct {
	*httptest.Server
	calls atomic.Int64
	gone  atomic.Bool
	body  atomic.Value
	chunk func(w io.Writer, flush func()) // writes a stream
	whole string

	streamless bool // it answers with a whole reply also where a stream is wanted
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{whole: `{"id":"x","object":"chat.completion","model":"stub","choices":[{"index":0,"message":
		{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`}
	u.Server = serveModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.calls.Add(1)
		b, _ := io.ReadAll(r.Body)
		u.body.Store(string(b))
		if u.streamless || !strings.Contains(string(b), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			if strings.HasPrefix(u.whole, "4") {
				w.WriteHeader(400)
			}
			io.WriteString(w, u.whole)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := func() { http.NewResponseController(w).Flush() }
		u.chunk(w, flush)
		if r.Context().Err() != nil {
			u.gone.Store(true)
		}
	}))
	t.Cleanup(u.Close)
	return u
}

func delta(text, finish string) string {
	end := "null"
	if finish != "" {
		end = `"` + finish + `"`
	}
	return fmt.Sprintf(`data: {"id":"x","object":"chat.completion.chunk","model":"stub","choices":[{"index":0,"delta":`+
		`{"content":%q},"finish_reason":%s}]}`+"\n\n", text, end)
}

const usageChunk = `data: {"id":"x","object":"chat.completion.chunk","model":"stub","choices":null,"usage":` +
	`{"prompt_tokens":7,"completion_tokens":3}}` + "\n\n"

// A request to one model is passed on with its own name, keys and errors, and its tokens and cost are counted.
func TestSolo(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	r := h.post(t, chats, questionBody("solo:stub", "hi", `"frobnicate": 1`, `"synod": {"form": "text"}`))
	body := up.body.Load().(string)
	if !strings.Contains(body, `"model":"stub"`) || !strings.Contains(body, `"frobnicate":1`) ||
		strings.Contains(body, "synod") {
		t.Errorf("the server got %s", body)
	}
	if r.StatusCode != 200 || !strings.Contains(string(r.body), `"model":"solo:stub"`) ||
		r.Header.Get("X-Litellm-Total-Tokens") != "10" || r.Header.Get("X-Litellm-Response-Cost") != "0.000037" {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, r.body)
	}
	row := h.rows(t)["ok"][0]
	if row.Prompt != 7 || row.Completion != 3 || row.Spent.USD() < 0.000037 || row.Unpriced || row.Calls != 1 {
		t.Errorf("%+v", row)
	}
	if r := h.post(t, chats, questionBody("solo:seven/stub", "hi")); r.StatusCode != 200 {
		t.Errorf("the long id: %d", r.StatusCode)
	}
	up.whole = `4{`
	if r := h.post(t, chats, questionBody("solo:stub", "hi")); r.StatusCode != 400 {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	before := up.calls.Load()
	up.whole = `{"choices":[{"mess`
	if r := h.post(t, chats, questionBody("solo:stub", "hi")); r.StatusCode != 502 ||
		r.problem(t).Error.Code != "upstream_cut" {
		t.Errorf("a reply that is cut off: %d %s", r.StatusCode, r.body)
	}
	if n := up.calls.Load() - before; n != 1 {
		t.Errorf("%d calls; the client repeats, the gateway does not", n)
	}
	if row := h.rows(t)["upstream_cut"][0]; !row.Unpriced || row.Spent == 0 {
		t.Errorf("%+v", row)
	}
}

// Chunks are passed on as they come. The usage is counted, and sent only where the client wants it.
func TestSoloStream(t *testing.T) {
	up := newUpstream(t)
	next := make(chan struct{})
	up.chunk = func(w io.Writer, flush func()) {
		io.WriteString(w, delta("a", ""))
		flush()
		<-next
		io.WriteString(w, delta("b", "stop")+usageChunk+"data: [DONE]\n\n")
	}
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+chats,
		strings.NewReader(questionBody("solo:stub", "hi", `"stream": true`)))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(got.String(), `"content":"a"`) { // before the server has sent the rest
		n, err := res.Body.Read(buf)
		if got.Write(buf[:n]); err != nil {
			t.Fatal(err, got.String())
		}
	}
	close(next)
	rest, _ := io.ReadAll(res.Body)
	got.Write(rest)
	if text := got.String(); strings.Contains(text, "usage") || strings.Contains(text, `"stub"`) ||
		strings.Count(text, "[DONE]") != 1 || !strings.Contains(text, `"content":"b"`) {
		t.Errorf("%s", text)
	}
	until(t, time.Second, "settled", func() bool { return len(h.rows(t)["ok"]) == 1 })
	if row := h.rows(t)["ok"][0]; row.Prompt != 7 || row.Completion != 3 || row.Unpriced {
		t.Errorf("%+v", row)
	}
	next = make(chan struct{})
	close(next)
	r := h.post(t, chats, questionBody("solo:stub", "hi", `"stream": true`, `"stream_options": {"include_usage": true}`))
	if text := string(r.body); !strings.Contains(text, `"total_tokens":10`) || !strings.Contains(text, `"choices":[]`) {
		t.Errorf("%s", text)
	}
}

// A stream that the server cuts off ends with one error and without [DONE], and what came is counted.
func TestSoloStreamCut(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	for name, test := range map[string]struct {
		chunk  func(io.Writer, func())
		status string
	}{
		"closed": {func(w io.Writer, flush func()) { io.WriteString(w, delta("twelve bytes", "")) }, "upstream_cut"},
		"aborted": {func(w io.Writer, flush func()) {
			io.WriteString(w, delta("twelve bytes",
				""))
			flush()
			panic(http.ErrAbortHandler)
		}, "upstream_cut"},
		"error": {func(w io.Writer, flush func()) {
			io.WriteString(w, delta("twelve bytes", "")+`data: {"object":"error","message":"x"}`+"\n\n")
		}, "upstream_error"},
		"no JSON": {func(w io.Writer, flush func()) { io.WriteString(w, delta("twelve bytes", "")+"data: {{\n\n") },
			"upstream_error"},
	} {
		up.chunk = test.chunk
		before := len(h.rows(t)[test.status])
		r := h.post(t, chats, questionBody("solo:stub", "hi", `"stream": true`))
		if text := string(r.body); strings.Count(text, `"error"`) != 1 || strings.Contains(text, "[DONE]") ||
			!strings.Contains(text, "twelve bytes") {
			t.Errorf("%s: %s", name, text)
		}
		rows := h.rows(t)[test.status]
		if len(rows) != before+1 || rows[0].Completion != 3 || rows[0].Spent == 0 || !rows[0].Unpriced {
			t.Errorf("%s: %+v", name, rows)
		}
	}
	up.chunk = func(w io.Writer, flush func()) { io.WriteString(w, delta("x", "stop")) }
	if r := h.post(t, chats, questionBody("solo:stub", "hi", `"stream": true`)); !strings.Contains(string(r.body), "[DONE]") {
		t.Errorf("a stream with a finish_reason and without [DONE] is complete: %s", r.body)
	}
}

// A stream that never pauses for long ends when the request has taken as long as a request may take.
func TestSoloStreamDrips(t *testing.T) {
	up := newUpstream(t)
	up.chunk = func(w io.Writer, flush func()) {
		for begun := time.Now(); time.Since(begun) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
			if _, err := io.WriteString(w, delta("x", "")); err != nil {
				return
			}
			flush()
		}
	}
	h := open(t, map[string]string{"seven": stubbed(up.URL)}, func(o *Options) { o.Settings.Deadline = time.Second })
	begun := time.Now()
	r := h.post(t, chats, questionBody("solo:stub", "hi", `"stream": true`))
	if took := time.Since(begun); took > 4*time.Second || !strings.Contains(string(r.body), "upstream_timeout") {
		t.Errorf("after %v: %s", took, r.body)
	}
	if rows := h.rows(t)["upstream_timeout"]; len(rows) != 1 || rows[0].Completion == 0 {
		t.Errorf("%+v", rows)
	}
}

// When the client is gone, the model's server notices within 100 ms.
func TestSoloClientGone(t *testing.T) {
	up := newUpstream(t)
	ended := make(chan struct{})
	up.chunk = func(w io.Writer, flush func()) {
		defer close(ended)
		for i := 0; i < 3000; i++ {
			if _, err := io.WriteString(w, delta("x", "")); err != nil {
				return
			}
			flush()
			time.Sleep(time.Millisecond)
		}
	}
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, h.url+chats,
		strings.NewReader(questionBody("solo:stub", "hi", `"stream": true`)))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	io.ReadFull(res.Body, make([]byte, 200))
	cancel()
	begun := time.Now()
	<-ended
	if took := time.Since(begun); took > 100*time.Millisecond {
		t.Errorf("the server noticed after %v", took)
	}
	until(t, time.Second, "settled", func() bool { return len(h.rows(t)["client_gone"]) == 1 })
}

// A model without a server of its own answers too, in either way.
func TestSoloWithoutServer(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	for _, more := range []string{`"user": "x"`, `"stream": true`} {
		r := h.post(t, chats, questionBody("solo:dice", sum, more))
		if r.StatusCode != 200 || !strings.Contains(string(r.body), `"finish_reason":"stop"`) {
			t.Errorf("%d %s", r.StatusCode, r.body)
		}
	}
	if n := len(h.rows(t)["ok"]); n != 2 {
		t.Errorf("%d requests are recorded", n)
	}
}
