package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli/app"
)

// tattler is a server that repeats what it was sent: the request's headers and address stand in its replies, in its
// errors and in its list of models. The first part of the path says how.
func tattler(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard := fmt.Sprint(r.RequestURI, " ", r.Header)
		status, _ := strconv.Atoi(strings.Split(r.URL.Path, "/")[1])
		var body any
		switch {
		case status != 0:
			w.WriteHeader(status)
			body = map[string]any{"error": map[string]any{"message": heard, "code": heard, "type": heard}}
		case strings.HasPrefix(r.URL.Path, "/moved"):
			w.Header().Set("Location", "http://127.0.0.1:1/"+url.QueryEscape(heard))
			w.WriteHeader(http.StatusTemporaryRedirect)
		case r.Method == http.MethodGet:
			body = map[string]any{"data": []any{map[string]any{"id": "m"}, map[string]any{"id": heard}}}
		case strings.HasSuffix(r.URL.Path, "/messages"):
			body = map[string]any{"model": heard, "stop_reason": "end_turn",
				"content": []any{map[string]any{"type": "text", "text": heard + "\nAnswer: 42"}}}
		case strings.Contains(r.URL.Path, ":generateContent"):
			body = map[string]any{"modelVersion": heard, "candidates": []any{map[string]any{"finishReason": "STOP",
				"content": map[string]any{"parts": []any{map[string]any{"text": heard + "\nAnswer: 42"}}}}}}
		default:
			content, _ := json.Marshal(map[string]any{"reasoning": heard, "answer": "42", "confidence": 0.9})
			body = map[string]any{"model": heard, "choices": []any{map[string]any{"finish_reason": "stop",
				"message": map[string]any{"content": string(content)}}}}
		}
		_ = json.NewEncoder(w).Encode(body)
	}))
	t.Cleanup(s.Close)
	return s
}

// canaries are the secrets of the test, by the place that each stands in.
type canaries map[string]string

// in returns the places whose secret, or a usual form of it, is in a text.
func (c canaries) in(text []byte) (places []string) {
	for place, secret := range c {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)),
			url.QueryEscape(secret), fmt.Sprintf("%x", secret)} {
			if bytes.Contains(text, []byte(form)) {
				places = append(places, place)
				break
			}
		}
	}
	return places
}

// canaryCouncils are councils with a secret in each place that takes one; URL is the server.
const canaryCouncils = `
good: {models: {m: {provider: openai, url: "URL/v1?token=c4nary-query", key_env: MY_KEY, model: m, cache: true}}}
named: {models: {m: {provider: openai, url: "URL/v1", query_env: MY_QUERY, key_env: MY_KEY, model: m}}}
anthropic: {models: {m: {provider: anthropic, url: "URL", key_env: MY_KEY, model: m}}}
gemini: {models: {m: {provider: gemini, url: "URL", key_env: MY_KEY, model: m}}}
bad400: {models: {m: {provider: openai, url: "URL/400/v1?token=c4nary-query", key_env: MY_KEY, model: m}}}
bad401: {models: {m: {provider: openai, url: "URL/401/v1?token=c4nary-query", key_env: MY_KEY, model: m}}}
bad404: {models: {m: {provider: openai, url: "URL/404/v1?token=c4nary-query", key_env: MY_KEY, model: m}}}
bad500: {models: {m: {provider: openai, url: "URL/500/v1?token=c4nary-query", key_env: MY_KEY, model: m, attempts: 1}}}
moved: {models: {m: {provider: openai, url: "URL/moved/v1?token=c4nary-query", key_env: MY_KEY, model: m}}}
closed: {models: {m: {provider: openai, url: "http://127.0.0.1:1/v1?token=c4nary-query", key_env: MY_KEY, model: m, attempts: 1}}}
nohost: {models: {m: {provider: openai, url: "http://c4nary-user:c4nary-password@[::1/v1?token=c4nary-query", model: m}}}
password: {models: {m: {provider: openai, url: "http://c4nary-user:c4nary-password@127.0.0.1:1/v1", model: m}}}
proxied: {models: {m: {provider: openai, url: "https://127.0.0.1:1/v1", proxy: "http://c4nary-user:c4nary-password@127.0.0.1:1", model: m, attempts: 1}}}
typed: {models: {m: {provider: openai, url: ["http://127.0.0.1:1/v1?token=c4nary-query"], model: m}}}
keyed: {models: {m: {provider: openai, url: "URL/v1?token=c4nary-query", key: c4nary-literal, model: m}}}
hooked: {models: {m: {provider: simulated}}, breakers: {escalate: {webhook: "https://c4nary-user:c4nary-password@hooks.example/c4nary-path?t=c4nary-query", within: 1ms}}}
badhook: {models: {m: {provider: simulated}}, breakers: {escalate: {webhook: "ftp://c4nary-user:c4nary-password@hooks.example/c4nary-path"}}}
`

// No command shows a secret, or writes it into a file: neither on success nor in an error, a hint, a log, a report or a
// trace, with servers that repeat what they are sent.
func TestCanaries(t *testing.T) {
	server := tattler(t)
	secrets := canaries{"the query of a url": "c4nary-query", "a user in a url": "c4nary-user",
		"a password in a url": "c4nary-password", "the path of a webhook": "c4nary-path",
		"key_env": "c4nary-my-key", "query_env": "c4nary-my-query", "OPENAI_API_KEY": "c4nary-openai-key",
		"ANTHROPIC_API_KEY": "c4nary-anthropic-key", "GEMINI_API_KEY": "c4nary-gemini-key",
		"a key in the council file": "c4nary-literal", "SYNOD_PASSPHRASE": "c4nary-passphrase",
		"the password of a proxy": "c4nary-proxy"}
	for name, value := range map[string]string{"MY_KEY": "c4nary-my-key", "MY_QUERY": "token=c4nary-my-query",
		"OPENAI_API_KEY": "c4nary-openai-key", "ANTHROPIC_API_KEY": "c4nary-anthropic-key",
		"GEMINI_API_KEY": "c4nary-gemini-key", "SYNOD_PASSPHRASE": "c4nary-passphrase",
		"HTTPS_PROXY": "http://c4nary-user:c4nary-proxy@127.0.0.1:1", "OPENAI_BASE_URL": server.URL + "/v1"} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	input := map[string]bool{}
	write := func(name, text string) {
		input[name] = true
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("q.jsonl", `{"id":"q0","question":"What is 20 + 22?","answer":"42"}`+"\n")
	worked := map[string]int{} // by command: how often it succeeded
	run := func(args ...string) {
		var out, errs bytes.Buffer
		args = append([]string{"--home", "home"}, args...)
		code := Run(context.Background(), args, strings.NewReader(""), &out, &errs)
		if code == app.ExitOK {
			worked[args[2]]++
		}
		for name, text := range map[string][]byte{"stdout": out.Bytes(), "stderr": errs.Bytes()} {
			for _, place := range secrets.in(text) {
				t.Errorf("synod %s (exit %d): %s has the secret of %s:\n%s", strings.Join(args, " "), code, name,
					place, text)
			}
		}
	}
	for line := range strings.Lines(strings.TrimSpace(canaryCouncils)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		file := name + ".yaml"
		write(file, strings.ReplaceAll(strings.TrimSuffix(text, "}"), "URL", server.URL)+
			", protocol: {name: majority}, seats: [{id: a, model: m, count: 3}]}\n")
		for _, args := range [][]string{
			{"config", "show"}, {"config", "show", "--origin"}, {"doctor"},
			{"ask", "--dry-run", "What is 17 + 25?"}, {"ask", "--dry-run", "--json", "What is 17 + 25?"},
			{"ask", "-v", "--journal", name + ".jsonl", "--record", name + ".trace", "What is 17 + 25?"},
			{"ask", "--json", "--no-preflight", "--show", "rounds,models,reasoning", "What is 17 + 25?"},
			{"ask", "--allow-escalation", "What is 17 + 25?"},
			{"bench", "run", "q.jsonl", "-o", name + ".run"},
			{"calibrate", "q.jsonl", "--out", name + ".calibrated"},
			{"attack", "q.jsonl", "-n", "1", "-o", name + ".attack"},
		} {
			run(append(args, "-c", file)...)
		}
		for _, format := range []string{"text", "json", "csv", "md", "html"} {
			run("bench", "report", name+".run", "--format", format, "-o", name+"."+format)
			run("bench", "report", name+".run", "--format", format)
		}
		run("bench", "export", name+".run", "--inspect", "-o", name+".inspect")
		run("replay", name+".jsonl")
		run("verify", name+".jsonl")
		run("journals", "show", name+".jsonl")
		run("ask", "--resume", name+".jsonl")
	}
	for _, args := range [][]string{{"journals", "list"}, {"cache", "show"}, {"doctor"}, {"environment"}, {"init"},
		{"init", "--force"}, {"models", "list"}, {"ask", "--model", "openai:m", "What is 17 + 25?"},
		{"ask", "--model", "anthropic:m", "What is 17 + 25?"}, {"ask", "--model", "openai:m@3", "--json", "1 + 1?"},
	} {
		run(args...)
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || input[path] {
			return err
		}
		text, err := os.ReadFile(path)
		for _, place := range secrets.in(text) {
			t.Errorf("the file %s has the secret of %s", path, place)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"ask", "bench", "config", "doctor", "replay", "journals", "init", "calibrate",
		"attack"} {
		if worked[command] == 0 {
			t.Errorf("synod %s never succeeded, so this test says little of it", command)
		}
	}
	for _, seen := range []string{"a c4nary-query", base64.StdEncoding.EncodeToString([]byte("c4nary-query"))} {
		if len(secrets.in([]byte(seen))) != 1 {
			t.Errorf("this test does not see %q", seen)
		}
	}
}
