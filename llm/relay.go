package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/jsonobject"
)

// Relayed is the response of a server to a body that was passed on. The caller closes Body.
type Relayed struct {
	Header http.Header
	Length int64 // of Body in bytes, as the server says; -1: it does not
	Body   io.ReadCloser
}

// Refusal is why a server refused a body that was passed on. Only its Failure may be shown to anybody
// but the owner of the model.
type Refusal struct {
	*Failure
	HTTP    int    // the status of the response
	Message string // the server's, in short and without secrets; "" where it could hold a part of the key
	Code    string // the server's
	Param   string // the key of the body that the server refuses, if it names one
}

// senders reports whether the body is to blame, and not the server or the key.
func (r *Refusal) senders() bool {
	return r.HTTP == http.StatusBadRequest || r.HTTP == http.StatusRequestEntityTooLarge ||
		r.HTTP == http.StatusUnprocessableEntity
}

func (r *Refusal) Unwrap() error { return r.Failure }

// Relay passes the body of a chat completion on to the server of an OpenAI-compatible model, and its
// response back as it comes, without the secrets of the model. It keeps to the limits and the breaker of the model's
// account, and repeats nothing: the caller's client does. Only a body that the server refuses because of max_tokens,
// which newer models of OpenAI do not take, is sent once more with max_completion_tokens, and later ones of the model
// are sent with that. The body names the model as its server knows it (Info.Model).
//
// The error is a *Refusal where the server responded with another status than 200, else a *Failure; ErrNoRelay
// if the model has no server with this API. Budget, cache and time limit do not apply: see ctx.
func Relay(ctx context.Context, m Model, body []byte) (*Relayed, error) {
	var r relay
	server := r.to(m)
	if server == nil {
		return nil, ErrNoRelay
	}
	return r.pass(ctx, server, body)
}

// ErrNoRelay reports that a model has no server with OpenAI's API.
var ErrNoRelay = errors.New("llm: the model has no server with OpenAI's API")

// Relays reports whether Relay can pass bodies on to a model's server.
func Relays(m Model) bool {
	var r relay
	return r.to(m) != nil
}

// to finds the server of a model, and the layers that keep to the limits of its account; nil: it has none with
// OpenAI's API, or the server is not told which model is meant.
func (r *relay) to(m Model) *OpenAI {
	for at := m; ; {
		switch l := at.(type) {
		case *mannered:
			r.habits, r.key = l.habits, l.key
		case *breaking:
			r.breaker = l.b
		case *limited:
			r.limiter = l.l
		case *OpenAI:
			if l.Info().Model == "" {
				return nil
			}
			return l
		}
		l, wraps := at.(interface{ Within() Model })
		if !wraps {
			return nil
		}
		at = l.Within()
	}
}

// relay is one body on its way.
type relay struct {
	habits  *habits // nil: of a model without layers
	key     string  // of the model's habit
	breaker *breaker
	limiter *limiter
	caller  string
	ticket  ticket
	once    sync.Once
}

func (r *relay) pass(ctx context.Context, m *OpenAI, body []byte) (*Relayed, error) {
	var f *Failure
	if r.breaker != nil {
		if r.ticket, f = r.breaker.admit(ctx); f != nil {
			return nil, f.hold()
		}
	}
	if r.limiter != nil {
		r.caller = callerOf(ctx)
		if f = r.limiter.acquire(ctx, false, longestPause); f != nil {
			r.leave(false, f)
			return nil, f.hold()
		}
	}
	res, err := r.send(ctx, m, body)
	if err != nil {
		f := AsFailure(err)
		if f.RetryAfter > 0 && r.limiter != nil {
			r.limiter.pause(f.RetryAfter)
		}
		r.release()
		var refused *Refusal
		if errors.As(err, &refused) && refused.senders() {
			f = nil
		}
		r.leave(ctx.Err() == nil, f)
		return nil, err
	}
	r.leave(true, nil)
	return &Relayed{Header: res.Header, Length: res.ContentLength, Body: &relayBody{res.Body, r}}, nil
}

// hold returns a failure of a request that was not sent.
func (f *Failure) hold() *Failure {
	g := *f
	g.held = true
	return &g
}

// send sends a body in the way that fits the server.
func (r *relay) send(ctx context.Context, m *OpenAI, body []byte) (*http.Response, error) {
	known := m.known.Load().completionTokens || r.habits != nil && r.habits.of(r.key).CompletionTokens
	if known {
		if fit := completionTokens(body); fit != nil {
			body = fit
		}
	}
	res, err := m.relay(ctx, body)
	var refused *Refusal
	if known || !errors.As(err, &refused) || !refused.senders() {
		return res, err
	}
	text := strings.ToLower(refused.Param + " " + refused.Code + " " + refused.Message)
	if _, names := (dialect{}).without(text, optional{maxTokens: true}); !names {
		return res, err
	}
	again := completionTokens(body)
	if again == nil {
		return res, err
	}
	if res, err = m.relay(ctx, again); err == nil && r.habits != nil {
		r.habits.change(r.key, func(h *Habit) { h.CompletionTokens = true })
	}
	return res, err
}

// completionTokens returns a body with max_completion_tokens in place of max_tokens; nil: it has no max_tokens alone.
func completionTokens(body []byte) []byte {
	members, err := jsonobject.Members(body)
	at := slices.IndexFunc(members, func(m jsonobject.Member) bool { return m.Key == "max_tokens" })
	other := slices.IndexFunc(members, func(m jsonobject.Member) bool { return m.Key == "max_completion_tokens" })
	if err != nil || at < 0 || other >= 0 {
		return nil
	}
	out := append(make([]byte, 0, len(body)+32), '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		if i == at {
			m.Key = "max_completion_tokens"
		}
		key, _ := json.Marshal(m.Key) // a text can always be encoded
		out = append(append(append(out, key...), ':'), m.Value...)
	}
	return append(out, '}')
}

func (r *relay) leave(tried bool, f *Failure) {
	if r.breaker != nil {
		r.ticket.leave(tried, f)
	}
}

// release ends the request for the limits, once.
func (r *relay) release() {
	r.once.Do(func() {
		if r.limiter != nil {
			r.limiter.release(r.caller)
		}
	})
}

// relayBody frees the slot of the concurrency limit when it is closed.
type relayBody struct {
	io.ReadCloser
	r *relay
}

func (b *relayBody) Close() error {
	b.r.release()
	return b.ReadCloser.Close()
}

// relay sends a body that somebody else has made.
func (m *OpenAI) relay(ctx context.Context, body []byte) (*http.Response, error) {
	res, f := m.httpClient.send(ctx, m.endpoint, body)
	if f != nil {
		return nil, f
	}
	if res.StatusCode == http.StatusOK {
		res.Body = m.masking(res.Body)
		return res, nil
	}
	b, _ := io.ReadAll(io.LimitReader(res.Body, min(m.maxReply, maxErrorBody)))
	_ = res.Body.Close()
	f = m.refusal(response{status: res.StatusCode, header: res.Header, body: b})
	if f.RetryAfter == 0 {
		f.RetryAfter = retryAfter(res.Header)
	}
	e := &Refusal{Failure: f, HTTP: res.StatusCode}
	if c := m.errors(b); f.Status != synod.Auth {
		show := func(text string) string { return shorten(m.redact(oneLine(text))) }
		e.Message, e.Code, e.Param = show(c.message), show(c.code), show(c.param)
	}
	return nil, e
}

// RelayMessages returns a conversation as the messages of a chat completion.
func RelayMessages(turns []synod.Turn) (json.RawMessage, error) {
	return json.Marshal(openAITurns(split("", turns)))
}
