package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/record/certificate"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// job is a question for a council.
type job struct {
	id       string
	api      string
	key      *store.Key
	served   *councils.Served
	req      *wire.Request
	policy   Policy
	question synod.Question
	guessed  bool // nobody has named the form
	via      string
	begun    time.Time
	watch    Watch
	parent   string // the traceparent of the request; "": none
	calls    []ObservedCall
	as       string              // the council whose member is asked alone; "": served.ID
	seat     string              // that member
	proofs   []call.Equivocation // of nodes
	own      *council.Council    // with the request's own protocol; nil: served.Council
	print    string              // the fingerprint of own
	members  []outcome.Member    // of a council's outcome
	settled  atomic.Bool         // its end was recorded
	drained  atomic.Bool         // what its key may still use was refused to it for good
}

// model is the id of the model that the client has asked.
func (j *job) model() string { return cmp.Or(j.as, j.served.ID) }

// errGone is the cause of a run that nobody waits for any more.
var errGone = errors.New("the client is gone")

// seedOf returns the seed of a run, which the members' seeds follow from.
func seedOf(r *wire.Request) uint64 {
	if r.Seed == nil {
		return rand.Uint64N(1 << 48)
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("synod serve seed "), *r.Seed))
	return binary.BigEndian.Uint64(sum[:]) >> 16
}

// start begins the run of a job. What it may cost has been reserved when it returns without an error.
func (g *Gateway) start(fl *flight, j *job) {
	ctx, cancel := context.WithCancelCause(g.life)
	fl.cancel, fl.first = cancel, j.id
	fl.progress.Seats = len(j.served.Council.Plan().Seats())
	g.running.Add(1)
	go func() {
		defer g.running.Done()
		defer cancel(nil)
		defer g.release(j)
		a, e := g.decide(ctx, fl, j)
		fl.finish(a, e)
	}()
}

// decide reserves, asks the council and settles.
func (g *Gateway) decide(ctx context.Context, fl *flight, j *job) (*Answer, *wire.Error) {
	want, priced, e := g.want(j)
	if e != nil {
		return nil, e
	}
	r := store.Request{ID: j.id, Key: j.key, API: j.api, Model: j.served.ID, Want: want}
	if g.o.Journals != "" {
		r.Kept, r.Question = j.id, j.question.Text
	}
	grant, e := g.begin(ctx, r)
	if e != nil {
		return nil, e
	}
	asking := call.WithDone(j.outgoing(ctx), func(res *call.Result) { j.proofs = res.Proofs })
	ask := g.asked(fl, j, grant)
	if !j.nodes() && (priced && want.Money > 0 || grant.Limit.Tokens > 0) {
		ask.Draw, ask.Granted, ask.TokensOnly = g.drawing(j, grant), granted(grant.Want), !priced
	}
	o, err := j.council().Decide(asking, ask)
	var torn *council.JournalError
	if err != nil && !errors.As(err, &torn) {
		e := wire.Invalid("messages", "the council does not take the question: %v", err)
		if disk := new(os.PathError); errors.As(err, &disk) {
			g.o.Log.Error("a journal cannot be written", "request", j.id, "error", err.Error())
			e = &wire.Error{HTTP: 503, Code: "journal_unwritten", RetryAfter: 5 * time.Second,
				Message: "the gateway cannot write the journal of the run, so it does not begin it; its disk may be " +
					"full"}
		}
		g.settle(grant, store.Result{Status: e.Code, HTTP: e.HTTP}, j, "")
		return nil, e
	}
	return g.conclude(ctx, j, grant, &o)
}

// outgoing returns a context in which calls to models name this gateway, and count for the key that asks.
func (j *job) outgoing(ctx context.Context) context.Context {
	return llm.WithCaller(llm.WithVia(ctx, j.via), keyID(j.key))
}

// council returns the council that the job is for.
func (j *job) council() *council.Council {
	if j.own != nil {
		return j.own
	}
	return j.served.Council
}

func (j *job) fingerprint() string {
	if j.own != nil {
		return j.print
	}
	return j.served.Fingerprint
}

// release ends the use of the council.
func (g *Gateway) release(j *job) {
	if j.own != nil {
		if err := j.own.Close(); err != nil {
			g.o.Log.Warn("closing a council", "model", j.served.ID, "error", err.Error())
		}
	}
	j.served.Release()
}

// asked is the question as the library takes it.
func (g *Gateway) asked(fl *flight, j *job, grant store.Grant) council.Ask {
	b := j.req.Synod.Budget
	limits := plan.Limits{Calls: b.Calls, Tokens: b.Tokens, USD: b.USD, Deadline: g.o.Settings.Deadline}
	if d := time.Duration(j.req.Synod.Deadline); d > 0 && d < limits.Deadline {
		limits.Deadline = d
	}
	if j.nodes() { // they cannot draw more
		if usd := grant.Limit.Money.USD(); usd > 0 && (limits.USD == 0 || usd < limits.USD) {
			limits.USD = usd
		}
		if n := int(grant.Limit.Tokens); n > 0 && (limits.Tokens == 0 || n < limits.Tokens) {
			limits.Tokens = n
		}
	}
	ask := council.Ask{Question: j.question, Seed: seedOf(j.req), Program: "synod-serve", Limits: limits}
	if g.o.Journals != "" {
		ask.Journal = filepath.Join(g.o.Journals, grant.Begun.UTC().Format("2006-01-02"), j.id+".jsonl")
	}
	ask.Noted = j.watch.Noted
	answered := map[synod.NodeID]bool{}
	ask.Replied = func(seat synod.NodeID, r *synod.Reply) {
		if r.Status == synod.OK {
			answered[seat] = true
			fl.note(func(p *Progress) { p.Answered = len(answered) })
		}
		if g.o.Calls {
			j.called(seat, r)
		}
		if j.watch.Replied != nil {
			j.watch.Replied(seat, r)
		}
	}
	ask.Progress = func(now council.Progress) {
		if j.watch.Progress != nil {
			j.watch.Progress(now)
		}
		fl.note(func(p *Progress) {
			p.Round, p.Rounds, p.Calls, p.Planned = max(now.Round, 0), now.Rounds, now.Calls, now.Planned
		})
	}
	return ask
}

// conclude settles an outcome and makes the answer of it, or the error.
func (g *Gateway) conclude(ctx context.Context, j *job, grant store.Grant, o *outcome.Outcome) (*Answer, *wire.Error) {
	for _, m := range o.Members {
		if m.Trouble != "" {
			g.o.Log.Log(ctx, troubleLevel(m.Trouble), "a member has failed", "request", j.id,
				"member", m.ID, "reason", m.Trouble)
		}
	}
	o.Members = hidden(o.Members)
	j.members = o.Members
	r := report(o, j.req.Ignored)
	g.accuse(j, r)
	g.warnUnread(j.served.ID, o)
	if j.req.Synod.Certificate {
		g.certify(j, o, r)
	}
	a := &Answer{ID: j.id, Created: grant.Begun, Model: j.served.ID, Fingerprint: j.fingerprint(),
		Usage: Usage{o.Tokens.Prompt, o.Tokens.Completion}, Cost: o.Cost, Synod: r, Choices: choices(o, j.id, j.req.N)}
	var e *wire.Error
	if !o.Answered() {
		e = failure(o, r, j.drained.Load())
		switch {
		case e.HTTP == 503 || context.Cause(ctx) == errGone:
		case j.policy.OnNoConsensus == wire.BestEffort && len(a.Choices) > 0:
			e = nil
		case j.policy.OnNoConsensus == wire.Refuse:
			a.Choices, a.Refusal, e = []Choice{{}}, "The council did not decide: "+e.Message, nil
		}
	}
	res := store.Result{Status: o.Status, HTTP: 200, Spent: store.USD(o.Money.AtLeast), Unpriced: o.Cost == nil,
		Calls: o.Calls.Made, Prompt: o.Tokens.Prompt, Completion: o.Tokens.Completion}
	if grant.Limit != (store.Amount{}) { // also what servers did not report
		res.Spent, res.Tokens = max(res.Spent, store.USD(o.Charged.USD)), int64(o.Charged.Tokens)
	}
	if e != nil {
		res.Status, res.HTTP = e.Code, e.HTTP
	}
	switch context.Cause(ctx) {
	case errGone:
		res.Status, res.HTTP = "client_gone", 499
	case errStopped:
		if e != nil {
			e = stopped(r)
			res.Status, res.HTTP = e.Code, e.HTTP
		}
	}
	if o.Journal != "" {
		res.Journal = journalID(o.Journal)
		if info, err := os.Stat(o.Journal); err == nil {
			res.Bytes = info.Size()
		}
	}
	text := ""
	if len(a.Choices) > 0 {
		text = a.Choices[0].Text
	}
	if o.Answer != nil {
		res.Answer = o.Text
	}
	g.settle(grant, res, j, text)
	return a, e
}

// certify adds the certificate of a decision to its report.
func (g *Gateway) certify(j *job, o *outcome.Outcome, r *Report) {
	if o.Answer == nil {
		r.Uncertified = "the council did not decide"
		return
	}
	file, err := func() ([]byte, error) {
		secret, err := g.o.Owner()
		if err != nil {
			return nil, err
		}
		in := plan.Instance{Question: j.question, Seed: o.Seed}
		s, err := outcome.Owned(j.council().Plan(), in, o, secret.PublicKey())
		if err != nil {
			return nil, err
		}
		c, err := certificate.Signed(&s, secret)
		if err != nil {
			return nil, err
		}
		return c.File()
	}()
	if r.Certificate = string(file); err != nil {
		r.Uncertified = "the gateway could not sign it; its log says why"
		g.o.Log.Error("a certificate cannot be made", "request", j.id, "error", err.Error())
	}
}

// settle records how a request ended. If the store fails, the reservation stands and the attempt is repeated.
func (g *Gateway) settle(grant store.Grant, r store.Result, j *job, answer string) {
	if err := g.o.Store.Settle(grant, r); err != nil {
		g.o.Log.Error("a request could not be settled; what it reserved counts as spent until that works",
			"request", grant.ID, "error", err.Error())
		g.running.Add(1)
		go g.settleLater(grant, r)
	}
	if j != nil {
		j.settled.Store(true)
	}
	took := time.Since(grant.Begun)
	attrs := append(make([]slog.Attr, 0, 13), slog.String("request", grant.ID), slog.String("api", grant.API),
		slog.String("model", grant.Model), slog.String("status", r.Status), slog.Int("http", r.HTTP),
		slog.Int("calls", r.Calls), slog.Int("prompt_tokens", r.Prompt), slog.Int("completion_tokens", r.Completion),
		slog.Float64("usd", r.Spent.USD()), slog.Float64("seconds", took.Seconds()))
	if grant.Key != nil {
		attrs = append(attrs, slog.String("key", grant.Key.Name))
	}
	if g.o.Settings.Content && j != nil && j.question.Text != "" {
		attrs = append(attrs, slog.String("question", j.question.Text), slog.String("answer", answer))
	}
	g.o.Log.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
	g.observe(grant, r, took, j, answer)
}

func (g *Gateway) settleLater(grant store.Grant, r store.Result) {
	defer g.running.Done()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-g.life.Done():
			t.Stop()
			return
		}
		if g.o.Store.Settle(grant, r) == nil {
			return
		}
	}
}

// replyTokens returns the longest reply of a model.
func replyTokens(settings plan.Params) int {
	if n, err := json.Number(fmt.Sprint(settings["max_tokens"])).Int64(); err == nil && n > 0 {
		return int(n)
	}
	return 1000
}
