package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm/prompt"
)

func TestMain(m *testing.M) {
	llmtest.ServeFast()
	if len(os.Args) > 1 && os.Args[1] == "engine" {
		os.Exit(engineChild(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// canary is a key that no output may contain.
const canary = "sk-canary-0123456789abcdef"

func testTemplates(t testing.TB) *prompt.Templates {
	t.Helper()
	b, err := prompt.NewTemplates("test", fstest.MapFS{"ask.tmpl": {Data: []byte(
		`{{define "system"}}You answer.{{end}}{{define "user"}}{{.Question.Text}}{{end}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ask(t testing.TB, text string) Request {
	return Request{
		Prompt: &synod.Prompt{Template: "test/ask", Purpose: synod.Answering, Seed: 7,
			Question: &synod.Question{ID: "q1", Text: text, Form: synod.Number}},
		Templates: testTemplates(t), Seat: "a1",
	}
}

// stub starts a server and a client of it.
func stub(t testing.TB, set func(*OpenAIConfig), options ...llmtest.Option) (*OpenAI, *llmtest.Server) {
	t.Helper()
	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), options...)
	c := OpenAIConfig{URL: s.URL, Model: "stub", Key: NewSecret(canary), Timeout: 2 * time.Minute}
	if set != nil {
		set(&c)
	}
	m, err := NewOpenAI(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m, s
}

// fake is a model that calls a function.
type fake struct {
	kind Kind
	do   func(context.Context, Request) (synod.Reply, error)
}

func (f fake) Info() Info {
	return Info{Kind: f.kind, Name: "fake", Identity: fmt.Sprintf("fake %s", f.kind)}
}

func (f fake) Complete(ctx context.Context, r Request) (synod.Reply, error) { return f.do(ctx, r) }

// named is a fake endpoint with a name.
type named struct {
	fake
	name string
}

func (n named) Info() Info { return Info{Kind: Endpoint, Name: n.name, Identity: n.name} }

// failing returns the result of a call that was sent and failed.
func failing(status synod.Status, retryable bool) (synod.Reply, error) {
	return failed(synod.Reply{Calls: 1}, &Failure{Status: status, Retryable: retryable, Err: errors.New("as asked")})
}

func fine(text string) (synod.Reply, error) {
	return synod.Reply{Status: synod.OK, Text: text, Calls: 1, Usage: synod.Usage{Prompt: 3, Completion: 2}}, nil
}

// quietLog is the log of servers whose clients disconnect on purpose.
var quietLog = log.New(io.Discard, "", 0)

// testLayers are the settings of standard.
type testLayers struct {
	record   *Recorder
	cache    string // folder; "": none
	attempts int
	limits   limits
	hedge    Hedge
	breaker  breakerConfig
}

// standard puts the layers of a pool of its own around a model.
func standard(m Model, x testLayers) Model {
	p := Pool{breaker: x.breaker}
	return pooled(&p, m, x)
}

// pooled puts the layers of a pool around a model.
func pooled(p *Pool, m Model, x testLayers) Model {
	common := Common{Attempts: x.attempts, Concurrency: x.limits.concurrency, PerMinute: x.limits.perMinute,
		Cache: x.cache != ""}
	w, err := p.wrap("test", Opened{Model: m, Common: common}, Options{Env: Env{Record: x.record, Cache: x.cache},
		Hedge: x.hedge})
	if err != nil {
		panic(err)
	}
	return w
}

// limitedTo is a layer with its own limits.
func limitedTo(x limits) layer {
	var l limiter
	l.join(&x)
	return l.layer()
}
