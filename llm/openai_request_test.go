package llm

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// TestBody: for any prompt and any dialect, the body is one JSON object with the
// prompt and the settings.
func TestBody(t *testing.T) {
	m, err := NewOpenAI(OpenAIConfig{URL: "http://127.0.0.1:9/v1", Model: `a "model"`, Temperature: new(0.1),
		MaxTokens: 9, Logprobs: true, Temperatures: map[synod.Purpose]float64{"vote": 0.3}})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := dialect{form: form(rapid.IntRange(int(formStrict), int(formText)).Draw(t, "form")),
			noSeed:           rapid.Bool().Draw(t, "no seed"),
			noTemperature:    rapid.Bool().Draw(t, "no temperature"),
			completionTokens: rapid.Bool().Draw(t, "completion tokens")}
		s, err := m.encoder(d)
		if err != nil {
			t.Fatal(err)
		}
		c := seededChat{prompt.Chat{System: rapid.String().Draw(t, "system"), User: rapid.String().Draw(t, "user")},
			nil, &synod.Prompt{Purpose: rapid.SampledFrom([]synod.Purpose{synod.Answering, "vote"}).Draw(t, "purpose")}}
		want := map[string]any{"model": `a "model"`, "logprobs": true}
		if !d.noTemperature {
			want["temperature"] = 0.1
			if c.asked.Purpose == "vote" {
				want["temperature"] = 0.3
			}
		}
		if want["max_tokens"] = 9.0; d.completionTokens {
			delete(want, "max_tokens")
			want["max_completion_tokens"] = 9.0
		}
		if rapid.Bool().Draw(t, "seed") {
			if c.seed = new(int64(7)); !d.noSeed {
				want["seed"] = 7.0
			}
		}
		system := c.System
		if rapid.Bool().Draw(t, "schema") {
			c.Schema = json.RawMessage(`{"maxLength":5}`)
			if d.form >= formObject {
				system += "\n\nReply with one JSON object and nothing else. It must satisfy this JSON schema:\n" +
					string(c.Schema)
			}
			if f := formats[d.form]; f != nil {
				want["response_format"] = f
			}
		}
		user := map[string]any{"role": "user", "content": c.User}
		if want["messages"] = []any{user}; system != "" {
			want["messages"] = []any{map[string]any{"role": "system", "content": system}, user}
		}
		var got map[string]any
		if err := json.Unmarshal(s.body(c), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\n%s\nwant %v", err, s.body(c), want)
		}
	})
}

// formats are the response_format of each form for the schema {"maxLength":5}.
var formats = map[form]any{
	formStrict: map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "reply", "strict": true,
		"schema": map[string]any{"maxLength": 5.0}}},
	formBare: map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "reply", "strict": true,
		"schema": map[string]any{}}},
	formObject: map[string]any{"type": "json_object"},
}
