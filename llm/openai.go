package llm

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"synod.dev/synod"
)

// OpenAIConfig says how to reach one model of an OpenAI-compatible server and
// how it samples. Nil and zero fields are not sent, so the server's own defaults
// hold.
type OpenAIConfig struct {
	URL         string // base of the API, with or without /v1
	Model       string
	Name        string // for people; Model if empty
	Key         Secret
	Temperature *float64
	TopP        *float64
	MaxTokens   int
	Seed        *int64        // used where the prompt brings no seed of its own
	Timeout     time.Duration // of one call, fallbacks included; default 60s
	MaxReply    int64         // bytes of a reply body that are read; default 4 MiB
	Logprobs    bool          // ask for token log-probabilities: Reply.Logprob
	Private     bool          // the URL's name may lead to a private or loopback address
	Proxy       string        // "": none, "env": as the environment says, else its URL

	roots *x509.CertPool // tests
}

// The defaults of OpenAIConfig.
const (
	DefaultTimeout  = 60 * time.Second
	DefaultMaxReply = 4 << 20
)

// OpenAI is one model behind an OpenAI-compatible chat completions API: OpenAI,
// vLLM, llama.cpp's server, Ollama, and most gateways.
//
// What a server cannot do is found out once and remembered: see dialect.
type OpenAI struct {
	cfg       OpenAIConfig
	endpoint  *url.URL
	header    http.Header
	hidden    []Secret // credentials and query of the URL
	transport *http.Transport
	info      Info
	speech    atomic.Pointer[speech]
}

// NewOpenAI checks the configuration; it sends nothing.
func NewOpenAI(c OpenAIConfig) (*OpenAI, error) {
	if c.Model == "" {
		return nil, errors.New("llm: openai: no model is named")
	}
	if strings.ContainsFunc(c.Key.Reveal(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, errors.New("llm: openai: the key holds a control character")
	}
	base, err := NormalizeURL(c.URL)
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
	m := &OpenAI{cfg: c}
	if m.transport, err = newTransport(c, u); err != nil {
		return nil, err
	}
	m.header = headers(c.Key, u)
	m.info = Info{Kind: Endpoint, Name: c.Name, Identity: identity(c, u), Server: u.Host, Model: c.Model}
	m.endpoint = u.JoinPath("chat", "completions")
	m.hidden = hidden(u)
	m.endpoint.User = nil
	plain, err := m.speak(dialect{})
	if err != nil {
		return nil, err
	}
	m.speech.Store(plain)
	return m, nil
}

// headers are the same for every call. Credentials in the URL serve where there
// is no key.
func headers(key Secret, u *url.URL) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"application/json"},
		"User-Agent":   {"synod"},
	}
	if !key.IsZero() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	} else if u.User != nil {
		password, _ := u.User.Password()
		r := http.Request{Header: h}
		r.SetBasicAuth(u.User.Username(), password)
	}
	return h
}

// hidden lists what no message may show of a URL.
func hidden(u *url.URL) []Secret {
	var all []Secret
	if password, ok := u.User.Password(); ok {
		all = append(all, NewSecret(password))
	}
	if name := u.User.Username(); name != "" {
		all = append(all, NewSecret(name))
	}
	for _, values := range u.Query() {
		for _, v := range values {
			all = append(all, NewSecret(v))
		}
	}
	return all
}

// identity names all that changes an answer, and no secret.
func identity(c OpenAIConfig, u *url.URL) string {
	var b strings.Builder
	fmt.Fprintf(&b, "openai/1 %s model=%q", StripURL(u.String()), c.Model)
	if c.Temperature != nil {
		fmt.Fprintf(&b, " temperature=%g", *c.Temperature)
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

// Info implements Model.
func (m *OpenAI) Info() Info { return m.info }

// Close lets idle connections go.
func (m *OpenAI) Close() error {
	m.transport.CloseIdleConnections()
	return nil
}

// Complete implements Model. It sends one request, or a few while it learns
// what the server refuses; Reply.Calls counts them.
func (m *OpenAI) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	chat, err := r.Chat()
	if err != nil {
		return failed(synod.Reply{}, &Failure{Status: synod.Dropped, Err: err})
	}
	limited, cancel := context.WithTimeoutCause(ctx, m.cfg.Timeout, slowError{m.cfg.Timeout})
	defer cancel()
	var spent synod.Reply
	for now, learnt := m.speech.Load(), false; ; learnt = true {
		if learnt {
			if err := r.Extra(); err != nil {
				return failed(spent, AsFailure(err))
			}
		}
		spent.Calls++
		reply, next, f := m.try(limited, now, chatSeed{chat, m.seed(r)})
		if next != nil {
			now, _ = m.speak(*next) // NewOpenAI has seen that the settings can be written
			continue
		}
		reply.Calls = spent.Calls
		if learnt && answered(f) {
			m.speech.Store(now)
		}
		if f != nil {
			return failed(reply, f)
		}
		return reply, nil
	}
}

// answered reports whether the server took the request, whatever it made of it.
func answered(f *Failure) bool {
	return f == nil || f.Status == synod.Unreadable || f.Status == synod.Refused
}

// seed is the prompt's own, in the 31 bits that every server takes, or the
// configured one.
func (m *OpenAI) seed(r Request) *int64 {
	if r.Prompt.Seed != 0 {
		return new(int64(r.Prompt.Seed & 0x7fffffff))
	}
	return m.cfg.Seed
}
