package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"synod.dev/synod"
)

// native is a model behind the API of its maker, Anthropic or Google. It is a Model, a
// Closer, an Adapter and a Preflighter, and safe for concurrent use. What the two APIs do
// not share is in maker.
//
// Neither API streams here: an answer is used when it is complete.
type native struct {
	httpClient
	cfg         nativeConfig
	maker       *maker
	completions *url.URL
	describes   *url.URL // of the model's description
	info        Info
	known       atomic.Pointer[dialect]
}

// maker is what one API has of its own.
type maker struct {
	name     string   // of the provider
	api      string   // for messages
	base     string   // default address
	version  string   // path segment that is added to an address without one
	keyEnv   string   // environment variable with the key, where the settings have no url
	suffixes []string // of pasted addresses that are not the base
	anyJSON  bool     // JSON can be asked for without a schema
	headers  func(key Secret) http.Header
	paths    func(base *url.URL, model string) (completions, describes *url.URL)
	media    media                                                // what its models take beside text
	body     func(c nativeConfig, d dialect, chat seededChat) any // is encoded as JSON
	read     func(body []byte) (nativeReply, error)
	errors   func(body []byte) serverError
	names    func(body []byte) (name string) // the model that a description is of
	all      func(body []byte) []string      // the models of a list
	most     string                          // query of the list, for one page with all models
}

// nativeConfig determines how to reach one model and how it samples. Nil and zero fields
// are not sent.
type nativeConfig struct {
	NativeCommon
	Thinking    *int // tokens of thoughts; 0: none; thinkFreely: the model decides
	Seed        *int64
	PromptCache bool
}

// thinkFreely lets the model decide how long it thinks.
const thinkFreely = -1

// tokens is the limit of a reply that is sent: both makers count thoughts in it.
func (c nativeConfig) tokens() int {
	if c.Thinking != nil {
		return c.MaxTokens + max(0, *c.Thinking)
	}
	return c.MaxTokens
}

// nativeReply is the part of a reply that is used.
type nativeReply struct {
	text     string
	usage    synod.Usage
	fault    string // what is wrong with the usage
	cut      bool   // the limit of tokens was reached
	refused  string // why there is no answer, if the maker or the model refused one
	unusable string // why the text is not the whole answer, for other reasons
	thought  bool   // the model wrote thoughts
	model    json.RawMessage
}

// newNative checks the configuration and returns the model. It sends nothing, and no
// error contains a secret.
func newNative(k *maker, c nativeConfig, key Secret) (*native, error) {
	switch {
	case c.Model == "":
		return nil, fmt.Errorf("llm: %s: no model is named (example: model: %s)", k.name, examples[k.name])
	case strings.ContainsFunc(key.Reveal(), func(r rune) bool { return r < ' ' || r == 0x7f }):
		return nil, fmt.Errorf("llm: %s: the key contains a control character", k.name)
	}
	raw := strings.TrimRight(strings.TrimSpace(c.URL), "/")
	for _, s := range k.suffixes {
		raw = strings.TrimSuffix(raw, s)
	}
	base, err := normalizeAPI(raw, k.version, "")
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("llm: url: cannot be read as a URL")
	}
	m := &native{cfg: c, maker: k, httpClient: httpClient{api: k.api, header: k.headers(key), key: key,
		hidden: urlSecrets(u), maxReply: DefaultMaxReply, errors: k.errors,
		bodies: bodies{part: bodiesPart * modelsPart}}}
	if m.transport, err = newTransport(OpenAIConfig{Private: c.Private}, u); err != nil {
		return nil, err
	}
	m.completions, m.describes = k.paths(u, c.Model)
	m.info = Info{Kind: Endpoint, Name: c.Model, Identity: c.identity(k.name, u), Server: u.Host, Model: c.Model}
	m.known.Store(&dialect{})
	return m, nil
}

// examples are model names for messages.
var examples = map[string]string{"anthropic": "claude-haiku-4-5", "gemini": "gemini-2.5-flash"}

// identity describes everything that changes an answer, without secrets.
func (c nativeConfig) identity(maker string, u *url.URL) string {
	text := identity(OpenAIConfig{Model: c.Model, Temperature: c.Temperature, TopP: c.TopP, MaxTokens: c.MaxTokens,
		Seed: c.Seed}, u)
	if c.Thinking != nil {
		text += fmt.Sprintf(" thinking=%d", *c.Thinking)
	}
	return maker + strings.TrimPrefix(text, "openai")
}

// Info returns the model's identity.
func (m *native) Info() Info { return m.info }

// Adapted returns what the server refused and what is sent instead, for people.
func (m *native) Adapted() []string { return m.known.Load().adapted() }

// Complete sends one request, or a few while it learns what the server refuses;
// Reply.Calls counts those that left.
func (m *native) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	chat, err := r.Chat()
	if err != nil {
		return failed(synod.Reply{}, &Failure{Status: synod.Dropped, Err: err})
	}
	limited, cancel := context.WithTimeoutCause(ctx, m.cfg.timeout(), slowError{m.cfg.timeout()})
	defer cancel()
	c := seededChat{chat, seedOf(r, m.cfg.Seed), r.Prompt}
	calls := 0
	for d, learnt := m.known.Load(), false; ; learnt = true {
		if learnt {
			if err := r.Extra(); err != nil {
				return failed(synod.Reply{Calls: calls}, AsFailure(err))
			}
		}
		calls++
		reply, next, f := m.try(limited, *d, c)
		if next != nil {
			d = next
			continue
		}
		if f != nil && f.connecting {
			calls--
		}
		reply.Calls = calls
		if learnt && accepted(f) {
			m.known.Store(d)
		}
		if f != nil {
			return failed(reply, f)
		}
		return reply, nil
	}
}

// try sends one request. It returns a reply, a failure, or the dialect in which to send
// it again.
func (m *native) try(ctx context.Context, d dialect, c seededChat) (synod.Reply, *dialect, *Failure) {
	if c.Schema != nil && d.form >= formObject {
		c.System += schemaInWords(c.Schema)
	}
	body, err := json.Marshal(m.maker.body(m.cfg, d, c))
	if err != nil {
		return synod.Reply{}, nil, failure(synod.Dropped, "llm: encode request: %w", err)
	}
	res, f := m.post(ctx, m.completions, body)
	if f != nil {
		return synod.Reply{}, nil, f
	}
	defer res.free()
	switch res.status {
	case http.StatusOK:
		reply, f := m.read(res.body)
		return reply, nil, f
	case http.StatusBadRequest:
		if next, ok := m.after(d, m.errors(res.body), c); ok {
			return synod.Reply{}, &next, nil
		}
	}
	return synod.Reply{}, nil, m.refusal(res)
}

// after returns the dialect to try next, if an error names something that can be left
// out. Where a server refuses temperature and top_p together, top_p is left out.
func (m *native) after(d dialect, e serverError, c seededChat) (dialect, bool) {
	sent := optional{
		schema:      c.Schema != nil && d.form < formObject,
		temperature: m.cfg.Temperature != nil && !d.noTemperature,
		topP:        m.cfg.TopP != nil && !d.noTopP,
		seed:        c.seed != nil && !d.noSeed,
		thinking:    m.cfg.Thinking != nil && !d.noThinking,
	}
	if e.code == codeKey || e.code == codeCredit {
		return d, false
	}
	next, ok := d.without(strings.ToLower(e.param+" "+e.message), sent)
	if next.form == formObject && !m.maker.anyJSON {
		next.form = formText
	}
	return next, ok
}

// read parses the body of a 200.
func (m *native) read(body []byte) (synod.Reply, *Failure) {
	r, err := m.maker.read(body)
	if err != nil {
		f := m.notJSON(body, err)
		f.begun = true
		return synod.Reply{}, f
	}
	reply := synod.Reply{Status: synod.OK, Usage: r.usage, Fault: m.shown(r.fault), Model: m.reported(r.model)}
	text := strings.TrimSpace(r.text)
	limit := fmt.Sprintf("max_tokens (%d)", m.cfg.tokens())
	switch {
	case r.refused != "":
		return reply, failure(synod.Refused, "%s", m.shown(r.refused))
	case r.unusable != "":
		return reply, unreadable("%s", m.shown(r.unusable))
	case text == "" && r.cut && r.thought:
		return reply, unreadable("the reply reached %s while the model was still thinking, so there is no text", limit)
	case text == "" && r.cut:
		return reply, unreadable("the reply reached %s before any text", limit)
	case text == "":
		return reply, unreadable("a reply without text")
	case r.cut:
		reply.Detail, reply.Cut = cutAtLimit, true
	}
	reply.Text = m.redact(r.text)
	return reply, nil
}

// shown returns a text that may quote the server in short and without secrets.
func (m *native) shown(text string) string { return shorten(m.redact(oneLine(text))) }

// Preflight gets the description of the model, which costs nothing.
func (m *native) Preflight(ctx context.Context) (string, error) {
	res, f := m.get(ctx, m.describes, maxModelList)
	switch {
	case f != nil:
		return "", f
	case res.status == http.StatusNotFound:
		return "", failure(synod.Unavailable, "the server knows no model called %q (HTTP 404)", m.cfg.Model)
	case res.status != http.StatusOK:
		f := m.refusal(res)
		if f.Status == synod.Auth {
			return "", f
		}
		return fmt.Sprintf("the server answers; it describes no models (HTTP %d), so key and model were not checked",
			res.status), nil
	}
	if name := m.maker.names(res.body); name == "" {
		return "the server answers; its description of the model cannot be read, so the model was not checked", nil
	}
	return "the server answers and knows the model", nil
}

// counts reads counts of tokens by name. A count that is not one is the server's fault.
func counts(usage map[string]json.RawMessage, names ...string) (all []int, fault string) {
	for _, name := range names {
		n := 0
		if raw := usage[name]; len(raw) > 0 && string(raw) != "null" {
			if json.Unmarshal(raw, &n) != nil || n < 0 {
				return make([]int, len(names)), fmt.Sprintf("it reports %s: %s, which is not a count", name, raw)
			}
		}
		all = append(all, n)
	}
	return all, ""
}

// keyOf returns the key that settings name, and the name of its variable.
func (k *maker) keyOf(s *NativeCommon, env Env) (Secret, string) {
	name := s.KeyEnv
	if s.URL == "" {
		name = cmp.Or(name, k.keyEnv) // never to a server that only the council file names
	}
	if name == "" {
		return Secret{}, ""
	}
	return NewSecret(env.getenv(name)), name
}

// RefusesSchema reports that the server has refused structured output.
func (m *native) RefusesSchema() bool { return m.known.Load().form == formText }

// TakesPart reports why a part cannot be passed on.
func (m *native) TakesPart(p *synod.Part) error { return m.maker.media.takes(p, m.cfg.Accepts) }
