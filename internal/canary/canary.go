// Package canary has secrets for tests: a secret for each place that takes one, councils that have them, and a server
// that repeats what it was sent, as a careless one would. No output of a program may have any of them.
//
// The control of such a test is the same server with what it repeats spelled backwards, which no code takes for a
// secret: every output that quotes the server must then have secrets, or the test says nothing of that output.
//
// Its rank is 0: tests of all modules use it.
package canary

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Secrets are secrets by the place that each stands in.
type Secrets map[string]string

// All returns the secrets of Environment and Councils.
func All() Secrets {
	return Secrets{"the query of a url": "c4nary-query", "a user in a url": "c4nary-user",
		"a password in a url": "c4nary-password", "the path of a webhook": "c4nary-path",
		"key_env": "c4nary-my-key", "query_env": "c4nary-my-query", "OPENAI_API_KEY": "c4nary-openai-key",
		"ANTHROPIC_API_KEY": "c4nary-anthropic-key", "GEMINI_API_KEY": "c4nary-gemini-key",
		"a key in the council file": "c4nary-literal", "SYNOD_PASSPHRASE": "c4nary-passphrase",
		"the password of a proxy": "c4nary-proxy"}
}

// In returns the places whose secret, or a usual form of it, is in a text.
func (c Secrets) In(text []byte) (places []string) {
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

// Backwards returns the secrets spelled backwards, which are those of the control.
func (c Secrets) Backwards() Secrets {
	all := Secrets{}
	for place, secret := range c {
		all[place] = backwards(secret)
	}
	return all
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// Environment returns environment variables with secrets. Their models are served at url.
func Environment(url string) map[string]string {
	return map[string]string{"MY_KEY": "c4nary-my-key", "MY_QUERY": "token=c4nary-my-query",
		"OPENAI_API_KEY": "c4nary-openai-key", "ANTHROPIC_API_KEY": "c4nary-anthropic-key",
		"GEMINI_API_KEY": "c4nary-gemini-key", "SYNOD_PASSPHRASE": "c4nary-passphrase",
		"HTTPS_PROXY": "http://c4nary-user:c4nary-proxy@127.0.0.1:1", "OPENAI_BASE_URL": url + "/v1"}
}

// Server repeats what it was sent: the request's headers and address stand in its replies, in its errors and in its
// list of models. The first part of the path says how. With control it spells them backwards.
func Server(control bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard := fmt.Sprint(r.RequestURI, " ", r.Header)
		if control {
			heard = backwards(heard)
		}
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
	})
}

// Council is a council file.
type Council struct{ Name, Text string }

// Councils returns councils with a secret in each place that takes one. Their models are served at url.
func Councils(url string) (all []Council) {
	for line := range strings.Lines(strings.TrimSpace(councils)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all = append(all, Council{name, strings.ReplaceAll(text, "URL", url) + "\n"})
	}
	return all
}

//go:embed councils.txt
var councils string // a council a line: its name and its file
