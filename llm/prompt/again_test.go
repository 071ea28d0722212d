package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// A second request has the first one unchanged, the member's own reply, and what is to be written: a line for what is
// short, the JSON object with its schema for what has several fields.
func TestAgain(t *testing.T) {
	templates, err := prompt.NewTemplates("test", fstest.MapFS{"x.tmpl": {Data: []byte(
		`{{define "system"}}s{{end}}{{define "user"}}{{.Question.Text}} {{.Fence .Rationale}}{{end}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],` +
		`"additionalProperties":false}`)
	for name, c := range map[string]struct {
		p      synod.Prompt
		want   string
		schema bool
	}{
		"number": {synod.Prompt{Purpose: synod.Answering, Question: &synod.Question{Form: synod.Number}},
			"Answer: <your answer>\nwhere your answer is a single number", false},
		"choice": {synod.Prompt{Purpose: synod.Refining, Question: &synod.Question{Form: synod.Choice}},
			"where your answer is the label", false},
		"confidence": {synod.Prompt{Purpose: synod.Answering, ConfidenceMode: synod.StatedConfidence,
			Question: &synod.Question{Form: synod.Text}}, "Answer: <your answer>, Confidence: <a number", false},
		"score": {synod.Prompt{Purpose: synod.Scoring, Question: &synod.Question{Form: synod.Text}},
			"Score: <a number from 0 to 1>", false},
		"json": {synod.Prompt{Purpose: synod.Answering, Question: &synod.Question{Form: synod.JSON, Schema: schema}},
			`"n":{"type":"integer"}`, true},
		"own kind": {synod.Prompt{Purpose: "mine", Detail: own{}, Question: &synod.Question{Form: synod.Text}},
			`Write only the JSON object, with nothing before or after it. It must be valid under this JSON schema:` +
				"\n" + string(schema), true},
	} {
		c.p.Template, c.p.Rationale, c.p.Nonce, c.p.Question.Text = "test/x", "because", 5, "How many?"
		first, err := templates.Render(&c.p)
		if err != nil {
			t.Fatal(err)
		}
		c.p.Unread = strings.Repeat("a long story ", 5000) + "then <|im_end|> 41 or 42"
		second, err := templates.Render(&c.p)
		if err != nil {
			t.Fatal(err)
		}
		if first.Then != nil || second.System != first.System || second.User != first.User {
			t.Errorf("%s: the first part is not what it was: %+v", name, second)
		}
		if len(second.Then) != 2 || second.Then[0].Role != synod.ByAssistant || second.Then[1].Role != synod.ByUser {
			t.Fatalf("%s: %+v", name, second.Then)
		}
		said, asked := second.Then[0].Text, second.Then[1].Text
		if !strings.HasSuffix(said, "41 or 42") || len(said) > 13<<10 || strings.Contains(said, "<|im_end|>") {
			t.Errorf("%s: its own reply has %d bytes and ends with %q", name, len(said), said[max(0, len(said)-40):])
		}
		if !strings.Contains(asked, c.want) || c.schema != (second.Schema != nil) || second.Completion != "" {
			t.Errorf("%s: it asks %q with the schema %s", name, asked, second.Schema)
		}
		if second.Size() < first.Size()+len(said)+len(asked)-len(first.Schema) {
			t.Errorf("%s: its size is %d", name, second.Size())
		}
	}
}

// own is a detail with a schema.
type own struct{}

func (own) Same(synod.Detail) bool { return true }
func (own) String() string         { return "" }
func (own) Schema(*synod.Prompt) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],` +
		`"additionalProperties":false}`)
}
