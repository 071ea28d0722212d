package prompt_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"synod.dev/synod/llm/prompt"
)

const asked = `{{define "system"}}You answer questions.{{end}}{{define "user"}}{{.Question.Text}}
{{- range .Peers}}
- {{$.Quote .Answer}}
{{- end}}
{{- if eq .ConfidenceMode "stated"}} Say how sure you are.{{end}}{{end}}`

// Another wording has the same meaning. Everything else that a template says is another meaning: what is shown, on
// what condition, which parts there are, and the version that it declares.
func TestMeaningIsNotWording(t *testing.T) {
	of := func(name, text string) (meaning, wording string) {
		t.Helper()
		all, err := prompt.NewTemplates("test", fstest.MapFS{name + ".tmpl": {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		return all.Meanings()["test/"+name], all.Digests()["test/"+name]
	}
	change := func(old, new string) string {
		t.Helper()
		if strings.Count(asked, old) != 1 {
			t.Fatalf("the template does not have %q once", old)
		}
		return strings.Replace(asked, old, new, 1)
	}
	meaning, wording := of("answer", asked)
	if !prompt.IsMeaning(meaning) || prompt.IsMeaning(wording) {
		t.Errorf("the digests %q and %q cannot be told apart", meaning, wording)
	}
	for what, text := range map[string]string{
		"a word":               change("You answer", "You always answer"),
		"white space":          change("\n- {{$", "\n  * {{$"),
		"the first version":    "{{/* meaning: 1 */}}" + asked,
		"a comment about it":   "{{/* meaning is 2 */}}" + asked,
		"a word of the user's": change("Say how", "State how"),
	} {
		if m, w := of("answer", text); m != meaning || w == wording {
			t.Errorf("%s: meaning %s, want %s; wording %s, which must differ from %s", what, m, meaning, w, wording)
		}
	}
	for what, text := range map[string]string{
		"a field that is not shown":   change(`{{$.Quote .Answer}}`, "…"),
		"another field":               change(".Question.Text", ".Candidate"),
		"another way to show it":      change("$.Quote", "$.Fence"),
		"another condition":           change(`"stated"`, `"hidden"`),
		"the opposite condition":      change("if eq", "if ne"),
		"a third part":                asked + `{{define "completion"}}Answer:{{end}}`,
		"a declared other version":    "{{/* meaning: 2 */}}" + asked,
		"the same, in another manner": "{{- /* meaning: 2 */ -}}" + asked,
	} {
		if m, _ := of("answer", text); m == meaning {
			t.Errorf("%s: the meaning is the same", what)
		}
	}
	if m, _ := of("refine", asked); m == meaning {
		t.Error("a template of another name has the same meaning")
	}
}
