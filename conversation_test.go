package synod_test

import (
	"encoding/json"
	"strings"
	"testing"

	"synod.dev/synod"
)

// The JSON of today's questions is what it was before conversations existed: journals, instance ids and
// certificates depend on it.
func TestPlainQuestionJSON(t *testing.T) {
	for want, q := range map[string]synod.Question{
		`{"text":"1+1?","form":"number"}`: {Text: "1+1?", Form: synod.Number},
		`{"id":"a","text":"Fish?","form":"choice","options":[{"label":"A","text":"cod"}]}`: {ID: "a", Text: "Fish?",
			Form: synod.Choice, Options: []synod.Option{{Label: "A", Text: "cod"}}},
	} {
		if b, err := json.Marshal(q); err != nil || string(b) != want || !q.Plain() {
			t.Errorf("%s, %v; want %s", b, err, want)
		}
	}
}

func talk() *synod.Question {
	return &synod.Question{Text: "And in Bonn?", Form: synod.Text,
		Parts: []synod.Part{{Kind: synod.Image, Name: "map.png", Media: "image/png", Data: []byte{1, 2}}},
		Before: []synod.Turn{{Role: synod.BySystem, Text: "Be brief."}, {Role: synod.ByUser, Text: "Weather in Köln?"},
			{Role: synod.ByAssistant, Calls: []synod.Call{{ID: "c1", Name: "weather",
				Arguments: json.RawMessage(`{"city":"Köln"}`)}}},
			{Role: synod.ByTool, Call: "c1", Text: "rain"}, {Role: synod.ByAssistant, Text: "Rain."}},
		After: []synod.Turn{{Role: synod.ByAssistant, Calls: []synod.Call{{ID: "c2", Name: "weather"}}},
			{Role: synod.ByTool, Call: "c2", Text: "sun"}}}
}

func TestConversation(t *testing.T) {
	q := talk()
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	turns := q.Turns()
	if len(turns) != 8 || turns[5].Text != q.Text || len(turns[5].Parts) != 1 || len(q.Attached()) != 1 || q.Plain() {
		t.Errorf("%+v", turns)
	}
	b, _ := json.Marshal(q)
	again := &synod.Question{}
	if err := json.Unmarshal(b, again); err != nil {
		t.Fatal(err)
	}
	if c, _ := json.Marshal(again); string(c) != string(b) {
		t.Errorf("%s\n%s", b, c)
	}
}

func TestQuestionCheck(t *testing.T) {
	for why, change := range map[string]func(q *synod.Question){
		"it must be one of [system": func(q *synod.Question) {
			q.Before[0].Role = "boss"
		},
		"the user follows the last one": func(q *synod.Question) {
			q.After[0].Role = synod.ByUser
		},
		"only the user's may": func(q *synod.Question) {
			q.Before[0].Parts = q.Parts
		},
		"only the assistant's may": func(q *synod.Question) {
			q.Before[1].Calls = q.Before[2].Calls
		},
		"which no message before it makes": func(q *synod.Question) { q.Before[3].Call = "c2" },
		"used before": func(q *synod.Question) {
			q.After[0].Calls[0].ID = "c1"
		},
		"not a JSON object": func(q *synod.Question) {
			q.Before[2].Calls[0].Arguments = []byte("1")
		},
		"message 7 of the conversation: it calls": func(q *synod.Question) {
			q.After[0].Calls[0].Name = "rm -rf"
		},
		"it is empty": func(q *synod.Question) { q.Before[4].Text = "" },
		"kind is \"video\"": func(q *synod.Question) {
			q.Parts[0].Kind = "video"
		},
		"it must be a media type": func(q *synod.Question) {
			q.Parts[0].Media = "image/png; x"
		},
		"15 MB together": func(q *synod.Question) {
			q.Parts[0].Data = make([]byte, synod.MaxParts+1)
		},
		"is empty": func(q *synod.Question) { q.Parts[0].Data = nil },
		"leave out its first messages": func(q *synod.Question) {
			q.Before[0].Text = strings.Repeat("x", synod.MaxConversation)
		},
		"belongs to the form json":     func(q *synod.Question) { q.Schema = []byte("{}") },
		"the form json needs a schema": func(q *synod.Question) { q.Form = synod.JSON },
		"schema: broken JSON": func(q *synod.Question) {
			q.Form, q.Schema = synod.JSON, []byte("{")
		},
		"tools belong to the form action": func(q *synod.Question) {
			q.Tools = []synod.Tool{{Name: "a"}}
		},
		"the form action needs tools": func(q *synod.Question) { q.Form = synod.Action },
		"two tools are called a": func(q *synod.Question) {
			q.Form = synod.Action
			q.Tools = []synod.Tool{{Name: "a"}, {Name: "a"}}
		},
		"parameters must be a JSON schema: an obje": func(q *synod.Question) {
			q.Form = synod.Action
			q.Tools = []synod.Tool{{Name: "a", Parameters: []byte("[]")}}
		},
	} {
		q := talk()
		change(q)
		if err := q.Check(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("want an error with %q, got %v", why, err)
		}
	}
}
