package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// api is the format of requests and replies.
type api interface {
	parse(r *http.Request, body []byte) (Call, error)
	auth(h http.Header) string
	completion(x *Exchange, text, finish string) []byte
	failure(status int, code, message string) any
	list(r *http.Request) string
	lists(names []string) []byte
}

// apiOf returns the API that a request wants, by its path and headers.
func apiOf(r *http.Request) api {
	switch {
	case r.Header.Get("Anthropic-Version") != "":
		return messagesAPI{}
	case strings.HasSuffix(r.URL.Path, ":generateContent"), r.Header.Get("X-Goog-Api-Key") != "":
		return geminiAPI{}
	}
	return openaiAPI{}
}

type openaiAPI struct{}

func (openaiAPI) parse(_ *http.Request, body []byte) (Call, error) { return parse(body) }
func (openaiAPI) auth(h http.Header) string                        { return h.Get("Authorization") }
func (openaiAPI) list(*http.Request) string {
	return `{"object":"list","data":[{"id":"stub","object":"model"}]}`
}

func (openaiAPI) lists(names []string) []byte { return listed("data", "id", "", names) }

// listed returns a list of models under a key, with each name under another one.
func listed(key, id, before string, names []string) []byte {
	var all []map[string]string
	for _, name := range names {
		all = append(all, map[string]string{id: before + name})
	}
	b, _ := json.Marshal(map[string]any{key: all})
	return b
}

func (openaiAPI) completion(x *Exchange, text, finish string) []byte {
	return x.completion(text, finish)
}

func (openaiAPI) failure(_ int, code, message string) any {
	return map[string]any{"error": map[string]any{"message": message, "type": code, "code": code, "param": nil}}
}

// tokens counts one token for four bytes of prompt and of reply.
func tokens(x *Exchange, text string) (in, out int) {
	return (len(x.System)+len(x.User))/4 + 1, len(text)/4 + 1
}

// messagesAPI is Anthropic's.
type messagesAPI struct{}

func (messagesAPI) auth(h http.Header) string { return h.Get("X-Api-Key") }

func (messagesAPI) list(r *http.Request) string {
	id, _ := json.Marshal(path.Base(r.URL.Path))
	return `{"type":"model","id":` + string(id) + `,"display_name":"Stub","created_at":"2025-10-01T00:00:00Z"}`
}

func (messagesAPI) lists(names []string) []byte { return listed("data", "id", "", names) }

// block is a part of a message: its text, and whether the prompt up to it is to be cached.
type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Cache json.RawMessage `json:"cache_control"`
}

// messagesRequest is the body of a request.
type messagesRequest struct {
	Model       string   `json:"model"`
	MaxTokens   int      `json:"max_tokens"`
	System      []block  `json:"system"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	Messages    []struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	} `json:"messages"`
	Thinking *struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	Output *struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

// check refuses what Anthropic's servers refuse.
func (w *messagesRequest) check() error {
	thinks := w.Thinking != nil && w.Thinking.Type != "disabled"
	switch {
	case w.MaxTokens < 1:
		return fmt.Errorf("max_tokens: Field required")
	case thinks && (w.Temperature != nil || w.TopP != nil):
		return fmt.Errorf("`temperature` may only be set to 1 when thinking is enabled")
	case thinks && w.Thinking.Type == "enabled" && (w.Thinking.Budget < 1024 || w.Thinking.Budget >= w.MaxTokens):
		return fmt.Errorf("thinking.enabled.budget_tokens: must be at least 1024 and below max_tokens")
	}
	return nil
}

func (messagesAPI) parse(_ *http.Request, body []byte) (Call, error) {
	var w messagesRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return Call{}, fmt.Errorf("llmtest: request body: %w", err)
	}
	if err := w.check(); err != nil {
		return Call{}, err
	}
	c := Call{Model: w.Model, MaxTokens: w.MaxTokens, Temperature: w.Temperature, TopP: w.TopP, Body: body}
	for _, b := range w.System {
		c.System = join(c.System, b.Text)
	}
	for _, m := range w.Messages {
		for _, b := range m.Content {
			if m.Role == "assistant" {
				c.Said = join(c.Said, b.Text)
				continue
			}
			c.User = join(c.User, b.Text)
		}
	}
	if w.Output != nil {
		c.Format, c.Schema = w.Output.Format.Type, w.Output.Format.Schema
	}
	return c, nil
}

func (messagesAPI) completion(x *Exchange, text, finish string) []byte {
	stop := map[string]string{"length": "max_tokens", "content_filter": "refusal"}[finish]
	if stop == "" {
		stop = "end_turn"
	}
	in, out := tokens(x, text)
	b, _ := json.Marshal(map[string]any{
		"id": fmt.Sprintf("msg_%d", x.N), "type": "message", "role": "assistant", "model": x.Model,
		"content":     []map[string]any{{"type": "text", "text": text}},
		"stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": in, "output_tokens": out, "cache_creation_input_tokens": 0,
			"cache_read_input_tokens": 0}})
	return b
}

// errorTypes are the types of Anthropic's errors by HTTP status.
var errorTypes = map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
	403: "permission_error", 404: "not_found_error", 429: "rate_limit_error", 504: "timeout_error",
	529: "overloaded_error"}

func (messagesAPI) failure(status int, _, message string) any {
	kind := errorTypes[status]
	if kind == "" {
		kind = "api_error"
	}
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message},
		"request_id": "req_stub"}
}

// geminiAPI is Google's.
type geminiAPI struct{}

func (geminiAPI) auth(h http.Header) string { return h.Get("X-Goog-Api-Key") }

func (geminiAPI) list(r *http.Request) string {
	name, _ := json.Marshal("models/" + path.Base(r.URL.Path))
	return `{"name":` + string(name) + `,"supportedGenerationMethods":["generateContent","countTokens"]}`
}

func (geminiAPI) lists(names []string) []byte { return listed("models", "name", "models/", names) }

// content is a turn: its parts.
type content struct {
	Role  string `json:"role"`
	Parts []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

func (c content) text() (all string) {
	for _, p := range c.Parts {
		all = join(all, p.Text)
	}
	return all
}

func (geminiAPI) parse(r *http.Request, body []byte) (Call, error) {
	var w struct {
		System   content   `json:"systemInstruction"`
		Contents []content `json:"contents"`
		Config   struct {
			Temperature *float64        `json:"temperature"`
			TopP        *float64        `json:"topP"`
			MaxTokens   int             `json:"maxOutputTokens"`
			Seed        *int64          `json:"seed"`
			MIMEType    string          `json:"responseMimeType"`
			Schema      json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return Call{}, fmt.Errorf("llmtest: request body: %w", err)
	}
	c := Call{Model: strings.TrimSuffix(path.Base(r.URL.Path), ":generateContent"), System: w.System.text(),
		Temperature: w.Config.Temperature, TopP: w.Config.TopP, MaxTokens: w.Config.MaxTokens, Seed: w.Config.Seed,
		Format: w.Config.MIMEType, Schema: w.Config.Schema, Body: body}
	for _, turn := range w.Contents {
		if turn.Role == "model" {
			c.Said = join(c.Said, turn.text())
			continue
		}
		c.User = join(c.User, turn.text())
	}
	return c, nil
}

func (geminiAPI) completion(x *Exchange, text, finish string) []byte {
	stop := map[string]string{"length": "MAX_TOKENS", "content_filter": "SAFETY"}[finish]
	if stop == "" {
		stop = "STOP"
	}
	in, out := tokens(x, text)
	b, _ := json.Marshal(map[string]any{
		"candidates": []map[string]any{{"content": map[string]any{"role": "model",
			"parts": []map[string]any{{"text": text}}}, "finishReason": stop, "index": 0}},
		"usageMetadata": map[string]any{"promptTokenCount": in, "candidatesTokenCount": out,
			"totalTokenCount": in + out},
		"modelVersion": x.Model, "responseId": fmt.Sprint(x.N)})
	return b
}

// statusNames are Google's names of HTTP statuses.
var statusNames = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
	404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}

func (geminiAPI) failure(status int, _, message string) any {
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": statusNames[status]}}
}
