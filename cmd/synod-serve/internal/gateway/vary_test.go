package gateway

import (
	"strings"
	"sync"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// Temperature and top_p of a request reach every member, or the request is refused; they are never left out.
func TestSampling(t *testing.T) {
	var mu sync.Mutex
	var seen []float64
	stub := watch(t, func(c llmtest.Call) string {
		mu.Lock()
		defer mu.Unlock()
		x := -1.0
		if c.Temperature != nil && c.TopP != nil {
			x = *c.Temperature + *c.TopP
		}
		seen = append(seen, x)
		return llmtest.Fixed("42", 0.9)(c)
	})
	h := open(t, map[string]string{"seven": stubbed(stub.URL), "dice": dice})
	for path, body := range map[string]string{
		chats:           questionBody("seven", sum, `"temperature": 0.25`, `"top_p": 0.5`),
		"/v1/messages":  questionBody("seven", sum, `"temperature": 0.25`, `"top_p": 0.5`, `"max_tokens": 50`),
		"/v1/responses": `{"model": "seven", "input": "What is 17 + 25?", "temperature": 0.25, "top_p": 0.5}`,
	} {
		seen = nil
		if r := h.post(t, path, body); r.StatusCode != 200 || len(seen) < 5 {
			t.Errorf("%s: %d %s, %d calls", path, r.StatusCode, r.body, len(seen))
		}
		for _, x := range seen {
			if x != 0.75 {
				t.Errorf("%s: a member was called with %v", path, seen)
				break
			}
		}
	}
	seen = nil
	if h.post(t, chats, questionBody("seven", sum)); len(seen) == 0 || seen[0] != -1 {
		t.Errorf("without them a member was called with %v", seen)
	}
	r := h.post(t, chats, questionBody("dice", sum, `"temperature": 0.2`))
	if p := r.problem(t); r.StatusCode != 400 || p.Error.Code != "unsupported_parameter" ||
		p.Error.Param != "temperature" || !strings.Contains(p.Error.Message, "drop_params") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	r = h.post(t, chats, questionBody("dice", sum, `"temperature": 0.2`, `"synod": {"drop_params": true}`))
	var got struct{ Synod Report }
	if r.into(t, &got); r.StatusCode != 200 || strings.Join(got.Synod.Ignored, " ") != "temperature" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := h.post(t, chats, questionBody("seven", sum, `"temperature": 7`)); r.StatusCode != 400 {
		t.Errorf("temperature 7: %d", r.StatusCode)
	}
}

// With tools: primary one member is given the tools and their results, with the ids of its calls.
func TestToolsPrimary(t *testing.T) {
	up := newUpstream(t)
	up.whole = `{"id":"x","object":"chat.completion","model":"stub","choices":[{"index":0,"message":{"role":"assistant",
		"content":null,"tool_calls":[{"id":"call_own_7","type":"function","function":{"name":"f","arguments":"{}"}}]},
		"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`
	h := open(t, map[string]string{"seven": stubbed(up.URL), "dice": dice, "strict": stubbed(up.URL)},
		func(o *Options) {
			o.Settings.Tools = ToolsPrimary
			o.Settings.Models = map[string]Policy{"strict": {Tools: ToolsReject}}
		})
	const tools = `"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]`
	r := h.post(t, chats, questionBody("seven", "Call f.", tools))
	if r.StatusCode != 200 || !strings.Contains(string(r.body), "call_own_7") ||
		r.Header.Get("X-Synod-Status") != "single" ||
		!strings.Contains(string(r.body), `"model":"seven"`) || !strings.Contains(string(r.body), `"member":"s1"`) {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, r.body)
	}
	if n := up.calls.Load(); n != 1 || !strings.Contains(up.body.Load().(string), `"tools"`) {
		t.Errorf("%d calls, the last with %s", n, up.body.Load())
	}
	r = h.post(t, chats, `{"model": "seven", "messages": [{"role": "user", "content": "Call f."}, {"role": "assistant",
		"content": null, "tool_calls": [{"id": "call_own_7", "type": "function", "function": {"name": "f",
		"arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "call_own_7", "content": "done"}]}`)
	if n := up.calls.Load(); r.StatusCode != 200 || n != 2 ||
		strings.Count(up.body.Load().(string), "call_own_7") != 2 {
		t.Errorf("%d, %d calls, the last with %s", r.StatusCode, n, up.body.Load())
	}
	for model, want := range map[string]string{"strict": "does not let", "dice": "no member"} {
		r := h.post(t, chats, questionBody(model, "Call f.", tools))
		if p := r.problem(t); r.StatusCode != 400 || p.Error.Param != "tools" ||
			!strings.Contains(p.Error.Message, want) {
			t.Errorf("%s: %d %s", model, r.StatusCode, r.body)
		}
	}
	if row := h.rows(t)["ok"]; len(row) != 2 || row[0].Model != "seven" || row[0].Prompt != 7 {
		t.Errorf("%+v", row)
	}
	for model, status := range map[string]string{"seven": "single", "solo:stub": ""} { // other APIs too
		r := h.post(t, "/v1/messages", questionBody(model, "Call f.", `"max_tokens": 10`,
			`"tools": [{"name": "f", "input_schema": {"type": "object"}}]`))
		if r.StatusCode != 200 || r.Header.Get("X-Synod-Status") != status ||
			!strings.Contains(string(r.body), `"id":"call_own_7"`) {
			t.Errorf("%s: %d %s", model, r.StatusCode, r.body)
		}
	}
}

// A question that wants prose is decided by the default protocol of prose, as "synod ask" does, unless the file
// names a protocol or the request a form.
func TestProseByDefault(t *testing.T) {
	stub := watch(t, llmtest.Fixed("Because it is so.", 0.9))
	unnamed := strings.Replace(stubbed(stub.URL), "protocol: {name: sac, rounds: 2}\n", "", 1)
	h := open(t, map[string]string{"free": unnamed, "named": stubbed(stub.URL)})
	const essay = "Explain in a few paragraphs why the sky is blue and why sunsets are red."
	for _, test := range []struct{ model, more, form, protocol string }{
		{"free", `"user": "a"`, "prose", "prose"}, {"free", `"temperature": 0.5`, "prose", "prose"},
		{"free", `"synod": {"form": "text"}`, "text", "sac"}, {"named", `"user": "a"`, "", "sac"},
	} {
		r := h.post(t, chats, questionBody(test.model, essay, test.more))
		var got struct{ Synod Report }
		r.into(t, &got)
		if test.form != "" && string(got.Synod.Form) != test.form ||
			got.Synod.Protocol == "sac" && test.protocol != "sac" {
			t.Errorf("%+v: %d, form %s by %s", test, r.StatusCode, got.Synod.Form, got.Synod.Protocol)
		}
	}
}
