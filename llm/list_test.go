package llm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

// Every API lists its models; the key is sent and never returned.
func TestListModels(t *testing.T) {
	const key = "sk-canary-0123456789"
	s := llmtest.Start(t, nil, llmtest.Models("one", "two", "one", "", "bad\nname", "has-"+key,
		strings.Repeat("x", 201)))
	env := Env{Getenv: func(name string) string { return map[string]string{"KEY": key}[name] }}
	for _, provider := range []string{"openai", "anthropic", "gemini"} {
		base := strings.TrimSuffix(s.URL, "/v1")
		info, names, err := ListModels(t.Context(), provider, map[string]any{"url": base, "key_env": "KEY"}, env)
		if err != nil || !slices.Equal(names, []string{"one", "two"}) || !strings.Contains(base, info.Server) {
			t.Errorf("%s: %v of %q, %v", provider, names, info.Server, err)
		}
	}
}

func TestListModelsFails(t *testing.T) {
	none := Env{Getenv: func(string) string { return "" }}
	s := llmtest.Start(t, nil, llmtest.Models([]string{}...))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for _, x := range []struct {
		provider, url, key string
		want               synod.Status
	}{
		{"openai", s.URL, "", synod.Unreadable},
		{"openai", s.URL, "MISSING", synod.Auth},
		{"gemini", s.URL, "MISSING", synod.Auth},
		{"openai", "http://127.0.0.1:1", "", synod.Unavailable},
	} {
		settings := map[string]any{"url": x.url}
		if x.key != "" {
			settings["key_env"] = x.key
		}
		_, names, err := ListModels(ctx, x.provider, settings, none)
		var f *Failure
		if !errors.As(err, &f) || f.Status != x.want || names != nil {
			t.Errorf("%+v: %v, %v", x, names, err)
		}
	}
	if _, _, err := ListModels(ctx, "simulated", nil, none); err == nil {
		t.Error("a provider without a server has a list")
	}
}
