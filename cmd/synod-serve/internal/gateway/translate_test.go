package gateway

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// twoCalls is a completion with a text and two calls of tools.
const twoCalls = `{"id":"x","object":"chat.completion","model":"stub","choices":[{"index":0,"message":{"role":"assistant",
	"content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},
	{"id":"c2","type":"function","function":{"name":"f","arguments":"not JSON"}}]},"finish_reason":"tool_calls"}],
	"usage":{"prompt_tokens":7,"completion_tokens":3}}`

const (
	responsesBody = `{"model": "solo:stub", "instructions": "Be brief.", "input": [{"role": "user", "content": "Look."}],
		"tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}], "tool_choice": "required",
		"max_output_tokens": 50, "temperature": 0.5`
	messagesBodyText = `{"model": "solo:stub", "max_tokens": 50, "system": "Be brief.", "temperature": 0.5,
		"messages": [{"role": "user", "content": "Look."}], "stop_sequences": ["END"], "tool_choice": {"type": "any"},
		"tools": [{"name": "f", "input_schema": {"type": "object"}}]`
)

// One model speaks the other APIs whole: tools, schemas, sampling and results of tools reach a server that has only
// chat completions, and its text and all its calls come back.
func TestSoloInOtherAPIs(t *testing.T) {
	up := newUpstream(t)
	up.whole, up.streamless = twoCalls, true
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	for path, body := range map[string]string{"/v1/responses": responsesBody, "/v1/messages": messagesBodyText} {
		r := h.post(t, path, body+"}")
		sent := up.body.Load().(string)
		for _, want := range []string{`"tool_choice":"required"`, `"temperature":0.5`, `"max_tokens":50`,
			`"content":"Be brief."`, `"name":"f"`, `"model":"stub"`} {
			if !strings.Contains(sent, want) {
				t.Errorf("%s: the server is not told %s: %s", path, want, sent)
			}
		}
		for _, want := range []string{"I look.", "c1", "c2", "not JSON"} {
			if r.StatusCode != 200 || !strings.Contains(string(r.body), want) {
				t.Errorf("%s: %d, no %q in %s", path, r.StatusCode, want, r.body)
			}
		}
		r = h.post(t, path, body+`, "stream": true}`) // of a server that has no streams
		names, text := kinds(t, r.body)
		parts := 0
		for _, name := range names {
			if name == "content_block_start" || name == "response.output_item.added" {
				parts++
			}
		}
		if !strings.Contains(up.body.Load().(string), `"stream":true`) || !strings.HasPrefix(text, "I look.") ||
			parts != 3 {
			t.Errorf("%s: %q %v", path, text, names)
		}
	}
	if !strings.Contains(up.body.Load().(string), `"role":"user"`) {
		t.Error("the user's words are missing")
	}
	rows := h.rows(t)["ok"]
	if len(rows) != 4 || rows[0].Prompt != 7 || rows[0].Completion != 3 {
		t.Errorf("%d rows: %+v", len(rows), rows)
	}
}

// Results of tools, and a schema.
func TestSoloGoesOnInOtherAPIs(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	r := h.post(t, "/v1/messages", `{"model": "solo:stub", "max_tokens": 50, "messages": [
		{"role": "user", "content": "Look."}, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1",
		"name": "f", "input": {"a": 1}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1",
		"content": "seen"}]}], "output_config": {"format": {"type": "json_schema", "schema": {"type": "object",
		"properties": {"x": {"type": "number"}}}}}}`)
	sent := up.body.Load().(string)
	for _, want := range []string{`"tool_call_id":"c1"`, `"content":"seen"`, `"type":"json_schema"`,
		`"arguments":"{\"a\":1}"`} {
		if r.StatusCode != 200 || !strings.Contains(strings.ReplaceAll(sent, `\"a\": 1`, `\"a\":1`), want) {
			t.Errorf("%d: no %s in %s", r.StatusCode, want, sent)
		}
	}
}

// The client may give the beginning of the reply: it gets the rest, also where a member repeats the beginning.
func TestPrefill(t *testing.T) {
	up := newUpstream(t)
	up.whole = strings.Replace(up.whole, `"hi"`, `"The colours are red, green."`, 1)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	const body = `"max_tokens": 50, "messages": [{"role": "user", "content": "Name two colours in a sentence."},
		{"role": "assistant", "content": "The colours are"}]}`
	r := h.post(t, "/v1/messages", `{"model": "solo:stub", `+body)
	if sent := up.body.Load().(string); r.StatusCode != 200 ||
		!strings.Contains(string(r.body), `"text":" red, green."`) ||
		!strings.Contains(sent, `{"role":"assistant","content":"The colours are"}]`) {
		t.Errorf("%d %s, of %s", r.StatusCode, r.body, sent)
	}
	r = h.post(t, "/v1/messages", `{"model": "seven", "synod": {"form": "text"}, `+body)
	sent := up.body.Load().(string)
	if r.StatusCode != 200 || !strings.Contains(sent, "Go on with your last reply") ||
		!strings.Contains(sent, "The colours are") {
		t.Errorf("%d %s, of %s", r.StatusCode, r.body, sent)
	}
}

// A stored response can be read again and deleted with its key.
func TestRetrieveResponse(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	r := h.post(t, "/v1/responses", `{"model": "solo:stub", "input": "Say hi."}`)
	var made struct{ ID string }
	r.into(t, &made)
	path := "/v1/responses/" + made.ID
	send := func(method, path string) reply { return h.send(t, t.Context(), method, path, "") }
	if got := send(http.MethodGet, path); got.StatusCode != 200 || string(got.body) != string(r.body) {
		t.Errorf("%d %s, which was %s", got.StatusCode, got.body, r.body)
	}
	var items struct {
		Data []struct{ Role, Type string }
	}
	send(http.MethodGet, path+"/input_items").into(t, &items)
	if len(items.Data) != 1 || items.Data[0].Role != "user" {
		t.Errorf("%+v", items)
	}
	if got := send(http.MethodDelete, path); got.StatusCode != 200 ||
		!strings.Contains(string(got.body), `"deleted":true`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if got := send(method, path); got.StatusCode != 404 || got.problem(t).Error.Code != "response_not_found" {
			t.Errorf("%s afterwards: %d %s", method, got.StatusCode, got.body)
		}
	}
}

// Tokens of a conversation are estimated without a call.
func TestCountTokens(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	r := h.post(t, "/v1/messages/count_tokens", `{"model": "seven", "system": "abcd", "messages": [{"role": "user",
		"content": "12345678"}], "tools": [{"name": "f", "input_schema": {}}]}`)
	var got struct {
		Tokens int `json:"input_tokens"`
	}
	if r.into(t, &got); r.StatusCode != 200 || got.Tokens != 4 || up.calls.Load() != 0 {
		t.Errorf("%d %s, %d calls", r.StatusCode, r.body, up.calls.Load())
	}
	for body, status := range map[string]int{`{"model": "nobody", "messages": [{"role": "user", "content": "x"}]}`: 404,
		`{"model": "seven", "messages": []}`: 400, `{`: 400} {
		r := h.post(t, "/v1/messages/count_tokens", body)
		if !json.Valid(r.body) || r.StatusCode != status || !strings.Contains(string(r.body), `"type":"error"`) {
			t.Errorf("%s: %d %s", body, r.StatusCode, r.body)
		}
	}
}
