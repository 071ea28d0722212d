package gateway

import (
	"strings"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
)

const limitOfTests = 5 * time.Second

// What clients send as their defaults, and what asks for no more than an answer, is answered.
func TestDropIn(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	user := `"messages": [{"role": "user", "content": "What is 17 + 25?"}]`
	for _, more := range []string{`"presence_penalty": 0, "frequency_penalty": 0.0, "logit_bias": {}, ` + user,
		`"modalities": [ "text" ], "top_logprobs": 0, "logprobs": false, "best_of": 1, ` + user,
		`"messages": [{"role": "system", "content": "What is 17 + 25?"}]`,
		`"messages": [{"role": "system", "content": "What is 17 + 25?"}, {"role": "user", "content": ""}]`} {
		r := h.post(t, chats, `{"model": "seven", `+more+"}")
		if r.StatusCode != 200 || !strings.Contains(string(r.body), `"content":"42"`) {
			t.Errorf("%s: %d %.300s", more, r.StatusCode, r.body)
		}
	}
	for _, more := range []string{`"presence_penalty": 0.5`, `"logit_bias": {"1": 2}`, `"modalities": ["text", "audio"]`} {
		if r := h.post(t, chats, `{"model": "seven", `+more+", "+user+"}"); r.StatusCode != 400 {
			t.Errorf("%s: %d", more, r.StatusCode)
		}
	}
}
