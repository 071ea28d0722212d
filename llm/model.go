// Package llm opens the models that answer for a council's members, and applies
// to every call the limits, retries, caches and budgets that its user asks for.
//
// A Provider is an entry of the catalogue Providers: it reads the settings of a
// model from a council file and opens a Model. A Pool opens models by provider
// name, puts the layers around them (see Pool.Open) and shares, among all its
// users, what belongs to a provider account: rate limits, concurrency limits,
// circuit breakers, latency statistics, the reply cache and connections.
//
//	m, err := llm.DefaultPool().Open("openai", decode, llm.Options{Env: env})
//	reply, err := m.Complete(ctx, llm.Request{Prompt: p, Templates: templates, Seat: "a1"})
//
// A call that gives no usable reply returns a *Failure with a Status. A failure
// is never an answer, a vote or a score (SAC-10).
//
// Models that read text call Request.Chat. Recorded and simulated models act on
// the typed Prompt and never render it.
package llm

import (
	"context"
	"errors"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// Request is one prompt for a model. The zero value of every field but Prompt is
// usable.
type Request struct {
	Prompt    *synod.Prompt     // required
	Templates *prompt.Templates // renders Prompt for models that read text; they fail without it
	Seat      string            // id of the asking seat
	Sample    int               // which repeat of the same question this is, from 0
	Run       uint64            // seed of the run; only simulated members use it, for luck that lasts a run
	Budget    *Budget           // what the call spends from; nil: no limit

	// Asked is called before each request leaves, with the tokens that it may cost at
	// most; none for a further request of which no token was reserved. If it fails, the
	// request is not sent. It may be nil, and is not called for recorded and simulated
	// models, which send nothing.
	Asked func(most synod.Usage) error

	// Outage lets the call wait while the model is out of order; nil: it fails.
	Outage *Outage

	// Given is sent in place of the rendered prompt, for callers that have the text already; nil: the prompt
	// is rendered.
	Given *prompt.Chat

	// Spare makes a call that may turn out needless: it waits for nothing, and is dropped if the limits of the model
	// have no room for it at once, or the budget has none, which it does not exhaust.
	Spare bool

	// Rendered has the texts of other calls of the run, which this one may share; nil: it renders its own.
	Rendered *Renderings

	chat   *rendered       // nil: not rendered yet
	extra  func() *Failure // reserves one more request of the budget; nil: no limit
	sent   func()          // called when the request is about to leave; may be nil
	ticket admission       // of the breakers; nil: none was asked
	hedge  bool            // the second copy of a slow call
}

// admission is what breakers have said of a call.
type admission interface {
	refused() *Failure // why the call is refused now; nil: it may leave
	tests() bool       // the call shows whether a model works again
}

// rendered is a prompt as text, rendered once for all layers that read it.
type rendered struct {
	once sync.Once
	chat prompt.Chat
	err  error
}

// spare reports whether the request waits for no limit.
func (r *Request) spare() bool { return r.hedge || r.Spare }

// Chat renders the prompt as text. It fails if the request has no Templates or the
// template fails.
func (r Request) Chat() (prompt.Chat, error) {
	if r.chat == nil {
		return r.render()
	}
	r.chat.once.Do(func() { r.chat.chat, r.chat.err = r.render() })
	return r.chat.chat, r.chat.err
}

func (r Request) render() (prompt.Chat, error) {
	if r.Given != nil {
		return *r.Given, nil
	}
	if r.Templates == nil {
		return prompt.Chat{}, errNoBook
	}
	if r.Rendered != nil {
		return r.Rendered.chat(r.Templates, r.Prompt)
	}
	return r.Templates.Render(r.Prompt)
}

var errNoBook = errors.New("llm: the request has no templates to render the prompt with")

// rendering returns the request with a place for the rendered prompt, so that
// layers and model render it once.
func (r Request) rendering() Request {
	if r.chat == nil {
		r.chat = &rendered{}
	}
	return r
}

// Extra asks for permission to send one more request within the same call, for
// example without a parameter that the server refused. It returns nil if the
// budget allows it. A model that sends several requests for one call calls Extra
// before each one after the first and counts all of them in Reply.Calls.
func (r Request) Extra() error {
	if r.extra == nil {
		return nil
	}
	if f := r.extra(); f != nil {
		return f
	}
	return nil
}

// Model answers requests. Implementations are safe for concurrent use and return
// soon after ctx ends.
//
// On failure Complete returns an error, best a *Failure (see AsFailure for how
// other errors are classified), and a reply that carries the Calls and Usage
// spent so far.
type Model interface {
	Complete(ctx context.Context, r Request) (synod.Reply, error)
	Info() Info
}

// Closer is a Model that holds resources: a child process, a file, connections.
type Closer interface{ Close() error }

// layer wraps a model in another one.
type layer func(Model) Model

// stack puts layers around a model, the first outermost.
func stack(m Model, layers ...layer) Model {
	for i := len(layers) - 1; i >= 0; i-- {
		m = layers[i](m)
	}
	return m
}
