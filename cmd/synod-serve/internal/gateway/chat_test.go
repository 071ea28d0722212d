package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
)

const chats = "/v1/chat/completions"

// A reply has OpenAI's shape, with the usage and cost of every call of every member.
func TestChat(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	r := h.post(t, chats, questionBody("seven", sum, `"seed": 3`, `"verbosity": "low"`))
	var got struct {
		ID, Object, Model string
		Created           int64
		Fingerprint       string `json:"system_fingerprint"`
		Choices           []struct {
			Index   int
			Message struct {
				Role, Content string
				Refusal       *string
			}
			Finish string `json:"finish_reason"`
		}
		Usage struct {
			Prompt, Completion int
			Total              int `json:"total_tokens"`
			P                  int `json:"prompt_tokens"`
			C                  int `json:"completion_tokens"`
		}
		Synod Report
	}
	r.into(t, &got)
	if r.StatusCode != 200 || got.Object != "chat.completion" || got.Model != "seven" ||
		got.ID != "chatcmpl-"+r.Header.Get("X-Request-Id") || len(got.Choices) != 1 ||
		got.Choices[0].Message.Content != "42" || got.Choices[0].Finish != "stop" ||
		!strings.HasPrefix(got.Fingerprint, "fp_") || time.Since(time.Unix(got.Created, 0)) > time.Minute {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if calls := int(stub.total.Load()); got.Synod.Calls.Made != calls || got.Usage.Total == 0 ||
		got.Usage.P != got.Synod.Tokens.Prompt || got.Usage.Total != got.Usage.P+got.Usage.C {
		t.Errorf("%d calls were made; the reply has %+v and %+v", calls, got.Synod.Calls, got.Usage)
	}
	want := fmt.Sprint(got.Usage.Total)
	if r.Header.Get("X-Litellm-Total-Tokens") != want || r.Header.Get("X-Synod-Status") != "agreed" {
		t.Errorf("headers %v", r.Header)
	}
	cost := float64(got.Usage.P)*1e-6 + float64(got.Usage.C)*1e-5
	if d := got.Synod.Cost.USD - cost; d > 1e-12 || d < -1e-12 {
		t.Errorf("cost %v; want %v", got.Synod.Cost.USD, cost)
	}
	if len(got.Synod.Ignored) != 1 || got.Synod.Ignored[0] != "verbosity" {
		t.Errorf("ignored: %v; want verbosity, which a council's file sets for each member", got.Synod.Ignored)
	}
	row := h.rows(t)["agreed"][0]
	if row.Calls != got.Synod.Calls.Made || row.Prompt != got.Usage.P || row.Spent.USD() < cost || row.HTTP != 200 {
		t.Errorf("the store has %+v", row)
	}
	files, _ := filepath.Glob(filepath.Join(h.o.Journals, "*", got.Synod.Journal+".jsonl"))
	if len(files) != 1 || row.Bytes == 0 {
		t.Errorf("journals %v, %d bytes", files, row.Bytes)
	} else if info, _ := os.Stat(files[0]); info.Mode().Perm() != 0o600 {
		t.Errorf("the journal has the mode %v", info.Mode())
	}
}

// Whatever is wrong with a request is told in OpenAI's shape, and nothing is ignored in silence.
func TestRefusedRequests(t *testing.T) {
	h := open(t, map[string]string{"dice": dice}, func(o *Options) { o.Settings.Body = 100_000 })
	long := strings.Repeat("x", 100_001)
	for _, test := range []struct {
		name, body  string
		status      int
		code, param string
	}{
		{"no JSON", `{"model"`, 400, "invalid_json", ""},
		{"two objects", questionBody("dice", sum) + "{}", 400, "invalid_json", ""},
		{"deep", `{"model": "dice", "x": ` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, 400, "invalid_json", ""},
		{"no model", `{"messages": []}`, 400, "invalid_value", "model"},
		{"unknown model", questionBody("gpt-x", sum), 404, "model_not_found", "model"},
		{"no message", `{"model": "dice", "messages": []}`, 400, "invalid_value", "messages"},
		{"wrong type", `{"model": "dice", "messages": "hello"}`, 400, "invalid_value", "messages"},
		{"last not user", `{"model": "dice", "messages": [{"role": "assistant", "content": "x"}]}`, 400, "invalid_value", "messages"},
		{"image by address", `{"model": "dice", "messages": [{"role": "user", "content": [
			{"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}]}]}`, 400, "invalid_value", "messages"},
		{"tool without a name", questionBody("dice", sum, `"tools": [{"type": "function"}]`), 400, "invalid_value",
			"messages"},
		{"built-in tool", questionBody("dice", sum, `"tools": [{"type": "web_search"}]`), 400, "unsupported_parameter",
			"tools"},
		{"old tools", questionBody("dice", sum, `"functions": [{"name": "x"}]`), 400, "unsupported_parameter", "functions"},
		{"tool choice", questionBody("dice", sum, `"tool_choice": "maybe"`), 400, "invalid_value", "tool_choice"},
		{"result without a call", `{"model": "dice", "messages": [{"role": "user", "content": "x"},
			{"role": "tool", "tool_call_id": "a", "content": "x"}]}`, 400, "invalid_value", "messages"},
		{"no schema", questionBody("dice", sum, `"response_format": {"type": "json_schema"}`), 400, "invalid_value",
			"response_format"},
		{"bad schema", questionBody("dice", sum, `"response_format": {"type": "json_schema", "json_schema": {
			"name": "x", "schema": {"type": "unicorn"}}}`), 400, "invalid_value", "messages"},
		{"n", questionBody("dice", sum, `"n": 2`), 400, "unsupported_parameter", "n"},
		{"logprobs", questionBody("dice", sum, `"logprobs": true`), 400, "unsupported_parameter", "logprobs"},
		{"unknown key", questionBody("dice", sum, `"frobnicate": 1`), 400, "unsupported_parameter", "frobnicate"},
		{"penalty", questionBody("dice", sum, `"presence_penalty": 1`), 400, "unsupported_parameter", "presence_penalty"},
		{"unknown option", questionBody("dice", sum, `"synod": {"frm": "text"}`), 400, "invalid_value", "synod"},
		{"form", questionBody("dice", sum, `"synod": {"form": "haiku"}`), 400, "invalid_value", "synod.form"},
		{"stream options", questionBody("dice", sum, `"stream_options": {"include_usage": true}`), 400, "invalid_value", "stream_options"},
		{"seed", questionBody("dice", sum, `"seed": "x"`), 400, "invalid_value", "seed"},
		{"long", questionBody("dice", long), 413, "body_too_large", ""},
	} {
		r := h.post(t, chats, test.body)
		p := r.problem(t)
		if r.StatusCode != test.status || p.Error.Code != test.code || p.Error.Param != test.param ||
			p.Error.Message == "" ||
			p.Error.Type == "" {
			t.Errorf("%s: %d %s", test.name, r.StatusCode, r.body)
		}
	}
	r := h.post(t, chats, questionBody("dice", sum, `"logprobs": true`, `"presence_penalty": 1`,
		`"synod": {"drop_params": true}`))
	var got struct{ Synod Report }
	if r.into(t, &got); r.StatusCode != 200 || strings.Join(got.Synod.Ignored, " ") != "logprobs presence_penalty" {
		t.Errorf("with drop_params: %d, ignored %v", r.StatusCode, got.Synod.Ignored)
	}
	if n := len(h.rows(t)); n != 1 {
		t.Errorf("%d kinds of requests were recorded; refused ones cost nothing", n)
	}
}

// A page of another site can neither use its own name for the gateway nor send a request.
func TestForeignPages(t *testing.T) {
	h := open(t, map[string]string{"dice": dice}, func(o *Options) { o.Hosts = []string{"gate.example"} })
	for _, test := range []struct {
		headers []string
		status  int
	}{
		{nil, 200},
		{[]string{"Host", "gate.example"}, 200},
		{[]string{"Host", "localhost:1"}, 200},
		{[]string{"Host", "rebound.example"}, 421},
		{[]string{"Host", "not-gate.example"}, 421},
		{[]string{"Host", "gate.example.rebound.example"}, 421},
		{[]string{"Origin", "https://evil.example"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Origin", "file://"}, 403},
		{[]string{"Origin", "null", "Sec-Fetch-Site", "same-origin"}, 200},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Content-Type", "text/plain"}, 415},
		{[]string{"Content-Encoding", "gzip"}, 415},
	} {
		if r := h.post(t, chats, questionBody("dice", sum), test.headers...); r.StatusCode != test.status {
			t.Errorf("%v: %d; want %d: %s", test.headers, r.StatusCode, test.status, r.body)
		}
	}
}

// events reads a stream: comments and data.
func events(body []byte) (comments, data []string) {
	for line := range strings.SplitSeq(string(body), "\n") {
		if c, ok := strings.CutPrefix(line, ": "); ok {
			comments = append(comments, c)
		} else if d, ok := strings.CutPrefix(line, "data: "); ok {
			data = append(data, d)
		}
	}
	return comments, data
}

// A stream has comments until the council has decided, then the text, one end, and the usage where the client
// wants it. All chunks have one id and time.
func TestStream(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9), llmtest.Latency(60*time.Millisecond))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	for _, usage := range []bool{true, false} {
		r := h.post(t, chats, questionBody("seven", sum, `"stream": true`,
			fmt.Sprintf(`"stream_options": {"include_usage": %t}`, usage), fmt.Sprintf(`"user": "%t"`, usage)))
		comments, data := events(r.body)
		if r.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" || len(comments) < 2 ||
			!strings.Contains(strings.Join(comments, "\n"), "of 5 answered") {
			t.Fatalf("%v\n%s", r.Header, r.body)
		}
		var text, first strings.Builder
		ends, roles, usages := 0, 0, 0
		for i, d := range data[:len(data)-1] {
			var c struct {
				ID, Object string
				Created    int64
				Choices    []struct {
					Delta  struct{ Role, Content string }
					Finish *string `json:"finish_reason"`
				}
				Usage json.RawMessage
			}
			if err := json.Unmarshal([]byte(d), &c); err != nil {
				t.Fatal(err, d)
			}
			if id := fmt.Sprint(c.ID, c.Created, c.Object); i == 0 {
				first.WriteString(id)
			} else if id != first.String() {
				t.Errorf("chunk %d has %s; the first has %s", i, id, first.String())
			}
			if usage != (len(c.Usage) > 0) {
				t.Errorf("include_usage is %t and the chunk has usage %q", usage, c.Usage)
			}
			if len(c.Choices) == 0 {
				usages++
				if i != len(data)-2 {
					t.Error("the usage is not in the last chunk")
				}
				continue
			}
			text.WriteString(c.Choices[0].Delta.Content)
			if c.Choices[0].Delta.Role != "" {
				roles++
			}
			if c.Choices[0].Finish != nil {
				ends++
			}
		}
		if text.String() != "42" || ends != 1 || roles != 1 || data[len(data)-1] != "[DONE]" || (usages == 1) != usage {
			t.Errorf("text %q, %d ends, %d roles, %d usages, last %q", text.String(), ends, roles, usages,
				data[len(data)-1])
		}
	}
}

// A failure after the headers have left ends the stream with an error, and never with [DONE]; one before
// them is an HTTP error.
func TestStreamFails(t *testing.T) {
	before := holdHeaders
	defer func() { holdHeaders = before }()
	holdHeaders = time.Minute
	stub := watch(t, splitVote())
	h := open(t, map[string]string{"seven": stubbed(stub.URL, "rule: {name: supermajority}")})
	r := h.post(t, chats, questionBody("seven", sum, `"stream": true`))
	if p := r.problem(t); r.StatusCode != 422 || p.Error.Code != "no_consensus" || p.Synod == nil ||
		r.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("a quick failure: %d %s", r.StatusCode, r.body)
	}
	holdHeaders = before
	release := stub.stop()
	time.AfterFunc(400*time.Millisecond, release)
	r = h.post(t, chats, questionBody("seven", sum, `"stream": true`, `"seed": 5`))
	_, data := events(r.body)
	last := data[len(data)-1]
	if r.StatusCode != 200 || !strings.Contains(last, `"code":"no_consensus"`) || strings.Contains(string(r.body), "[DONE]") ||
		strings.Count(string(r.body), `"error"`) != 1 {
		t.Errorf("a late failure: %d %s", r.StatusCode, r.body)
	}
}

// splitVote has members that keep different answers.
func splitVote() llmtest.Handler {
	var mu sync.Mutex
	n := 0
	return func(c llmtest.Call) string {
		if c.Scoring() {
			return llmtest.Fixed("", 0.5)(c)
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		return llmtest.Fixed(fmt.Sprint(n), 0.5)(c)
	}
}

// Without a consensus a client gets an error, a refusal, or the leading answer with its status, as it asks.
func TestNoConsensus(t *testing.T) {
	stub := watch(t, splitVote())
	h := open(t, map[string]string{"seven": stubbed(stub.URL, "rule: {name: supermajority}")})
	r := h.post(t, chats, questionBody("seven", sum))
	p := r.problem(t)
	if r.StatusCode != 422 || p.Error.Code != "no_consensus" || p.Synod.Calls.Made == 0 || p.Synod.Tokens.Prompt == 0 ||
		r.Header.Get("X-Litellm-Response-Cost") == "" ||
		strings.Contains(string(r.body), "rate_limit") { // LiteLLM would repeat the request
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	var got struct {
		Choices []struct {
			Message struct{ Content, Refusal *string }
		}
		Synod Report
	}
	r = h.post(t, chats, questionBody("seven", sum, `"synod": {"on_no_consensus": "refuse"}`))
	if r.into(t, &got); r.StatusCode != 200 || got.Choices[0].Message.Refusal == nil ||
		got.Choices[0].Message.Content != nil ||
		got.Synod.Status == "agreed" {
		t.Errorf("refuse: %d %s", r.StatusCode, r.body)
	}
	r = h.post(t, chats, questionBody("seven", sum, `"synod": {"on_no_consensus": "best-effort"}`))
	if r.into(t, &got); r.StatusCode != 200 || got.Choices[0].Message.Content == nil ||
		*got.Choices[0].Message.Content == "" ||
		got.Synod.Status == "agreed" || got.Synod.Answer != nil || r.Header.Get("X-Synod-Status") == "agreed" {
		t.Errorf("best effort: %d %s", r.StatusCode, r.body)
	}
}

// With all members down the reason of each is told, and when to come back.
func TestAllDown(t *testing.T) {
	stub := watch(t, nil, llmtest.With(llmtest.Status(500)))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	r := h.post(t, chats, questionBody("seven", sum))
	p := r.problem(t)
	if r.StatusCode != 503 || p.Error.Code != "all_members_failed" || r.Header.Get("Retry-After") == "" ||
		!strings.Contains(p.Error.Message, "HTTP 500") || !strings.Contains(p.Error.Message, "s1") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// The budget and the deadline of one request hold, and what was spent until then is told.
func TestLimitsOfARequest(t *testing.T) {
	stub := watch(t, splitVote())
	h := open(t, map[string]string{"seven": stubbed(stub.URL, "rule: {name: supermajority}")})
	r := h.post(t, chats, questionBody("seven", sum, `"synod": {"budget": {"calls": 7}}`))
	if p := r.problem(t); r.StatusCode != 422 || p.Error.Code != "budget_exceeded" || p.Synod.Calls.Made != 7 ||
		stub.total.Load() != 7 || !strings.Contains(p.Error.Message, "limits.calls is 7; 7 were made") {
		t.Errorf("%d calls: %d %s", stub.total.Load(), r.StatusCode, r.body)
	}
	r = h.post(t, chats, questionBody("seven", sum, `"synod": {"budget": {"usd": 0.001}}`))
	if p := r.problem(t); r.StatusCode != 422 || p.Error.Code != "budget_exceeded" || p.Synod.Cost.USD > 0.001 {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	defer stub.stop()()
	begun := time.Now()
	r = h.post(t, chats, questionBody("seven", sum, `"synod": {"deadline": "100ms"}`))
	if p := r.problem(t); r.StatusCode != 422 || p.Error.Code != "deadline_exceeded" ||
		time.Since(begun) > time.Second {
		t.Errorf("after %v: %d %s", time.Since(begun), r.StatusCode, r.body)
	}
}

// When the client is gone, the calls of all members are cancelled within 100 ms, whether it streams or not,
// and what was spent is kept.
func TestClientGone(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		stub := watch(t, llmtest.Fixed("42", 0.9))
		h := open(t, map[string]string{"seven": stubbed(stub.URL)})
		defer stub.stop()()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.do(t, ctx, chats, questionBody("seven", sum, `"stream": `+stream))
		}()
		until(t, 2*time.Second, "five calls open", func() bool { return stub.open.Load() == 5 })
		cancel()
		took := until(t, 2*time.Second, "all calls cancelled", func() bool { return stub.open.Load() == 0 })
		if took > 100*time.Millisecond {
			t.Errorf("stream %s: the calls were cancelled after %v", stream, took)
		}
		<-done
		until(t, 2*time.Second, "settled", func() bool { return len(h.rows(t)["client_gone"]) == 1 })
		if row := h.rows(t)["client_gone"][0]; row.Calls != 5 || row.Ended.IsZero() {
			t.Errorf("stream %s: the store has %+v", stream, row)
		}
	}
}

// An identical request joins the one that is in flight, also as a stream; another one does not. The calls are
// cancelled only when the last client is gone.
func TestJoined(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	release := stub.stop()
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() { defer close(gone); h.do(t, ctx, chats, questionBody("seven", sum, `"seed": 7`)) }()
	until(t, 2*time.Second, "five calls open", func() bool { return stub.open.Load() == 5 })
	var wait sync.WaitGroup
	joined, streams := make([]reply, 4), make([]reply, 4)
	for i := range joined {
		wait.Go(func() { joined[i] = h.post(t, chats, questionBody("seven", sum, `"seed": 7`)) })
		wait.Go(func() { streams[i] = h.post(t, chats, questionBody("seven", sum, `"seed": 7`, `"stream": true`)) })
	}
	until(t, 2*time.Second, "all joined", func() bool {
		h.flights.mu.Lock()
		defer h.flights.mu.Unlock()
		for _, f := range h.flights.all {
			f.mu.Lock()
			n := f.waiting
			f.mu.Unlock()
			return n == 9
		}
		return false
	})
	cancel()
	<-gone
	release()
	wait.Wait()
	var made int
	for i := range joined {
		var got struct{ Synod Report }
		joined[i].into(t, &got)
		if made = got.Synod.Calls.Made; !got.Synod.Joined || !strings.Contains(string(streams[i].body), `"content":"42"`) {
			t.Errorf("%s\n%s", joined[i].body, streams[i].body)
		}
	}
	if n := int(stub.total.Load()); n != made {
		t.Errorf("nine requests made %d calls; one makes %d", n, made)
	}
	before := stub.total.Load()
	h.post(t, chats, questionBody("seven", sum, `"seed": 1`))
	if stub.total.Load() == before {
		t.Error("a request with another seed made no call")
	}
	before = stub.total.Load()
	for range 2 {
		h.post(t, chats, questionBody("seven", sum), "Idempotency-Key", "a")
	}
	if n := stub.total.Load() - before; n != int64(made) {
		t.Errorf("a repeated request with an idempotency key made %d calls in all; want %d", n, made)
	}
	h.flights.mu.Lock()
	defer h.flights.mu.Unlock()
	h.flights.all = nil
}

// A council that asks itself, through any number of gateways, is noticed.
func TestLoop(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	h.post(t, chats, questionBody("seven", sum))
	via, _ := stub.via.Load().(string)
	if via != h.id {
		t.Fatalf("members were called via %q", via)
	}
	r := h.post(t, chats, questionBody("seven", sum), "Synod-Via", "gw-other,"+via)
	if p := r.problem(t); r.StatusCode != 508 || p.Error.Code != "council_loop" ||
		r.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := h.post(t, chats, questionBody("seven", sum), "Synod-Via", "gw-other"); r.StatusCode != 200 {
		t.Errorf("through another gateway: %d %s", r.StatusCode, r.body)
	}

	// a gateway whose council asks the gateway itself
	front := serveModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Handler().ServeHTTP(w, r)
	}))
	defer front.Close()
	h.file(t, "ouroboros", strings.Replace(stubbed(front.URL), "model: stub,", "model: ouroboros,", 1))
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	r = h.post(t, chats, questionBody("ouroboros", sum))
	if p := r.problem(t); r.StatusCode != 503 || !strings.Contains(p.Error.Message, "contains itself") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// stop and max_tokens apply to the final answer; n gives the other answers.
func TestShapeOfTheAnswer(t *testing.T) {
	for _, test := range []struct {
		text   string
		stop   []string
		most   int
		want   string
		finish string
	}{
		{"Paris, France", []string{","}, 0, "Paris", "stop"},
		{"Paris, France", nil, 1, "Pari", "length"},
		{"éé", nil, 1, "éé", "stop"},
		{"aééé", nil, 1, "aé", "length"},
		{"Paris", []string{"x", ""}, 100, "Paris", "stop"},
	} {
		if got, finish, _ := cut(test.text, test.stop, test.most); got != test.want || finish != test.finish {
			t.Errorf("%+v: %q, %s", test, got, finish)
		}
	}
	stub := watch(t, splitVote())
	h := open(t, map[string]string{"seven": stubbed(stub.URL, "rule: {name: plurality}")},
		func(o *Options) { o.Settings.N = true })
	r := h.post(t, chats, questionBody("seven", sum, `"n": 3`, `"synod": {"on_no_consensus": "best-effort"}`))
	var got struct {
		Choices []struct {
			Index   int
			Message struct{ Content string }
		}
	}
	if r.into(t, &got); len(got.Choices) < 2 || got.Choices[0].Message.Content == got.Choices[1].Message.Content ||
		got.Choices[1].Index != 1 {
		t.Errorf("%s", r.body)
	}
}

// A client that sends its request slowly or never is cut off, and a gateway with enough to do says so.
func TestOverload(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)}, func(o *Options) { o.Settings.AtOnce = 1 })
	release := stub.stop()
	done := make(chan reply, 1)
	go func() { done <- h.post(t, chats, questionBody("seven", sum)) }()
	until(t, 2*time.Second, "a request in flight", func() bool { return stub.open.Load() == 5 })
	r := h.post(t, chats, questionBody("seven", "Is 7 prime?"))
	if p := r.problem(t); r.StatusCode != 503 || p.Error.Code != "overloaded" || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	release()
	if r := <-done; r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// While the gateway drains, requests in flight finish and new ones get 503.
func TestDrain(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	release := stub.stop()
	done, drained := make(chan reply, 1), make(chan struct{})
	go func() { done <- h.post(t, chats, questionBody("seven", sum)) }()
	until(t, 2*time.Second, "a request in flight", func() bool { return stub.open.Load() == 5 })
	go func() { h.Drain(t.Context()); close(drained) }()
	until(t, 2*time.Second, "draining", h.draining.Load)
	if r := h.post(t, chats, questionBody("seven", "Is 7 prime?")); r.StatusCode != 503 ||
		r.problem(t).Error.Code != "shutting_down" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if res, err := http.Get(h.url + "/readyz"); err != nil || res.StatusCode != 503 {
		t.Error("ready while draining", err)
	} else {
		res.Body.Close()
	}
	release()
	if r := <-done; r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	<-drained
}

// The comments come while the council works, and not at its end.
func TestCommentsComeEarly(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	defer stub.stop()()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+chats,
		strings.NewReader(questionBody("seven", sum, `"stream": true`, `"synod": {"progress": true}`)))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), ": 0 of 5 answered") {
			return // no member has answered yet
		}
	}
	t.Error("no comment")
}
