package gateway

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// A question that limits.tokens allows no member to read has an error of its own over all APIs: no member has failed.
func TestQuestionTooLong(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL, "limits: {tokens: 20000}")})
	long := "What is 17 + 25? " + strings.Repeat("word ", 10_000)
	for path, body := range map[string]string{chats: questionBody("seven", long),
		"/v1/responses": `{"model": "seven", "input": "` + long + `"}`,
		"/v1/messages":  `{"model": "seven", "max_tokens": 9, "messages": [{"role": "user", "content": "` + long + `"}]}`} {
		r := h.post(t, path, body)
		p := r.problem(t)
		if r.StatusCode != http.StatusRequestEntityTooLarge || p.Error.Code != "question_too_long" ||
			!strings.Contains(p.Error.Message, "limits.tokens is 20000; 0 were used") ||
			!strings.Contains(p.Error.Message, "council's file") || r.Header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %+v", path, r.StatusCode, p.Error)
		}
		want := "invalid_request_error"
		if path == "/v1/messages" {
			want = "request_too_large"
		}
		if p.Error.Type != want {
			t.Errorf("%s: %s", path, p.Error.Type)
		}
	}
	if n := stub.total.Load(); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}

// Where what is left of a key's limit ends a question, the error names that, and no limit of the council.
func TestDrainedKeyIsNamed(t *testing.T) {
	up := watch(t, splitVote(),
		llmtest.With(llmtest.Usage(`{"prompt_tokens":900,"completion_tokens":100}`)))
	h := open(t, map[string]string{"seven": stubbed(up.URL, "rule: {name: supermajority}")})
	key := h.key(t, store.Key{Name: "bob", TokensPerDay: 24_000})
	r := h.post(t, chats, questionBody("seven", sum), "Authorization", key)
	if p := r.problem(t); r.StatusCode != 422 || p.Error.Code != "budget_exceeded" || p.Synod.Calls.Made == 0 ||
		!strings.Contains(p.Error.Message, "key's limit for today") ||
		strings.Contains(p.Error.Message, "limits.tokens") {
		t.Errorf("%d %+v", r.StatusCode, p.Error)
	}
}

// A key that is missing in the environment is a fault of the server in every API, and its variable is named to nobody.
func TestMissingKey(t *testing.T) {
	up := newUpstream(t)
	const name = "VERY_PRIVATE_NAME"
	file := stubbed(up.URL)
	mixed := strings.NewReplacer("models: {", "models: {bare: {provider: openai, url: \""+up.URL+"\", model: bare, "+
		"attempts: 1, key_env: "+name+"}, ", "count: 5}", "count: 2}, {id: b, model: bare, count: 5}").Replace(file)
	h := open(t, map[string]string{"all": strings.Replace(file, "attempts: 1", "attempts: 1, key_env: "+name, 1),
		"mixed": mixed, "query": strings.Replace(file, "attempts: 1", "attempts: 1, query_env: "+name, 1)})
	for _, model := range []string{"all", "mixed", "solo:bare"} {
		for path, body := range map[string]string{chats: questionBody(model, sum),
			"/v1/responses": `{"model": "` + model + `", "input": "` + sum + `"}`,
			"/v1/messages": `{"model": "` + model + `", "max_tokens": 9, "messages": [{"role": "user", "content": "` + sum +
				`"}]}`} {
			r := h.post(t, path, body)
			var e struct {
				Error struct{ Type, Message string }
			}
			if json.Unmarshal(r.body, &e) != nil || r.StatusCode < 400 || !strings.Contains("server_error api_error "+
				"overloaded_error", e.Error.Type) || e.Error.Type == "" || strings.Contains(string(r.body), name) {
				t.Errorf("%s %s: %d %+v", model, path, r.StatusCode, e)
			}
		}
	}
	if r := h.send(t, t.Context(), http.MethodGet, "/readyz", ""); strings.Contains(string(r.body), name) ||
		!strings.Contains(string(r.body), "query") {
		t.Errorf("%s", r.body)
	}
	for _, model := range []string{"model=mixed", "model=solo:bare"} {
		log := h.log.String()
		if !strings.Contains(log, "no key: "+name+" is not set") || !strings.Contains(log, model) {
			t.Error("the log does not name the variable")
		}
	}
}
