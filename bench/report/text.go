package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// The formats of numbers and of texts.

// number prints all digits, for CSV.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// scale is 100 for a rate that is printed in percent, and 1 for a count.
func scale(r *metrics.Rate) float64 {
	if r.Count {
		return 1
	}
	return 100
}

// value prints a rate for a column whose unit is known.
func value(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", scale(r)*r.Value)
}

// interval prints the interval of a rate for a column whose unit is known.
func interval(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f to %.1f", scale(r)*r.Low, scale(r)*r.High)
}

// percent prints the value of a rate, with a percent sign unless it is a count.
func percent(r *metrics.Rate) string {
	if r == nil || r.Count {
		return value(r)
	}
	return value(r) + " %"
}

// full prints a rate in one cell: "75.0 % (59.8 to 85.8, n 40)".
func full(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s, n %d)", percent(r), interval(r), r.N)
}

func count(r *metrics.Rate) string {
	if r == nil {
		return "0"
	}
	return strconv.Itoa(r.N)
}

// plain makes text from files and models safe to print on one line.
func plain(s string) string { return table.Plain(s) }

// rateColumns are the CSV columns that rateCells fills.
var rateColumns = []string{"value", "n", "low", "high"}

func rateCells(r *metrics.Rate) []string {
	if r == nil {
		return []string{"", "0", "", ""}
	}
	return []string{number(r.Value), strconv.Itoa(r.N), number(r.Low), number(r.High)}
}

// roundMetric is the name of the rate of a group after a round.
func roundMetric(group string, round int) string { return fmt.Sprintf("%s_round_%d", group, round) }

// document is text or Markdown with lines above and below tables.
type document struct {
	format string // text or md
	title  string // Markdown only: a paragraph in bold
	head   []string
	tables []*table.Table
	notes  []string
}

func (d document) write(w io.Writer) error {
	b := sized{columns: table.Columns(w)}
	if d.format == "md" {
		if d.title != "" {
			fmt.Fprintf(&b, "**%s**\n\n", table.MarkdownText(d.title))
		}
		for _, line := range d.head {
			fmt.Fprintf(&b, "%s\n\n", table.MarkdownText(line))
		}
	} else {
		for _, line := range d.head {
			b.WriteString(table.Wrap(line, b.columns) + "\n")
		}
		b.WriteString("\n")
	}
	for i, t := range d.tables {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := t.Write(&b, d.format); err != nil {
			return err
		}
	}
	b.WriteString("\n")
	for i, line := range d.notes {
		if d.format == "md" {
			if i > 0 {
				b.WriteString("\n")
			}
			line = table.MarkdownText(line)
		} else {
			line = table.Wrap(line, b.columns)
		}
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sized is a text as wide as the terminal that it is for.
type sized struct {
	strings.Builder
	columns int
}

func (s *sized) Columns() int { return s.columns }

// prose is plain text that keeps its line breaks.
func prose(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = plain(l)
	}
	return strings.Join(lines, "\n")
}

func cut(s string) string { return shorten(s, maxAnswer) }

func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if runes := []rune(s); len(runes) > limit {
		return fmt.Sprintf("%s… (%d more)", string(runes[:limit]), len(runes)-limit)
	}
	return s
}

// valueWithInterval prints a rate in one cell of a grid's table on a page.
func valueWithInterval(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s, n %d)", value(r), interval(r), r.N)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func unknownFormat(format string) error {
	return fmt.Errorf("report: unknown format %q; supported: %v", format, Formats())
}

// pValue formats a p-value; none is printed as 0.
func pValue(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}

// The largest numbers of characters of an answer and of a line in a list.
const maxAnswer, maxBrief = 400, 90

// Formats returns the names of the formats that Report.Write and Grid.Write support.
func Formats() []string { return []string{"text", "json", "csv", "md", "html"} }
