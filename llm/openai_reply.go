package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"synod.dev/synod"
)

// completion is what is read of a chat completion. Missing and empty differ:
// no choices at all is another format, none in the list a server's failure.
type completion struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Message      *spoken   `json:"message"`
	FinishReason string    `json:"finish_reason"`
	Logprobs     *logprobs `json:"logprobs"`
}

type spoken struct {
	Content   content           `json:"content"`
	Refusal   string            `json:"refusal"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
	Thought   string            `json:"reasoning_content"`
	Reasoning string            `json:"reasoning"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
}

type logprobs struct {
	Content []struct {
		Logprob float64 `json:"logprob"`
	} `json:"content"`
}

// content is a string, or the list of parts that some gateways make of it.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, (*string)(c))
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var s strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			s.WriteString(p.Text)
		}
	}
	*c = content(s.String())
	return nil
}

// read makes a reply out of a 200.
func (m *OpenAI) read(a answer, wantJSON bool) (synod.Reply, *Failure) {
	var c completion
	if err := json.Unmarshal(a.body, &c); err != nil {
		return synod.Reply{}, notJSON(a.body, err)
	}
	reply := synod.Reply{Status: synod.OK}
	if c.Usage != nil {
		reply.Usage = synod.Usage{Prompt: max(0, c.Usage.Prompt), Completion: max(0, c.Usage.Completion)}
	}
	switch {
	case len(c.Error) > 0 && string(c.Error) != "null" && len(c.Choices) == 0:
		return reply, m.errorInside(a.body)
	case c.Choices == nil:
		return reply, unreadable("JSON, but not a chat completion: it has no choices")
	case len(c.Choices) == 0:
		return reply, &Failure{Status: synod.Unavailable, Retryable: true, Err: errors.New("the server answered with an empty list of choices")}
	case c.Choices[0].Message == nil:
		return reply, unreadable("a chat completion without a message")
	}
	first := c.Choices[0]
	if f := first.failure(m.cfg.MaxTokens, wantJSON); f != nil {
		return reply, f
	}
	reply.Text = m.withoutKey(string(first.Message.Content))
	if first.FinishReason == "length" {
		reply.Detail = "cut at max_tokens"
	}
	if l := first.Logprobs; l != nil && len(l.Content) > 0 {
		sum := 0.0
		for _, t := range l.Content {
			sum += t.Logprob
		}
		reply.Logprob = new(sum / float64(len(l.Content)))
	}
	return reply, nil
}

// withoutKey keeps a server that echoes its request from putting the key on
// record. A short key, as local servers take any word, may be part of an answer.
func (m *OpenAI) withoutKey(text string) string {
	if len(m.cfg.Key.Reveal()) < 16 {
		return text
	}
	return m.cfg.Key.Redact(text)
}

// failure says why a choice has no usable text, nil if it has.
func (c choice) failure(maxTokens int, wantJSON bool) *Failure {
	text := strings.TrimSpace(string(c.Message.Content))
	limit := "the token limit"
	if maxTokens > 0 {
		limit = fmt.Sprintf("max_tokens (%d)", maxTokens)
	}
	switch {
	case c.FinishReason == "content_filter":
		return &Failure{Status: synod.Refused, Err: errors.New("stopped by the provider's content filter")}
	case text == "" && c.Message.Refusal != "":
		return &Failure{Status: synod.Refused, Err: errors.New("the model declined: its reply is marked as a refusal")}
	case text == "" && c.FinishReason == "length" && c.Message.Thought+c.Message.Reasoning != "":
		return unreadable("the reply reached " + limit + " while the model was still thinking, so there is no text")
	case text == "" && c.FinishReason == "length":
		return unreadable("the reply reached " + limit + " before any text")
	case text != "" && c.FinishReason == "length" && wantJSON && !json.Valid([]byte(text)):
		return unreadable("the reply reached " + limit + " in the middle of its JSON")
	case text == "" && len(c.Message.ToolCalls) > 0:
		return unreadable("a tool call instead of text")
	case text == "":
		return unreadable("a reply without text")
	}
	return nil
}

// notJSON tells a page, a stream, a cut reply and rubbish apart.
func notJSON(body []byte, err error) *Failure {
	text := bytes.TrimSpace(body)
	var syntax *json.SyntaxError
	switch {
	case len(text) == 0:
		return &Failure{Status: synod.Unavailable, Retryable: true, Err: errors.New("the server sent an empty reply")}
	case text[0] == '<':
		return unreadable("an HTML page instead of JSON: is the url that of an OpenAI-compatible API?")
	case bytes.HasPrefix(text, []byte("data:")), bytes.HasPrefix(text, []byte("event:")), text[0] == ':':
		return unreadableStream()
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(body)) && text[0] == '{' || errors.Is(err, io.ErrUnexpectedEOF):
		return &Failure{Status: synod.Unavailable, Retryable: true, Err: fmt.Errorf("the reply was cut off after %d bytes", len(body))}
	case errors.As(err, &syntax):
		return unreadable(fmt.Sprintf("malformed JSON at byte %d", syntax.Offset))
	}
	return unreadable("JSON, but not in the shape of a chat completion")
}

func unreadable(why string) *Failure {
	return &Failure{Status: synod.Unreadable, Err: errors.New(why)}
}

func unreadableStream() *Failure {
	return &Failure{Status: synod.Unavailable, Err: errors.New("the server streams although it was not asked to, and a stream that may be cut is not read as an answer")}
}

func tooLong(limit int64) *Failure {
	return unreadable(fmt.Sprintf("a reply of more than %d bytes", limit))
}
