package page

import (
	"html/template"
	"strings"

	"synod.dev/synod/clean"
)

// functions are those that templates have beside asset.
var functions = template.FuncMap{
	"text": clean.Escape,
	"line": func(s string) string { return strings.Join(strings.Fields(clean.Escape(s)), " ") },
	"svg":  svg,
}

// svg puts a drawing of package draw, report or plot into a page. It has a name for readers who do not see it.
func svg(drawing []byte, name string) template.HTML {
	s := string(drawing)
	head, body, ok := strings.Cut(s[max(strings.Index(s, "<svg"), 0):], ">")
	if !ok {
		return ""
	}
	box := ""
	if _, after, ok := strings.Cut(head, `viewBox="`); ok {
		box, _, _ = strings.Cut(after, `"`)
	}
	return template.HTML(`<svg class="drawing" viewBox="` + template.HTMLEscapeString(box) +
		`" font-family="sans-serif" role="img" aria-label="` + template.HTMLEscapeString(clean.Escape(name)) + `">` + body)
}
