package gateway

import (
	"encoding/json"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// completions is POST /v1/completions, OpenAI's API before there were chats. It takes a prompt and no stream.
type completions struct{ chat }

func (completions) name() string { return "completions" }

// read reads the prompt as the only message of a chat.
func (completions) read(body []byte, rules wire.Rules) (*wire.Request, *wire.Error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(body, &keys); err != nil {
		return nil, wire.Invalid("", "the body is no JSON object: %v", err)
	}
	var prompt string
	if err := json.Unmarshal(keys["prompt"], &prompt); err != nil {
		return nil, wire.Invalid("prompt", "prompt must be a text")
	}
	if _, has := keys["stream"]; has {
		return nil, wire.Unsupported("stream", "this route has no streams; use /v1/chat/completions")
	}
	delete(keys, "prompt")
	keys["messages"], _ = json.Marshal([]map[string]string{{"role": "user", "content": prompt}}) // texts can be written
	body, _ = json.Marshal(keys)
	return wire.ReadChat(body, rules)
}

func (completions) whole(a *Answer, r *wire.Request) any {
	choices := []map[string]any{}
	for i, c := range a.Choices {
		text, finish, _ := c.end(r)
		choices = append(choices, map[string]any{"index": i, "text": text, "finish_reason": finish})
	}
	return map[string]any{"id": "cmpl-" + a.ID, "object": "text_completion", "created": a.Created.Unix(),
		"model": a.Model, "choices": choices, "usage": a.Usage.chat()}
}
