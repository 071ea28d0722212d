package prompt

import (
	"embed"
	"text/template"

	"synod.dev/synod"
)

//go:embed prose/*.tmpl
var proseFiles embed.FS

// prose are the templates that ask for a text and for a score of one. They stand in for those of every
// protocol, whose wording is about short answers. A user's own template is not replaced.
var prose = func() map[synod.Purpose]*template.Template {
	all := map[synod.Purpose]*template.Template{}
	for purpose, file := range map[synod.Purpose]string{synod.Answering: "prose/answer.tmpl",
		synod.Scoring: "prose/score.tmpl"} {
		text, err := proseFiles.ReadFile(file)
		if err == nil {
			all[purpose], err = parseTemplate(file, string(text))
		}
		if err != nil {
			panic(err) // the files belong to the program
		}
	}
	return all
}()

// ProseDigests returns the digests of the templates that stand in for a protocol's own where prose is asked for, by
// name.
func ProseDigests() map[string]string {
	all := map[string]string{}
	for _, name := range []string{"answer", "score"} {
		text, err := proseFiles.ReadFile("prose/" + name + ".tmpl")
		if err != nil {
			panic(err) // the files belong to the program
		}
		all["prose/"+name] = digestOf(text)
	}
	return all
}

// templateOf returns the template of a prompt; nil if there is none.
func (t *Templates) templateOf(p *synod.Prompt) *template.Template {
	own := t.byName[p.Template]
	if own != nil && !t.guarded[p.Template] && p.Question != nil && p.Question.Form == synod.Prose {
		if other := prose[p.Purpose]; other != nil {
			return other
		}
	}
	return own
}
