package wire

import (
	"encoding/json"
	"maps"

	"synod.dev/synod"
)

// Chat returns the request as a chat completion with these messages, for a server that has no other API.
func (r *Request) Chat(messages json.RawMessage) (Head, error) {
	all := map[string]any{"messages": messages}
	maps.Copy(all, r.Sampling)
	if len(r.Tools) > 0 {
		all["tools"] = chatTools(r.Tools)
		switch r.Choice {
		case ChoiceAuto:
		case ChoiceNone, ChoiceRequired:
			all["tool_choice"] = r.Choice
		default:
			all["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": r.Choice}}
		}
	}
	switch {
	case string(r.Schema) == string(anyObject):
		all["response_format"] = map[string]any{"type": "json_object"}
	case len(r.Schema) > 0:
		all["response_format"] = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": "answer", "schema": r.Schema}}
	}
	if len(r.Stop) > 0 {
		all["stop"] = r.Stop
	}
	if r.MaxTokens > 0 {
		all["max_tokens"] = r.MaxTokens
	}
	if r.Seed != nil {
		all["seed"] = *r.Seed
	}
	h := Head{Model: r.Model, Members: Members{}}
	for key, v := range all {
		b, err := json.Marshal(v)
		if err != nil {
			return h, err
		}
		h.Members[key] = b
	}
	return h, nil
}

func chatTools(tools []synod.Tool) []any {
	all := make([]any, len(tools))
	for i, t := range tools {
		f := map[string]any{"name": t.Name}
		if t.Description != "" {
			f["description"] = t.Description
		}
		if len(t.Parameters) > 0 {
			f["parameters"] = t.Parameters
		}
		all[i] = map[string]any{"type": "function", "function": f}
	}
	return all
}
