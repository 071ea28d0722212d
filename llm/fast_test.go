package llm

import (
	"testing"
	"testing/fstest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm/prompt"
)

// TestFastServer: the server for benchmarks sends the same replies as the full one,
// after the same latency, for all kinds of prompts.
func TestFastServer(t *testing.T) {
	const latency = 30 * time.Millisecond
	fast := llmtest.StartFast(t, latency, "42", 0.75)
	full := llmtest.Start(t, llmtest.Fixed("42", 0.75))
	templates, err := prompt.NewTemplates("test", fstest.MapFS{
		"ask.tmpl":   {Data: []byte(`{{define "system"}}{{end}}{{define "user"}}{{.Question.Text}}, "score" or Score: 1?{{end}}`)},
		"score.tmpl": {Data: []byte(`{{define "system"}}{{end}}{{define "user"}}{{.Question.Text}} Score:{{end}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{fast.URL, full.URL} {
		m, err := NewOpenAI(OpenAIConfig{URL: url, Model: "m", Key: NewSecret(canary)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		for _, x := range []struct {
			p    synod.Prompt
			want string
		}{
			{synod.Prompt{Template: "test/ask", Purpose: synod.Answering}, `{"reasoning":"seen","answer":"42"}`},
			{synod.Prompt{Template: "test/score", Purpose: synod.Scoring}, `{"reasoning":"seen","score":0.75}`},
			{synod.Prompt{Template: "test/ask", Purpose: synod.Answering, Exact: true}, `Answer: 42`},
			{synod.Prompt{Template: "test/score", Purpose: synod.Scoring, Exact: true}, `0.75`},
		} {
			x.p.Question = &synod.Question{Text: "6 x 7", Form: synod.Number}
			begun := time.Now()
			reply, err := m.Complete(t.Context(), Request{Prompt: &x.p, Templates: templates})
			if err != nil || reply.Text != x.want || reply.Usage.Completion == 0 || url == fast.URL &&
				time.Since(begun) < latency {
				t.Errorf("%s: %+v, %v after %v", url, reply, err, time.Since(begun))
			}
		}
	}
	if fast.Count() != 4 || full.Count() != 4 {
		t.Errorf("%d and %d calls", fast.Count(), full.Count())
	}
}
