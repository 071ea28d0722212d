package llm

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"synod.dev/synod"
)

// anthropicVersion is the version of the Messages API that requests and replies follow.
const anthropicVersion = "2023-06-01"

// anthropic is the Messages API (platform.claude.com/docs/en/api/messages).
var anthropic = &maker{
	name: "anthropic", api: "Anthropic's Messages API", base: "https://api.anthropic.com", version: "v1",
	keyEnv: "ANTHROPIC_API_KEY", suffixes: []string{"/messages"},
	headers: func(key Secret) http.Header {
		h := jsonHeaders()
		h.Set("Anthropic-Version", anthropicVersion)
		if !key.IsZero() {
			h.Set("X-Api-Key", key.Reveal())
		}
		return h
	},
	paths: func(base *url.URL, model string) (*url.URL, *url.URL) {
		return base.JoinPath("messages"), base.JoinPath("models", url.PathEscape(model))
	},
	media:  anthropicMedia,
	body:   anthropicBody,
	read:   readAnthropic,
	errors: anthropicError,
	names:  func(body []byte) string { return field(body, "id") },
	all:    modelNames,
	most:   "limit=1000",
}

// The parts of a request to the Messages API.
type (
	anthropicRequest struct {
		Model       string             `json:"model"`
		MaxTokens   int                `json:"max_tokens"`
		System      []anthropicBlock   `json:"system,omitempty"`
		Messages    []anthropicMessage `json:"messages"`
		Temperature *float64           `json:"temperature,omitempty"`
		TopP        *float64           `json:"top_p,omitempty"`
		Thinking    *anthropicThinking `json:"thinking,omitempty"`
		Output      *anthropicOutput   `json:"output_config,omitempty"`
		Tools       []any              `json:"tools,omitempty"`
		ToolChoice  *anthropicType     `json:"tool_choice,omitempty"`
	}
	anthropicBlock struct {
		Type  string         `json:"type"`
		Text  string         `json:"text"`
		Cache *anthropicType `json:"cache_control,omitempty"`
	}
	anthropicType struct {
		Type string `json:"type"`
	}
	anthropicMessage struct {
		Role    string `json:"role"`
		Content []any  `json:"content"` // anthropicBlock, or a block of another type
	}
	anthropicThinking struct {
		Type   string `json:"type"` // enabled, disabled or adaptive
		Budget int    `json:"budget_tokens,omitempty"`
	}
	anthropicOutput struct {
		Format anthropicFormat `json:"format"`
	}
	anthropicFormat struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	}
)

// anthropicBody makes a request. The API knows no seed, refuses lengths in a schema, and
// takes no temperature and no top_p from a model that thinks.
func anthropicBody(c nativeConfig, d dialect, chat seededChat) any {
	b := anthropicRequest{Model: c.Model, MaxTokens: c.tokens()}
	system, turns := conversation(chat.System, &chat.Chat)
	b.Messages = anthropicTurns(turns)
	for _, text := range system {
		b.System = append(b.System, anthropicBlock{Type: "text", Text: text})
	}
	if b.Tools = calledTools(turns); b.Tools != nil {
		b.ToolChoice = &anthropicType{"none"}
	}
	if c.PromptCache && b.System != nil { // what follows the mark differs from call to call
		b.System[0].Cache = &anthropicType{"ephemeral"}
	}
	if c.Thinking != nil && !d.noThinking {
		b.Thinking = &anthropicThinking{Type: "enabled", Budget: *c.Thinking}
		switch *c.Thinking {
		case 0:
			b.Thinking = &anthropicThinking{Type: "disabled"}
		case thinkFreely:
			b.Thinking = &anthropicThinking{Type: "adaptive"}
		}
	}
	if b.Thinking == nil || b.Thinking.Type == "disabled" {
		if !d.noTemperature {
			b.Temperature = c.Temperature
		}
		if !d.noTopP {
			b.TopP = c.TopP
		}
	}
	if chat.Schema != nil && d.form < formObject {
		b.Output = &anthropicOutput{anthropicFormat{"json_schema", withoutBounds(chat.Schema)}}
	}
	return b
}

// readAnthropic reads a message. Blocks of thoughts are no part of the answer; their
// tokens are in output_tokens. Prompt counts all tokens of the prompt: the API reports
// those from and to its cache apart.
func readAnthropic(body []byte) (r nativeReply, err error) {
	var m struct {
		Type    string          `json:"type"`
		Model   json.RawMessage `json:"model"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		StopReason  string `json:"stop_reason"`
		StopDetails struct {
			Category string `json:"category"`
		} `json:"stop_details"`
		Usage map[string]json.RawMessage `json:"usage"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return r, err
	}
	n, fault := counts(m.Usage, "input_tokens", "output_tokens", "cache_read_input_tokens",
		"cache_creation_input_tokens")
	r.fault, r.model = fault, m.Model
	r.usage = synod.Usage{Prompt: synod.Sum(n[0], synod.Sum(n[2], n[3])), Completion: n[1], Cached: n[2], Stored: n[3]}
	var text strings.Builder
	tool := false
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "thinking", "redacted_thinking":
			r.thought = true
		case "tool_use":
			tool = true
		}
	}
	r.text = text.String()
	switch {
	case m.Type != "message":
		r.unusable = "JSON, but not a message of the Messages API"
	case m.StopReason == "refusal":
		r.refused = refusedFor("the model declined: it stopped with a refusal", m.StopDetails.Category)
	case m.StopReason == "max_tokens", m.StopReason == "model_context_window_exceeded":
		r.cut = true
	case tool && strings.TrimSpace(r.text) == "":
		r.unusable = "a tool call instead of text"
	case m.StopReason == "pause_turn":
		r.unusable = "the server paused in the middle of the reply"
	}
	return r, nil
}

// refusedFor adds the reason that a server gives for a refusal.
func refusedFor(what, category string) string {
	if category != "" {
		return what + " (" + category + ")"
	}
	return what
}

// anthropicError reads {"type":"error","error":{"type":…,"message":…}}.
func anthropicError(body []byte) serverError {
	var b struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Details struct {
				Code string `json:"error_code"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &b) != nil {
		return serverError{}
	}
	e := serverError{message: b.Error.Message, code: b.Error.Type}
	switch {
	case b.Error.Type == "authentication_error":
		return serverError{code: codeKey} // the message may contain a part of the key
	case b.Error.Type == "billing_error", strings.Contains(b.Error.Message, "credit balance is too low"):
		e.code = codeCredit
	case b.Error.Details.Code == "enforced_spend_limit_reached":
		e.code = codeQuota
	}
	return e
}

// field returns a string field of a JSON object; "" if it has none.
func field(body []byte, name string) string {
	var o map[string]json.RawMessage
	var s string
	if json.Unmarshal(body, &o) != nil || json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

var anthropicMedia = media{
	synod.Image: {"image/png", "image/jpeg", "image/gif", "image/webp"},
	synod.File:  {"application/pdf", "text/plain"},
}

// anthropicTurns returns the messages of a request to the Messages API. The API joins messages of one role; the
// council's own text is a block of its own.
func anthropicTurns(turns []synod.Turn) (all []anthropicMessage) {
	add := func(role string, more []any) {
		if last := len(all) - 1; last >= 0 && all[last].Role == role {
			all[last].Content = append(all[last].Content, more...)
			return
		}
		all = append(all, anthropicMessage{role, more})
	}
	for _, t := range turns {
		switch t.Role {
		case synod.ByUser:
			add("user", anthropicBlocks(&t))
		case synod.ByTool:
			add("user", []any{block{"type": "tool_result", "tool_use_id": t.Call, "content": t.Text}})
		default:
			var blocks []any
			if t.Text != "" {
				blocks = append(blocks, anthropicBlock{Type: "text", Text: t.Text})
			}
			for _, c := range t.Calls {
				blocks = append(blocks, block{"type": "tool_use", "id": c.ID, "name": c.Name,
					"input": json.RawMessage(arguments(&c))})
			}
			add("assistant", blocks)
		}
	}
	return all
}

func anthropicBlocks(t *synod.Turn) (blocks []any) {
	for i := range t.Parts {
		p := &t.Parts[i]
		source := block{"type": "base64", "media_type": p.Media, "data": base64Of(p)}
		if p.Media == "text/plain" {
			text := strings.ToValidUTF8(string(p.Data), "\uFFFD")
			source = block{"type": "text", "media_type": p.Media, "data": text}
		}
		b := block{"type": "image", "source": source}
		if p.Kind == synod.File {
			b["type"] = "document"
			if p.Name != "" {
				b["title"] = p.Name
			}
		}
		blocks = append(blocks, b)
	}
	if t.Text != "" {
		blocks = append(blocks, anthropicBlock{Type: "text", Text: t.Text})
	}
	return blocks
}

// calledTools declares the tools that a conversation has called, which the Messages API wants. No new call is
// allowed: the answer is text.
func calledTools(turns []synod.Turn) (tools []any) {
	var names []string
	for _, t := range turns {
		for _, c := range t.Calls {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
				tools = append(tools, block{"name": c.Name, "input_schema": block{"type": "object"}})
			}
		}
	}
	return tools
}
