package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

// openNativeStub opens a model of a maker's API at an address.
func openNativeStub(t testing.TB, provider, url, more string) Model {
	t.Helper()
	env := Env{Getenv: func(string) string { return canary }}
	p, err := Providers.Find(provider)
	if err != nil {
		t.Fatal(err)
	}
	o, err := p.Open(Opening{Env: env, Decode: yamlSettings("url: " + url + "\nmodel: stub-1\nkey_env: KEY\n" + more)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = layered{o.Model}.Close() })
	return o.Model
}

// makers are the native providers and the settings of their tests.
var makers = []string{"anthropic", "gemini"}

// TestNativeRequests compares whole requests with those that the makers' documents show:
// platform.claude.com/docs/en/api/messages and ai.google.dev/api/generate-content.
func TestNativeRequests(t *testing.T) {
	const schema = `{"additionalProperties":false,"properties":{"reasoning":{"type":"string"},"answer":` +
		`{"type":"string"}},"required":["reasoning","answer"],"type":"object"}`
	for _, x := range []struct{ name, provider, more, path, key, want string }{
		{"anthropic", "anthropic", "temperature: 0.2\nmax_tokens: 500", "/v1/messages", "X-Api-Key",
			`{"model":"stub-1","max_tokens":500,"system":[{"type":"text","text":"You answer."}],"messages":[{"role":"user",` +
				`"content":[{"type":"text","text":"6 x 7 <b>?"}]}],"temperature":0.2,"output_config":{"format":` +
				`{"type":"json_schema","schema":` + schema + `}}}`},
		{"anthropic thinks", "anthropic", "temperature: 0.2\nthinking: 2048\nprompt_cache: true", "/v1/messages",
			"X-Api-Key",
			`{"model":"stub-1","max_tokens":3048,"system":[{"type":"text","text":"You answer.","cache_control":` +
				`{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"6 x 7 <b>?"}]}],` +
				`"thinking":{"type":"enabled","budget_tokens":2048},"output_config":{"format":{"type":"json_schema",` +
				`"schema":` + schema + `}}}`},
		{"anthropic adaptive", "anthropic", "thinking: -1", "/v1/messages", "X-Api-Key",
			`{"model":"stub-1","max_tokens":1000,"system":[{"type":"text","text":"You answer."}],"messages":[{"role":` +
				`"user","content":[{"type":"text","text":"6 x 7 <b>?"}]}],"thinking":{"type":"adaptive"},"output_config":` +
				`{"format":{"type":"json_schema","schema":` + schema + `}}}`},
		{"gemini", "gemini", "top_p: 0.9\nthinking: 0", "/v1beta/models/stub-1:generateContent", "X-Goog-Api-Key",
			`{"systemInstruction":{"parts":[{"text":"You answer."}]},"contents":[{"role":"user","parts":[{"text":` +
				`"6 x 7 <b>?"}]}],"generationConfig":{"topP":0.9,"maxOutputTokens":1000,"seed":7,"responseMimeType":` +
				`"application/json","responseJsonSchema":` + schema + `,"thinkingConfig":{"thinkingBudget":0}}}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			var got map[string]any
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != x.path || r.Header.Get(x.key) != canary || r.URL.RawQuery != "" ||
					r.Header.Get("Authorization") != "" {
					t.Errorf("%s?%s %v", r.URL.Path, r.URL.RawQuery, r.Header)
				}
				if v := r.Header.Get("Anthropic-Version"); x.provider == "anthropic" && v != "2023-06-01" {
					t.Errorf("version %q", v)
				}
				if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
					t.Error(err)
				}
				w.WriteHeader(http.StatusForbidden)
			}))
			defer s.Close()
			_, _ = openNativeStub(t, x.provider, s.URL, x.more).Complete(t.Context(), ask(t, "6 x 7 <b>?"))
			var want map[string]any
			if err := json.Unmarshal([]byte(x.want), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				g, _ := json.Marshal(got)
				t.Errorf("sent %s\nwant %s", g, x.want)
			}
		})
	}
}

// recordedReply is a reply as a maker's server sends it, and what becomes of it.
type recordedReply struct {
	name, provider string
	http           int
	body           string
	status         synod.Status
	want           string // part of the text or the reason
	usage          synod.Usage
	retry          bool
	wait           time.Duration
}

const messageHead = `{"id":"msg_013Zva2CMHLNnXjNJJKqJ2EF","type":"message","role":"assistant",` +
	`"model":"claude-haiku-4-5-20251001","container":null,`

// recordedReplies have the shapes of the makers' documents, with the fields that nobody reads.
var recordedReplies = []recordedReply{
	{"text", "anthropic", 200, messageHead + `"content":[{"type":"text","text":"42","citations":null}],` +
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":0,` +
		`"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0},"output_tokens":5,` +
		`"service_tier":"standard"}}`, synod.OK, "42", synod.Usage{Prompt: 25, Completion: 5}, false, 0},
	{"thoughts and cache", "anthropic", 200, messageHead + `"content":[{"type":"thinking","thinking":"Is it 41? No.",` +
		`"signature":"EqQBCgIYAhIM"},{"type":"redacted_thinking","data":"EmwKAhgB"},{"type":"text","text":"4"},` +
		`{"type":"text","text":"2"}],"stop_reason":"end_turn","usage":{"input_tokens":21,` +
		`"cache_creation_input_tokens":100,"cache_read_input_tokens":30,"output_tokens":393}}`, synod.OK, "42",
		synod.Usage{Prompt: 151, Completion: 393, Cached: 30, Stored: 100}, false, 0},
	{"only thoughts", "anthropic", 200, messageHead + `"content":[{"type":"thinking","thinking":"hm","signature":""}],` +
		`"stop_reason":"max_tokens","usage":{"input_tokens":5,"output_tokens":60}}`, synod.Unreadable, "still thinking",
		synod.Usage{Prompt: 5, Completion: 60}, false, 0},
	{"cut JSON", "anthropic", 200, messageHead + `"content":[{"type":"text","text":"{\"reasoning\":\"so"}],` +
		`"stop_reason":"max_tokens","usage":{"input_tokens":5,"output_tokens":60}}`, synod.OK,
		`{"reasoning":"so`, synod.Usage{Prompt: 5, Completion: 60}, false, 0},
	{"refusal", "anthropic", 200, messageHead + `"content":[{"type":"text","text":"I"}],"stop_reason":"refusal",` +
		`"stop_details":{"type":"refusal","category":"cyber","explanation":null},"usage":{"input_tokens":9,` +
		`"output_tokens":1}}`, synod.Refused, "declined: it stopped with a refusal (cyber)",
		synod.Usage{Prompt: 9, Completion: 1}, false, 0},
	{"tool", "anthropic", 200, messageHead + `"content":[{"type":"tool_use","id":"t","name":"f","input":{}}],` +
		`"stop_reason":"tool_use","usage":{}}`, synod.Unreadable, "tool call", synod.Usage{}, false, 0},
	{"another API", "anthropic", 200, `{"choices":[{"message":{"content":"42"}}]}`, synod.Unreadable,
		"not a message of the Messages API", synod.Usage{}, false, 0},
	{"overloaded", "anthropic", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},` +
		`"request_id":"req_1"}`, synod.Unavailable, "the server is overloaded (HTTP 529): Overloaded", synod.Usage{},
		true, 0},
	{"rate limit", "anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
		synod.RateLimited, "too many requests", synod.Usage{}, true, 3 * time.Second},
	{"spend limit", "anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"monthly limit",` +
		`"details":{"error_code":"enforced_spend_limit_reached"}}}`, synod.RateLimited, "quota is used up",
		synod.Usage{}, false, 3 * time.Second},
	{"no credit", "anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":` +
		`"Your credit balance is too low to access the Anthropic API."}}`, synod.Auth, "no credit", synod.Usage{}, false, 0},
	{"key", "anthropic", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key ` +
		canary + `"}}`, synod.Auth, "does not accept the key", synod.Usage{}, false, 0},
	{"no model", "anthropic", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: stub-1"}}`,
		synod.Unavailable, "no such model or path", synod.Usage{}, false, 0},

	{"text", "gemini", 200, `{"candidates":[{"content":{"parts":[{"text":"4"},{"text":"2"}],"role":"model"},` +
		`"finishReason":"STOP","index":0,"avgLogprobs":-0.1}],"usageMetadata":{"promptTokenCount":12,` +
		`"candidatesTokenCount":3,"totalTokenCount":15,"promptTokensDetails":[{"modality":"TEXT","tokenCount":12}]},` +
		`"modelVersion":"gemini-2.5-flash","responseId":"x"}`, synod.OK, "42",
		synod.Usage{Prompt: 12, Completion: 3}, false, 0},
	{"thoughts and cache", "gemini", 200, `{"candidates":[{"content":{"parts":[{"text":"Is it 41?","thought":true},` +
		`{"text":"42","thoughtSignature":"Cg"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":` +
		`{"promptTokenCount":100,"cachedContentTokenCount":20,"candidatesTokenCount":10,"thoughtsTokenCount":5,` +
		`"totalTokenCount":115}}`, synod.OK, "42", synod.Usage{Prompt: 100, Completion: 15, Cached: 20}, false, 0},
	{"only thoughts", "gemini", 200, `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}],` +
		`"usageMetadata":{"promptTokenCount":5,"thoughtsTokenCount":995}}`, synod.Unreadable, "still thinking",
		synod.Usage{Prompt: 5, Completion: 995}, false, 0},
	{"safety", "gemini", 200, `{"candidates":[{"finishReason":"SAFETY","safetyRatings":[]}],"usageMetadata":` +
		`{"promptTokenCount":5}}`, synod.Refused, "filter stopped the reply (SAFETY)", synod.Usage{Prompt: 5}, false, 0},
	{"blocked prompt", "gemini", 200, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":` +
		`{"promptTokenCount":5,"totalTokenCount":5}}`, synod.Refused, "blocked the prompt (PROHIBITED_CONTENT)",
		synod.Usage{Prompt: 5}, false, 0},
	{"no text", "gemini", 200, `{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}`, synod.Unreadable,
		"without text", synod.Usage{}, false, 0},
	{"tool", "gemini", 200, `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, synod.Unreadable,
		"ended early (MALFORMED_FUNCTION_CALL)", synod.Usage{}, false, 0},
	{"rate limit", "gemini", 429, `{"error":{"code":429,"message":"You exceeded your current quota","status":` +
		`"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[` +
		`{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"10"}]},{"@type":` +
		`"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}`, synod.RateLimited, "too many requests",
		synod.Usage{}, true, 34070 * time.Millisecond},
	{"day quota", "gemini", 429, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":` +
		`"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`, synod.RateLimited, "quota is used up",
		synod.Usage{}, false, 3 * time.Second},
	{"key", "gemini", 400, `{"error":{"code":400,"message":"API key not valid: ` + canary + `","status":` +
		`"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID",` +
		`"domain":"googleapis.com"}]}}`, synod.Auth, "does not accept the key", synod.Usage{}, false, 0},
	{"overloaded", "gemini", 503, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
		synod.Unavailable, "HTTP 503): The model is overloaded.", synod.Usage{}, true, 0},
}

// TestNativeReplies reads replies and errors in the shapes of the makers' servers.
func TestNativeReplies(t *testing.T) {
	for _, x := range recordedReplies {
		t.Run(x.provider+" "+x.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if x.http == http.StatusTooManyRequests {
					w.Header().Set("Retry-After", "3")
				}
				w.WriteHeader(x.http)
				_, _ = w.Write([]byte(x.body))
			}))
			defer s.Close()
			reply, err := openNativeStub(t, x.provider, s.URL, "").Complete(t.Context(), ask(t, "6 x 7?"))
			if reply.Usage != x.usage {
				t.Errorf("usage %+v; want %+v", reply.Usage, x.usage)
			}
			if x.status == synod.OK {
				if err != nil || reply.Text != x.want {
					t.Errorf("%+v, %v", reply, err)
				}
				return
			}
			checkFailure(t, reply, err, x.status, x.want)
			if f := AsFailure(err); f.Retryable != x.retry || f.RetryAfter != x.wait {
				t.Errorf("retryable %v after %v; want %v, %v", f.Retryable, f.RetryAfter, x.retry, x.wait)
			}
		})
	}
}

// TestNativeBadServers: what may happen to any HTTP request has the same outcome as for
// the OpenAI client, and no output contains the key.
func TestNativeBadServers(t *testing.T) {
	for name, want := range map[string]struct {
		status synod.Status
		want   string
	}{
		"unauthorized": {synod.Auth, "does not accept the key"},
		"forbidden":    {synod.Auth, "may not use"},
		"rate-limit":   {synod.RateLimited, "too many requests"},
		"error-503":    {synod.Unavailable, "HTTP 503"},
		"status-402":   {synod.Auth, "no credit"},
		"truncated":    {synod.Unavailable, "cut off after"},
		"disconnect":   {synod.Unavailable, "closed the connection"},
		"stream":       {synod.Unavailable, "streams although"},
		"html":         {synod.Unreadable, "HTML page"},
		"malformed":    {synod.Unreadable, "malformed JSON at byte"},
		"wrong-shape":  {synod.Unreadable, "JSON, but not"},
		"empty-body":   {synod.Unavailable, "empty reply"},
		"huge":         {synod.Unreadable, "more than 4194304 bytes"},
		"gzip-bomb":    {synod.Unreadable, "compressed"},
		"hang":         {synod.Timeout, "within 1s"},
		"redirect":     {synod.Unavailable, "redirects (HTTP 302)"},
		"length":       {synod.Unreadable, "max_tokens (1000)"},
	} {
		for _, provider := range makers {
			t.Run(provider+" "+name, func(t *testing.T) {
				t.Parallel()
				b, err := llmtest.Named(name)
				if err != nil {
					t.Fatal(err)
				}
				s, more := llmtest.Start(t, nil, llmtest.With(b)), ""
				if want.status == synod.Timeout {
					more = "timeout: 1s"
				}
				reply, err := openNativeStub(t, provider, s.URL, more).Complete(t.Context(), ask(t, "6 x 7?"))
				checkFailure(t, reply, err, want.status, want.want)
			})
		}
	}
}

// TestNativeLearnsWhatIsRefused: the second call leaves out what the first one found to be
// refused. Of temperature and top_p, which newer Claude models do not take together, the
// temperature stays.
func TestNativeLearnsWhatIsRefused(t *testing.T) {
	for _, x := range []struct{ provider, refused, message, adapted string }{
		{"anthropic", "top_p", "`temperature` and `top_p` cannot both be specified for this model.", "no top_p"},
		{"anthropic", "output_config", "output_config: Extra inputs are not permitted",
			"the JSON schema in the prompt in place of structured output"},
		{"anthropic", "thinking", "adaptive thinking is not supported on this model", "no setting for thinking"},
		{"gemini", "responseJsonSchema", `Invalid JSON payload received. Unknown name "responseJsonSchema"`,
			"JSON mode in place of structured output"},
		{"gemini", "thinkingConfig", "Unable to submit request because thinking is not supported by this model",
			"no setting for thinking"},
	} {
		t.Run(x.provider+" "+x.refused, func(t *testing.T) {
			s := llmtest.Start(t, nil, llmtest.With(func(e *llmtest.Exchange) {
				if strings.Contains(string(e.Body), `"`+x.refused+`"`) {
					e.Error(http.StatusBadRequest, "", x.message)
					return
				}
				e.OK()
			}))
			more := "temperature: 0.1\ntop_p: 0.9"
			if strings.HasPrefix(x.refused, "thinking") {
				more = "thinking: -1"
			}
			m := openNativeStub(t, x.provider, s.URL, more)
			for i := range 2 {
				reply, err := m.Complete(t.Context(), ask(t, "6 x 7?"))
				if err != nil || reply.Calls > 3-2*i || i == 1 && reply.Calls != 1 {
					t.Fatalf("call %d: %+v, %v", i, reply, err)
				}
			}
			if got := strings.Join(m.(Adapter).Adapted(), ", "); got != x.adapted {
				t.Errorf("adapted: %s", got)
			}
			if c := s.Calls()[s.Count()-1]; x.refused == "top_p" && (c.Temperature == nil || c.TopP != nil) {
				t.Errorf("sent %s", c.Body)
			}
		})
	}
}

// TestNativeThroughThePool: a native model has the layers of every endpoint: it waits as
// long as its server asks, spends from the budget and shares limits.
func TestNativeThroughThePool(t *testing.T) {
	for _, provider := range makers {
		s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.With(llmtest.First(1, llmtest.RateLimit("1"))))
		var p Pool
		m, err := p.Open(provider, yamlSettings("url: "+s.URL+"\nmodel: stub-1\nkey_env: KEY\nconcurrency: 2"),
			Options{Env: Env{Getenv: func(string) string { return canary }}})
		if err != nil {
			t.Fatal(err)
		}
		r := ask(t, "6 x 7?")
		r.Budget = NewBudget(10, 10000)
		began := time.Now()
		reply, err := m.Complete(t.Context(), r)
		if err != nil || reply.Calls != 2 || !strings.Contains(reply.Text, "42") || time.Since(began) < time.Second {
			t.Errorf("%s: %+v, %v after %v", provider, reply, err, time.Since(began))
		}
		if got := r.Budget.Spent(); got.Calls != 2 || got.Tokens != reply.Usage.Total() || got.Tokens == 0 {
			t.Errorf("%s: spent %+v of a reply with %+v", provider, got, reply.Usage)
		}
		closeModel(t, m)
	}
}

// TestNativeSettings: keys, addresses, and what a reader of a council file is told.
func TestNativeSettings(t *testing.T) {
	for _, x := range []struct{ provider, settings, server, uses, bad string }{
		{"anthropic", "model: claude-haiku-4-5", "api.anthropic.com", "sends questions to https://api.anthropic.com " +
			"with the key in the environment variable ANTHROPIC_API_KEY", ""},
		{"gemini", "model: gemini-2.5-flash", "generativelanguage.googleapis.com", "sends questions to " +
			"https://generativelanguage.googleapis.com with the key in the environment variable GEMINI_API_KEY", ""},
		{"anthropic", "model: m\nurl: https://proxy.example/v1/messages", "proxy.example", "sends questions to " +
			"https://proxy.example/v1/messages", ""},
		{"anthropic", "url: https://proxy.example", "", "", "no model is named"},
		{"anthropic", "model: m\nthinking: 100", "", "", "at least 1024"},
		{"anthropic", "model: m\nseed: 3", "", "", "seed"},
		{"gemini", "model: m\nurl: https://u:p@proxy.example", "", "", "contains a password"},
	} {
		p, err := Providers.Find(x.provider)
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.Open(Opening{Decode: yamlSettings(x.settings), Env: Env{Getenv: func(string) string { return "" }}})
		switch {
		case x.bad != "":
			if err == nil || !strings.Contains(err.Error(), x.bad) {
				t.Errorf("%s: %v", x.settings, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", x.settings, err)
			continue
		}
		if got := o.Model.Info().Server; got != x.server {
			t.Errorf("%s: server %s", x.settings, got)
		}
		if got := strings.Join(p.Uses(yamlSettings(x.settings)), "\n"); got != x.uses {
			t.Errorf("%s: %s", x.settings, got)
		}
		_, err = o.Model.Complete(t.Context(), Request{})
		keyless := strings.HasSuffix(x.uses, "_KEY")
		if f := AsFailure(err); keyless && (f.Status != synod.Auth || !strings.Contains(f.Reason(), "is not set")) {
			t.Errorf("%s: without a key: %v", x.settings, err)
		}
	}
}

func TestNativePreflight(t *testing.T) {
	for _, provider := range makers {
		for status, want := range map[int]string{200: "knows the model", 401: "does not accept the key",
			404: `no model called "stub-1"`, 500: "were not checked"} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/models/stub-1") || r.Method != http.MethodGet {
					t.Errorf("%s %s", r.Method, r.URL.Path)
				}
				w.WriteHeader(status)
				_, _ = fmt.Fprint(w, `{"id":"stub-1","name":"models/stub-1","type":"model"}`)
			}))
			found, err := layered{openNativeStub(t, provider, s.URL, "")}.Preflight(t.Context())
			if got := found + fmt.Sprint(err); !strings.Contains(got, want) || strings.Contains(got, "canary") {
				t.Errorf("%s %d: %s", provider, status, got)
			}
			s.Close()
		}
	}
}

// TestPromptCachePrice: tokens from and to a prompt cache have prices of their own, and a
// call that may store its prompt reserves the price of storing it.
func TestPromptCachePrice(t *testing.T) {
	p := Price{Prompt: 3, Completion: 15, Cached: 0.3, Stored: 3.75}
	u := synod.Usage{Prompt: 1_000_000, Completion: 100_000, Cached: 200_000, Stored: 400_000}
	if got, want := p.of(u), 0.4*3+0.2*0.3+0.4*3.75+0.1*15; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("%v; want %v", got, want)
	}
	if got := (Price{Prompt: 3}).of(u); got != 3 {
		t.Errorf("without prices of a cache: %v", got)
	}
	synctest.Test(t, func(t *testing.T) {
		var most synod.Usage
		m := fake{Endpoint, func(context.Context, Request) (synod.Reply, error) { return fine("42") }}
		r := ask(t, "6 x 7?")
		r.Asked = func(u synod.Usage) error { most = u; return nil }
		if _, err := spend(Opened{MaxTokens: 10, StoresPrompts: true})(m).Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if most.Stored != most.Prompt || most.Stored == 0 {
			t.Errorf("reserved %+v", most)
		}
	})
}
