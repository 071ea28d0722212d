// Package table prints one table as aligned text, Markdown, CSV, HTML or LaTeX.
//
// Cells may come from data sets, models and files: Plain removes what would
// control a terminal or change the direction of writing, and Markdown and HTML
// escape their own special characters. No cell needs to be cleaned before.
//
// The package imports nothing of this module, so that every command can print
// tables (rank 0).
//
//	t := table.Table{Head: []string{"name", "size"}, Align: "lr"}
//	t.Add("qwen3-0.6b", 484)
//	err := t.Write(os.Stdout, "md")
package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table is a table of text cells. Rows may be shorter than the widest row.
type Table struct {
	Head []string // column names; nil for a table without a header row
	Rows [][]string

	// Align has one letter per column, 'l' for left and 'r' for right. Columns
	// beyond its end are aligned like its last letter; an empty Align means left.
	// CSV ignores it.
	Align string

	Indent string                       // printed before every line of text
	Class  func(row, column int) string // CSS class of a cell of Rows in HTML; may be nil
}

// Formats returns the names of the formats that Write supports.
func Formats() []string { return []string{"text", "md", "csv", "html", "latex"} }

// Add appends a row. Cells are printed with fmt.Sprint.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.Rows = append(t.Rows, row)
}

// Write prints the table in the named format, one of Formats. Text is no wider than w if w has a method Columns, which
// returns its width; 0: as wide as the table is.
func (t *Table) Write(w io.Writer, format string) error {
	var b bytes.Buffer
	switch format {
	case "text":
		t.text(&b, Columns(w))
	case "md":
		t.markdown(&b)
	case "csv":
		if err := t.csv(&b); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	case "html":
		t.html(&b)
	case "latex":
		t.latex(&b)
	default:
		return fmt.Errorf("table: unknown format %q; supported: %s", format, strings.Join(Formats(), ", "))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Columns returns how many columns w has, by its method Columns; 0: no limit is known.
func Columns(w io.Writer) int {
	if s, ok := w.(interface{ Columns() int }); ok {
		return s.Columns()
	}
	return 0
}

// Wrap breaks text between words into lines of at most some columns, all with the text's own indent; 0: it breaks
// nothing. A longer word stays whole.
func Wrap(text string, columns int) string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	if columns <= 0 || utf8.RuneCountInString(text) <= columns {
		return text
	}
	return indent + strings.Join(broken(text, max(1, columns-len(indent))), "\n"+indent)
}

// Plain replaces line breaks and tabs by spaces and removes all other control and
// formatting characters, among them those that change the direction of writing.
func Plain(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s // most texts
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, s)
}

// lines returns the header, if there is one, and the rows, all cells plain.
func (t *Table) lines() [][]string {
	var lines [][]string
	if t.Head != nil {
		lines = append(lines, plainRow(t.Head))
	}
	for _, row := range t.Rows {
		lines = append(lines, plainRow(row))
	}
	return lines
}

func plainRow(row []string) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = Plain(cell)
	}
	return out
}

func (t *Table) columns() int {
	n := len(t.Head)
	for _, row := range t.Rows {
		n = max(n, len(row))
	}
	return n
}

func (t *Table) right(column int) bool {
	if len(t.Align) == 0 {
		return false
	}
	return t.Align[min(column, len(t.Align)-1)] == 'r'
}

// text separates columns by two spaces. Lines have no trailing spaces. Where they would be wider than limit, which 0
// is not, cells go on in further lines; where even that does not fit, every row becomes a list of its cells.
func (t *Table) text(b *bytes.Buffer, limit int) {
	lines := t.lines()
	widths, words := t.widths(lines)
	if limit > 0 && !narrow(widths, words, limit-utf8.RuneCountInString(t.Indent)) {
		t.records(b, lines, limit)
		return
	}
	for _, line := range lines {
		parts, height := make([][]string, len(line)), 1
		for i, cell := range line {
			parts[i] = broken(cell, widths[i])
			height = max(height, len(parts[i]))
		}
		for k := range height {
			t.textLine(b, parts, widths, k)
		}
	}
}

// textLine prints the k-th line of the cells of a row.
func (t *Table) textLine(b *bytes.Buffer, parts [][]string, widths []int, k int) {
	var out strings.Builder
	for i, part := range parts {
		cell := ""
		if k < len(part) {
			cell = part[k]
		}
		fill := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		if t.right(i) {
			cell = fill + cell
		} else {
			cell += fill
		}
		if i > 0 {
			out.WriteString("  ")
		}
		out.WriteString(cell)
	}
	b.WriteString(strings.TrimRight(t.Indent+out.String(), " ") + "\n")
}

// widths returns the width of every column, and of its longest word.
func (t *Table) widths(lines [][]string) (widths, words []int) {
	widths, words = make([]int, t.columns()), make([]int, t.columns())
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			for word := range strings.FieldsSeq(cell) {
				words[i] = max(words[i], utf8.RuneCountInString(word))
			}
		}
	}
	return widths, words
}

// narrow takes columns from the widest until the lines are no wider than limit. It reports whether that is possible
// without breaking words.
func narrow(widths, words []int, limit int) bool {
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > limit; total-- {
		widest := -1
		for i, w := range widths {
			if w > words[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
	}
	return true
}

// records prints every row as a list: the first cell, and below it the others with the names of their columns.
func (t *Table) records(b *bytes.Buffer, lines [][]string, limit int) {
	var head []string
	if t.Head != nil {
		head, lines = lines[0], lines[1:]
	}
	for _, line := range lines {
		for i, cell := range line {
			indent, name := t.Indent, ""
			if i > 0 {
				indent += "    "
			}
			if i > 0 && i < len(head) && head[i] != "" {
				name = head[i] + ": "
			}
			if cell == "" {
				continue
			}
			for k, part := range broken(name+cell, max(1, limit-utf8.RuneCountInString(indent)-2)) {
				if k > 0 {
					part = "  " + part
				}
				b.WriteString(strings.TrimRight(indent+part, " ") + "\n")
			}
		}
	}
}

// broken splits a cell into lines of at most some columns, between words; a longer word stays whole.
func broken(cell string, columns int) (lines []string) {
	if utf8.RuneCountInString(cell) <= columns {
		return []string{cell}
	}
	line := ""
	for word := range strings.FieldsSeq(cell) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

var markdownEscapes = strings.NewReplacer("|", `\|`, "<", "&lt;", "](", `]\(`)

// MarkdownText escapes text for a Markdown document, inside a table or outside. Links and images in the text, which a
// viewer could load from elsewhere, stay text.
func MarkdownText(s string) string { return markdownEscapes.Replace(Plain(s)) }

// markdown prints an empty header row if there is none, because Markdown requires one.
func (t *Table) markdown(b *bytes.Buffer) {
	n := t.columns()
	line := func(cells []string) {
		for i := range n {
			cell := ""
			if i < len(cells) {
				cell = MarkdownText(cells[i])
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	for i := range n {
		if t.right(i) {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
}

func (t *Table) csv(b *bytes.Buffer) error {
	lines := t.lines()
	for _, line := range lines {
		for i, cell := range line {
			line[i] = inert(cell)
		}
	}
	return csv.NewWriter(b).WriteAll(lines)
}

// inert puts an apostrophe before a cell that a spreadsheet would take for a formula. White
// space before the sign does not protect. Numbers stay.
func inert(cell string) string {
	start := strings.TrimLeft(cell, " \u00a0")
	if start == "" || !strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", []rune(start)[0]) {
		return cell
	}
	if _, err := strconv.ParseFloat(strings.TrimSuffix(start, "%"), 64); err == nil {
		return cell
	}
	return "'" + cell
}

var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "–", "--", "→", `$\to$`, "−", "$-$", "·",
	`$\cdot$`)

// LaTeXText returns a text as LaTeX prints it, without what would be a command.
func LaTeXText(s string) string { return latexEscapes.Replace(Plain(s)) }

// latex prints a tabular with the rules of the package booktabs.
func (t *Table) latex(b *bytes.Buffer) {
	n := t.columns()
	columns := make([]byte, n)
	for i := range columns {
		columns[i] = 'l'
		if t.right(i) {
			columns[i] = 'r'
		}
	}
	line := func(cells []string) {
		for i := range n {
			if i > 0 {
				b.WriteString(" & ")
			}
			if i < len(cells) {
				b.WriteString(LaTeXText(cells[i]))
			}
		}
		b.WriteString(` \\` + "\n")
	}
	fmt.Fprintf(b, "\\begin{tabular}{%s}\n\\toprule\n", columns)
	if t.Head != nil {
		line(t.Head)
		b.WriteString("\\midrule\n")
	}
	for _, row := range t.Rows {
		line(row)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
}

// html prints the first column as row headers. Right-aligned cells have the class
// "n"; a cell "VALUE (DETAIL)" of such a column shows DETAIL in small letters.
func (t *Table) html(b *bytes.Buffer) {
	b.WriteString("<table>\n")
	if t.Head != nil {
		b.WriteString("<tr>")
		for i, cell := range t.Head {
			class := ""
			if i > 0 && t.right(i) {
				class = "n"
			}
			fmt.Fprintf(b, "<th%s>%s</th>", attribute(class), escape(cell))
		}
		b.WriteString("</tr>\n")
	}
	for k, row := range t.Rows {
		b.WriteString("<tr>")
		for i, cell := range row {
			class := ""
			if t.Class != nil {
				class = t.Class(k, i)
			}
			switch {
			case i == 0:
				fmt.Fprintf(b, "<th%s>%s</th>", attribute(class), escape(cell))
			case t.right(i):
				value, detail, found := strings.Cut(cell, " (")
				if found {
					value, detail = escape(value), "<small>"+escape(strings.TrimSuffix(detail, ")"))+"</small>"
				} else {
					value = escape(cell)
				}
				fmt.Fprintf(b, "<td%s>%s%s</td>", attribute(strings.TrimSpace("n "+class)), value, detail)
			default:
				fmt.Fprintf(b, "<td%s>%s</td>", attribute(class), escape(cell))
			}
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}

func escape(s string) string { return html.EscapeString(Plain(s)) }

func attribute(class string) string {
	if class == "" {
		return ""
	}
	return ` class="` + html.EscapeString(class) + `"`
}
