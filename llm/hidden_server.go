package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/probe"
)

// stateServer is a server that shows hidden states (llm/hidden/server.py), as the host of a model. What it says is
// checked: it may be broken, or be another server.
type stateServer struct {
	httpClient
	base            *url.URL
	model, revision string // that it must serve

	mu     sync.Mutex
	served *servedModel // as the server described it first; every reply must be this model's
}

// servedModel is what a server says of its model.
type servedModel struct {
	Model    string `json:"model"`
	Revision string `json:"revision"`
	SHA256   string `json:"sha256"` // of its files
	Engine   string `json:"engine"`
	Layers   int    `json:"layers"`
	Width    int    `json:"width"`
}

// The limits of what is accepted from a server.
const (
	maxStates = 16 << 20 // bytes of a reply
	maxLayers = 1 << 10
	maxWidth  = 1 << 16
	maxCount  = 1 << 24 // tokens
)

func newStateServer(s *hiddenSettings, base *url.URL, key Secret) (*stateServer, error) {
	if strings.ContainsFunc(key.Reveal(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("the token in %s contains a control character", s.token())
	}
	t, err := newTransport(OpenAIConfig{Private: s.Private}, base)
	if err != nil {
		return nil, err
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if !key.IsZero() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	}
	return &stateServer{base: base, model: s.Model, revision: s.Revision, httpClient: httpClient{
		api: "llm/hidden/server.py", header: h, key: key, transport: t, maxReply: maxStates, errors: parseError,
		bodies: bodies{part: bodiesPart * modelsPart}}}, nil
}

func (s *stateServer) completer() completer { return s }
func (s *stateServer) release() error       { return s.Close() }

// grammar returns a grammar that the server can follow, as a regular expression.
func (s *stateServer) grammar(schema []byte) (string, error) {
	g, err := engine.Grammar(schema)
	if err != nil {
		return "", err
	}
	if _, err := engine.Regexp(g); err != nil {
		return "", err
	}
	return g, nil
}

// identify asks the server which model it serves.
func (s *stateServer) identify(ctx context.Context, of *probe.Subject) error {
	m, err := s.hello(ctx)
	if err != nil {
		return err
	}
	of.SHA256, of.Engine, of.Layers, of.Width = m.SHA256, m.Engine, m.Layers, m.Width
	return nil
}

// hello returns the model that the server serves, and refuses another one than it must serve.
func (s *stateServer) hello(ctx context.Context) (*servedModel, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.served != nil {
		return s.served, nil
	}
	res, f := s.get(ctx, s.base.JoinPath("model"), maxErrorBody)
	if f != nil {
		return nil, f
	}
	if res.status != http.StatusOK {
		return nil, s.refusal(res)
	}
	var m servedModel
	if err := json.Unmarshal(res.body, &m); err != nil {
		return nil, unreadable("the description of its model cannot be read: is the url that of %s?", s.api)
	}
	if err := s.check(&m); err != nil {
		return nil, err
	}
	s.served = &m
	return &m, nil
}

func (s *stateServer) check(m *servedModel) error {
	m.Engine = clean.Line(m.Engine, maxExcerpt)
	switch {
	case m.Model != s.model:
		return failure(synod.Unavailable, "the server serves %s and not %s, which the council names",
			s.redact(clean.Line(m.Model, maxExcerpt)), s.model)
	case len(m.SHA256) != 64 || strings.Trim(m.SHA256, "0123456789abcdef") != "" || m.Engine == "" ||
		m.Layers < 1 || m.Layers > maxLayers || m.Width < 1 || m.Width > maxWidth:
		return unreadable("the server describes its model by %d layers of width %d, engine %q and a SHA-256 of %d "+
			"digits", m.Layers, m.Width, m.Engine, len(m.SHA256))
	case s.revision != "" && m.Revision != s.revision && !strings.HasPrefix(m.SHA256, s.revision):
		return failure(synod.Unavailable, "the server serves revision %s (sha256 %s) of the model and not %s, which "+
			"the council names", s.redact(clean.Line(m.Revision, maxExcerpt)), m.SHA256[:12], s.revision)
	}
	return nil
}

// call posts a request and reads a reply, which must be of the model that the server described first.
func (s *stateServer) call(ctx context.Context, path string, ask, reply any) (*servedModel, error) {
	m, err := s.hello(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, failure(synod.Dropped, "llm: encode request: %w", err)
	}
	res, f := s.post(ctx, s.base.JoinPath(path), body)
	if f != nil {
		return nil, f
	}
	defer res.free()
	if res.status != http.StatusOK {
		return nil, s.refusal(res)
	}
	var of struct {
		SHA256 string `json:"sha256"`
	}
	if err := json.Unmarshal(res.body, &of); err != nil {
		return nil, s.notJSON(res.body, err)
	}
	if of.SHA256 != m.SHA256 {
		return nil, failure(synod.Unavailable, "the server now serves another model than the one that it described")
	}
	if err := json.Unmarshal(res.body, reply); err != nil {
		return nil, unreadable("a reply that cannot be read: %s", shorten(s.redact(oneLine(err.Error()))))
	}
	return m, nil
}

// Generate is completer's.
func (s *stateServer) Generate(ctx context.Context, r engine.Request) (out engine.Result, err error) {
	ask := struct {
		engine.Request
		Pattern string `json:"pattern,omitempty"`
	}{Request: r}
	if r.Grammar != "" {
		if ask.Pattern, err = engine.Regexp(r.Grammar); err != nil {
			return out, err
		}
		ask.Grammar = ""
	}
	m, err := s.call(ctx, "generate", ask, &out)
	if err != nil {
		return engine.Result{}, err
	}
	switch {
	case out.Finish != "stop" && out.Finish != "length":
		return engine.Result{}, unreadable("a text that neither stopped nor reached its length")
	case !believable(out.Usage) || len(out.Logprobs) > out.CompletionTokens:
		return engine.Result{}, unreadable("counts of tokens that are none")
	}
	for _, l := range out.Logprobs {
		if l > 0 {
			return engine.Result{}, unreadable("a log-probability above 0")
		}
	}
	if r.Capture != nil {
		if err := out.States.Check(*r.Capture, m.Width); err != nil {
			return engine.Result{}, unreadable("%w", err)
		}
	}
	out.Text = s.redact(out.Text)
	return out, nil
}

// Weigh is completer's.
func (s *stateServer) Weigh(ctx context.Context, prefix string, list []string, want *engine.Capture,
) ([]engine.LogProb, []*engine.States, engine.Usage, error) {
	var out struct {
		Scores []engine.LogProb `json:"scores"`
		States []*engine.States `json:"states"`
		Usage  engine.Usage     `json:"usage"`
	}
	m, err := s.call(ctx, "weigh", map[string]any{"prefix": prefix, "continuations": list, "capture": want}, &out)
	if err == nil && (len(out.Scores) != len(list) || len(out.States) != len(list) || !believable(out.Usage)) {
		err = unreadable("%d likelihoods and %d hidden states of %d texts", len(out.Scores), len(out.States), len(list))
	}
	for i := 0; i < len(list) && err == nil; i++ {
		x := &out.Scores[i]
		if x.Sum > 0 || x.Tokens < 1 || x.Tokens > maxCount {
			err = unreadable("a likelihood of %v for %d tokens", x.Sum, x.Tokens)
		} else if want != nil {
			if bad := out.States[i].Check(*want, m.Width); bad != nil {
				err = unreadable("%w", bad)
			}
		}
		x.Mean = x.Sum / math.Max(1, float64(x.Tokens))
	}
	return out.Scores, out.States, out.Usage, err
}

// believable reports whether counts of tokens can be true.
func believable(u engine.Usage) bool {
	ok := func(n int) bool { return 0 <= n && n <= maxCount }
	return ok(u.PromptTokens) && ok(u.CompletionTokens)
}

// served is a model behind a server that shows hidden states, which can be asked what it serves.
type served struct {
	*embedded
	server *stateServer
}

// Preflight is Preflighter's.
func (m served) Preflight(ctx context.Context) (string, error) {
	if _, err := m.server.hello(ctx); err != nil {
		return "", AsFailure(err)
	}
	return "the server answers and serves the model", nil
}
