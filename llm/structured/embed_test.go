package structured_test

import (
	"strings"
	"testing"

	"synod.dev/synod/llm/structured"
)

func TestEmbed(t *testing.T) {
	for text, want := range map[string]string{
		`{"properties":{"b":{"$ref":"#/$defs/x"},"a":{"$ref":"#"}},"$defs":{"x":{"type":"number","x-merge":"vote"}}}`: `` +
			`{"properties":{"b":{"$ref":"#/properties/answer/$defs/x"},"a":{"$ref":"#/properties/answer"}},` +
			`"$defs":{"x":{"type":"number"}}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"string","title":"<a>"}`: `` +
			`{"type":"string","title":"<a>"}`,
		// names and values that look like keywords stay
		`{"properties":{"x-merge":{"const":{"$ref":"#","x-a":1.50}},"$ref":{}}}`: `` +
			`{"properties":{"x-merge":{"const":{"$ref":"#","x-a":1.50}},"$ref":{}}}`,
		`{"broken":`: `{"broken":`,
	} {
		if got := string(structured.Embed([]byte(text), "/properties/answer")); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// A value follows a schema if and only if, within a larger object, it follows the embedded one.
func TestEmbeddedMeaning(t *testing.T) {
	const text = `{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]},
		"n":{"$ref":"#/$defs/n"}},"required":["n"],"$defs":{"n":{"type":"integer"}}}`
	inner := schema(t, text)
	outer := schema(t, `{"type":"object","properties":{"answer":`+
		string(structured.Embed([]byte(text), "/properties/answer"))+`}}`)
	for _, raw := range []string{`{"n":1}`, `{"n":1,"next":{"n":2,"next":null}}`, `{"n":1,"next":{"n":"x"}}`, `{}`} {
		a, b := inner.Validate(value(t, raw)), outer.Validate(value(t, `{"answer":`+raw+`}`))
		if (a == nil) != (b == nil) {
			t.Errorf("%s: %v alone, %v embedded", strings.TrimSpace(raw), a, b)
		}
	}
}
