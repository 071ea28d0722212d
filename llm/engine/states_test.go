package engine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func hidden(cfg *Config) { cfg.Hidden = true }

var everything = Capture{Layers: []int{0, 14, 29}, Positions: Positions()}

// near reports how far two states are apart, relative to their length.
func near(a, b []float32) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return math.Inf(1)
	}
	var d, n float64
	for i := range a {
		d += float64(a[i]-b[i]) * float64(a[i]-b[i])
		n += float64(b[i]) * float64(b[i])
	}
	return math.Sqrt(d / n)
}

// apart is how far states of one text may be apart when they are computed in
// batches of different shape: kernels round otherwise, and by the last layer 3 to
// 4 per cent were seen; in batches of one shape nothing. States of another text
// are apart by more than half.
const apart = 0.1

// generated asks for a text and weighs it and another. A text is now and then written
// in other tokens than it is read in, which no engine can help: then it takes another.
func generated(t *testing.T, c *Client, req Request) (r Result, weighed []*States) {
	t.Helper()
	for range 5 {
		var err error
		if r, err = c.Generate(timeout(t, time.Minute), req); err != nil {
			t.Fatal(err)
		}
		_, weighed, _, err = c.Weigh(timeout(t, time.Minute), req.Prompt, []string{r.Text, " something else altogether"}, &everything)
		if err != nil {
			t.Fatal(err)
		}
		if r.States.Tokens == weighed[0].Tokens {
			break
		}
		req.Seed++
	}
	return r, weighed
}

// What is captured while generating is what reading prompt and answer in one go
// gives. [CP-2, Eq. 2]
func TestStatesAgainstPrefill(t *testing.T) {
	c := startReal(t, hidden)
	if i := c.Info(); i.Layers != 30 || i.Width != 576 || !i.Hidden {
		t.Fatalf("%d layers of width %d, hidden: %v", i.Layers, i.Width, i.Hidden)
	}
	for _, req := range []Request{
		{Prompt: "The capital of France is", MaxTokens: 6},
		{Prompt: "Once upon a time there was", MaxTokens: 12, Temperature: 0.7, Seed: 3},
		{Prompt: "Question: What is 3 + 6?\nAnswer: 9\n\nQuestion: What is the capital of Spain?\nAnswer:", MaxTokens: 20, Stop: []string{"\n"}},
	} {
		req.Capture = &everything
		r, weighed := generated(t, c, req)
		if r.States.Tokens == 0 || r.States.Tokens != weighed[0].Tokens {
			t.Errorf("%q: %d tokens while generating, %d read", r.Text, r.States.Tokens, weighed[0].Tokens)
		}
		for _, l := range everything.Layers {
			for _, p := range Positions() {
				if d := near(r.States.At(l, p), weighed[0].At(l, p)); !(d < apart) {
					t.Errorf("%q layer %d %s: apart by %v", r.Text, l, p, d)
				}
				if d := near(r.States.At(l, p), weighed[1].At(l, p)); p != Query && d < 3*apart {
					t.Errorf("layer %d %s: %q and something else are apart by %v only", l, p, r.Text, d)
				}
			}
			// The last answer token read as the end of a prompt is the slow twin of Last.
			whole, err := c.Generate(timeout(t, time.Minute), Request{Prompt: req.Prompt + r.Text, MaxTokens: 1, Capture: &Capture{[]int{l}, []Position{Query}}})
			if err != nil {
				t.Fatal(err)
			}
			if d := near(r.States.At(l, Last), whole.States.At(l, Query)); !(d < apart) {
				t.Errorf("%q layer %d: last is apart from the query state of the longer prompt by %v", r.Text, l, d)
			}
		}
	}
}

// Sequences that are decoded in one batch keep their own states.
func TestStatesDoNotMix(t *testing.T) {
	c := startReal(t, hidden)
	prompts := []string{"The capital of France is", "My favourite colour is", "2 + 2 =", "Water boils at", "A dog says"}
	alone := make([]Result, len(prompts))
	ask := func(i int) Result {
		r, err := c.Generate(timeout(t, time.Minute), Request{Prompt: prompts[i], MaxTokens: 5 + i, Capture: &everything})
		if err != nil {
			t.Error(err)
		}
		return r
	}
	for i := range prompts {
		alone[i] = ask(i)
	}
	together := make([]Result, len(prompts))
	var wg sync.WaitGroup
	for i := range prompts {
		wg.Go(func() { together[i] = ask(i) })
		wg.Go(func() { // others that want none, and continuations, in the same batches
			if _, err := c.Generate(timeout(t, time.Minute), Request{Prompt: prompts[i] + " not", MaxTokens: 9}); err != nil {
				t.Error(err)
			}
			if _, _, err := likelihood(c, timeout(t, time.Minute), prompts[i], []string{" one", " two or three"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, got := range together {
		if got.Text != alone[i].Text {
			t.Logf("%q became %q in company: only the query is compared", alone[i].Text, got.Text)
		}
		for j := range alone {
			for _, p := range Positions() {
				d := near(got.States.At(14, p), alone[j].States.At(14, p))
				if i == j && (p == Query || got.Text == alone[i].Text) && !(d < apart) {
					t.Errorf("%q %s in company: apart from alone by %v", prompts[i], p, d)
				}
				if i != j && d < 3*apart {
					t.Errorf("%q and %q have the same %s state (%v)", prompts[i], prompts[j], p, d)
				}
			}
		}
	}
}

func TestBadCaptures(t *testing.T) {
	c := startReal(t, hidden)
	for says, capture := range map[string]Capture{
		"layers 0 to 29": {Layers: []int{30}, Positions: Positions()}, "layer -1": {Layers: []int{-1}, Positions: Positions()},
		"twice": {Layers: []int{1, 1}, Positions: Positions()}, "of 0 layers": {Positions: Positions()},
		"at 0 positions": {Layers: []int{1}}, `position "first"`: {Layers: []int{1}, Positions: []Position{"first"}},
	} {
		_, err := c.Generate(timeout(t, time.Minute), Request{Prompt: "x", MaxTokens: 1, Capture: &capture})
		if !errors.Is(err, ErrRequest) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if _, err := sharedReal(t).Generate(timeout(t, time.Minute), Request{Prompt: "x", MaxTokens: 1, Capture: &everything}); !errors.Is(err, ErrRequest) {
		t.Error("an engine without hidden states:", err)
	}
	if err := (Capture{Layers: slices.Repeat([]int{1}, 1)[:1], Positions: Positions()}).check(2, 1<<20, 4); err == nil {
		t.Error("more than a frame holds is accepted")
	}
	r, err := c.Generate(timeout(t, time.Minute), Request{Prompt: "x", MaxTokens: 4, Grammar: `root ::= "\n"`, Stop: []string{"\n"}, Capture: &everything})
	if err != nil || r.States.Tokens != 0 || r.States.At(0, Mean) != nil || r.States.At(0, Query) == nil || r.States.At(5, Query) != nil {
		t.Errorf("an empty answer: %+v, %v", r.States, err)
	}
}
