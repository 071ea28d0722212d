package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/prompt"
)

type chatSeed struct {
	prompt.Chat
	seed *int64
}

// settings is how the body of every request in one dialect begins.
type settings struct {
	Model               string   `json:"model"`
	Temperature         *float64 `json:"temperature,omitempty"`
	TopP                *float64 `json:"top_p,omitempty"`
	MaxTokens           int      `json:"max_tokens,omitempty"`
	MaxCompletionTokens int      `json:"max_completion_tokens,omitempty"`
	Logprobs            bool     `json:"logprobs,omitempty"`
}

// preamble is the settings in JSON, without the brace that closes them.
func (d dialect) preamble(c OpenAIConfig) ([]byte, error) {
	s := settings{Model: c.Model, Temperature: c.Temperature, TopP: c.TopP, MaxTokens: c.MaxTokens, Logprobs: c.Logprobs && !d.noLogprobs}
	if d.noTemperature {
		s.Temperature = nil
	}
	if d.noTopP {
		s.TopP = nil
	}
	if d.completionTokens {
		s.MaxTokens, s.MaxCompletionTokens = 0, c.MaxTokens
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("llm: encode request: %w", err)
	}
	return b[:len(b)-1], nil
}

// body writes the request as the dialect allows. Only what the text of a prompt
// needs is left to encoding/json, which would go over the settings and the schema
// again for each of the thousands of calls of a bench.
func (s *speech) body(c chatSeed) []byte {
	system := c.System
	if c.Schema != nil && s.form >= formObject {
		system += "\n\nReply with one JSON object and nothing else. It must satisfy this JSON schema:\n" + string(c.Schema)
	}
	var b bytes.Buffer
	b.Grow(len(s.preamble) + len(system) + len(c.User) + len(c.Schema) + 512)
	b.Write(s.preamble)
	b.WriteString(`,"messages":[`)
	quote := json.NewEncoder(&b)
	quote.SetEscapeHTML(false)
	say := func(role, text string) {
		b.WriteString(role)
		_ = quote.Encode(text)  // a string can always be written
		b.Truncate(b.Len() - 1) // its newline
	}
	if system != "" {
		say(`{"role":"system","content":`, system)
		b.WriteString("},")
	}
	say(`{"role":"user","content":`, c.User)
	b.WriteString("}]")
	if c.seed != nil && !s.noSeed {
		b.WriteString(`,"seed":`)
		b.Write(strconv.AppendInt(b.AvailableBuffer(), *c.seed, 10))
	}
	if c.Schema != nil {
		s.form.write(&b, c.Schema)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// try sends one request. It returns a reply, a failure, or the dialect in which
// to say the same again.
func (m *OpenAI) try(ctx context.Context, d *speech, c chatSeed) (synod.Reply, *dialect, *Failure) {
	a, f := m.post(ctx, d.body(c))
	if f != nil {
		return synod.Reply{}, nil, f
	}
	if a.status == http.StatusOK {
		reply, f := m.read(a, c.Schema != nil)
		return reply, nil, f
	}
	if a.status == http.StatusBadRequest || a.status == http.StatusUnprocessableEntity {
		if next, ok := d.after(a.body, m.sent(d.dialect, c)); ok {
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
		if f := over(ctx, "waiting for the reply"); f != nil {
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
		if f := over(ctx, "in the middle of the reply"); f != nil {
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
