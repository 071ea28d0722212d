package engine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"synod.dev/synod/llm/models"
)

// TestMain runs a model process if the first argument is "engine", because Start executes
// this binary, and a child of fake_test.go if it begins with "fake-".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "engine" {
		os.Exit(child(os.Args[2:]))
	}
	if len(os.Args) > 2 && strings.HasPrefix(os.Args[1], "fake-") {
		os.Exit(fakeChild(os.Args[1]))
	}
	code := m.Run()
	if shared.c != nil {
		_ = shared.c.Close()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func child(args []string) int {
	opts, err := ParseArgs(args)
	if err == nil {
		err = Serve(context.Background(), opts, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// realConfig returns the settings for the default model. It skips the test if the model has
// not been pulled.
func realConfig(tb testing.TB) Config {
	tb.Helper()
	if !haveEngine {
		tb.Skip("this build has no embedded model")
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

// sharedReal returns one client for all tests that only send requests, because loading is
// slow. TestMain closes it.
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

// endless returns a request for exactly n tokens: its grammar does not allow the end token.
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

// likelihood returns the scores of continuations without hidden states.
func likelihood(c *Client, ctx context.Context, prefix string, continuations []string) ([]LogProb, Usage, error) {
	scores, _, usage, err := c.Weigh(ctx, prefix, continuations, nil)
	return scores, usage, err
}
