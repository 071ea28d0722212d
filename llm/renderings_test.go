package llm

import (
	"reflect"
	"sync"
	"testing"
	"testing/fstest"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// Seats that are asked the same at once get the texts that each would have rendered alone, from one rendering.
func TestRenderings(t *testing.T) {
	all, err := prompt.NewTemplates("test", fstest.MapFS{"t.tmpl": {Data: []byte(`{{define "system"}}S{{end}}` +
		`{{define "user"}}{{.Question.Text}} {{.Quote .Own}} {{.Fence .Rationale}}{{end}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	q := &synod.Question{Text: "Is it?", Form: synod.Text}
	var r Renderings
	var wait sync.WaitGroup
	for seat := range 3 * mostRenderings {
		p := &synod.Prompt{Template: "test/t", Purpose: synod.Scoring, Question: q, Own: "x", Rationale: "r",
			Seed: uint64(seat + 1), Nonce: uint64(seat + 1)}
		if seat%3 == 2 { // another text for each
			p.Own = synod.Answer(rune('a' + seat))
		}
		wait.Go(func() {
			want, err := all.Render(p)
			got, err2 := Request{Templates: all, Prompt: p, Rendered: &r}.Chat()
			if err != nil || err2 != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, %v; want %+v, %v", got, err2, want, err)
			}
		})
	}
	wait.Wait()
	if len(r.all) != mostRenderings {
		t.Errorf("%d texts are kept", len(r.all))
	}
	none := &synod.Prompt{Template: "none", Question: q}
	if _, err := (Request{Templates: all, Prompt: none, Rendered: &r}).Chat(); err == nil {
		t.Error("a prompt without a template was rendered")
	}
}
