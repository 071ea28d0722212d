package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"synod.dev/synod"
	"synod.dev/synod/prompt"
)

type chatSeed struct {
	prompt.Chat
	seed *int64
}

// wire is the body of a request.
type wire struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Temperature         *float64  `json:"temperature,omitempty"`
	TopP                *float64  `json:"top_p,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	Seed                *int64    `json:"seed,omitempty"`
	Logprobs            bool      `json:"logprobs,omitempty"`
	ResponseFormat      *format   `json:"response_format,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type format struct {
	Type   string  `json:"type"`
	Schema *schema `json:"json_schema,omitempty"`
}

type schema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// body writes the request as the dialect allows.
func (m *OpenAI) body(d dialect, c chatSeed) ([]byte, error) {
	w := wire{Model: m.cfg.Model, Temperature: m.cfg.Temperature, TopP: m.cfg.TopP, Seed: c.seed, Logprobs: m.cfg.Logprobs}
	if d.noTemperature {
		w.Temperature = nil
	}
	if d.noTopP {
		w.TopP = nil
	}
	if d.noSeed {
		w.Seed = nil
	}
	if d.noLogprobs {
		w.Logprobs = false
	}
	if d.completionTokens {
		w.MaxCompletionTokens = m.cfg.MaxTokens
	} else {
		w.MaxTokens = m.cfg.MaxTokens
	}
	system := c.System
	if c.Schema != nil {
		w.ResponseFormat = d.form.format(c.Schema)
		if d.form >= formObject {
			system += "\n\nReply with one JSON object and nothing else. It must satisfy this JSON schema:\n" + string(c.Schema)
		}
	}
	if system != "" {
		w.Messages = append(w.Messages, message{"system", system})
	}
	w.Messages = append(w.Messages, message{"user", c.User})
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(w); err != nil {
		return nil, fmt.Errorf("llm: encode request: %w", err)
	}
	return b.Bytes(), nil
}

// try sends one request. It returns a reply, a failure, or the dialect in which
// to say the same again.
func (m *OpenAI) try(ctx context.Context, d dialect, c chatSeed) (synod.Reply, *dialect, *Failure) {
	body, err := m.body(d, c)
	if err != nil {
		return synod.Reply{}, nil, &Failure{Status: synod.Dropped, Err: err}
	}
	a, f := m.post(ctx, body)
	if f != nil {
		return synod.Reply{}, nil, f
	}
	if a.status == http.StatusOK {
		reply, f := m.read(a, c.Schema != nil)
		return reply, nil, f
	}
	if a.status == http.StatusBadRequest || a.status == http.StatusUnprocessableEntity {
		if next, ok := d.after(a.body, m.sent(d, c)); ok {
			return synod.Reply{}, &next, nil
		}
	}
	return synod.Reply{}, nil, m.refusal(a)
}

// answer is an HTTP reply, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// post sends a body and reads the reply within bounds. A body that ends before
// its time is an error, never a short answer.
func (m *OpenAI) post(ctx context.Context, body []byte) (answer, *Failure) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(body))
	if err != nil {
		return answer{}, &Failure{Status: synod.Dropped, Err: fmt.Errorf("llm: make request: %w", err)}
	}
	req.URL, req.Host, req.Header = m.endpoint, m.endpoint.Host, m.header
	res, err := m.transport.RoundTrip(req)
	if err != nil {
		if f := m.over(ctx, "waiting for the reply"); f != nil {
			return answer{}, f
		}
		return answer{}, m.clean(transportFailure(err))
	}
	defer func() { _ = res.Body.Close() }()
	if f := m.unwanted(res); f != nil {
		return answer{}, f
	}
	limit := m.cfg.MaxReply
	if res.StatusCode != http.StatusOK {
		limit = min(limit, maxErrorBody)
	}
	b, err := readAll(res, limit)
	if err != nil && res.StatusCode == http.StatusOK {
		if f := m.over(ctx, "in the middle of the reply"); f != nil {
			return answer{}, f
		}
		return answer{}, &Failure{Status: synod.Unavailable, Retryable: true, Err: fmt.Errorf("the reply was cut off after %d bytes", len(b))}
	}
	if int64(len(b)) > limit && res.StatusCode == http.StatusOK {
		return answer{}, tooLong(limit)
	}
	return answer{res.StatusCode, res.Header, b}, nil
}

// readAll reads one byte more than the limit at most, so that longer bodies show.
func readAll(res *http.Response, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if n := res.ContentLength; n > 0 && n <= limit {
		b.Grow(int(n) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(res.Body, limit+1))
	return b.Bytes(), err
}
