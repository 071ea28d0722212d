package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// LibraryVersion is the llama.cpp this build was made and measured for. Builds
// of that release may call themselves 0.5.0-dev.
const LibraryVersion = "0.5.0"

// Message is one turn of a conversation. Role is system, user or assistant.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request asks for text. Give either Messages, rendered by the model's chat
// template, or Prompt, taken as it is.
type Request struct {
	Messages []Message `json:"messages,omitempty"`
	Prompt   string    `json:"prompt,omitempty"`

	Grammar     string   `json:"grammar,omitempty"` // GBNF; see [Grammar] for one from a JSON schema
	Seed        uint64   `json:"seed,omitempty"`
	Temperature float64  `json:"temperature,omitempty"` // 0 is greedy: the seed does nothing
	TopP        float64  `json:"top_p,omitempty"`       // 0 and 1 keep all
	MaxTokens   int      `json:"max_tokens,omitempty"`  // 0 means 256
	Stop        []string `json:"stop,omitempty"`        // not part of the text
	Logprobs    bool     `json:"logprobs,omitempty"`
	Capture     *Capture `json:"capture,omitempty"` // hidden states wanted; needs Config.Hidden
}

// Usage counts tokens. Shared is how many of the prompt's were not computed
// because another sequence had them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Shared           int `json:"shared"`
}

// Result is generated text. Finish is "stop" (the model, the grammar or a stop
// string ended it) or "length". Logprobs, if asked for, has one natural
// logarithm a token, before temperature and grammar.
type Result struct {
	Usage
	Text     string    `json:"text"`
	Finish   string    `json:"finish"`
	Logprobs []float64 `json:"logprobs,omitempty"`
	States   *States   `json:"states,omitempty"` // if a Capture was given
}

// Score is the natural log-probability of a continuation, and that per token.
type Score struct {
	Sum    float64 `json:"sum"`
	Mean   float64 `json:"mean"`
	Tokens int     `json:"tokens"`
}

// Info says what is running. It belongs into the record of a run: the same
// seed gives the same text only on the same engine, kernels and batch shape.
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
	Hidden         bool   `json:"hidden"` // hidden states can be had

	Template       string `json:"template"` // the chat template in the file, or ""
	TemplateSHA256 string `json:"template_sha256"`
	Rendering      string `json:"rendering"` // "template", or why it is a plain transcript

	Library string `json:"library"` // llama.cpp version
	Ggml    string `json:"ggml"`
	CPU     string `json:"cpu"`      // the CPU variant that ggml picked
	System  string `json:"features"` // instruction sets in use

	Threads int `json:"threads"`
	Seqs    int `json:"seqs"`
	Context int `json:"context"`
	Cells   int `json:"cells"`
	Batch   int `json:"batch"`
}

// HasTemplate reports whether the model file has a chat template; one without
// is a base model that was not trained to converse.
func (i Info) HasTemplate() bool { return i.Template != "" }

// Identity is a short digest of everything here that can change a text. The
// weights are in it by description only: put their SHA-256 beside it.
func (i Info) Identity() string {
	i.Template = "" // its hash stays
	i.Hidden = false
	raw, _ := json.Marshal(i)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}
