package gateway

import (
	"encoding/json"
	"net/http"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// messages is POST /v1/messages, Anthropic's API.
type messages struct{}

func (messages) name() string { return "messages" }

func (messages) read(body []byte, rules wire.Rules) (*wire.Request, *wire.Error) {
	return wire.ReadMessages(body, rules)
}

func (messages) refuse(w http.ResponseWriter, e *wire.Error) {
	w.Header().Set("Request-Id", w.Header().Get("X-Request-Id"))
	writeJSON(w, e.HTTP, e.AnthropicBody())
}

type messagesUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// messagesBody is a message of the assistant.
type messagesBody struct {
	ID      string        `json:"id"`
	Type    string        `json:"type"`
	Role    string        `json:"role"`
	Model   string        `json:"model"`
	Content []any         `json:"content"`
	Reason  *string       `json:"stop_reason"`
	Stop    *string       `json:"stop_sequence"`
	Usage   messagesUsage `json:"usage"`
	Synod   *Report       `json:"synod,omitempty"`
}

func (messages) empty(a *Answer) *messagesBody {
	return &messagesBody{ID: "msg_" + a.ID, Type: "message", Role: "assistant", Model: a.Model, Content: []any{},
		Usage: messagesUsage{a.Usage.Prompt, a.Usage.Completion}}
}

// blocks returns the blocks of an answer, the reason why it ends, and the stop sequence, nil if none ended it.
func (messages) blocks(a *Answer, r *wire.Request) (all []map[string]any, reason string, stop *string) {
	c := a.Choices[0]
	text, finish, matched := c.end(r)
	switch {
	case a.Refusal != "":
		return []map[string]any{{"type": "text", "text": a.Refusal}}, "refusal", nil
	case finish == finishTools:
		reason = "tool_use"
	case finish == finishLength:
		reason = "max_tokens"
	case finish == finishFilter:
		reason = "refusal"
	case matched != "":
		reason, stop = "stop_sequence", &matched
	default:
		reason = "end_turn"
	}
	if text != "" || len(c.Calls) == 0 {
		all = append(all, map[string]any{"type": "text", "text": text})
	}
	for _, call := range c.Calls {
		all = append(all, map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name,
			"input": call.Arguments})
	}
	return all, reason, stop
}

func (m messages) whole(a *Answer, r *wire.Request) any {
	body := m.empty(a)
	blocks, reason, stop := m.blocks(a, r)
	for _, b := range blocks {
		body.Content = append(body.Content, b)
	}
	body.Reason, body.Stop, body.Synod = &reason, stop, a.Synod
	return body
}

// send sends an event whose type is its name.
func (messages) send(s *sse, kind string, more map[string]any) {
	more["type"] = kind
	s.event(kind, more)
}

func (m messages) begin(s *sse, a *Answer, r *wire.Request) {
	m.send(s, "message_start", map[string]any{"message": m.empty(a)})
	m.send(s, "ping", map[string]any{})
}

func (m messages) progress(s *sse, _ *Answer, p Progress) {
	m.send(s, "ping", map[string]any{"synod": map[string]any{"progress": p}})
}

func (m messages) decide(s *sse, a *Answer, r *wire.Request) {
	blocks, reason, stop := m.blocks(a, r)
	for i, b := range blocks {
		m.block(s, i, b)
	}
	end := map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": stop},
		"usage": messagesUsage{a.Usage.Prompt, a.Usage.Completion}}
	if a.Synod != nil {
		end["synod"] = a.Synod
	}
	m.send(s, "message_delta", end)
	m.send(s, "message_stop", map[string]any{})
}

// block sends one block of a message.
func (m messages) block(s *sse, index int, block map[string]any) {
	first := map[string]any{"type": "text", "text": ""}
	var deltas []map[string]any
	if block["type"] == "tool_use" {
		first = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
		input, _ := block["input"].(json.RawMessage)
		deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": string(input)})
	} else {
		text, _ := block["text"].(string)
		for _, piece := range pieces(text) {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": piece})
		}
	}
	m.send(s, "content_block_start", map[string]any{"index": index, "content_block": first})
	for _, d := range deltas {
		m.send(s, "content_block_delta", map[string]any{"index": index, "delta": d})
	}
	m.send(s, "content_block_stop", map[string]any{"index": index})
}

func (messages) fail(s *sse, e *wire.Error) { s.event("error", e.AnthropicBody()) }
