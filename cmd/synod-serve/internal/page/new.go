package page

import (
	"crypto/rand"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"sync"
)

// parts are all pages, in the order of the navigation.
func parts() []part {
	return []part{askPart, historyPart, councilsPart, doctorPart, labPart, spendPart, runPart, loginPart}
}

//go:embed templates/*.html
var templateFiles embed.FS

// New returns the page of a gateway.
func New(o Options) *Page {
	p := &Page{o: o, parts: parts(), local: rand.Text(), mux: http.NewServeMux(),
		dry: make(chan struct{}, mostDryRuns)}
	p.named, p.assets = assets()
	p.views = sync.OnceValue(func() map[string]*template.Template { return views(p.named) })
	p.mux.HandleFunc("GET /static/", p.static)
	if o.OnlyRuns {
		p.parts = []part{labPart}
		p.mux.Handle("GET /{$}", p.wrap(true, func(v *visit) error { return v.redirect("/lab") }))
	}
	for _, part := range p.parts {
		for pattern, h := range part.routes {
			p.mux.Handle(pattern, p.wrap(part.open, h))
		}
	}
	p.mux.Handle("/", p.wrap(true, func(v *visit) error {
		return problemf(http.StatusNotFound, "There is no page %s.", v.R.URL.Path)
	}))
	return p
}

// views parses the templates: each file with the layout and the shared fragments, whose names begin with _.
func views(byName map[string]*asset) map[string]*template.Template {
	address := func(name string) string { return byName[name].address }
	base := template.Must(template.New("").Funcs(template.FuncMap{"asset": address}).Funcs(functions).
		ParseFS(templateFiles, "templates/_*.html"))
	files, err := fs.Glob(templateFiles, "templates/[a-z]*.html")
	if err != nil {
		panic(err) // the pattern is constant
	}
	all := map[string]*template.Template{}
	for _, file := range files {
		all[path.Base(file)] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, file))
	}
	return all
}

// static serves an asset.
func (p *Page) static(w http.ResponseWriter, r *http.Request) {
	a := p.assets[r.URL.Path]
	if a == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(a.content) // the client may be gone
}
