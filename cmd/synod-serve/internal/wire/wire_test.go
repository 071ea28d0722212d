package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"synod.dev/synod"
)

// No body makes a reader panic; what is read has a question of the user and a known role everywhere.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"model":"a","messages":[{"role":"user","content":"x"}],"stop":["a"],"n":1,"synod":{"deadline":"3s"}}`,
		`{"model":"a","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",` +
			`"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"x"}]}`,
		`{"model":"a","input":[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":` +
			`"function_call_output","call_id":"1","output":"x"},{"role":"user","content":[{"type":"input_text","text":"x"}]}]}`,
		`{"model":"a","max_tokens":3,"system":[{"type":"text","text":"x"}],"messages":[{"role":"user","content":[{"type":` +
			`"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}]}]}],"tools":[{"name":"f"}]}`,
		`{"a":"\"{[","b":[[[]]]}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = ReadHead(body)
		for _, read := range []func([]byte, Rules) (*Request, *Error){ReadChat, ReadResponses, ReadMessages} {
			r, e := read(body, Rules{})
			if e != nil {
				if e.Message == "" || e.HTTP < 400 {
					t.Errorf("%+v", e)
				}
				if _, err := json.Marshal(e.Body()); err != nil {
					t.Error(err)
				}
				continue
			}
			for _, turn := range r.Turns {
				if turn.Role != synod.BySystem && turn.Role != synod.ByUser && turn.Role != synod.ByAssistant &&
					turn.Role != synod.ByTool {
					t.Errorf("role %q", turn.Role)
				}
			}
		}
	})
}

// What Anthropic's and OpenAI's newer API write is read as the same conversation.
func TestSameConversation(t *testing.T) {
	chat, e1 := ReadChat([]byte(`{"model":"a","messages":[{"role":"system","content":"S"},{"role":"user","content":"Q"},
		{"role":"assistant","content":null,"refusal":null,"annotations":[],"provider_specific_fields":{},
		"tool_calls":[{"id":"c1","type":"function",
		"function":{"name":"f","arguments":"{\"x\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"R"}]}`), Rules{})
	other, e2 := ReadResponses([]byte(`{"model":"a","instructions":"S","input":[{"role":"user","content":"Q"},
		{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\":1}"},
		{"type":"function_call_output","call_id":"c1","output":"R"}]}`), Rules{})
	third, e3 := ReadMessages([]byte(`{"model":"a","max_tokens":5,"system":"S","messages":[{"role":"user","content":"Q"},
		{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"x":1}}]},{"role":"user",
		"content":[{"type":"tool_result","tool_use_id":"c1","content":"R"}]}]}`), Rules{})
	if e1 != nil || e2 != nil || e3 != nil {
		t.Fatal(e1, e2, e3)
	}
	var texts []string
	for _, r := range []*Request{chat, other, third} {
		b, _ := json.Marshal(r.Turns)
		texts = append(texts, strings.ReplaceAll(string(b), " ", ""))
	}
	if texts[0] != texts[1] || texts[0] != texts[2] || len(chat.Turns) != 4 {
		t.Errorf("%s\n%s\n%s", texts[0], texts[1], texts[2])
	}
}
