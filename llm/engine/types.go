package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// LibraryVersion is the release of llama.cpp that this build supports. Builds of that
// release may report the version 0.5.0-dev.
const LibraryVersion = "0.5.0"

// Message is one message of a conversation. Role is system, user or assistant.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request asks for text. Set either Messages, which are rendered with the model's chat
// template, or Prompt, which is used as it is.
type Request struct {
	Messages []Message `json:"messages,omitempty"`
	Prompt   string    `json:"prompt,omitempty"`

	Grammar     string   `json:"grammar,omitempty"` // GBNF; [Grammar] makes one from a JSON schema
	Seed        uint64   `json:"seed,omitempty"`
	Temperature float64  `json:"temperature,omitempty"` // 0 to 10; 0 is greedy, and the seed has no effect
	TopP        float64  `json:"top_p,omitempty"`       // 0 to 1; both 0 and 1 keep all tokens
	MaxTokens   int      `json:"max_tokens,omitempty"`  // 0 means 256
	Stop        []string `json:"stop,omitempty"`        // strings that end the text; not part of it
	Logprobs    bool     `json:"logprobs,omitempty"`
	Capture     *Capture `json:"capture,omitempty"` // hidden states to return; needs Config.Hidden
}

// Usage counts tokens. Shared is the number of prompt tokens that were not computed
// because another sequence had computed them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Shared           int `json:"shared"`
}

// Result is generated text. Finish is "stop" (the model, the grammar or a stop string
// ended the text) or "length". Logprobs, if requested, has the natural log-probability
// of each token, before temperature and grammar are applied.
type Result struct {
	Usage
	Text     string    `json:"text"`
	Finish   string    `json:"finish"`
	Logprobs []float64 `json:"logprobs,omitempty"`
	States   *States   `json:"states,omitempty"` // if a Capture was given
}

// LogProb is the natural log-probability of a continuation: the sum over its tokens and
// the mean per token.
type LogProb struct {
	Sum    float64 `json:"sum"`
	Mean   float64 `json:"mean"`
	Tokens int     `json:"tokens"`
}

// Info describes the running engine and model. It is part of the record of a run, because
// the same seed gives the same text only with the same engine, kernels and batch shape.
type Info struct {
	Description    string `json:"description"` // llama.cpp's line: family, size, quantisation
	Name           string `json:"name"`
	Architecture   string `json:"architecture"`
	Params         uint64 `json:"params"`
	Bytes          uint64 `json:"bytes"`
	ContextTrained int    `json:"context_trained"`
	Vocabulary     int    `json:"vocabulary"`
	Layers         int    `json:"layers"`
	Width          int    `json:"width"`  // of a hidden state
	Hidden         bool   `json:"hidden"` // hidden states are available

	Template       string `json:"template"` // the chat template in the file; "" for a base model
	TemplateSHA256 string `json:"template_sha256"`
	Rendering      string `json:"rendering"` // "template", or why it is a plain transcript

	Library string `json:"library"` // llama.cpp version
	Ggml    string `json:"ggml"`
	CPU     string `json:"cpu"`      // CPU variant selected by ggml
	System  string `json:"features"` // instruction sets in use

	Threads int `json:"threads"`
	Seqs    int `json:"seqs"`
	Context int `json:"context"`
	Cells   int `json:"cells"`
	Batch   int `json:"batch"`
}

// Identity returns a short digest of everything in Info that can change a text. It
// covers the weights only by their description; use their SHA-256 as well.
func (i Info) Identity() string {
	i.Template = "" // TemplateSHA256 stays
	i.Hidden = false
	raw, _ := json.Marshal(i)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}
