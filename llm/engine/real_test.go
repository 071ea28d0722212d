package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/llm/models"
)

// realConfig is the default model, or a visible skip where it has not been pulled.
func realConfig(tb testing.TB) Config {
	tb.Helper()
	if !haveEngine {
		tb.Skip("this build has no model in the box")
	}
	loc, err := models.Store{Dir: models.DefaultDir()}.Resolve(models.Default)
	if err != nil {
		tb.Skipf("NEEDS THE MODEL: %v (directory: $SYNOD_MODELS or %s)", err, models.DefaultDir())
	}
	return Config{LibDir: loc.LibDir, ModelPath: loc.Model}
}

func startReal(tb testing.TB, change func(*Config)) *Client {
	tb.Helper()
	cfg := realConfig(tb)
	if change != nil {
		change(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := Start(ctx, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

var shared struct {
	sync.Mutex
	c *Client
}

// sharedReal is one client for all tests that only ask: loading takes a moment.
// It is closed by TestMain.
func sharedReal(tb testing.TB) *Client {
	tb.Helper()
	cfg := realConfig(tb)
	shared.Lock()
	defer shared.Unlock()
	if shared.c == nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		c, err := Start(ctx, cfg)
		if err != nil {
			tb.Fatal(err)
		}
		shared.c = c
	}
	return shared.c
}

func ask(question string, seed uint64) Request {
	return Request{
		Messages:    []Message{{"system", "Answer briefly."}, {"user", question}},
		Temperature: 0.6, Seed: seed, MaxTokens: 24,
	}
}

// endless asks for n tokens and gets no fewer: its grammar lets no text end.
func endless(n int) Request {
	return Request{Prompt: "Once upon a time", Grammar: "root ::= [a-z ] root", Temperature: 1, MaxTokens: n}
}

const capital = "What is the capital of France?"

func timeout(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}
