package llm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/jsonobject"
	"synod.dev/synod/llm/prompt"
)

// OpenAIConfig determines how to reach one model of an OpenAI-compatible server and
// how it samples. Nil and zero fields are not sent, so the server's defaults
// apply.
type OpenAIConfig struct {
	URL         string // base of the API, with or without /v1
	Model       string
	Name        string // for people; Model if empty
	Key         Secret
	Temperature *float64
	TopP        *float64
	// Temperatures replace Temperature for prompts of some purposes.
	Temperatures map[synod.Purpose]float64
	MaxTokens    int
	Seed         *int64        // used for prompts without a seed
	Timeout      time.Duration // of one call, fallbacks included; default 60s
	MaxReply     int64         // longest reply body in bytes; default 4 MiB
	Logprobs     bool          // ask for token log-probabilities: Reply.Logprob
	Private      bool          // the URL's name may lead to a private or loopback address
	Proxy        string        // "": none, "env": from the environment, else its URL
	Accepts      []string      // kinds of parts that the model takes; nil: all that the API has

	// Transport sends the requests in place of connections of its own, for campaigns in which servers fail; nil: the
	// network, by the rules above.
	Transport http.RoundTripper

	roots *x509.CertPool // nil but in tests
}

// The defaults of OpenAIConfig.
const (
	DefaultTimeout  = 60 * time.Second
	DefaultMaxReply = 4 << 20
)

// OpenAI is one model behind an OpenAI-compatible chat completions API: OpenAI,
// vLLM, llama.cpp's server, Ollama, and most gateways. It is a Model, a Closer
// and an Adapter, and safe for concurrent use.
//
// What a server does not support is found out once and remembered: see dialect.
type OpenAI struct {
	httpClient
	cfg      OpenAIConfig
	endpoint *url.URL
	info     Info
	known    atomic.Pointer[encoder]
}

// NewOpenAI checks the configuration and returns the model. It sends nothing. It
// fails if no model is named, or the URL or the key is malformed; no error
// contains a secret.
func NewOpenAI(c OpenAIConfig) (*OpenAI, error) {
	if c.Model == "" {
		return nil, errors.New("llm: openai: no model is named (example: model: gpt-4o-mini)")
	}
	if strings.ContainsFunc(c.Key.Reveal(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, errors.New("llm: openai: the key contains a control character")
	}
	base, err := normalizeURL(c.URL)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("llm: url: cannot be read as a URL")
	}
	c.Name = cmp.Or(c.Name, c.Model)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.MaxReply = cmp.Or(c.MaxReply, DefaultMaxReply)
	m := &OpenAI{cfg: c, httpClient: httpClient{api: "an OpenAI-compatible API", header: headers(c.Key, u), key: c.Key,
		hidden: urlSecrets(u), maxReply: c.MaxReply, errors: parseError,
		bodies: bodies{part: bodiesPart * modelsPart}}}
	if m.transport = c.Transport; m.transport == nil {
		if m.transport, err = newTransport(c, u); err != nil {
			return nil, err
		}
	}
	m.info = Info{Kind: Endpoint, Name: c.Name, Identity: identity(c, u), Server: u.Host, Model: c.Model}
	m.endpoint = u.JoinPath("chat", "completions")
	m.endpoint.User = nil
	full, err := m.encoder(dialect{})
	if err != nil {
		return nil, err
	}
	m.known.Store(full)
	return m, nil
}

// headers returns the headers of every request. Credentials in the URL are used if
// there is no key.
func headers(key Secret, u *url.URL) http.Header {
	h := jsonHeaders()
	if !key.IsZero() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	} else if u.User != nil {
		password, _ := u.User.Password()
		r := http.Request{Header: h}
		r.SetBasicAuth(u.User.Username(), password)
	}
	return h
}

// jsonHeaders are the headers of every request that do not depend on the API.
func jsonHeaders() http.Header {
	return http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"application/json"},
		"User-Agent":   {"synod"},
	}
}

// identity describes everything that changes an answer, without secrets.
func identity(c OpenAIConfig, u *url.URL) string {
	var b strings.Builder
	fmt.Fprintf(&b, "openai/1 %s model=%q", StripURL(u.String()), c.Model)
	if c.Temperature != nil {
		fmt.Fprintf(&b, " temperature=%g", *c.Temperature)
	}
	for _, purpose := range slices.Sorted(maps.Keys(c.Temperatures)) {
		fmt.Fprintf(&b, " temperature[%s]=%g", purpose, c.Temperatures[purpose])
	}
	if c.TopP != nil {
		fmt.Fprintf(&b, " top_p=%g", *c.TopP)
	}
	if c.MaxTokens > 0 {
		fmt.Fprintf(&b, " max_tokens=%d", c.MaxTokens)
	}
	if c.Seed != nil {
		fmt.Fprintf(&b, " seed=%d", *c.Seed)
	}
	if c.Logprobs {
		b.WriteString(" logprobs")
	}
	return b.String()
}

// Info returns the model's identity.
func (m *OpenAI) Info() Info { return m.info }

// Complete sends one request, or a few while it learns what the server refuses;
// Reply.Calls counts those that left.
func (m *OpenAI) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	chat, err := r.Chat()
	if err != nil {
		return failed(synod.Reply{}, &Failure{Status: synod.Dropped, Err: err})
	}
	limited, cancel := context.WithTimeoutCause(ctx, m.cfg.Timeout, slowError{m.cfg.Timeout})
	defer cancel()
	var spent synod.Reply
	for enc, learnt := m.known.Load(), false; ; learnt = true {
		if learnt {
			if err := r.Extra(); err != nil {
				return failed(spent, AsFailure(err))
			}
		}
		spent.Calls++
		reply, next, f := m.try(limited, enc, seededChat{chat, seedOf(r, m.cfg.Seed), r.Prompt})
		if next != nil {
			enc, _ = m.encoder(*next) // cannot fail: NewOpenAI has encoded the settings
			continue
		}
		if f != nil && f.connecting {
			spent.Calls--
		}
		reply.Calls = spent.Calls
		if learnt && accepted(f) {
			m.known.Store(enc)
		}
		if f != nil {
			return failed(reply, f)
		}
		return reply, nil
	}
}

// accepted reports whether the server accepted the request, whatever it replied.
func accepted(f *Failure) bool {
	return f == nil || f.Status == synod.Unreadable || f.Status == synod.Refused
}

// preamble returns the settings as JSON without the closing brace.
func (d dialect) preamble(c OpenAIConfig) ([]byte, error) {
	s := settings{
		Model: c.Model, Temperature: c.Temperature, TopP: c.TopP, MaxTokens: c.MaxTokens,
		Logprobs: c.Logprobs && !d.noLogprobs,
	}
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

// body encodes a request in the dialect. Only the text of the prompt goes through
// encoding/json, which would otherwise encode settings and schema again for each
// of the thousands of calls of a bench.
func (s *encoder) body(c seededChat) []byte {
	system := c.System
	if c.Schema != nil && s.form >= formObject {
		system += schemaInWords(c.Schema)
	}
	var b bytes.Buffer
	preamble := s.preamble
	if of, ok := s.preambles[c.asked.Purpose]; ok {
		preamble = of
	}
	b.Grow(len(preamble) + len(system) + len(c.User) + len(c.Schema) + 512)
	b.Write(preamble)
	b.WriteString(`,"messages":[`)
	write := func(role, text string) {
		b.WriteString(role)
		b.Write(jsonobject.AppendQuoted(b.AvailableBuffer(), text))
	}
	switch {
	case c.Turns != nil || c.Then != nil:
		quote := json.NewEncoder(&b)
		quote.SetEscapeHTML(false)
		for i, m := range openAIMessages(system, &c.Chat) {
			if i > 0 {
				b.WriteByte(',')
			}
			_ = quote.Encode(m)     // it has texts and JSON that was checked
			b.Truncate(b.Len() - 1) // the newline
		}
		b.WriteByte(']')
	default:
		if system != "" {
			write(`{"role":"system","content":`, system)
			b.WriteString("},")
		}
		write(`{"role":"user","content":`, c.User)
		b.WriteString("}]")
	}
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
// to send it again.
func (m *OpenAI) try(ctx context.Context, enc *encoder, c seededChat) (synod.Reply, *dialect, *Failure) {
	res, f := m.post(ctx, m.endpoint, enc.body(c))
	if f != nil {
		return synod.Reply{}, nil, f
	}
	defer res.free()
	if res.status == http.StatusOK {
		reply, f := m.read(res, c.asked)
		return reply, nil, f
	}
	if res.status == http.StatusBadRequest || res.status == http.StatusUnprocessableEntity {
		if next, ok := enc.after(res.body, m.sent(enc.dialect, c)); ok {
			return synod.Reply{}, &next, nil
		}
	}
	return synod.Reply{}, nil, m.refusal(res)
}

// GivesLikelihood reports whether log-probabilities are asked for. A server may still send none: then a confidence is
// missing.
func (m *OpenAI) GivesLikelihood() bool { return m.cfg.Logprobs && !m.known.Load().noLogprobs }

// RefusesSchema reports that the server has refused every kind of structured output.
func (m *OpenAI) RefusesSchema() bool { return m.known.Load().form == formText }

var openAIMedia = media{
	synod.Image: {"image/png", "image/jpeg", "image/gif", "image/webp"},
	synod.File:  {"application/pdf"},
	synod.Audio: {"audio/wav", "audio/mpeg"},
}

type openAIMessage struct {
	Role    string       `json:"role"`
	Content any          `json:"content"` // a text, a list of blocks, or null beside calls
	Calls   []openAICall `json:"tool_calls,omitempty"`
	Call    string       `json:"tool_call_id,omitempty"`
}

// TakesPart reports why a part cannot be passed on.
func (m *OpenAI) TakesPart(p *synod.Part) error { return openAIMedia.takes(p, m.cfg.Accepts) }

// openAIMessages returns the messages of a request: the system texts, the conversation, and the council's own
// text. Many chat templates refuse two messages of the user in a row, so what follows a message of the user is
// a block of its own in the same message.
func openAIMessages(system string, c *prompt.Chat) []openAIMessage {
	return openAITurns(conversation(system, c))
}

// openAITurns returns the messages of a conversation after its system texts.
func openAITurns(texts []string, turns []synod.Turn) (all []openAIMessage) {
	var blocks []block
	for _, s := range texts {
		blocks = append(blocks, block{"type": "text", "text": s})
	}
	add := func(role string, more ...block) {
		if last := len(all) - 1; last >= 0 && all[last].Role == role && role == "user" {
			all[last].Content = append(all[last].Content.([]block), more...)
			return
		}
		all = append(all, openAIMessage{Role: role, Content: more})
	}
	if len(blocks) > 0 {
		add("system", blocks...)
	}
	for _, t := range turns {
		switch t.Role {
		case synod.ByUser:
			add("user", openAIBlocks(&t)...)
		case synod.ByTool:
			all = append(all, openAIMessage{Role: "tool", Content: t.Text, Call: t.Call})
		default:
			m := openAIMessage{Role: "assistant"}
			if t.Text != "" {
				m.Content = t.Text
			}
			for _, call := range t.Calls {
				m.Calls = append(m.Calls, openAICall{call.ID, "function", openAIFunction{call.Name,
					string(arguments(&call))}})
			}
			all = append(all, m)
		}
	}
	for i := range all { // a single text is sent as most servers know it
		if b, ok := all[i].Content.([]block); ok && len(b) == 1 && b[0]["type"] == "text" {
			all[i].Content = b[0]["text"]
		}
	}
	return all
}

func openAIBlocks(t *synod.Turn) (blocks []block) {
	for i := range t.Parts {
		switch p := &t.Parts[i]; p.Kind {
		case synod.Image:
			blocks = append(blocks, block{"type": "image_url", "image_url": block{"url": dataURL(p)}})
		case synod.Audio:
			format := strings.TrimPrefix(strings.Replace(p.Media, "mpeg", "mp3", 1), "audio/")
			blocks = append(blocks, block{"type": "input_audio",
				"input_audio": block{"data": base64Of(p), "format": format}})
		default:
			blocks = append(blocks, block{"type": "file", "file": block{"filename": p.Name, "file_data": dataURL(p)}})
		}
	}
	if t.Text != "" {
		blocks = append(blocks, block{"type": "text", "text": t.Text})
	}
	return blocks
}
