package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
)

// ReadMessages reads the body of POST /v1/messages, Anthropic's API.
func ReadMessages(body []byte, rules Rules) (*Request, *Error) {
	o, e := readObject(body)
	if e != nil {
		return nil, e
	}
	r := &Request{Body: body, N: 1, Usage: true}
	o.options(r)
	o.take("model", &r.Model)
	o.take("stream", &r.Stream)
	if !o.whole("max_tokens", 1, mostWhole, &r.MaxTokens) && o.err == nil {
		o.err = Invalid("max_tokens", "max_tokens is missing; it must be a whole number, such as 1024")
	}
	o.stop("stop_sequences", r)
	o.anthropicTools(r)
	o.outputConfig(r)
	o.anthropicTurns(r)
	o.sampling(r)
	if o.err != nil {
		return nil, o.err
	}
	if e := r.check(rules); e != nil {
		return nil, e
	}
	return r, o.settle(r, r.Synod.Drops(rules.Drop), []string{"metadata", "service_tier", "container"},
		[]string{"thinking", "context_management"})
}

// anthropicTurns reads the system prompt and the messages.
func (o *object) anthropicTurns(r *Request) {
	list := o.system("system")
	var messages []anthropicMessage
	o.take("messages", &messages)
	for i, m := range messages {
		more, err := m.chat()
		if err != nil && o.err == nil {
			o.err = Invalid("messages", "messages[%d]: %v", i, err)
		}
		list = append(list, more...)
	}
	o.turns("messages", list, r)
}

// BytesPerToken is how many bytes of a text count as one token, where nobody has counted.
const BytesPerToken = 4

// partTokens is how many tokens an image or a document counts as.
const partTokens = 1600

// CountMessages reads the body of POST /v1/messages/count_tokens, and estimates how many tokens it has: a token for
// four bytes of texts and tools, and 1,600 for an image or a document. Each model counts otherwise.
func CountMessages(body []byte) (model string, tokens int, e *Error) {
	o, e := readObject(body)
	if e != nil {
		return "", 0, e
	}
	r := &Request{}
	o.take("model", &model)
	o.anthropicTools(r)
	o.anthropicTurns(r)
	if o.err == nil && len(r.Turns) == 0 {
		o.err = Invalid("messages", "there is no message")
	}
	size := 0
	for _, t := range r.Turns {
		size += len(t.Text)
		tokens += partTokens * len(t.Parts)
		for _, c := range t.Calls {
			size += len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range r.Tools {
		size += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return model, tokens + (size+BytesPerToken-1)/BytesPerToken, o.err
}

// outputConfig reads output_config: the schema that an answer follows. Its effort is the members' own.
func (o *object) outputConfig(r *Request) {
	var c struct {
		Effort string `json:"effort"`
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	}
	if !o.take("output_config", &c) {
		return
	}
	if c.Effort != "" {
		r.Ignored = append(r.Ignored, "output_config.effort")
	}
	switch r.Schema = c.Format.Schema; {
	case c.Format.Type == "" && len(r.Schema) == 0:
	case c.Format.Type != "json_schema":
		o.err = Invalid("output_config", "output_config.format.type is %.40q; it must be json_schema", c.Format.Type)
	case len(r.Schema) == 0:
		o.err = Invalid("output_config", "output_config.format.schema is missing")
	}
}

// message is a message of a chat completion, the form into which all APIs are read.
type message map[string]any

// turns reads messages of chat completions.
func (o *object) turns(key string, list []message, r *Request) {
	if o.err != nil || len(list) == 0 {
		return
	}
	raw, err := json.Marshal(list)
	if err == nil {
		r.Turns, err = council.ReadMessages(raw)
	}
	if err != nil {
		o.err = Invalid(key, "%v", err)
	}
}

// system reads a system prompt: a text or blocks of text.
func (o *object) system(key string) []message {
	var raw json.RawMessage
	if !o.take(key, &raw) {
		return nil
	}
	blocks, err := readBlocks(raw)
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	if err != nil {
		o.err = Invalid(key, "%s must be a text or a list of blocks of text", key)
	}
	return []message{{"role": "system", "content": strings.Join(texts, "\n")}}
}

// block is a part of a message of Anthropic's API.
type block struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Title  string `json:"title"`
	Source struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
	} `json:"source"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Of      string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
}

// readBlocks reads content: a text or a list of blocks.
func readBlocks(raw json.RawMessage) (blocks []block, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}, nil
	}
	err = json.Unmarshal(raw, &blocks)
	return blocks, err
}

type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// chat returns the message as messages of a chat completion: results of tools are messages of their own there.
func (m anthropicMessage) chat() (all []message, err error) {
	if !slices.Contains([]string{"user", "assistant", "system"}, m.Role) {
		return nil, fmt.Errorf("role is %.40q; it must be user, assistant or system", m.Role)
	}
	blocks, err := readBlocks(m.Content)
	if err != nil {
		return nil, fmt.Errorf("content must be a text or a list of blocks")
	}
	var parts []map[string]any
	var calls []any
	for i, b := range blocks {
		switch b.Type {
		case "text":
			parts = append(parts, map[string]any{"type": "text", "text": b.Text})
		case "image", "document":
			p, err := b.part()
			if err != nil {
				return nil, fmt.Errorf("content[%d]: %w", i, err)
			}
			parts = append(parts, p)
		case "tool_use":
			calls = append(calls, chatCall(b.ID, b.Name, string(b.Input)))
		case "tool_result":
			text, err := b.result()
			if err != nil {
				return nil, fmt.Errorf("content[%d]: %w", i, err)
			}
			all = append(all, message{"role": "tool", "tool_call_id": b.Of, "content": text})
		case "thinking", "redacted_thinking": // an assistant's, of no use to others
		default:
			return nil, fmt.Errorf("content[%d].type is %.40q; it must be text, image, document, tool_use or "+
				"tool_result",
				i, b.Type)
		}
	}
	if len(parts)+len(calls) > 0 {
		one := message{"role": m.Role, "content": parts}
		if len(calls) > 0 {
			one["tool_calls"] = calls
		}
		all = append(all, one)
	}
	return all, nil
}

func chatCall(id, name, arguments string) any {
	return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name,
		"arguments": arguments}}
}

// part returns an image or a document as a part of a chat completion.
func (b *block) part() (map[string]any, error) {
	if b.Source.Type != "base64" {
		return nil, fmt.Errorf("source.type is %.40q; it must be base64: addresses and uploaded files are not fetched",
			b.Source.Type)
	}
	url := "data:" + b.Source.Media + ";base64," + b.Source.Data
	if b.Type == "image" {
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}}, nil
	}
	name := b.Title
	if name == "" {
		name = "document"
	}
	return map[string]any{"type": "file", "file": map[string]any{"filename": name, "file_data": url}}, nil
}

// result returns the text of a tool's result.
func (b *block) result() (string, error) {
	if len(b.Content) == 0 {
		return "", nil
	}
	blocks, err := readBlocks(b.Content)
	if err != nil {
		return "", fmt.Errorf("the content of a tool_result must be a text or blocks of text")
	}
	var texts []string
	for _, part := range blocks {
		if part.Type != "text" {
			return "", fmt.Errorf("a tool_result with a block of type %.40q is not supported by councils", part.Type)
		}
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n"), nil
}

// anthropicTools reads tools and tool_choice.
func (o *object) anthropicTools(r *Request) {
	var list []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	o.take("tools", &list)
	for i, t := range list {
		if t.Type != "" && t.Type != "custom" && o.err == nil {
			o.err = Unsupported("tools", "tools[%d].type is %.40q; councils call only a client's own tools", i, t.Type)
		}
		r.Tools = append(r.Tools, synod.Tool{Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	var choice struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		Parallel *bool  `json:"disable_parallel_tool_use"`
	}
	if !o.take("tool_choice", &choice) {
		return
	}
	switch choice.Type {
	case "auto":
	case "any":
		r.Choice = ChoiceRequired
	case "none":
		r.Choice = ChoiceNone
	case "tool":
		r.Choice = Choice(choice.Name)
	default:
		o.err = Invalid("tool_choice", "tool_choice.type is %.40q; it must be auto, any, tool or none", choice.Type)
	}
}

// AnthropicBody is the error in the shape of Anthropic's API.
func (e *Error) AnthropicBody() any {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 422: "invalid_request_error", 429: "rate_limit_error",
		503: "overloaded_error"}[e.HTTP]
	if e.Class() == "server_error" && e.HTTP < 500 { // the request is fine
		kind = "api_error"
	}
	if kind == "" {
		kind = "api_error"
		if e.HTTP < 500 {
			kind = "invalid_request_error"
		}
	}
	body := map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": e.Message, "code": e.Code}}
	if e.Synod != nil {
		body["synod"] = e.Outcome()
	}
	return body
}
