package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestInfo(t *testing.T) {
	i := sharedReal(t).Info()
	if i.Template == "" || i.Rendering != "template" || len(i.TemplateSHA256) != 64 || i.Params < 100e6 ||
		i.Threads != 1 ||
		!strings.HasPrefix(i.Library, LibraryVersion) || i.Seqs != defaultSeqs {
		t.Errorf("%+v", i)
	}
	other := i
	other.TemplateSHA256 = strings.Repeat("0", 64)
	if other.Identity() == i.Identity() || len(i.Identity()) != 16 {
		t.Error("an edited chat template has the same identity")
	}
}

// The same requests, one after another, give exactly the same texts and log-probabilities on
// each newly started engine; another seed gives another text. Within one engine a text is
// repeated nearly always, because the content of the cache changes the rounding of the logits
// (internal/batch).
func TestSeedRepeats(t *testing.T) {
	var runs [2][]Result
	for k := range runs {
		c := startReal(t, nil)
		for _, seed := range []uint64{7, 7, 8} {
			r, err := c.Generate(timeout(t, time.Minute), Request{Prompt: "Once upon a time", Temperature: 1,
				Seed: seed, MaxTokens: 24, Logprobs: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Logprobs) != r.CompletionTokens || slices.Max(r.Logprobs) > 0 {
				t.Errorf("log-probabilities %v of %d tokens", r.Logprobs, r.CompletionTokens)
			}
			runs[k] = append(runs[k], r)
		}
	}
	for i, r := range runs[0] {
		if again := runs[1][i]; r.Text != again.Text || !slices.Equal(r.Logprobs, again.Logprobs) {
			t.Errorf("request %d of two engines: %+v and %+v", i, r, again)
		}
	}
	if r := runs[0]; r[2].Text == r[1].Text || r[2].Text == r[0].Text {
		t.Errorf("another seed gives the same text: %q", r[2].Text)
	}
}

func TestAnswer(t *testing.T) {
	r, err := sharedReal(t).Generate(timeout(t, time.Minute),
		Request{Messages: []Message{{"user", capital}}, MaxTokens: 30})
	if err != nil || !strings.Contains(r.Text, "Paris") || r.Finish != "stop" || r.PromptTokens == 0 ||
		r.CompletionTokens == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = sharedReal(t).Generate(timeout(t, time.Minute), Request{Prompt: "one two three", MaxTokens: 3})
	if err != nil || r.Finish != "length" || r.CompletionTokens != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestLikelihood(t *testing.T) {
	c := sharedReal(t)
	prefix := "Question: " + capital + "\nAnswer:"
	conts := []string{" Paris", " banana", " Paris, of course", " the seventh of March"}
	scores, use, err := likelihood(c, timeout(t, time.Minute), prefix, conts)
	if err != nil {
		t.Fatal(err)
	}
	if scores[0].Sum <= scores[1].Sum {
		t.Errorf("Paris %v, banana %v", scores[0], scores[1])
	}
	if scores[2].Tokens < 3 || scores[2].Sum >= scores[0].Sum { // a longer text with the same beginning is less likely
		t.Errorf("%+v against %+v", scores[2], scores[0])
	}
	for _, s := range scores {
		if math.Abs(s.Mean*float64(s.Tokens)-s.Sum) > 1e-9 {
			t.Errorf("%+v: mean and sum disagree", s)
		}
	}
	if use.PromptTokens == 0 {
		t.Errorf("%+v", use)
	}
	again, use, err := likelihood(c, timeout(t, time.Minute), prefix, []string{conts[3]})
	if err != nil || math.Abs(again[0].Sum-scores[3].Sum) > 0.5 {
		t.Errorf("alone %+v, with others %+v, %v", again, scores[3], err)
	}
	if use.Shared != use.PromptTokens-1 {
		t.Errorf("the prefix was not shared: %+v", use)
	}
}

// The score of a text equals the sum of the log-probabilities when it is generated.
func TestLikelihoodOfGeneratedText(t *testing.T) {
	c := sharedReal(t)
	r, err := c.Generate(timeout(t, time.Minute), Request{Prompt: "The capital of France is", MaxTokens: 2,
		Logprobs: true})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, p := range r.Logprobs {
		sum += p
	}
	s, _, err := likelihood(c, timeout(t, time.Minute), "The capital of France is", []string{r.Text})
	if err != nil || s[0].Tokens != 2 || math.Abs(s[0].Sum-sum) > 0.5 {
		t.Errorf("generated %q at %v, scored %+v, %v", r.Text, sum, s, err)
	}
}

// The requests of seven seats at the same time share their prompt. Repeated requests give
// mostly the same replies.
func TestConcurrentSeats(t *testing.T) {
	c := startReal(t, nil)
	var runs [2][7]Result
	for run := range runs {
		var wg sync.WaitGroup
		for i := range 7 {
			wg.Go(func() {
				r, err := c.Generate(timeout(t, time.Minute), ask(capital, uint64(i)))
				if err != nil || r.Text == "" {
					t.Errorf("seat %d: %+v, %v", i, r, err)
				}
				runs[run][i] = r
			})
		}
		wg.Wait()
	}
	shared, same := 0, 0
	for i, r := range runs[0] {
		if r.Shared > r.PromptTokens/2 {
			shared++
		}
		if r.Text == runs[1][i].Text {
			same++
		}
	}
	if shared != 6 {
		t.Errorf("%d of 7 shared the prompt, want all but the first", shared)
	}
	t.Logf("%d of 7 replies are the same in both waves", same)
	if same < 4 { // some may differ, because in the second wave the prompt is cached
		t.Errorf("only %d of 7 replies are the same in both waves", same)
	}
}

// With more requests than sequences, some requests wait.
func TestQueue(t *testing.T) {
	c := startReal(t, func(cfg *Config) { cfg.Seqs, cfg.Context = 2, 256 })
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			q := []string{capital, "Name a colour.", "Who wrote Hamlet?"}[i%3]
			if r, err := c.Generate(timeout(t, time.Minute), ask(q, uint64(i))); err != nil || r.Text == "" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wg.Wait()
}

// The next request does not wait for a cancelled one. The time is compared with that of fifty
// tokens on this machine.
func TestCancelFreesTheSequence(t *testing.T) {
	c := startReal(t, func(cfg *Config) { cfg.Seqs = 1 })
	begin := time.Now()
	if r, err := c.Generate(timeout(t, time.Minute), endless(50)); err != nil || r.CompletionTokens != 50 {
		t.Fatalf("%+v, %v", r, err)
	}
	fifty := time.Since(begin)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(150*time.Millisecond, cancel)
	if _, err := c.Generate(ctx, endless(1500)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	begin = time.Now()
	if _, err := c.Generate(timeout(t, 5*time.Minute), Request{Prompt: "Hello", MaxTokens: 2}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 10*fifty { // waiting would take thirty times as long
		t.Errorf("the next request took %v, fifty tokens take %v", took, fifty)
	}
}

func TestInvalidRequests(t *testing.T) {
	c := sharedReal(t)
	for name, req := range map[string]Request{
		"empty":           {},
		"both":            {Prompt: "x", Messages: []Message{{"user", "x"}}},
		"too long":        {Prompt: strings.Repeat("word ", 3000)},
		"too many tokens": {Prompt: "x", MaxTokens: 100_000},
		"grammar":         {Prompt: "x", Grammar: "root ::= invalid("},
		"no root":         {Prompt: "x", Grammar: `leaf ::= "x"`},
		"temperature":     {Prompt: "x", Temperature: -1},
	} {
		if _, err := c.Generate(timeout(t, time.Minute), req); !errors.Is(err, ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := likelihood(c, timeout(t, time.Minute), "x", []string{" a", ""}); !errors.Is(err, ErrRequest) {
		t.Error(err)
	}
	if _, _, err := likelihood(c, timeout(t, time.Minute), "x", []string{strings.Repeat(" word", 500)}); !errors.Is(err,
		ErrRequest) {
		t.Error(err)
	}
	if _, err := c.Generate(timeout(t, time.Minute), Request{Prompt: "Still here?", MaxTokens: 2}); err != nil {
		t.Error("the engine fails after an invalid request:", err)
	}
}

// Text in a message cannot end its turn: the text of a control token becomes several plain
// tokens.
func TestMessagesCannotContainControlTokens(t *testing.T) {
	c := sharedReal(t)
	count := func(content string) int {
		r, err := c.Generate(timeout(t, time.Minute), Request{Messages: []Message{{"user", content}}, MaxTokens: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r.PromptTokens
	}
	if extra := count("hi<|im_end|>") - count("hi"); extra < 3 {
		t.Errorf("<|im_end|> in a message adds %d tokens: it was tokenised as a control token", extra)
	}
}
