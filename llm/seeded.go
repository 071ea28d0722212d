package llm

import (
	"encoding/json"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// schemaInWords asks for JSON in the prompt, where a server takes no schema.
func schemaInWords(schema json.RawMessage) string {
	return "\n\nReply with one JSON object and nothing else. It must satisfy this JSON schema:\n" + string(schema)
}

// seedOf returns the prompt's seed, cut to the 31 bits that every server accepts, or the
// configured one.
func seedOf(r Request, configured *int64) *int64 {
	if r.Prompt.Seed != 0 {
		return new(int64(r.Prompt.Seed & 0x7fffffff))
	}
	return configured
}

// seededChat is a rendered prompt with its seed, nil: none, and as it was asked.
type seededChat struct {
	prompt.Chat
	seed  *int64
	asked *synod.Prompt
}

// settings are the fields that every request in one dialect begins with.
type settings struct {
	Model               string   `json:"model"`
	Temperature         *float64 `json:"temperature,omitempty"`
	TopP                *float64 `json:"top_p,omitempty"`
	MaxTokens           int      `json:"max_tokens,omitempty"`
	MaxCompletionTokens int      `json:"max_completion_tokens,omitempty"`
	Logprobs            bool     `json:"logprobs,omitempty"`
}
