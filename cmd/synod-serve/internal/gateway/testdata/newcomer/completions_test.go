package gateway

import (
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// The council decides what clients of the old API ask.
func TestCompletions(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	r := h.post(t, "/v1/completions", `{"model": "seven", "prompt": "What is 17 + 25?"}`)
	if r.StatusCode != 200 || !strings.Contains(string(r.body), `"text":"42"`) {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	for _, body := range []string{`[]`, `{"model": "seven"}`, `{"model": "seven", "prompt": "x", "stream": true}`} {
		if r := h.post(t, "/v1/completions", body); r.StatusCode != 400 {
			t.Errorf("%s: %d %s", body, r.StatusCode, r.body)
		}
	}
}
