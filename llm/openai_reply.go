package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"synod.dev/synod"
)

// completion is the part of a chat completion that is read. No choices field means
// another format; an empty list means that the server failed.
type completion struct {
	Choices []choice        `json:"choices"`
	Model   json.RawMessage `json:"model"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Message      *message  `json:"message"`
	FinishReason string    `json:"finish_reason"`
	Logprobs     *logprobs `json:"logprobs"`
}

type message struct {
	Content   content           `json:"content"`
	Refusal   string            `json:"refusal"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
	Thinking  string            `json:"reasoning_content"`
	Reasoning string            `json:"reasoning"`
}

type logprobs struct {
	Content []tokenProb `json:"content"`
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

// cutAtLimit is the Detail of a reply that was ended by max_tokens.
const cutAtLimit = "cut at max_tokens"

// read parses the body of a 200.
func (m *OpenAI) read(res response, asked *synod.Prompt) (synod.Reply, *Failure) {
	c, ok := readCompletion(res.body)
	if !ok {
		c = completion{}
		if err := json.Unmarshal(res.body, &c); err != nil {
			f := m.notJSON(res.body, err)
			f.begun = true
			return synod.Reply{}, f
		}
	}
	reply := synod.Reply{Status: synod.OK, Model: m.reported(c.Model)}
	reply.Usage, reply.Fault = m.readUsage(c.Usage)
	reply.Usage = billed(reply.Usage, c.Usage, res.header)
	switch {
	case len(c.Error) > 0 && string(c.Error) != "null" && len(c.Choices) == 0:
		return reply, m.errorInside(res.body)
	case c.Choices == nil:
		return reply, unreadable("JSON, but not a chat completion: it has no choices")
	case len(c.Choices) == 0:
		return reply, temporary(synod.Unavailable, "the server answered with an empty list of choices")
	case c.Choices[0].Message == nil:
		return reply, unreadable("a chat completion without a message")
	}
	first := c.Choices[0]
	if f := first.failure(m.cfg.MaxTokens); f != nil {
		return reply, f
	}
	reply.Text = m.redact(string(first.Message.Content)) // a server may echo the request
	if first.FinishReason == "length" {
		reply.Detail, reply.Cut = cutAtLimit, true
	}
	if l := first.Logprobs; l != nil && len(l.Content) > 0 {
		sum := 0.0
		for _, t := range l.Content {
			sum += t.Logprob
		}
		reply.Logprob = new(sum / float64(len(l.Content)))
		reply.Confidence = likelihoodOf(l.Content, asked, reply)
	}
	return reply, nil
}

// readUsage reads the usage of a completion. A count that is not one is the server's
// fault, which does not make its answer unusable.
func (m *OpenAI) readUsage(raw json.RawMessage) (u synod.Usage, fault string) {
	if len(raw) == 0 || string(raw) == "null" {
		return u, ""
	}
	var counts struct {
		Prompt     json.RawMessage `json:"prompt_tokens"`
		Completion json.RawMessage `json:"completion_tokens"`
	}
	if json.Unmarshal(raw, &counts) != nil {
		return u, "its usage is not an object"
	}
	for _, c := range []struct {
		name string
		raw  json.RawMessage
		into *int
	}{{"prompt_tokens", counts.Prompt, &u.Prompt}, {"completion_tokens", counts.Completion, &u.Completion}} {
		if len(c.raw) == 0 || string(c.raw) == "null" {
			continue
		}
		n, err := strconv.ParseInt(string(c.raw), 10, 64)
		if err != nil || n < 0 {
			return synod.Usage{}, fmt.Sprintf("it reports %s: %s, which is not a count", c.name,
				shorten(m.redact(oneLine(string(c.raw)))))
		}
		*c.into = int(n)
	}
	return u, ""
}

// failure returns why a choice has no usable text, nil if it has.
func (c choice) failure(maxTokens int) *Failure {
	text := strings.TrimSpace(string(c.Message.Content))
	limit := "the token limit"
	if maxTokens > 0 {
		limit = fmt.Sprintf("max_tokens (%d)", maxTokens)
	}
	switch {
	case c.FinishReason == "content_filter":
		return failure(synod.Refused, "stopped by the provider's content filter")
	case text == "" && c.Message.Refusal != "":
		return failure(synod.Refused, "the model declined: its reply is marked as a refusal")
	case text == "" && c.FinishReason == "length" && c.Message.Thinking+c.Message.Reasoning != "":
		return unreadable("the reply reached %s while the model was still thinking, so there is no text", limit)
	case text == "" && c.FinishReason == "length":
		return unreadable("the reply reached %s before any text", limit)
	case text == "" && len(c.Message.ToolCalls) > 0:
		return unreadable("a tool call instead of text")
	case text == "":
		return unreadable("a reply without text")
	}
	return nil
}

// notJSON classifies a body that is not the JSON of a completion: a web page, a
// stream, a reply that was cut off, or anything else.
func (m *httpClient) notJSON(body []byte, err error) *Failure {
	text := bytes.TrimSpace(body)
	var syntax *json.SyntaxError
	switch {
	case len(text) == 0:
		return temporary(synod.Unavailable, "the server sent an empty reply")
	case text[0] == '<':
		return unreadable("an HTML page instead of JSON: is the url that of %s?", m.api)
	case bytes.HasPrefix(text, []byte("data:")), bytes.HasPrefix(text, []byte("event:")), text[0] == ':':
		return unreadableStream()
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(body)) && text[0] == '{',
		errors.Is(err, io.ErrUnexpectedEOF):
		return temporary(synod.Unavailable, "the reply was cut off after %d bytes", len(body))
	case errors.As(err, &syntax):
		return unreadable("malformed JSON at byte %d", syntax.Offset)
	}
	return unreadable("JSON, but not in the shape of a chat completion")
}
