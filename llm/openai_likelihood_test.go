package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// The confidence of an endpoint is the probability of the tokens of its answer, not of its reasoning; it is missing
// where tokens and text do not fit, and where nobody asks for it.
func TestLikelihoodOfEndpoint(t *testing.T) {
	type token struct {
		Token   string  `json:"token"`
		Logprob float64 `json:"logprob"`
	}
	var tokens []token
	text := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		content, _ := json.Marshal(text)
		list, _ := json.Marshal(tokens)
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop","logprobs":{"content":%s}}]}`,
			content, list)
	}))
	defer server.Close()
	m, err := NewOpenAI(OpenAIConfig{URL: server.URL, Model: "m", Logprobs: true})
	if err != nil {
		t.Fatal(err)
	}
	silent, _ := NewOpenAI(OpenAIConfig{URL: server.URL, Model: "m"})
	if silent.GivesLikelihood() || !m.GivesLikelihood() {
		t.Error("only a model with logprobs gives likelihoods")
	}
	q := &synod.Question{ID: "q", Text: "What is 17 + 25?", Form: synod.Number}
	right := []token{{`{"reasoning": "maybe 4`, -5}, {`2", "answer":`, -3}, {` 4`, -0.2}, {`2`, -0.4}, {`}`, 0}}
	for name, c := range map[string]struct {
		tokens []token
		text   string // "": that of the tokens
		mode   synod.ConfidenceMode
		want   float64 // −1: none
	}{
		"answer":          {right, "", synod.LikelihoodConfidence, math.Exp(-0.3)},
		"not asked for":   {right, "", synod.StatedConfidence, -1},
		"other text":      {right, `{"reasoning": "", "answer": 42}`, synod.LikelihoodConfidence, -1},
		"tokens left out": {right[:4], `{"reasoning": "maybe 42", "answer": 42}`, synod.LikelihoodConfidence, -1},
		"no answer":       {[]token{{"I do not know.", -1}}, "", synod.LikelihoodConfidence, -1},
		"above one":       {[]token{{`{"answer": `, -1}, {`42`, 3}, {`}`, 0}}, "", synod.LikelihoodConfidence, -1},
	} {
		tokens, text = c.tokens, c.text
		if text == "" {
			for _, x := range tokens {
				text += x.Token
			}
		}
		asked := &synod.Prompt{Purpose: synod.Answering, Question: q, ConfidenceMode: c.mode}
		reply, err := m.Complete(context.Background(), Request{Prompt: asked, Given: &prompt.Chat{User: "?"}})
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want < 0 && reply.Confidence != nil:
			t.Errorf("%s: %v, want none", name, *reply.Confidence)
		case c.want >= 0 && (reply.Confidence == nil || math.Abs(*reply.Confidence-c.want) > 1e-12):
			t.Errorf("%s: %v, want %v", name, reply.Confidence, c.want)
		}
	}
}
