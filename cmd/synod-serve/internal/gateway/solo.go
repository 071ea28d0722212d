package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/prompt"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// pass is a request that is passed on to one model.
type pass struct {
	*Gateway
	job    *job
	grant  store.Grant
	info   llm.Info
	stream bool
	usage  bool // the client wants a usage chunk
	most   Usage
	cancel context.CancelCauseFunc
	rate   *llm.Price // of the model; nil: nobody has asked for it
	priced bool       // rate is known
}

// solo passes a request on to one model, with the accounting of a council's.
func (g *Gateway) solo(d dialect, w http.ResponseWriter, r *http.Request, j *job, body []byte,
	head wire.Head) *wire.Error {
	g.running.Add(1)
	defer g.running.Done()
	if e := oneHasNone(head); e != nil {
		return e
	}
	p := &pass{Gateway: g, job: j, info: j.served.Model.Info()}
	if !llm.Relays(j.served.Model) {
		return p.complete(d, w, r, body)
	}
	if e := choosesServer(head); e != nil {
		return e
	}
	_, isChat := d.(chat)
	if !isChat {
		var e *wire.Error
		if head, e = p.translated(d, body); e != nil {
			return e
		}
	}
	out, e := p.body(head)
	if e == nil {
		e = p.reserve(r.Context())
	}
	if e != nil {
		return e
	}
	ctx, cancel := context.WithCancelCause(j.outgoing(r.Context()))
	defer cancel(nil)
	p.cancel = cancel
	stop := context.AfterFunc(g.life, func() { cancel(errShutdown) })
	defer stop()
	limit := time.AfterFunc(p.patience(), func() { cancel(errSlow) })
	defer limit.Stop()
	res, err := llm.Relay(ctx, j.served.Model, out)
	if err != nil {
		return p.unanswered(ctx, err)
	}
	defer res.Body.Close()
	switch {
	case p.stream && !isJSON(res.Header.Get("Content-Type")):
		return p.relayStream(ctx, d, w, res, limit)
	case !isChat:
		return p.relayTranslated(ctx, d, w, res)
	}
	return p.relayWhole(ctx, w, res)
}

// unanswered settles a request that the model's server did not answer, and returns its error. One that did not leave is
// no call.
func (p *pass) unanswered(ctx context.Context, err error) *wire.Error {
	e, calls := p.upstream(ctx, err), 1
	if llm.AsFailure(err).Unsent() {
		calls = 0
	}
	p.end(store.Result{Status: e.Code, HTTP: e.HTTP, Calls: calls}, "")
	return e
}

// choosesServer refuses a request that names a server or a key of its own.
func choosesServer(head wire.Head) *wire.Error {
	for _, key := range []string{"api_base", "base_url", "api_key"} {
		if head.Members[key] != nil {
			return wire.Unsupported(key, "a request cannot choose the model's server or its key; remove %s", key)
		}
	}
	return nil
}

var (
	errShutdown = errors.New("the gateway is shutting down")
	errSlow     = errors.New("the model's server took longer than the model's timeout or the gateway's deadline")
)

// patience is how long the server may take until its reply, or the next chunk of a stream, has come: the model's
// timeout, and no longer than the whole request may take.
func (p *pass) patience() time.Duration {
	return min(p.timeout(), p.o.Settings.Deadline-time.Since(p.job.begun))
}

// timeout is the model's.
func (p *pass) timeout() time.Duration {
	set, there := p.job.served.Settings["timeout"]
	if !there {
		return llm.DefaultTimeout
	}
	t, err := time.ParseDuration(fmt.Sprint(set))
	if err != nil || t <= 0 {
		return llm.DefaultTimeout
	}
	return t
}

// body returns the body for the model's server, and sets what may be spent.
func (p *pass) body(head wire.Head) ([]byte, *wire.Error) {
	out, e := head.Forward(wire.Forwarding{Model: p.info.Model, Longest: replyTokens(p.job.served.Settings),
		Limited: p.limited()})
	p.most, p.stream, p.usage = Usage{out.Prompt, out.Completion}, head.Stream, out.Usage
	return out.Body, e
}

// limited reports whether what the request may cost must be known before it begins.
func (p *pass) limited() bool {
	return p.job.key != nil && (p.job.key.PerDay > 0 || p.job.key.TokensPerDay > 0)
}

// price returns what tokens cost; false if that is not known.
func (p *pass) price(u Usage) (store.Money, bool) {
	if p.rate == nil {
		price, known := p.o.Prices.Of(p.info)
		p.rate, p.priced = &price, known
	}
	if !p.priced {
		return 0, false
	}
	return store.USD((p.rate.Prompt*float64(u.Prompt) + p.rate.Completion*float64(u.Completion)) / 1e6), true
}

// reserve reserves the most that the request may cost.
func (p *pass) reserve(ctx context.Context) *wire.Error {
	want, known := p.price(p.most)
	if !known && p.job.key != nil && p.job.key.PerDay > 0 {
		return unpriced(p.job.model(), p.info.Name)
	}
	var e *wire.Error
	p.grant, e = p.begin(ctx, store.Request{ID: p.job.id, Key: p.job.key, API: p.job.api, Model: p.job.model(),
		Want:  store.Amount{Money: want, Tokens: int64(p.most.Prompt) + int64(p.most.Completion)},
		Whole: true}) // the model cannot be held to less
	return e
}

// end settles the request.
func (p *pass) end(r store.Result, text string) { p.settle(p.grant, r, p.job, text) }

// result is how a request ended that the model's server has answered.
func (p *pass) result(u Usage, exact bool) store.Result {
	spent, known := p.price(u)
	var tokens int64
	if limit := p.grant.Limit; !exact { // the server may have written more than came
		spent, tokens = max(spent, limit.Money), limit.Tokens
	}
	return store.Result{Status: "ok", HTTP: 200, Spent: spent, Tokens: tokens, Unpriced: !known || !exact,
		Calls: 1, Prompt: u.Prompt, Completion: u.Completion}
}

// upstream is the error of a model that did not answer.
func (p *pass) upstream(ctx context.Context, err error) *wire.Error {
	var refused *llm.Refusal
	f := llm.AsFailure(err)
	p.o.Log.Log(ctx, troubleLevel(f.Error()), "a model has failed", "request", p.job.id,
		"model", p.job.model(), "reason", f.Error())
	e := &wire.Error{HTTP: 502, Code: "upstream_error", RetryAfter: f.RetryAfter,
		Message: fmt.Sprintf("%s: %s", p.job.model(), hide(f.Error()))}
	switch cause := context.Cause(ctx); {
	case cause == errSlow:
		e.HTTP, e.Code, e.Message = 504, "upstream_timeout", p.job.model()+": "+errSlow.Error()
	case cause == errShutdown:
		e.HTTP, e.Code, e.Message = 503, "shutting_down", errShutdown.Error()
	case cause != nil:
		e.HTTP, e.Code = 499, "client_gone"
	case errors.As(err, &refused) && (refused.HTTP == 400 || refused.HTTP == 413 || refused.HTTP == 422):
		e.HTTP, e.Code, e.Param, e.Message = refused.HTTP, refused.Code, refused.Param,
			hide(cmp.Or(refused.Message, f.Reason()))
	case f.Status == synod.Auth:
		e.Code, e.Final = "upstream_auth", true
	case f.Status == synod.RateLimited:
		e.HTTP, e.Code = 429, "upstream_rate_limit"
	case f.Status == synod.Timeout:
		e.HTTP, e.Code = 504, "upstream_timeout"
	case errors.As(err, &refused) && refused.HTTP == 404:
		e.Final = true
	case strings.Contains(f.Reason(), "not called for another"):
		e.HTTP, e.Code = 503, "upstream_out_of_order"
	}
	return e
}

// oneHasNone refuses at_least in a request to one model: nothing says how likely its answer is right.
func oneHasNone(head wire.Head) *wire.Error {
	if raw := head.Members["synod"]; raw == nil || wire.Split(raw)["at_least"] == nil {
		return nil
	}
	return wire.Invalid("synod.at_least", "synod.at_least needs a probability, and one model alone has none; ask a "+
		"council with tiers and labels")
}

// single is the object synod of a reply that one member of a council has given alone.
type single struct {
	Status string `json:"status"`
	Member string `json:"member"`
}

// most bytes of a response that is not a stream.
const mostReply = 32 << 20

// relayWhole passes a whole response on, under the id of the model here.
func (p *pass) relayWhole(ctx context.Context, w http.ResponseWriter, res *llm.Relayed) *wire.Error {
	all, _, e := p.receive(ctx, w.Header(), res, nil)
	if e != nil {
		return e
	}
	all["model"] = wire.AppendQuoted(nil, p.job.model())
	if p.job.seat != "" {
		all["synod"], _ = json.Marshal(single{"single", p.job.seat})
	}
	writeBody(w, http.StatusOK, all.Join())
	return nil
}

// receive reads a whole response and settles the request. It sets the headers with the cost. read reads the choices,
// and reports whether they are some; nil: nobody reads them.
func (p *pass) receive(ctx context.Context, h http.Header, res *llm.Relayed,
	read func(choices json.RawMessage) bool) (wire.Members, Usage, *wire.Error) {
	b, err := readAll(io.LimitReader(res.Body, mostReply+1), res.Length)
	var all wire.Members
	if err == nil && len(b) <= mostReply {
		all = wire.Split(b)
	}
	var c counted
	message, whole := completion(all, &c)
	if !whole || read != nil && !read(all["choices"]) {
		e := &wire.Error{HTTP: 502, Code: "upstream_cut", Message: p.job.model() + ": the reply of the model's " +
			"server was cut off or is no chat completion"}
		if cause := context.Cause(ctx); cause != nil {
			e = p.upstream(ctx, cmp.Or(err, cause))
		}
		r := p.result(p.estimate(len(b)), false)
		r.Status, r.HTTP = e.Code, e.HTTP
		p.end(r, "")
		return nil, Usage{}, e
	}
	u, exact := p.tokens(&c)
	if !exact {
		u = p.estimate(message)
	}
	r := p.result(u, exact)
	p.end(r, "")
	p.costHeaders(h, u, r)
	return all, u, nil
}

// readAll reads a body that says how long it is; -1: it does not. No more is allocated than came, beyond a piece.
func readAll(in io.Reader, length int64) ([]byte, error) {
	if length >= 0 && length <= piece { // with room for the end of a line
		b := make([]byte, length, length+1)
		n, err := io.ReadFull(in, b)
		return b[:n], err
	}
	b := bytes.NewBuffer(make([]byte, 0, piece+bytes.MinRead))
	_, err := b.ReadFrom(in)
	return b.Bytes(), err
}

func (p *pass) costHeaders(h http.Header, u Usage, r store.Result) {
	p.job.headers(h, nil, nil)
	h.Set("X-Litellm-Total-Tokens", strconv.Itoa(u.Prompt+u.Completion))
	if !r.Unpriced {
		h.Set("X-Litellm-Response-Cost", strconv.FormatFloat(r.Spent.USD(), 'f', -1, 64))
	}
}

// complete asks a model whose server has another API than the client, or that has no server. The client gets
// the reply when it is whole.
func (p *pass) complete(d dialect, w http.ResponseWriter, r *http.Request, body []byte) *wire.Error {
	j := p.job
	if e := p.readFor(j, d, body); e != nil {
		return e
	}
	if e := textOnly(j.req); e != nil {
		return e
	}
	p.most = Usage{len(body) + 256, replyTokens(j.served.Settings)}
	if e := p.reserve(r.Context()); e != nil {
		return e
	}
	given, e := given(j.req)
	if e != nil {
		p.end(store.Result{Status: e.Code, HTTP: e.HTTP}, "")
		return e
	}
	ctx, cancel := context.WithTimeout(j.outgoing(r.Context()), p.o.Settings.Deadline)
	defer cancel()
	stop := context.AfterFunc(p.life, cancel)
	defer stop()
	got, err := j.served.Model.Complete(ctx, llm.Request{Given: given, Seat: "solo", Run: seedOf(j.req),
		Prompt: &synod.Prompt{Template: "solo", Purpose: synod.Answering, Question: &j.question, Seed: seedOf(j.req)}})
	u := Usage{got.Spent().Prompt, got.Spent().Completion}
	res := p.result(u, err == nil)
	res.Calls = got.Calls
	if err != nil {
		e := p.upstream(ctx, err)
		res.Status, res.HTTP = e.Code, e.HTTP
		p.end(res, "")
		return e
	}
	text := got.Text
	if got.Typed {
		text = string(got.Answer)
	}
	p.end(res, text)
	a := &Answer{ID: j.id, Created: p.grant.Begun, Model: j.model(), Fingerprint: j.served.Fingerprint,
		Choices: []Choice{{Text: text}}, Usage: u}
	p.costHeaders(w.Header(), u, res)
	sayWhole(d, w, a, j.req)
	return nil
}

// sayWhole sends an answer that is whole in the client's API, as a stream if the client wants one.
func sayWhole(d dialect, w http.ResponseWriter, a *Answer, r *wire.Request) {
	if !r.Stream {
		writeJSON(w, http.StatusOK, d.whole(a, r))
		return
	}
	s := newSSE(w)
	d.begin(s, a, r)
	d.decide(s, a, r)
}

// textOnly refuses what a model without an OpenAI-compatible server, or another API than chat completions, cannot be
// given: nothing is left out in silence.
func textOnly(r *wire.Request) *wire.Error {
	const why = "this model is not given %s here; a model behind an OpenAI-compatible server is"
	switch {
	case r.N > 1:
		return wire.Unsupported("n", "n above 1 is not supported by this model")
	case len(r.Tools) > 0 && r.Choice != wire.ChoiceNone:
		return wire.Unsupported("tools", why, "tools")
	case len(r.Schema) > 0:
		return wire.Unsupported("response_format", why, "a schema")
	}
	for key := range r.Sampling {
		return wire.Unsupported(key, why, key)
	}
	return nil
}

// given is a conversation as a model without a server of its own gets it.
func given(r *wire.Request) (*prompt.Chat, *wire.Error) {
	var system, user []string
	for _, t := range r.Turns {
		switch {
		case len(t.Parts) > 0 || len(t.Calls) > 0 || t.Role == synod.ByTool:
			return nil, wire.Unsupported("messages", "this model takes only text")
		case t.Role == synod.BySystem:
			system = append(system, t.Text)
		case len(r.Turns) == 1+len(system):
			user = append(user, t.Text)
		default:
			user = append(user, map[synod.Speaker]string{synod.ByUser: "User", synod.ByAssistant: "Assistant"}[t.Role]+
				": "+t.Text)
		}
	}
	return &prompt.Chat{System: strings.Join(system, "\n\n"), User: strings.Join(user, "\n\n")}, nil
}
