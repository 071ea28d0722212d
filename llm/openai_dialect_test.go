package llm

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// TestOpenAILearnsWhatIsRefused makes two calls: the first finds out what the server
// refuses, the second leaves it out.
func TestOpenAILearnsWhatIsRefused(t *testing.T) {
	for _, x := range []struct {
		name    string
		refuses llmtest.Behaviour
		calls   int    // of the first Complete
		format  string // of its last request
		adapted string
		inWords bool // the schema stands in the system message
	}{
		{"schema", llmtest.RefuseFormat("json_schema"), 2, "json_object", "JSON mode in place of structured output",
			true},
		{"any format", llmtest.RefuseFormat("json_schema", "json_object"), 3, "",
			"the JSON schema in the prompt in place of structured output", true},
		{"maxLength", llmtest.RefuseKeyword("maxLength"), 2, "json_schema",
			"structured output without lengths in the schema", false},
		{"max_tokens", llmtest.RefuseParam("max_tokens:max_completion_tokens"), 2, "json_schema",
			"max_completion_tokens in place of max_tokens", false},
		{"sampling", llmtest.RefuseParam("temperature", "top_p"), 3, "json_schema", "no temperature, no top_p", false},
		{"seed", llmtest.RefuseParam("seed"), 2, "json_schema", "no seed", false},
		{"logprobs", llmtest.RefuseParam("logprobs"), 2, "json_schema", "no token log-probabilities", false},
	} {
		t.Run(x.name, func(t *testing.T) {
			m, s := stub(t, func(c *OpenAIConfig) {
				c.Temperature, c.TopP, c.MaxTokens, c.Logprobs = new(0.1), new(0.9), 100, true
			}, llmtest.With(x.refuses))
			for i, want := range []int{x.calls, 1} {
				reply, err := m.Complete(t.Context(), ask(t, "6 x 7?"))
				if err != nil || reply.Calls != want {
					t.Fatalf("call %d: %+v, %v", i, reply, err)
				}
			}
			last := s.Calls()[s.Count()-1]
			if last.Format != x.format || s.Count() != x.calls+1 ||
				strings.Contains(last.System, "JSON schema") != x.inWords {
				t.Errorf("%d calls, the last %+v", s.Count(), last)
			}
			if got := strings.Join(m.Adapted(), ", "); got != x.adapted {
				t.Errorf("adapted: %s", got)
			}
		})
	}
}

// TestOpenAIKeepsWhatIsNotBlamed: a 400 for another reason changes nothing, even if
// the server echoes the whole request.
func TestOpenAIKeepsWhatIsNotBlamed(t *testing.T) {
	for name, body := range map[string]string{
		"context": `{"error":{"message":"This model's maximum context length is 4096 tokens.","param":"messages"}}`,
		"fastapi": `{"detail":[{"loc":["body","messages"],"msg":"too long",` +
			`"input":{"temperature":0.1,"seed":3,"response_format":{}}}]}`,
		"empty": ``,
	} {
		t.Run(name, func(t *testing.T) {
			m, s := stub(t, func(c *OpenAIConfig) { c.Temperature = new(0.1) },
				llmtest.With(func(x *llmtest.Exchange) { x.Send(400, "application/json", []byte(body)) }))
			_, err := m.Complete(t.Context(), ask(t, "?"))
			if err == nil || s.Count() != 1 || len(m.Adapted()) != 0 {
				t.Errorf("%v, %d calls, adapted %v", err, s.Count(), m.Adapted())
			}
		})
	}
}

// TestOpenAILearnsNothingFromFailure: what did not help is not remembered.
func TestOpenAILearnsNothingFromFailure(t *testing.T) {
	m, s := stub(t, nil, llmtest.With(func(x *llmtest.Exchange) {
		x.Error(400, "bad", "response_format: cannot be read")
	}))
	reply, err := m.Complete(t.Context(), ask(t, "?"))
	if err == nil || len(m.Adapted()) != 0 || reply.Calls != s.Count() || reply.Calls > 4 {
		t.Errorf("%+v, %v, adapted %v", reply, err, m.Adapted())
	}
}

func TestWithoutBounds(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"string","maxLength":600}`:                       `{"type":"string"}`,
		`{"maxLength":600,"type":"string"}`:                       `{"type":"string"}`,
		`{"maxLength": 6}`:                                        `{}`,
		`{"a":{"maxLength":1,"b":2},"c":{"d":1, "maxLength":22}}`: `{"a":{"b":2},"c":{"d":1}}`,
		`{}`: `{}`,
	} {
		got := withoutBounds(json.RawMessage(in))
		if string(got) != want || !json.Valid(got) {
			t.Errorf("%s: %s", in, got)
		}
	}
	chat, err := ask(t, "?").Chat()
	if err != nil {
		t.Fatal(err)
	}
	if got := withoutBounds(slices.Clone(chat.Schema)); !json.Valid(got) || strings.Contains(string(got), "maxLength") {
		t.Errorf("%s", got)
	}
}

// A schema is strict only if all its objects are closed, and a member called maxLength stays in it.
func TestSchemasOfUsers(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                              false,
		`{"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false}`:                   false,
		`{"anyOf":[{"type":"string"},{"type":"object","properties":{}}]}`:                                      false,
		`{"type":"string"}`: true,
	} {
		if got := strictable(json.RawMessage(schema)); got != want {
			t.Errorf("%s: strict %t; want %t", schema, got, want)
		}
	}
	const named = `{"properties":{"maxLength":{"type":"string"}},"required":["maxLength"]}`
	if got := string(withoutBounds(json.RawMessage(named))); got != named {
		t.Error(got)
	}
}
