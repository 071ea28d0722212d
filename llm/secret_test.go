package llm

import (
	"net/http"
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// TestEchoedKey: whatever a server echoes, and however long the key is, it is neither in
// a reply nor in an error nor in the fault of a reply. Answers that contain the letters of
// a short key stay.
func TestEchoedKey(t *testing.T) {
	for _, key := range []string{"k7", "abc", "s3cr3t!", "sk-0123456789ab", "sk-canary-0123456789abcdef",
		strings.Repeat("long", 2000)} {
		echo := func(c llmtest.Call) string {
			return "You sent " + c.Auth + " ('" + key + "'), answer: x" + key + "y"
		}
		m, _ := stub(t, func(c *OpenAIConfig) { c.Key = NewSecret(key) })
		for name, server := range map[string]*llmtest.Server{
			"reply": llmtest.Start(t, echo),
			"error": llmtest.Start(t, echo, llmtest.With(func(x *llmtest.Exchange) {
				x.Error(http.StatusTeapot, "teapot", echo(x.Call))
			})),
			"usage": llmtest.Start(t, echo, llmtest.With(llmtest.Usage(`{"prompt_tokens":"`+key+`"}`))),
		} {
			c := m.cfg
			c.URL = server.URL + "?token=" + key + "&q=a%2Bb%21cd"
			m, err := NewOpenAI(c)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := m.Complete(t.Context(), ask(t, "?"))
			said := strings.ReplaceAll(reply.Text, "x"+key+"y", "")
			if err != nil {
				said += strings.ReplaceAll(err.Error(), "x"+key+"y", "")
			}
			if strings.Contains(said+reply.Detail+reply.Fault, key) && len(key) >= 8 ||
				strings.Contains(said+reply.Fault, "'"+key+"'") || strings.Contains(reply.Fault, `"`+key+`"`) {
				t.Errorf("key of %d bytes, %s: %.200s %.200s %.200s", len(key), name, said, reply.Detail, reply.Fault)
			}
			if err == nil && len(key) < 8 && !strings.Contains(reply.Text, "x"+key+"y") {
				t.Errorf("a word that contains the short key %q is lost: %s", key, reply.Text)
			}
			m.Close()
		}
	}
	const escaped = `{"key": "sk\/ab\u0063d-e", "again": "sk/abcd-e", "other": "sk\/abcd"}`
	if s := NewSecret("sk/abcd-e").Redact(escaped); s != `{"key": "***", "again": "***", "other": "sk\/abcd"}` {
		t.Error(s)
	}
	for _, placeholder := range []string{"x", "none", "EMPTY", "ollama"} {
		if text := "the answer is " + placeholder; NewSecret(placeholder).Redact(text) != text {
			t.Errorf("%q is taken for a secret", placeholder)
		}
	}
}

// TestURLSecrets: parts of the URL are not in replies either.
func TestURLSecrets(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Call) string {
		return "user:pa+ss%21word pa ss!word dXNlcjpwYSBzcyF3b3Jk q%2Bsecret q+secret 2026-01-01"
	})
	url := strings.Replace(s.URL, "http://", "http://user:pa%20ss%21word@", 1)
	m, err := NewOpenAI(OpenAIConfig{URL: url + "?sig=q%2Bsecret&api-version=2026-01-01", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	reply, err := m.Complete(t.Context(), ask(t, "?"))
	for _, secret := range []string{"pa ss!word", "dXNlcjpwYSBzcyF3b3Jk", "q%2Bsecret", "q+secret"} {
		if err != nil || strings.Contains(reply.Text, secret) {
			t.Errorf("%s is in %q, %v", secret, reply.Text, err)
		}
	}
	if !strings.Contains(reply.Text, "2026-01-01") {
		t.Error("a version is taken for a secret")
	}
}
