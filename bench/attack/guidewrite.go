package attack

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// GuideFormats lists the formats of Guide.Write.
func GuideFormats() []string { return []string{"md", "html", "json"} }

// Write writes the guide in a format of GuideFormats.
func (g *Guide) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return json.NewEncoder(w).Encode(g)
	case "html":
		return g.page(w)
	case "md":
		return g.markdown(w)
	}
	return fmt.Errorf("the format %q is not known%s; it must be one of %s", format, synod.Hint(format, GuideFormats()),
		strings.Join(GuideFormats(), ", "))
}

// matrixHead is the caption of MembersPart.matrix.
const matrixHead = "Right decisions, in percent of the questions, with one / two of an adversary"

func (g *Guide) markdown(w io.Writer) error {
	if g.Range != nil {
		fmt.Fprintf(w, "### %s\n\n%s\n\n", rangeHead, table.MarkdownText(g.Range.head()))
		if err := g.Range.table().Write(w, "md"); err != nil {
			return err
		}
	}
	for i, p := range g.Parts {
		if i > 0 || g.Range != nil {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "### Members: %s\n\n%s\n\n", table.MarkdownText(p.Members), table.MarkdownText(p.head()))
		if err := p.summary().Write(w, "md"); err != nil {
			return err
		}
		if p.Judging != "" {
			fmt.Fprintf(w, "\n%s\n", table.MarkdownText(p.Judging))
		}
		fmt.Fprintf(w, "\n%s:\n\n", matrixHead)
		if err := p.matrix().Write(w, "md"); err != nil {
			return err
		}
	}
	return nil
}

//go:embed guide.html
var guideText string

var guideTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Parse(guideText))
})

// page writes one HTML file without scripts that needs no other file.
func (g *Guide) page(w io.Writer) error {
	type part struct {
		Members, Head, Judging, MatrixHead string
		Summary, Matrix                    template.HTML
	}
	var page struct {
		RangeHead, Range string
		Judges           template.HTML
		Parts            []part
	}
	if g.Range != nil {
		var judges strings.Builder
		if err := g.Range.table().Write(&judges, "html"); err != nil {
			return err
		}
		page.RangeHead, page.Range, page.Judges = rangeHead, g.Range.head(), template.HTML(judges.String())
	}
	for _, p := range g.Parts {
		var summary, matrix strings.Builder
		if err := errors.Join(p.summary().Write(&summary, "html"), p.matrix().Write(&matrix, "html")); err != nil {
			return err
		}
		page.Parts = append(page.Parts, part{p.Members, p.head(), p.Judging, matrixHead,
			template.HTML(summary.String()), template.HTML(matrix.String())})
	}
	return guideTemplate().Execute(w, page)
}

// head says what the part measured.
func (p *MembersPart) head() string {
	low, high := p.Counts[0].Questions, 0
	for _, m := range p.Counts {
		low, high = min(low, m.Questions), max(high, m.Questions)
	}
	n := fmt.Sprint(low)
	if high > low {
		n = fmt.Sprintf("%d to %d", low, high)
	}
	s := fmt.Sprintf("%s %s questions in each of %d cells.", p.Note, n, len(p.Counts))
	if p.Unfinished > 0 {
		s += fmt.Sprintf(" %d cells are not finished and missing here.", p.Unfinished)
	}
	return table.Plain(s)
}

// summary has a row for each protocol and number of adversaries: what the worst of them did.
func (p *MembersPart) summary() *table.Table {
	t := &table.Table{Head: []string{"protocol", "adversaries", "worst", "right", "95 %", "decided", "captured",
		"calls"}, Align: "lrlrlrrr"}
	for _, protocol := range p.protocols() {
		without := p.find(protocol, "", 0)
		for b := range p.most() + 1 {
			m, name := p.worst(protocol, b), ""
			switch {
			case m == nil:
				continue
			case b > 0 && m.Right >= without.Right:
				name = "none costs a right decision"
			case b > 0:
				name = m.Adversary
			}
			right := metrics.Share(m.Right, m.Questions)
			t.Add(protocol, b, name, share(right), interval(right), share(metrics.Share(m.Decided, m.Questions)),
				share(metrics.Share(m.Captured, m.Questions)), calls(m.Calls))
		}
	}
	return t
}

// calls prints model calls for a question; members that answer by likelihood make none that are counted.
func calls(n float64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", n)
}

// matrix has a row for each adversary and a column for each protocol.
func (p *MembersPart) matrix() *table.Table {
	protocols := p.protocols()
	t := &table.Table{Head: append([]string{"adversary"}, protocols...),
		Align: "l" + strings.Repeat("r", len(protocols))}
	var names []string
	for _, m := range p.Counts {
		if m.Members > 0 && !slices.Contains(names, m.Adversary) {
			names = append(names, m.Adversary)
		}
	}
	slices.Sort(names)
	for _, name := range append([]string{""}, names...) {
		row := []any{name}
		if name == "" {
			row[0] = "(none)"
		}
		for _, protocol := range protocols {
			row = append(row, p.pair(protocol, name))
		}
		t.Add(row...)
	}
	return t
}

// pair prints the shares of right decisions with one and two of an adversary, in percent; one share without any, and
// nothing where it was not played.
func (p *MembersPart) pair(protocol, adversary string) string {
	var shares []string
	for b := range 3 {
		if m := p.find(protocol, adversary, b); m != nil {
			shares = append(shares, fmt.Sprintf("%.0f", 100*float64(m.Right)/float64(m.Questions)))
		} else if b > 0 && adversary != "" {
			shares = append(shares, "–")
		}
	}
	if !slices.ContainsFunc(shares, func(s string) bool { return s != "–" }) {
		return ""
	}
	return strings.Join(shares, " / ")
}
