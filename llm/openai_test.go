package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

func TestOpenAISendsWhatIsConfigured(t *testing.T) {
	m, s := stub(t, func(c *OpenAIConfig) {
		c.Temperature, c.TopP, c.MaxTokens, c.Seed, c.Logprobs = new(0.1), new(0.9), 1000, new(int64(1234)), true
	})
	r := ask(t, "6 x 7 <b>&</b>?")
	r.Prompt.Seed = 1<<63 | 5
	reply, err := m.Complete(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if reply.Status != synod.OK || reply.Text != `{"reasoning":"seen","answer":"42"}` || reply.Calls != 1 ||
		reply.Usage.Prompt == 0 || reply.Usage.Completion == 0 || reply.Logprob == nil || *reply.Logprob != -0.5 {
		t.Errorf("reply %+v", reply)
	}
	c := s.Calls()[0]
	if c.Model != "stub" || c.System != "You answer." || c.User != "6 x 7 <b>&</b>?" || c.Format != "json_schema" ||
		*c.Temperature != 0.1 || *c.TopP != 0.9 || c.MaxTokens != 1000 || *c.Seed != 5 || c.Auth != "Bearer "+canary {
		t.Errorf("call %+v", c)
	}
	if !strings.Contains(string(c.Body), `"strict":true`) || !strings.Contains(string(c.Schema), `"answer"`) {
		t.Errorf("schema: %s", c.Body)
	}
	r.Prompt.Seed, r.Prompt.Exact = 0, true
	if _, err = m.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if c = s.Calls()[1]; *c.Seed != 1234 || c.Format != "" {
		t.Errorf("call %+v", c)
	}
}

// TestOpenAIBadServers goes through the ways in which a provider fails: each
// failure has its status, explains what happened, is returned in time, and does not
// contain the key.
func TestOpenAIBadServers(t *testing.T) {
	for name, want := range map[string]struct {
		status synod.Status
		retry  bool
		want   string
	}{
		"unauthorized":    {synod.Auth, false, "does not accept the key"},
		"forbidden":       {synod.Auth, false, "may not use"},
		"not-found":       {synod.Unavailable, false, "no such model or path"},
		"rate-limit":      {synod.RateLimited, true, "too many requests"},
		"rate-limit-long": {synod.RateLimited, true, "too many requests"},
		"error-500":       {synod.Unavailable, true, "HTTP 500"},
		"error-503":       {synod.Unavailable, true, "HTTP 503"},
		"status-400":      {synod.Unavailable, false, "rejects the request (HTTP 400)"},
		"status-402":      {synod.Auth, false, "no credit"},
		"status-408":      {synod.Timeout, true, "timed out"},
		"status-504":      {synod.Timeout, true, "timed out"},
		"truncated":       {synod.Unavailable, true, "cut off after"},
		"cut-stream":      {synod.Unavailable, true, "cut off after"},
		"disconnect":      {synod.Unavailable, true, "closed the connection"},
		"stream":          {synod.Unavailable, false, "streams although"},
		"html":            {synod.Unreadable, false, "HTML page"},
		"malformed":       {synod.Unreadable, false, "malformed JSON at byte 14"},
		"wrong-shape":     {synod.Unreadable, false, "no choices"},
		"empty-choices":   {synod.Unavailable, true, "empty list of choices"},
		"empty-body":      {synod.Unavailable, true, "empty reply"},
		"huge":            {synod.Unreadable, false, "more than 4194304 bytes"},
		"endless":         {synod.Unreadable, false, "more than 4194304 bytes"},
		"gzip-bomb":       {synod.Unreadable, false, "compressed"},
		"hang":            {synod.Timeout, false, "within 2s"},
		"stall":           {synod.Timeout, false, "within 2s"},
		"drip":            {synod.Timeout, false, "within 2s"},
		"redirect":        {synod.Unavailable, false, "redirects (HTTP 302)"},
		"content-filter":  {synod.Refused, false, "content filter"},
		"refusal":         {synod.Refused, false, "declined"},
		"length":          {synod.Unreadable, false, "max_tokens (50)"},
		"tool-call":       {synod.Unreadable, false, "tool call"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := llmtest.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			m, s := stub(t, func(c *OpenAIConfig) {
				c.MaxTokens = 50
				if want.status == synod.Timeout && !want.retry {
					c.Timeout = 2 * time.Second
				}
			}, llmtest.With(b))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			reply, err := m.Complete(ctx, ask(t, "6 x 7?"))
			checkFailure(t, reply, err, want.status, want.want)
			if f := AsFailure(err); f != nil && f.Retryable != want.retry {
				t.Errorf("retryable %v", f.Retryable)
			}
			if reply.Calls != 1 || s.Count() != 1 {
				t.Errorf("%d calls reported, %d received", reply.Calls, s.Count())
			}
		})
	}
}

// checkFailure also looks for the key in everything that could be printed.
func checkFailure(t *testing.T, r synod.Reply, err error, status synod.Status, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no failure: %+v", r)
	}
	f := AsFailure(err)
	if f.Status != status || r.Status != status || r.Text != "" || !strings.Contains(r.Detail, want) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v; reply %+v; want %s: …%s…", err, r, status, want)
	}
	all, _ := json.Marshal(r)
	for _, s := range []string{fmt.Sprintf("%v|%+v|%#v|%#v", err, err, err, f.Err), fmt.Sprintf("%+v|%#v", r, r),
		string(all)} {
		if strings.Contains(s, "canary") || strings.Contains(s, "goroutine ") {
			t.Errorf("shows a secret: %s", s)
		}
	}
	if strings.ContainsAny(r.Detail, "\n\x1b") || len(r.Detail) > 600 {
		t.Errorf("detail is no clean line: %q", r.Detail)
	}
}

func TestOpenAIUnreachable(t *testing.T) {
	for _, x := range []struct {
		name, url, want string
		status          synod.Status
	}{
		{"refused", "http://127.0.0.1:1", "connection refused", synod.Unavailable},
		{"name", "http://no-such-host.invalid", "cannot be resolved", synod.Unavailable},
	} {
		t.Run(x.name, func(t *testing.T) {
			m, err := NewOpenAI(OpenAIConfig{URL: x.url, Model: "stub", Key: NewSecret(canary)})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = m.Close() }()
			reply, err := m.Complete(t.Context(), ask(t, "?"))
			checkFailure(t, reply, err, x.status, x.want)
		})
	}
}

// TestOpenAIKeyEchoed uses a server that puts the key into every part of its reply.
func TestOpenAIKeyEchoed(t *testing.T) {
	echo := func(status int) llmtest.Behaviour {
		return func(x *llmtest.Exchange) {
			x.Error(status, "bad", "you sent\x1b[2J "+x.Auth+"\nand "+strings.Repeat("more ", 1000))
		}
	}
	for _, status := range []int{400, 403, 404, 429, 500} {
		m, _ := stub(t, nil, llmtest.With(echo(status)))
		reply, err := m.Complete(t.Context(), ask(t, "?"))
		if err == nil {
			t.Fatal("no failure")
		}
		checkFailure(t, reply, err, AsFailure(err).Status, "you sent")
	}
	m, _ := stub(t, nil, llmtest.With(func(x *llmtest.Exchange) { x.Text("the key is "+x.Auth, "stop") }))
	reply, err := m.Complete(t.Context(), ask(t, "?"))
	if err != nil || strings.Contains(reply.Text, "canary") || !strings.Contains(reply.Text, mask) {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestOpenAIURLSecrets puts secrets into the URL.
func TestOpenAIURLSecrets(t *testing.T) {
	s := llmtest.Start(t, nil, llmtest.With(func(x *llmtest.Exchange) {
		x.Error(500, "bad", x.R.URL.String()+" "+x.Auth)
	}))
	raw := strings.Replace(s.URL, "http://", "http://canary-user:canary-password@", 1) + "?api-key=canary-query"
	m, err := NewOpenAI(OpenAIConfig{URL: raw, Model: "stub"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	reply, err := m.Complete(t.Context(), ask(t, "?"))
	checkFailure(t, reply, err, synod.Unavailable, "HTTP 500")
	if got := s.Calls()[0].Auth; !strings.HasPrefix(got, "Basic ") {
		t.Errorf("credentials of the url went as %q", got)
	}
	if strings.Contains(m.Info().Identity+fmt.Sprintf("%+v", m.Info()), "canary") {
		t.Errorf("identity %+v", m.Info())
	}
	for _, bad := range []string{"http://canary:canary@[::1", "canary://x", "canary", "http://canary\x7f/"} {
		if _, err := NewOpenAI(OpenAIConfig{URL: bad, Model: "m", Key: NewSecret(canary)}); err == nil ||
			strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestOpenAIRedirectTargetHearsNothing(t *testing.T) {
	var heard atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer target.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		m, _ := stub(t, nil, llmtest.With(func(x *llmtest.Exchange) { http.Redirect(x.W, x.R, target.URL, status) }))
		if _, err := m.Complete(t.Context(), ask(t, "?")); err == nil || heard.Load() != 0 {
			t.Errorf("%d: %v; the target got %d requests", status, err, heard.Load())
		}
	}
}

func TestOpenAICancel(t *testing.T) {
	m, s := stub(t, nil, llmtest.With(llmtest.Hang(time.Minute)))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for s.Count() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	reply, err := m.Complete(ctx, ask(t, "?"))
	checkFailure(t, reply, err, synod.Dropped, "stopped")
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	reply, err = m.Complete(ctx, ask(t, "?"))
	checkFailure(t, reply, err, synod.Timeout, "the run's deadline passed")
}

// The date of Retry-After is compared with the clock of the server, so a wrong clock of this machine changes nothing.
func TestRetryAfterByTheServersClock(t *testing.T) {
	for _, wrong := range []time.Duration{-time.Hour, time.Hour, 24 * 365 * time.Hour} {
		server := time.Now().Add(wrong).UTC()
		h := http.Header{"Date": {server.Format(http.TimeFormat)},
			"Retry-After": {server.Add(20 * time.Second).Format(http.TimeFormat)}}
		if d := retryAfter(h); d != 20*time.Second {
			t.Errorf("%v between the clocks: a pause of %v", wrong, d)
		}
	}
}

func TestOpenAIRetryAfter(t *testing.T) {
	for _, x := range []struct {
		header   string
		min, max time.Duration
	}{
		{"2", 2 * time.Second, 2 * time.Second},
		{"0.5", 500 * time.Millisecond, 500 * time.Millisecond},
		{"-3", 0, 0},
		{"soon", 0, 0},
		{"999999999", maxRetryAfter, maxRetryAfter},
		{time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 50 * time.Minute, time.Hour},
		{time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), 0, 0},
	} {
		m, _ := stub(t, nil, llmtest.With(llmtest.RateLimit(x.header)))
		_, err := m.Complete(t.Context(), ask(t, "?"))
		if got := AsFailure(err).RetryAfter; got < x.min || got > x.max {
			t.Errorf("Retry-After %q read as %v", x.header, got)
		}
	}
}
