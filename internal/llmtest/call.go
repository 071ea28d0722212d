package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Call is a request as the server read it.
type Call struct {
	N           int // from 0, in the order in which calls came to this server
	Model       string
	System      string
	User        string
	Format      string          // type of response_format, "" if there is none
	Schema      json.RawMessage // of a json_schema response_format
	Temperature *float64
	TopP        *float64
	MaxTokens   int
	Seed        *int64
	Logprobs    bool
	Auth        string          // the Authorization header
	Body        json.RawMessage // the whole body
}

// parse reads a body; what a model server would refuse is an error.
func parse(body []byte) (Call, error) {
	var w struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
		Temperature    *float64 `json:"temperature"`
		TopP           *float64 `json:"top_p"`
		MaxTokens      int      `json:"max_tokens"`
		MaxCompletion  int      `json:"max_completion_tokens"`
		Seed           *int64   `json:"seed"`
		Logprobs       bool     `json:"logprobs"`
		ResponseFormat *struct {
			Type   string `json:"type"`
			Schema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return Call{}, fmt.Errorf("llmtest: request body: %w", err)
	}
	c := Call{Model: w.Model, Temperature: w.Temperature, TopP: w.TopP, MaxTokens: max(w.MaxTokens, w.MaxCompletion),
		Seed: w.Seed, Logprobs: w.Logprobs, Body: body}
	for _, m := range w.Messages {
		switch m.Role {
		case "system", "developer":
			c.System = join(c.System, m.Content)
		case "user":
			c.User = join(c.User, m.Content)
		}
	}
	if w.ResponseFormat != nil {
		c.Format, c.Schema = w.ResponseFormat.Type, w.ResponseFormat.Schema.Schema
	}
	return c, nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// Scoring reports whether the call asks for a score: its schema says so, in its
// own place or in words, or a prompt without one ends in "Score:".
func (c Call) Scoring() bool {
	switch {
	case c.Schema != nil:
		return strings.Contains(string(c.Schema), `"score"`)
	case strings.Contains(c.System, `"score":{`):
		return true
	}
	return strings.HasSuffix(strings.TrimSpace(c.User), "Score:")
}

// typed reports whether the call asks for a JSON object.
func (c Call) typed() bool { return c.Format != "" || strings.Contains(c.System, `"properties":{`) }

// Fixed always gives one answer, and one score to whatever it is asked to
// judge: as a JSON object where one is asked for, else as "Answer: …" or a bare
// number.
func Fixed(answer string, score float64) Handler {
	return func(c Call) string {
		switch {
		case c.Scoring() && c.typed():
			return fmt.Sprintf(`{"reasoning":"seen","score":%g}`, score)
		case c.Scoring():
			return fmt.Sprint(score)
		case c.typed():
			quoted, _ := json.Marshal(answer)
			return `{"reasoning":"seen","answer":` + string(quoted) + `}`
		default:
			return "Answer: " + answer
		}
	}
}
