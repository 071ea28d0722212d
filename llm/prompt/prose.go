package prompt

import (
	"embed"
	"text/template"

	"synod.dev/synod"
)

//go:embed prose/*.tmpl
var proseFiles embed.FS

// prose are the templates that ask for a text, for a score of one, and for a text with a value after it. They stand in
// for those of every protocol, whose wording is about short answers. A user's own template is not replaced.
var prose = func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, name := range []string{"answer", "score", "valued"} {
		file := "prose/" + name + ".tmpl"
		text, err := proseFiles.ReadFile(file)
		if err == nil {
			all[name], err = parseTemplate(file, string(text))
		}
		if err != nil {
			panic(err) // the files belong to the program
		}
	}
	return all
}()

// ProseDigests returns the digests of the templates that stand in for a protocol's own where a question is asked, by
// name; none if there are none.
func ProseDigests(q *synod.Question) map[string]string {
	names := []string(nil)
	switch {
	case q.Form == synod.Prose:
		names = []string{"answer", "score"}
	case q.Guessed:
		names = []string{"valued"}
	}
	all := map[string]string{}
	for _, name := range names {
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
	switch {
	case own == nil, t.guarded[p.Template], p.Question == nil:
	case t.valued(p):
		return prose["valued"]
	case p.Question.Form == synod.Prose && p.Purpose == synod.Answering:
		return prose["answer"]
	case p.Question.Form == synod.Prose && p.Purpose == synod.Scoring:
		return prose["score"]
	}
	return own
}

// valued reports whether a prompt asks for an answer of any kind with a value after it: the form was guessed, and
// neither the paper nor the protocol needs the answer in another shape.
func (t *Templates) valued(p *synod.Prompt) bool {
	return p.Question != nil && p.Question.Guessed && p.Purpose == synod.Answering && !p.Exact && p.Goal == "" &&
		p.ConfidenceMode != synod.StatedConfidence && !t.guarded[p.Template]
}
