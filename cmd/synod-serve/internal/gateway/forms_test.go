package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

const weather = `"tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object",
	"properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}}, "required": ["city"]}}}]`

type toolReply struct {
	Choices []struct {
		Message struct {
			Content *string
			Calls   []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
	Synod struct {
		Form   synod.Form
		Value  json.RawMessage
		Fields []struct{ Path string }
	}
}

// A council votes on the call of a tool, and the client gets it in OpenAI's shape, whole or as a stream.
func TestToolCalls(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	body := questionBody("dice", "What is the weather in Paris?", weather, `"tool_choice": "required"`, `"seed": 1`,
		`"synod": {"on_no_consensus": "best-effort"}`)
	r := h.post(t, chats, body)
	var got toolReply
	r.into(t, &got)
	if r.StatusCode != 200 || got.Choices[0].Finish != "tool_calls" || got.Choices[0].Message.Content != nil ||
		len(got.Choices[0].Message.Calls) != 1 || got.Synod.Form != synod.Action {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	call := got.Choices[0].Message.Calls[0]
	var arguments struct{ City string }
	if json.Unmarshal([]byte(call.Function.Arguments), &arguments) != nil || arguments.City == "" ||
		call.Function.Name != "weather" || !strings.HasPrefix(call.ID, "call_") || call.Type != "function" {
		t.Errorf("%+v", call)
	}
	s := h.post(t, chats, strings.TrimSuffix(body, "}")+`, "stream": true}`)
	if text := string(s.body); !strings.Contains(text, `"tool_calls":[{"index":0,"id":"call_`) ||
		!strings.Contains(text, `"finish_reason":"tool_calls"`) || !strings.HasSuffix(strings.TrimSpace(text), "data: [DONE]") {
		t.Errorf("%s", s.body)
	}
	again := fmt.Sprintf(`{"model": "dice", "messages": [{"role": "user", "content": "What is the weather in Paris?"},
		{"role": "assistant", "tool_calls": [{"id": %q, "type": "function", "function": {"name": "weather",
		"arguments": %q}}]}, {"role": "tool", "tool_call_id": %q, "content": "sunny"}], %s, "tool_choice": "none"}`,
		call.ID, call.Function.Arguments, call.ID, weather)
	if r := h.post(t, chats, again); r.StatusCode != 200 && r.StatusCode != 422 {
		t.Errorf("the turn with the tool's result: %d %s", r.StatusCode, r.body)
	}
}

// Where a tool may be called and need not be, members can answer in words, which the client gets as a text.
func TestWordsInPlaceOfACall(t *testing.T) {
	r := &wire.Request{Turns: []synod.Turn{{Role: synod.ByUser, Text: "Hello"}},
		Tools: []synod.Tool{{Name: "weather"}, {Name: "time"}}}
	q, e := question(r, "")
	if e != nil || len(q.Tools) != 3 || q.Check() != nil {
		t.Fatalf("%v %+v", e, q)
	}
	call, text := called(`{"name":"answer_in_words","arguments":{"text":"Hello to you."}}`)
	if call != nil || text != "Hello to you." {
		t.Errorf("%v %q", call, text)
	}
	r.Choice = "time"
	if q, e := question(r, ""); e != nil || len(q.Tools) != 1 || q.Tools[0].Name != "time" {
		t.Errorf("%v %+v", e, q.Tools)
	}
	if r.Choice = "unknown"; true {
		if _, e := question(r, ""); e == nil || e.Param != "tool_choice" {
			t.Errorf("%v", e)
		}
	}
	if r.Choice = wire.ChoiceNone; true {
		if q, e := question(r, ""); e != nil || q.Form == synod.Action {
			t.Errorf("%v %+v", e, q)
		}
	}
}

// A council decides a JSON value that follows the client's schema.
func TestStructuredOutput(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	r := h.post(t, chats, questionBody("dice", "How tall is the tower?", `"seed": 1`,
		`"synod": {"on_no_consensus": "best-effort"}`, `"response_format": {"type": "json_schema", "json_schema": {"name": "x",
		"strict": true, "schema": {"type": "object", "properties": {"metres": {"type": "integer"}},
		"required": ["metres"], "additionalProperties": false}}}`))
	var got toolReply
	r.into(t, &got)
	var value struct{ Metres *int }
	if r.StatusCode != 200 || got.Synod.Form != synod.JSON || got.Choices[0].Message.Content == nil ||
		json.Unmarshal([]byte(*got.Choices[0].Message.Content), &value) != nil || value.Metres == nil ||
		len(got.Synod.Fields) != 1 || len(got.Synod.Value) == 0 {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// The conversation before the question reaches the members, and the form is that of the question.
func TestConversation(t *testing.T) {
	r := &wire.Request{Turns: []synod.Turn{{Role: synod.BySystem, Text: "Be brief."}, {Role: synod.ByUser, Text: "Hi"},
		{Role: synod.ByAssistant, Text: "Hello"}, {Role: synod.ByUser, Text: "How many legs has a spider?"}}}
	q, e := question(r, "")
	if e != nil || q.Form != synod.Number || q.Text != "How many legs has a spider?" || len(q.Before) != 3 {
		t.Errorf("%v %+v", e, q)
	}
	if q, e = question(r, synod.Text); e != nil || q.Form != synod.Text {
		t.Errorf("%v %+v", e, q)
	}
	if len(r.Turns) != 4 || r.Turns[0].Text != "Be brief." {
		t.Error("the request was changed")
	}
}

// A request may name another protocol, which is opened for it alone.
func TestProtocolOfARequest(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	var usual, other struct {
		Fingerprint string `json:"system_fingerprint"`
		Synod       Report
	}
	h.post(t, chats, questionBody("dice", sum)).into(t, &usual)
	r := h.post(t, chats, questionBody("dice", sum, `"synod": {"protocol": {"name": "debate", "rounds": 1}}`))
	if r.into(t, &other); r.StatusCode != 200 && r.StatusCode != 422 || other.Synod.Protocol != "debate" ||
		other.Fingerprint == usual.Fingerprint || usual.Synod.Protocol != "sac" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	for _, bad := range []string{`"nosuch"`, `{"rounds": 1}`, `3`, `{"name": "sac", "rounds": "x"}`} {
		r := h.post(t, chats, questionBody("dice", sum, `"synod": {"protocol": `+bad+"}"))
		if p := r.problem(t); r.StatusCode != 400 || p.Error.Param != "synod.protocol" {
			t.Errorf("%s: %d %s", bad, r.StatusCode, r.body)
		}
	}
}

// A question that wants a text gets one as a member wrote it, and the form of a council's file is that of its
// answers.
func TestProse(t *testing.T) {
	text := "First line of a letter.\n\nSecond paragraph, which is " + strings.Repeat("long ", 100) + "."
	stub := watch(t, func(c llmtest.Call) string {
		if c.Scoring() {
			return llmtest.Fixed("", 0.9)(c)
		}
		return text
	})
	h := open(t, map[string]string{"seven": stubbed(stub.URL), "numbers": stubbed(stub.URL, "form: number")})
	var got toolReply
	r := h.post(t, chats, questionBody("seven", "Write a letter to my landlord about the broken heating."))
	if r.into(t, &got); r.StatusCode != 200 || got.Synod.Form != synod.Prose ||
		*got.Choices[0].Message.Content != text {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	r = h.post(t, chats, questionBody("numbers", "Write a letter to my landlord about the broken heating.",
		`"synod": {"on_no_consensus": "refuse"}`))
	if r.into(t, &got); got.Synod.Form != synod.Number {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// The owner may refuse tools for a council; they are not dropped.
func TestToolsAreRejected(t *testing.T) {
	h := open(t, map[string]string{"dice": dice}, func(o *Options) {
		o.Settings.Models = map[string]Policy{"dice": {Tools: "reject"}}
	})
	r := h.post(t, chats, questionBody("dice", "What is the weather in Paris?", weather))
	if p := r.problem(t); r.StatusCode != 400 || p.Error.Param != "tools" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// With tools and a schema, members that call no tool answer with a value that follows the schema.
func TestToolsWithASchema(t *testing.T) {
	schema := json.RawMessage(`{"$defs":{"p":{"type":"integer"}},"type":"object","properties":{"x":{"$ref":"#/$defs/p"}}}`)
	got := string(sayParameters(schema))
	want := `{"$defs":{"p":{"type":"integer"}},"additionalProperties":false,"properties":{"text":{"properties":{"x":` +
		`{"$ref":"#/$defs/p"}},"type":"object"}},"required":["text"],"type":"object"}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if call, text := called(`{"name":"answer_in_words","arguments":{"text":{"x":1}}}`); call != nil || text != `{"x":1}` {
		t.Errorf("%v %q", call, text)
	}
	r := &wire.Request{Schema: schema, Tools: []synod.Tool{{Name: "f"}}}
	r.Turns = []synod.Turn{{Role: synod.ByUser, Text: "hi"}}
	if q, e := question(r, ""); e != nil || q.Form != synod.Action || len(q.Tools) != 2 {
		t.Errorf("%+v %v", q, e)
	}
}
