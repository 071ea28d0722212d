package gateway

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/trust"

	"synod.dev/synod/internal/llmtest"
)

// tiered is a council of two tiers behind the server at a URL, whose probability comes from a trust file.
func tiered(url, file string) string {
	return `council: tiered
protocol: {name: cascade, tiers: [[a, b], [c]], p: 0.9}
graph: {family: complete}
f: 0
models:
  a: {provider: openai, url: "` + url + `", model: ma, attempts: 1}
  b: {provider: openai, url: "` + url + `", model: mb, attempts: 1}
  c: {provider: openai, url: "` + url + `", model: mc, attempts: 1}
seats: [{id: a, model: a}, {id: b, model: b}, {id: c, model: c}]
trust: {file: "` + file + `"}
`
}

// graded writes a trust file with so many questions, of which each member answered half rightly.
func graded(t *testing.T, path string, questions int) {
	t.Helper()
	var all []reliability.Observation
	for q := range questions {
		for i, m := range []string{"ma", "mb", "mc"} {
			o := reliability.Observation{Question: fmt.Sprint(q), Kind: "number", Member: m, Answer: fmt.Sprint("w", i),
				Label: reliability.Wrong}
			if (q>>i)%2 == 0 {
				o.Answer, o.Label = "r", reliability.Right
			}
			all = append(all, o)
		}
	}
	if err := trust.Update(path, func(h *trust.History) error { h.Add(all); return nil }); err != nil {
		t.Fatal(err)
	}
}

// synod.at_least makes no decision of an answer that is less probable, in all three APIs, and is refused where nothing
// says how probable answers are.
func TestAtLeast(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	file := filepath.Join(t.TempDir(), "trust.json")
	graded(t, file, 40)
	h := open(t, map[string]string{"tiers": tiered(stub.URL, file), "unlabelled": tiered(stub.URL, file+".none"),
		"seven": stubbed(stub.URL)})
	ask := func(path, model, least string) reply {
		const more = `"synod": {"form": "number", "at_least": %s}`
		switch path {
		case "/v1/responses":
			return h.post(t, path, fmt.Sprintf(`{"model": %q, "input": %q, `+more+`}`, model, sum, least))
		case "/v1/messages":
			return h.post(t, path, questionBody(model, sum, `"max_tokens": 50`, fmt.Sprintf(more, least)))
		}
		return h.post(t, path, questionBody(model, sum, fmt.Sprintf(more, least)))
	}
	for _, path := range []string{chats, "/v1/messages", "/v1/responses"} {
		if r := ask(path, "tiers", "0.2"); r.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
		r := ask(path, "tiers", "0.9999")
		if r.StatusCode != 422 || !strings.Contains(string(r.body), "and at_least is 0.9999") ||
			!strings.Contains(string(r.body), `"labels":40`) {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
		for model, want := range map[string]string{"unlabelled": "none without labels", "seven": "it has no tiers",
			"solo:ma": "", "solo:a": "one model alone has none"} {
			if r := ask(path, model, "0.9"); r.StatusCode/100 != 4 || !strings.Contains(string(r.body), want) {
				t.Errorf("%s of %s: %d %s", path, model, r.StatusCode, r.body)
			}
		}
		for _, bad := range []string{"0", "-1", "1.1", `"0.9"`, "true", "[]"} {
			if r := ask(path, "tiers", bad); r.StatusCode != 400 || !json.Valid(r.body) {
				t.Errorf("%s with %s: %d %s", path, bad, r.StatusCode, r.body)
			}
		}
	}
}
