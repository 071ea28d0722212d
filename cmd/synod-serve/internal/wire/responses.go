package wire

import (
	"encoding/json"
	"fmt"

	"synod.dev/synod"
)

// ReadResponses reads the body of POST /v1/responses.
func ReadResponses(body []byte, rules Rules) (*Request, *Error) {
	o, e := readObject(body)
	if e != nil {
		return nil, e
	}
	r := &Request{Body: body, N: 1, Store: true}
	o.options(r)
	o.take("model", &r.Model)
	o.take("stream", &r.Stream)
	o.whole("max_output_tokens", 1, mostWhole, &r.MaxTokens)
	o.take("store", &r.Store)
	o.take("previous_response_id", &r.Previous)
	o.textFormat(r)
	o.flatTools(r)
	o.choice(r)
	list := o.system("instructions")
	list = append(list, o.input()...)
	o.turns("input", list, r)
	drop := r.Synod.Drops(rules.Drop)
	var include []string
	if o.take("include", &include) && !drop && o.err == nil {
		for _, what := range include {
			if what != "reasoning.encrypted_content" { // councils show no reasoning, encrypted or not
				o.err = Unsupported("include", "include has %.60q, which a council's response does not have", what)
			}
		}
	}
	o.sampling(r)
	var background bool
	if o.take("background", &background) && background && o.err == nil {
		o.err = Unsupported("background", "background responses are not supported; use stream")
	}
	if o.err != nil {
		return nil, o.err
	}
	if len(r.Turns) == 0 {
		return nil, Invalid("input", "input is missing")
	}
	if e := r.check(rules); e != nil {
		return nil, e
	}
	return r, o.settle(r, drop, append([]string{"truncation", "stream_options"}, harmless...),
		append([]string{"reasoning"}, hints...))
}

// textFormat reads text.format.
func (o *object) textFormat(r *Request) {
	var text struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
		Verbosity string `json:"verbosity"`
	}
	if !o.take("text", &text) {
		return
	}
	switch text.Format.Type {
	case "", "text":
	case "json_object":
		r.Schema = anyObject
	case "json_schema":
		if r.Schema = text.Format.Schema; len(r.Schema) == 0 {
			o.err = Invalid("text.format", "text.format.schema is missing")
		}
	default:
		o.err = Invalid("text.format", "text.format.type is %.40q; it must be text, json_object or json_schema",
			text.Format.Type)
	}
	if text.Verbosity != "" {
		r.Ignored = append(r.Ignored, "text.verbosity")
	}
}

// flatTools reads tools, whose functions are not nested here.
func (o *object) flatTools(r *Request) {
	var list []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	o.take("tools", &list)
	for i, t := range list {
		if t.Type != "function" && o.err == nil {
			o.err = Unsupported("tools", "tools[%d].type is %.40q; councils call only tools of type function", i,
				t.Type)
		}
		r.Tools = append(r.Tools, synod.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
}

// item is an item of input.
type item struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Call      string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

// input reads a text, or a list of messages, calls of functions and their results.
func (o *object) input() (all []message) {
	var raw json.RawMessage
	if !o.take("input", &raw) {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []message{{"role": "user", "content": text}}
	}
	var items []item
	if json.Unmarshal(raw, &items) != nil {
		o.err = Invalid("input", "input must be a text or a list of items")
		return nil
	}
	for i, it := range items {
		m, err := it.chat()
		if err != nil {
			o.err = Invalid("input", "input[%d]: %v", i, err)
			return nil
		}
		last := len(all) - 1
		if calls, ok := m["tool_calls"].([]any); ok && last >= 0 && all[last]["role"] == "assistant" {
			before, _ := all[last]["tool_calls"].([]any)
			all[last]["tool_calls"] = append(before, calls...)
		} else if m != nil {
			all = append(all, m)
		}
	}
	return all
}

// chat returns the item as a message of a chat completion; nil if it says nothing to others.
func (it item) chat() (message, error) {
	switch it.Type {
	case "", "message":
		content, err := responseContent(it.Content)
		return message{"role": it.Role, "content": content}, err
	case "function_call":
		return message{"role": "assistant", "tool_calls": []any{chatCall(it.Call, it.Name, it.Arguments)}}, nil
	case "function_call_output":
		var text string
		if json.Unmarshal(it.Output, &text) != nil {
			blocks, err := readBlocks(it.Output)
			if err != nil {
				return nil, fmt.Errorf("output must be a text or a list of input_text")
			}
			for _, b := range blocks {
				if b.Type != "input_text" {
					return nil, fmt.Errorf("an output of type %.40q is not supported by councils", b.Type)
				}
				text += b.Text
			}
		}
		return message{"role": "tool", "tool_call_id": it.Call, "content": text}, nil
	case "reasoning":
		return nil, nil
	}
	return nil, fmt.Errorf("type is %.40q; it must be message, function_call, function_call_output or reasoning",
		it.Type)
}

// responseContent returns content as a chat completion has it.
func responseContent(raw json.RawMessage) (any, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
		Image   string `json:"image_url"`
		Name    string `json:"filename"`
		Data    string `json:"file_data"`
		Audio   any    `json:"input_audio"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil, fmt.Errorf("content must be a text or a list of parts")
	}
	var all []any
	for i, p := range parts {
		switch p.Type {
		case "input_text", "output_text", "text":
			all = append(all, map[string]any{"type": "text", "text": p.Text})
		case "refusal":
			all = append(all, map[string]any{"type": "text", "text": p.Refusal})
		case "input_image":
			all = append(all, map[string]any{"type": "image_url", "image_url": map[string]any{"url": p.Image}})
		case "input_file":
			all = append(all, map[string]any{"type": "file", "file": map[string]any{"filename": p.Name,
				"file_data": p.Data}})
		case "input_audio":
			all = append(all, map[string]any{"type": "input_audio", "input_audio": p.Audio})
		default:
			return nil, fmt.Errorf("content[%d].type is %.40q; it must be input_text, output_text, input_image, "+
				"input_file or input_audio", i, p.Type)
		}
	}
	return all, nil
}
