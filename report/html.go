package report

import (
	"bufio"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

//go:embed page.html grid.html page.css
var pageFiles embed.FS

// templates are read when a page is first written, and not whenever the program
// starts.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"plain": plain, "prose": prose, "cut": cut, "brief": brief, "answer": showAnswer, "mark": mark, "says": saysVerdict, "class": verdictClass,
		"halves": halves,
	}).ParseFS(pageFiles, "page.html", "grid.html"))
})

// halves are a rate and, in brackets, how sure it is: on a page they stand below one
// another.
func halves(rate string) [2]string {
	value, sure, _ := strings.Cut(rate, " (")
	return [2]string{value, strings.TrimSuffix(sure, ")")}
}

// page writes one HTML file that needs no other: no script, no font, no image from
// elsewhere. All words of models and data sets go through html/template, less what
// controls a terminal or turns the direction of writing.
type page struct {
	to  *bufio.Writer
	err error // the first
}

// HTML writes the report as a page to be opened in a browser, with the questions
// of the detail. It is written while they are read: memory does not grow with them.
func (r *Report) HTML(w io.Writer, d Detail) error {
	p := newPage(w, r.title())
	p.run(r)
	p.plots(r.Plots(), r.label())
	p.questions(r, d)
	return p.end()
}

func newPage(w io.Writer, title string) *page {
	p := &page{to: bufio.NewWriter(w)}
	style, err := pageFiles.ReadFile("page.css")
	p.err = err
	p.show("head", struct {
		Title string
		Style template.CSS
	}{title, template.CSS(style)})
	return p
}

func (p *page) end() error {
	p.show("foot", nil)
	if p.err == nil {
		p.err = p.to.Flush()
	}
	if p.err != nil {
		return fmt.Errorf("report: html: %w", p.err)
	}
	return nil
}

func (p *page) show(name string, data any) {
	if p.err == nil {
		p.err = templates().ExecuteTemplate(p.to, name, data)
	}
}

// run shows all of a report but its plots and questions.
func (p *page) run(r *Report) {
	type rate struct{ Says, Value, Interval, N string }
	var rates []rate
	for _, row := range r.rows() {
		value, interval := percent(row.rate)
		rates = append(rates, rate{row.says, value, interval, row.n()})
	}
	p.show("run", struct {
		*Report
		Label     string
		Rates     []rate
		Breakdown [][][]string
		Remarks   []string
	}{r, r.label(), rates, r.breakdown(), append(r.remarks(), r.Calibration.notes()...)})
	if r.Compared != nil {
		p.show("compared", struct {
			*Compared
			Label string
		}{r.Compared, r.label()})
	}
}

// plots shows plots, each with the data behind it; the label stands at both.
func (p *page) plots(plots []Plot, label string) {
	if len(plots) > 0 {
		p.show("plots", label)
	}
	for _, f := range plots {
		svg, err := f.SVG()
		if err != nil && p.err == nil {
			p.err = err
		}
		p.show("plot", struct {
			Plot
			Label   string
			Wide    bool
			Picture template.HTML
		}{f, label, f.wide, inline(svg, f.Title)})
	}
}

// inline makes a picture file a part of a page. What is drawn escapes its words
// itself.
func inline(svg []byte, title string) template.HTML {
	s := string(svg)
	head, body, ok := strings.Cut(s[max(strings.Index(s, "<svg"), 0):], ">")
	if !ok {
		return ""
	}
	box := ""
	if _, after, ok := strings.Cut(head, `viewBox="`); ok {
		box, _, _ = strings.Cut(after, `"`)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="%s" font-family="sans-serif" role="img" aria-label="%s">`, template.HTMLEscapeString(box), template.HTMLEscapeString(title))
	return template.HTML(b.String() + body)
}
