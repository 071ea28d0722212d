package attack

import (
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/table"
)

// Formats lists the formats of Write.
func Formats() []string { return append(table.Formats(), "json", "junit") }

// Write prints the table in a format of Formats. In junit, an attack fails if its capture rate is greater than most,
// a share in [0,1]; without a limit most is 1. Plots are drawn in an HTML page.
func (t *Table) Write(w io.Writer, format string, most float64, plots []report.Plot) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(t)
	case "junit":
		return t.junit(w, most)
	case "html":
		return t.page(w, plots)
	}
	if !slices.Contains(table.Formats(), format) {
		return fmt.Errorf("the format %q is not known%s; it must be one of %s", format, synod.Hint(format, Formats()),
			strings.Join(Formats(), ", "))
	}
	switch format {
	case "csv":
		return t.labelled().Write(w, format)
	case "latex":
		if _, err := fmt.Fprintf(w, "%% %s\n", t.head()); err != nil {
			return err
		}
		return t.rows().Write(w, format)
	}
	return t.text(w, format)
}

// text writes the tables one below the other, as text or Markdown.
func (t *Table) text(w io.Writer, format string) error {
	wrap := func(line string) string { return line }
	if format == "text" {
		wrap = func(line string) string { return table.Wrap(line, table.Columns(w)) }
	}
	if _, err := fmt.Fprintln(w, wrap(t.head())+"\n"); err != nil {
		return err
	}
	if err := t.table().Write(w, format); err != nil {
		return err
	}
	if t.learned() {
		if _, err := fmt.Fprintf(w, "\n%s\n\n", wrap(t.pastHead())); err != nil {
			return err
		}
		if err := t.pasts().Write(w, format); err != nil {
			return err
		}
	}
	if t.Judging != "" {
		if _, err := fmt.Fprintf(w, "\n%s\n", wrap(table.Plain(t.Judging))); err != nil {
			return err
		}
	}
	if len(t.Defences) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n\n", wrap(defencesHead)); err != nil {
		return err
	}
	return t.defences().Write(w, format)
}

// head says what was attacked and by which kinds of members.
func (t *Table) head() string {
	b := t.Baseline
	return table.Plain(fmt.Sprintf("%s (%s), %s, %d questions each; without adversaries: right %s, decided %s",
		t.Council, t.Protocol, t.kinds(), t.Questions, share(b.Accuracy), share(b.Liveness)))
}

// kinds says what the members are, and what is assumed of simulated ones.
func (t *Table) kinds() string {
	kinds := strings.Join(t.MembersKind, " and ") + " members"
	if t.Fooling != "" {
		kinds += " (" + t.Fooling + ")"
	}
	return kinds
}

// labelled is the one table of a format in which nothing stands above it: each row says what the members are.
func (t *Table) labelled() *table.Table {
	out := t.rows()
	out.Head = append(out.Head, "members kind", "right without adversaries")
	for i := range out.Rows {
		out.Rows[i] = append(out.Rows[i], t.kinds(), share(t.Baseline.Accuracy))
	}
	return out
}

func (t *Table) table() *table.Table {
	out := &table.Table{Head: []string{"adversary", "members", "seats", "captured", "95 %", "right", "lost", "decided",
		"lost", "cost", "proved"}, Align: "lllrlrrrrrr"}
	for _, a := range t.Attacks {
		out.Add(a.Adversary, a.Members, strings.Join(a.Seats, " "), share(a.Capture), interval(a.Capture),
			share(a.Accuracy), share(a.AccuracyLost), share(a.Liveness), share(a.LivenessLost), factor(a.CostFactor),
			a.Evidence)
	}
	return out
}

func share(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*r.Value)
}

func interval(r *metrics.Rate) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%.1f to %.1f", 100*r.Low, 100*r.High)
}

func factor(f *float64) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("× %.2f", *f)
}

// The elements of JUnit's format that CI servers read.
type (
	suite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []result `xml:"testcase"`
	}
	result struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure,omitempty"`
		Skipped *message `xml:"skipped,omitempty"`
		Output  string   `xml:"system-out,omitempty"`
	}
	message struct {
		Text string `xml:"message,attr"`
	}
)

// junit writes one test case for each attack.
func (t *Table) junit(w io.Writer, most float64) error {
	s := suite{Name: "synod attack: " + table.Plain(t.Council), Tests: len(t.Attacks)}
	for _, a := range t.Attacks {
		c := result{Class: table.Plain(t.Protocol),
			Name: fmt.Sprintf("%s at %s", a.Adversary, strings.Join(a.Seats, " ")),
			Output: fmt.Sprintf("%s; right %s, decided %s, cost %s", t.kinds(), share(a.Accuracy),
				share(a.Liveness), factor(a.CostFactor))}
		switch {
		case a.Capture == nil:
			c.Skipped = &message{"no question is finished"}
			s.Skipped++
		case a.Capture.Value > most:
			c.Failure = &message{fmt.Sprintf("captured %s (95 %%: %s) of %d questions; at most %.1f %% are allowed",
				share(a.Capture), interval(a.Capture), a.Capture.N, 100*most)}
			s.Failures++
		}
		s.Cases = append(s.Cases, c)
	}
	for i := range t.Defences {
		s.Tests++
		s.Cases = append(s.Cases, t.Defences[i].result(t))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

//go:embed page.html
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("").Parse(pageText)) })

// drawing is a plot in a page. Its SVG was made by package report, which escapes texts.
type drawing struct {
	Title, Caption string
	SVG            template.HTML
}

// page writes one HTML file without scripts that needs no other file.
func (t *Table) page(w io.Writer, plots []report.Plot) error {
	var rows strings.Builder
	if err := t.table().Write(&rows, "html"); err != nil {
		return err
	}
	if t.learned() {
		rows.WriteString("<p>" + template.HTMLEscapeString(t.pastHead()) + "</p>\n")
		if err := t.pasts().Write(&rows, "html"); err != nil {
			return err
		}
	}
	if len(t.Defences) > 0 {
		rows.WriteString("<p>" + defencesHead + "</p>\n")
		if err := t.defences().Write(&rows, "html"); err != nil {
			return err
		}
	}
	var drawings []drawing
	for _, p := range plots {
		svg, err := p.SVG()
		if err != nil {
			return fmt.Errorf("attack: %s: %w", p.Name, err)
		}
		drawings = append(drawings, drawing{p.Title, p.Caption, template.HTML(svg)})
	}
	return pageTemplate().Execute(w, struct {
		Head, Judging string
		Table         template.HTML
		Plots         []drawing
	}{t.head(), t.Judging, template.HTML(rows.String()), drawings})
}
