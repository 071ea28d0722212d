package report

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/table"
)

//go:embed page.html grid.html page.css page.js
var pageFiles embed.FS

// templates are parsed when the first page is written, not when the program starts.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"plain": plain, "prose": prose, "cut": cut, "brief": brief, "answer": answerText,
		"passage": passage, "mark": verdictMark,
		"says":  verdictText,
		"class": verdictClass, "table": htmlTable,
	}).ParseFS(pageFiles, "page.html", "grid.html"))
})

// htmlTable renders a table that scrolls horizontally. Package table escapes the cells.
func htmlTable(t *table.Table) (template.HTML, error) {
	var b strings.Builder
	b.WriteString(`<div class="scroll" tabindex="0">`)
	err := t.Write(&b, "html")
	b.WriteString("</div>")
	return template.HTML(b.String()), err
}

// script is the only script of a page: the search in lists of questions. A page's policy
// allows it by its hash, so that no other script can run.
var script = sync.OnceValues(func() (code template.JS, hash string) {
	b, err := pageFiles.ReadFile("page.js")
	if err != nil {
		panic(err) // it is embedded
	}
	sum := sha256.Sum256(b)
	return template.JS(b), "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
})

// page writes one HTML file that needs no other file: no script, font or image from
// elsewhere. All text of models and data sets is escaped by html/template or by
// package table, without control characters and direction marks.
type page struct {
	to  *bufio.Writer
	err error // the first one

	lists    int  // lists of questions so far
	filtered bool // there is a table of cells that can be filtered
	outcomes int  // rows of outcomes so far
}

// HTML writes the report as a page for a browser, with the questions of the detail.
// Questions are written while they are read, so memory does not grow with them.
func (r *Report) HTML(w io.Writer, d Detail) error {
	p := newPage(w, r.title())
	p.report(r)
	p.plots(r.Plots(), r.label())
	p.questions(r, d)
	return p.end()
}

// HTML writes the grid as one page: its cells as a table, the claims with verdicts,
// the paper's figures, plots, and every cell folded with all that its own page shows. With
// versus the comparison is open, otherwise folded. detail returns the questions of a
// cell by its index; it may be nil.
func (g *Grid) HTML(w io.Writer, versus bool, detail func(cell int) Detail) error {
	p := newPage(w, g.name())
	p.show("grid", struct {
		*Grid
		Label       string
		MembersLine string
		Fold        bool // with many cells, the plots would be far below the table
		CellTables  []*table.Table
		Notes       []string
	}{g, g.label(), g.membersLine(), len(g.Cells) > maxPlotCells, g.narrowTables(), g.notes()})
	type folded struct {
		Label  string
		Legend []string
		Open   bool
		Table  *table.Table
	}
	if len(g.Claims) > 0 {
		p.show("claims", folded{g.label(), g.claimNotes(), true, g.claimTable()})
	}
	if t := g.versusTable(); len(t.Rows) > 0 {
		p.show("versus", folded{g.label(), g.legend(), versus, t})
	}
	p.plots(g.Plots(), g.label())
	p.filters(g)
	p.show("cells", g.label())
	for i := range g.Cells {
		c := &g.Cells[i]
		p.show("cell", struct {
			*Cell
			Index          int
			Label, Summary string
		}{c, i, c.label(), c.summary()})
		p.cell(g, c)
		if detail != nil {
			p.questions(c.Report, detail(i))
		}
		p.show("endcell", nil)
	}
	return p.end()
}

// pageColumns is how many columns of rates with intervals fit beside the names of cells on a page of 1280 pixels.
const pageColumns = 6

// narrowTables are the tables of the cells, split into parts that fit a page.
func (g *Grid) narrowTables() (parts []*table.Table) {
	for _, t := range g.cellTables(valueWithInterval) {
		parts = append(parts, narrow(t)...)
	}
	return parts
}

// narrow splits a table of rates of cells into tables that fit a page, each with the first two columns. A column whose
// name continues that of the one before, “→”, stays beside it.
func narrow(t *table.Table) (parts []*table.Table) {
	for from := 2; from < len(t.Head); {
		to := min(from+pageColumns, len(t.Head))
		for to < len(t.Head) && to > from+1 && t.Head[to] == afterwards {
			to--
		}
		part := &table.Table{Head: slices.Concat(t.Head[:2], t.Head[from:to]), Align: t.Align}
		for _, row := range t.Rows {
			part.Rows = append(part.Rows, slices.Concat(row[:2], row[from:to]))
		}
		parts, from = append(parts, part), to
	}
	if parts == nil {
		return []*table.Table{t}
	}
	return parts
}

// Policy returns the Content-Security-Policy of the pages of reports: they load nothing, and run only their own
// script, which is known by its hash.
func Policy() string {
	_, hash := script()
	return "default-src 'none'; style-src 'unsafe-inline'; script-src '" + hash + "'; img-src data:; base-uri " +
		"'none'; form-action 'none'"
}

func newPage(w io.Writer, title string) *page {
	p := &page{to: bufio.NewWriterSize(w, 64<<10)}
	style, err := pageFiles.ReadFile("page.css")
	p.err = err
	p.show("head", struct {
		Title, Policy string
		Style         template.CSS
	}{title, Policy(), template.CSS(style)})
	return p
}

func (p *page) end() error {
	var code template.JS // nothing to search without a list
	if p.lists > 0 || p.filtered {
		code, _ = script()
	}
	p.show("foot", code)
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

// report shows all of a report except plots and questions.
func (p *page) report(r *Report) {
	members := &table.Table{Head: []string{"seat", "model", "kind", "group", "adversary"}}
	for _, m := range r.Seats {
		members.Add(m.ID, m.Model, m.Kind, m.Group, m.Adversary)
	}
	failures := &table.Table{Head: []string{"question", "repeat", "stopped", "reason"}, Align: "lrl"}
	for _, f := range r.Failures {
		failures.Add(f.Question, f.Repeat, f.Stopped, cut(f.Reason))
	}
	var withstands *table.Table
	if len(r.Withstands) > 0 {
		withstands = withstandsTable(r.Withstands)
	}
	var errors *table.Table
	if len(r.ErrorPairs) > 0 {
		errors = errorTable(r.ErrorPairs, len(r.ErrorPairs))
	}
	p.show("run", struct {
		*Report
		Label                             string
		MemberTable, RateTable, FailTable *table.Table
		ModelTable                        *table.Table
		PartTables                        []*table.Table
		GraphTable, WithstandsTable       *table.Table
		ErrorTable                        *table.Table
		Notes                             []string
	}{r, r.label(), members, r.Summary(), failures, r.modelTable(), r.partTables(),
		r.ChangingGraph.roundTable(), withstands, errors,
		slices.Concat(r.totals(), r.harmNote(), r.Calibration.notes())})
	if c := r.Compared; c != nil {
		t := &table.Table{Head: []string{"", "right here", "wrong or undecided here"}, Align: "lr"}
		t.Add("right there", c.Pairs[1][1], c.Pairs[1][0])
		t.Add("wrong or undecided there", c.Pairs[0][1], c.Pairs[0][0])
		p.show("compared", struct {
			*Compared
			Label string
			Table *table.Table
		}{c, r.label(), t})
	}
}

// cell shows all of a cell except its questions.
func (p *page) cell(g *Grid, c *Cell) {
	if c.Why != "" || c.How != "" {
		p.show("norun", c)
		return
	}
	p.report(c.Report)
	if len(g.Cells) <= maxPlotCells {
		p.plots(c.Report.Plots(), c.label())
	} else {
		p.show("note", "To draw its plots: synod bench report FOLDER/cells/"+plain(c.Cell)+" --plots PLOTS")
	}
}

// plots shows plots, each with its data and the members' label.
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
		}{f, label, f.wide, inlineSVG(svg, f.Title)})
	}
}

// inlineSVG turns an SVG file into an element of a page. The drawing code escapes its
// texts.
func inlineSVG(svg []byte, title string) template.HTML {
	s := string(svg)
	head, body, ok := strings.Cut(s[max(strings.Index(s, "<svg"), 0):], ">")
	if !ok {
		return ""
	}
	box := ""
	if _, after, ok := strings.Cut(head, `viewBox="`); ok {
		box, _, _ = strings.Cut(after, `"`)
	}
	return template.HTML(fmt.Sprintf(`<svg viewBox="%s" font-family="sans-serif" role="img" aria-label="%s">`,
		template.HTMLEscapeString(box), template.HTMLEscapeString(title)) + body)
}

// summary describes a folded cell in one line.
func (c *Cell) summary() string {
	s := c.progress()
	for _, column := range gridColumns {
		if r := c.Metrics[column.metric]; r != nil && slices.Contains(summaryMetrics, column.metric) {
			s += fmt.Sprintf(" · %s %s", column.label, value(r))
		}
	}
	return s
}

var summaryMetrics = []string{"iaa", "faa", "ra", "valid", "invalid", "premature", "none"}

// maxOutcomes is how many questions a page lists with their outcome alone, in all of its cells; a row takes about 150
// bytes.
const maxOutcomes = 5000

// questions shows the questions of the detail, each folded, and then the outcomes of the others.
func (p *page) questions(r *Report, d Detail) {
	if d.Questions == nil || d.Limit == 0 {
		return
	}
	p.lists++
	p.show("questions", struct {
		Label string
		List  int
	}{r.label(), p.lists})
	seats, shown := members(r.Seats), 0
	for q, err := range d.Questions {
		if err != nil && p.err == nil {
			p.err = err
		}
		if p.err != nil {
			return
		}
		if shown++; d.Limit > 0 && shown > d.Limit {
			if shown == d.Limit+1 {
				p.show("note", fmt.Sprintf("The first %d of %d questions; %s", d.Limit, r.Questions, d.Rest))
				p.show("outcomes", r.label())
				defer p.show("endoutcomes", nil)
			}
			if p.outcomes++; p.outcomes > maxOutcomes {
				p.show("leftout", fmt.Sprintf("%d more questions are left out: a page lists the outcomes of %d",
					r.Questions-shown+1, maxOutcomes))
				return
			}
			p.show("outcome", q)
			continue
		}
		p.show("question", struct {
			Q     *Question
			Rows  template.HTML
			Label string
			Class string
		}{q, seats.rounds(q), r.label(), seats.questionClass(q)})
	}
}

// questionClass says to which filters of the page a question belongs.
func (all members) questionClass(q *Question) string {
	switch {
	case q.Answer == synod.None:
		return "q q-undecided"
	case q.Verdict != task.Wrong:
		return "q"
	}
	for _, v := range q.Votes {
		for _, m := range all {
			if v.Answer == q.Answer && m.Adversary != "" && slices.Contains(v.Seats, m.ID) {
				return "q q-wrong q-captured"
			}
		}
	}
	return "q q-wrong"
}

// passage is a long answer, unchanged but for codes in place of characters that cannot be seen or that steer a display.
func passage(a synod.Answer) string { return clean.Escape(string(a)) }

// brief returns text as one short line.
func brief(s string) string {
	return shorten(strings.Join(strings.Fields(plain(spaced(s))), " "), maxBrief)
}

func verdictText(v task.Verdict) string {
	if v == "" {
		return "unscored"
	}
	return string(v)
}
