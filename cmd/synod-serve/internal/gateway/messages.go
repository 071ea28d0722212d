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

// reason is why an answer ends, and the stop sequence that ended it, nil if none did.
func (messages) reason(a *Answer, r *wire.Request) (reason string, stop *string) {
	_, finish, matched := a.Choices[0].end(r)
	switch {
	case a.Refusal != "":
		return "refusal", nil
	case finish == finishTools:
		return "tool_use", nil
	case finish == finishLength:
		return "max_tokens", nil
	case finish == finishFilter:
		return "refusal", nil
	case matched != "":
		return "stop_sequence", &matched
	}
	return "end_turn", nil
}

func (m messages) whole(a *Answer, r *wire.Request) any {
	body := m.empty(a)
	for _, b := range a.blocks(r) {
		if b.kind == saidCall {
			body.Content = append(body.Content, map[string]any{"type": "tool_use", "id": b.id, "name": b.name,
				"input": json.RawMessage(b.text)})
			continue
		}
		body.Content = append(body.Content, map[string]any{"type": "text", "text": string(b.text)})
	}
	reason, stop := m.reason(a, r)
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

func (m messages) decide(s *sse, a *Answer, r *wire.Request) { tell(m, s, a, r) }

func (m messages) open(s *sse, _ *Answer, number int, b *block) {
	first := map[string]any{"type": "text", "text": ""}
	if b.kind == saidCall {
		first = map[string]any{"type": "tool_use", "id": b.id, "name": b.name, "input": map[string]any{}}
	}
	m.send(s, "content_block_start", map[string]any{"index": number, "content_block": first})
}

func (m messages) add(s *sse, _ *Answer, number int, b *block, piece string) {
	delta := map[string]any{"type": "text_delta", "text": piece}
	if b.kind == saidCall {
		delta = map[string]any{"type": "input_json_delta", "partial_json": piece}
	}
	m.send(s, "content_block_delta", map[string]any{"index": number, "delta": delta})
}

func (m messages) close(s *sse, _ *Answer, number int, _ *block) {
	m.send(s, "content_block_stop", map[string]any{"index": number})
}

func (m messages) end(s *sse, a *Answer, r *wire.Request, spent any) {
	reason, stop := m.reason(a, r)
	end := map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": stop},
		"usage": messagesUsage{a.Usage.Prompt, a.Usage.Completion}}
	if spent != nil {
		end["synod"] = spent
	}
	if a.Synod != nil {
		end["synod"] = a.Synod
	}
	m.send(s, "message_delta", end)
	m.send(s, "message_stop", map[string]any{})
}

func (messages) fail(s *sse, e *wire.Error) { s.event("error", e.AnthropicBody()) }
