package llm

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

// TestOpenAIReplies reads replies in the formats of various servers.
func TestOpenAIReplies(t *testing.T) {
	for name, x := range map[string]struct {
		http   int
		body   string
		status synod.Status
		want   string // part of the text or the detail
	}{
		"parts": {200, `{"choices":[{"message":{"content":[{"type":"text","text":"4"},{"type":"image"},` +
			`{"type":"text","text":"2"}]}}]}`, synod.OK, "42"},
		"no finish reason": {200, `{"choices":[{"message":{"content":"42"},"finish_reason":null}],"usage":null,` +
			`"error":null}`, synod.OK, "42"},
		"cut prose": {200, `{"choices":[{"message":{"content":"{\"answer\":\"4"},"finish_reason":"length"}]}`,
			synod.OK, `{"answer":"4`},
		"whole at length": {200, `{"choices":[{"message":{"content":"{\"answer\":\"42\"}"},"finish_reason":"length"}]}`,
			synod.OK, "42"},
		"only thoughts": {200, `{"choices":[{"message":{"content":"","reasoning_content":"hm"},` +
			`"finish_reason":"length"}]}`,
			synod.Unreadable, "still thinking"},
		"blank": {200, `{"choices":[{"message":{"content":" \n"},"finish_reason":"stop"}]}`,
			synod.Unreadable, "without text"},
		"no message":        {200, `{"choices":[{}]}`, synod.Unreadable, "without a message"},
		"no JSON object":    {200, `"42"`, synod.Unreadable, "not in the shape"},
		"numbers":           {200, `{"choices":[{"message":{"content":42}}]}`, synod.Unreadable, "not in the shape"},
		"cut":               {200, `{"choices":[{"message":{"content":"4`, synod.Unavailable, "cut off after"},
		"unasked stream":    {200, "data: {}\n\n", synod.Unavailable, "streams"},
		"error in a 200":    {200, `{"error":{"message":"overloaded","code":503}}`, synod.Unavailable, "overloaded"},
		"rate limit, 200":   {200, `{"error":{"message":"slow down","code":429}}`, synod.RateLimited, "slow down"},
		"string error, 200": {200, `{"error":"out of memory"}`, synod.Unavailable, "out of memory"},
		"no content":        {204, ``, synod.Unreadable, "HTTP status 204"},
		"quota": {429, `{"error":{"message":"You exceeded","code":"insufficient_quota"}}`, synod.RateLimited,
			"quota is used up"},
		"azure filter": {400, `{"error":{"message":"filtered","code":"content_filter"}}`, synod.Refused,
			"content filter"},
		"ollama": {404, `{"error":"model 'x' not found"}`, synod.Unavailable, "model 'x' not found"},
		"fastapi": {422, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, synod.Unavailable,
			"field required"},
		"detail": {400, `{"detail":"bad prompt"}`, synod.Unavailable, "bad prompt"},
		"page":   {502, `<html>Bad gateway canary</html>`, synod.Unavailable, "the server failed (HTTP 502)"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := stub(t, nil, llmtest.With(func(x2 *llmtest.Exchange) {
				x2.Send(x.http, "application/json", []byte(x.body))
			}))
			reply, err := m.Complete(t.Context(), ask(t, "?"))
			if x.status != synod.OK {
				checkFailure(t, reply, err, x.status, x.want)
			} else if err != nil || !strings.Contains(reply.Text, x.want) {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
}

// TestOpenAITLS: an untrusted certificate is an error (SC-12), a trusted one is not,
// and plain HTTP at an https URL has an error of its own.
func TestOpenAITLS(t *testing.T) {
	s := llmtest.New(nil)
	t.Cleanup(s.Close)
	secure := httptest.NewUnstartedServer(s)
	secure.Config.ErrorLog = quietLog
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for _, x := range []struct {
		url   string
		roots func(*x509.CertPool)
		want  string
	}{
		{secure.URL, func(*x509.CertPool) {}, "certificate is not valid"},
		{secure.URL, func(p *x509.CertPool) { p.AddCert(secure.Certificate()) }, ""},
		{strings.Replace(llmtest.Start(t, nil).URL, "http://", "https://", 1), func(*x509.CertPool) {},
			"does not use TLS"},
	} {
		pool := x509.NewCertPool()
		x.roots(pool)
		m, err := NewOpenAI(OpenAIConfig{URL: x.url, Model: "m", Key: NewSecret(canary), roots: pool,
			Timeout: 2 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := m.Complete(t.Context(), ask(t, "?"))
		if x.want != "" {
			checkFailure(t, reply, err, synod.Unavailable, x.want)
		} else if err != nil {
			t.Errorf("%+v, %v", reply, err)
		}
		tlsConfig := m.transport.(*http.Transport).TLSClientConfig
		if tlsConfig.MinVersion < tls.VersionTLS12 || tlsConfig.InsecureSkipVerify {
			t.Error("TLS settings")
		}
		_ = m.Close()
	}
}

// TestOpenAIProxy: the proxy of the environment is used only if the configuration
// says so.
func TestOpenAIProxy(t *testing.T) {
	proxy := llmtest.Start(t, nil) // answers absolute-form requests like any other
	for setting, want := range map[string]bool{"": false, "env": true, strings.TrimSuffix(proxy.URL, "/v1"): true,
		"::": false} {
		m, err := NewOpenAI(OpenAIConfig{URL: "http://api.example", Model: "m", Proxy: setting})
		if (err != nil) != (setting == "::") {
			t.Errorf("%q: %v", setting, err)
		}
		if err == nil && (m.transport.(*http.Transport).Proxy != nil) != want {
			t.Errorf("%q: proxy %v", setting, m.transport.(*http.Transport).Proxy != nil)
		}
		if setting == strings.TrimSuffix(proxy.URL, "/v1") {
			if reply, err := m.Complete(t.Context(), ask(t, "?")); err != nil || proxy.Count() != 1 {
				t.Errorf("%+v, %v", reply, err)
			}
			_ = m.Close()
		}
	}
}

// FuzzReply: no body with any status makes the reader panic, leak the key, or return
// an answer without text.
func FuzzReply(f *testing.F) {
	for _, body := range []string{`{"choices":[{"message":{"content":"42"},"finish_reason":"length"}]}`,
		`{"error":{"message":"` + canary + `","code":429}}`,
		`{"detail":[{"loc":["a",1],"msg":"m"}]}`, `{"choices":[{"message":{"content":[{"type":"text","text":"x"}]}}]}`,
		"data: x", "<html>", "{", ""} {
		f.Add(200, body, "3")
		f.Add(429, body, "Mon, 02 Jan 2006 15:04:05 GMT")
	}
	m, err := NewOpenAI(OpenAIConfig{URL: "http://127.0.0.1:1", Model: "m", Key: NewSecret(canary)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, body, retryAfter string) {
		a := response{status: status, header: http.Header{"Retry-After": {retryAfter}}, body: []byte(body)}
		if status == http.StatusOK {
			reply, failure := m.read(a, nil)
			if failure == nil && (strings.TrimSpace(reply.Text) == "" || strings.Contains(reply.Text, canary)) ||
				failure != nil && strings.Contains(failure.Error(), canary) {
				t.Errorf("%+v, %v", reply, failure)
			}
			return
		}
		failure := m.refusal(a)
		if strings.Contains(failure.Error(), canary) || strings.ContainsAny(failure.Error(), "\n\x1b") ||
			failure.RetryAfter < 0 || failure.RetryAfter > maxRetryAfter {
			t.Errorf("%v after %v", failure, failure.RetryAfter)
		}
		dialect{}.after(a.body, optional{true, true, true, true, true, true, true})
	})
}

// A reply names the model that the server says it asked, in one short line without secrets. A name that is no text does
// not make the answer unusable.
func TestReportedModel(t *testing.T) {
	for body, want := range map[string]string{
		`"model":"gpt-5-mini-2025-08-07",`:             "gpt-5-mini-2025-08-07",
		`"model":"a\u001b[2J\nb sk-canary-99 c",`:      "a[2J b *** c",
		`"model":"` + strings.Repeat("x", 1000) + `",`: strings.Repeat("x", maxExcerpt) + "…",
		`"model":7,`: "", `"model":{"a":1},`: "", `"model":null,`: "", ``: "",
	} {
		m, err := NewOpenAI(OpenAIConfig{URL: "http://127.0.0.1:9", Model: "m", Key: NewSecret("sk-canary-99")})
		if err != nil {
			t.Fatal(err)
		}
		reply, f := m.read(response{body: []byte(`{` + body + `"choices":[{"message":{"content":"Answer: 4"}}]}`)}, nil)
		if f != nil || reply.Text != "Answer: 4" || reply.Model != want {
			t.Errorf("%.60s: %q, %q, %v; want %q", body, reply.Model, reply.Text, f, want)
		}
	}
}

// A server that reports another model with every reply does not fill a record.
func TestAddReported(t *testing.T) {
	var names []string
	for i := range 30 {
		names = AddReported(AddReported(names, string(rune('z'-i%20))), "m")
	}
	if len(names) != 8 || !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != 8 {
		t.Error(names)
	}
	for want, got := range map[string]string{"m": ReportedName("m", "gpt", nil),
		"n":                    ReportedName("n", "gpt", []string{"gpt"}),
		"o (reported: gpt-1)":  ReportedName("o", "gpt", []string{"gpt-1"}),
		"p (reported: gpt, x)": ReportedName("p", "gpt", []string{"gpt", "x"})} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
