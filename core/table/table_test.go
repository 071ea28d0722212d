package table_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod/core/table"
)

func example() *table.Table {
	t := &table.Table{Head: []string{"name", "rate", "note"}, Align: "lrl"}
	t.Add("a|b", "7.5 % (5.0 to 9.0, n 12)", "<b>x</b>")
	t.Add("ünï", 12)
	return t
}

func print(t *testing.T, tab *table.Table, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := tab.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	want := map[string]string{
		"text": "name                      rate  note\n" +
			"a|b   7.5 % (5.0 to 9.0, n 12)  <b>x</b>\n" +
			"ünï                         12\n",
		"md": "| name | rate | note |\n|---|---:|---|\n" +
			`| a\|b | 7.5 % (5.0 to 9.0, n 12) | &lt;b>x&lt;/b> |` + "\n" +
			"| ünï | 12 |  |\n",
		"csv": "name,rate,note\na|b,\"7.5 % (5.0 to 9.0, n 12)\",<b>x</b>\nünï,12\n",
		"html": "<table>\n<tr><th>name</th><th class=\"n\">rate</th><th>note</th></tr>\n" +
			`<tr><th>a|b</th><td class="n">7.5 %<small>5.0 to 9.0, n 12</small></td><td>&lt;b&gt;x&lt;/b&gt;</td></tr>` + "\n" +
			`<tr><th>ünï</th><td class="n">12</td></tr>` + "\n</table>\n",
		"latex": "\\begin{tabular}{lrl}\n\\toprule\nname & rate & note \\\\\n\\midrule\n" +
			`a\textbar{}b & 7.5 \% (5.0 to 9.0, n 12) & \textless{}b\textgreater{}x\textless{}/b\textgreater{} \\` + "\n" +
			`ünï & 12 &  \\` + "\n\\bottomrule\n\\end{tabular}\n",
	}
	for _, format := range table.Formats() {
		if got := print(t, example(), format); got != want[format] {
			t.Errorf("%s:\n%s\nwant:\n%s", format, got, want[format])
		}
	}
	if err := example().Write(&bytes.Buffer{}, "pdf"); err == nil || !strings.Contains(err.Error(), "html") {
		t.Error("an unknown format must be refused with the supported ones:", err)
	}
}

// Hostile cells cannot add lines, columns, markup or terminal control sequences.
func TestHostileCells(t *testing.T) {
	if got := table.MarkdownText("![x](https://y)"); got != `![x]\(https://y)` {
		t.Errorf("an image stays one: %s", got)
	}
	bad := "x\ny\t|z\x1b[31m\u202e<script>\u2028"
	for _, format := range table.Formats() {
		tab := &table.Table{Head: []string{bad, "b"}}
		tab.Add(bad, bad)
		out := print(t, tab, format)
		if strings.ContainsAny(out, "\x1b\u202e\u2028\t") {
			t.Errorf("%s contains control characters: %q", format, out)
		}
		if (format == "md" || format == "html") && strings.Contains(out, "<script>") {
			t.Errorf("%s contains markup: %q", format, out)
		}
		if lines := strings.Count(out, "\n"); format == "text" && lines != 2 || format == "md" && lines != 3 {
			t.Errorf("%s has %d lines: %q", format, lines, out)
		}
		if format == "md" && strings.Count(strings.ReplaceAll(out, `\|`, ""), "|") != 9 {
			t.Errorf("md has more columns: %q", out)
		}
	}
}

func TestCSVCanBeReadBack(t *testing.T) {
	tab := &table.Table{Head: []string{"a", "b"}}
	tab.Add(`quote " comma ,`, "")
	lines, err := csv.NewReader(strings.NewReader(print(t, tab, "csv"))).ReadAll()
	if err != nil || !reflect.DeepEqual(lines, [][]string{{"a", "b"}, {`quote " comma ,`, ""}}) {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestOptions(t *testing.T) {
	tab := &table.Table{Align: "r", Indent: "  ", Class: func(row, column int) string {
		if row == 1 && column == 1 {
			return "wrong"
		}
		return ""
	}}
	tab.Add(1, 22)
	tab.Add(333, 4)
	if got := print(t, tab, "text"); got != "    1  22\n  333   4\n" {
		t.Errorf("text without header, right-aligned, indented: %q", got)
	}
	if got := print(t, tab, "html"); !strings.Contains(got, `<td class="n wrong">4</td>`) ||
		strings.Count(got, "class=") != 2 {
		t.Errorf("html with a class: %s", got)
	}
	if got := print(t, tab, "md"); got != "|  |  |\n|---:|---:|\n| 1 | 22 |\n| 333 | 4 |\n" {
		t.Errorf("md without header: %q", got)
	}
}

func ExampleTable() {
	t := table.Table{Head: []string{"graph", "r"}, Align: "lr"}
	t.Add("complete", 12)
	t.Add("ring", 1)
	t.Write(os.Stdout, "text")
	// Output:
	// graph      r
	// complete  12
	// ring       1
}

// A spreadsheet takes a cell that begins with a sign for a formula; numbers stay numbers.
func TestCSVIsInert(t *testing.T) {
	tab := table.Table{Head: []string{"=head", "x"}}
	for _, cell := range []string{"=1+1", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u00a0=1", "＝1",
		"-0.5", "+3",
		"-12%", "-1e-9", "a=b", "", "–"} {
		tab.Add(cell, "x")
	}
	var b bytes.Buffer
	if err := tab.Write(&b, "csv"); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows[1:] {
		cell, first := row[0], strings.TrimLeft(row[0], " \u00a0")
		formula := first != "" && strings.ContainsRune("=+-@＝", []rune(first)[0])
		if number := i >= 9 && i <= 12; formula != number {
			t.Errorf("row %d begins with a sign: %q", i, cell)
		}
	}
	if rows[0][0] != "'=head" || rows[1][0] != "'=1+1" || rows[10][0] != "-0.5" || rows[14][0] != "a=b" {
		t.Errorf("%q", rows)
	}
}

// terminal is a buffer of some columns.
type terminal struct {
	bytes.Buffer
	columns int
}

func (t *terminal) Columns() int { return t.columns }

// A table on a terminal is no wider than the terminal: cells break between words, and where a column would break
// words, rows become lists. Nothing is lost.
func TestWidth(t *testing.T) {
	tab := table.Table{Head: []string{"name", "what it is for", "n"}, Align: "llr", Indent: "  "}
	tab.Add("cascade", "asks few members and stops when that is safe", 12)
	tab.Add("sac", "short", 3)
	for columns, want := range map[int]string{
		0: "  name     what it is for                                 n\n" +
			"  cascade  asks few members and stops when that is safe  12\n" +
			"  sac      short                                          3\n",
		40: "  name     what it is for              n\n" +
			"  cascade  asks few members and       12\n" +
			"           stops when that is safe\n" +
			"  sac      short                       3\n",
		16: "  cascade\n      what it\n        is for:\n        asks few\n        members\n        and\n" +
			"        stops\n        when\n        that is\n        safe\n      n: 12\n" +
			"  sac\n      what it\n        is for:\n        short\n      n: 3\n",
	} {
		w := &terminal{columns: columns}
		if err := tab.Write(w, "text"); err != nil || w.String() != want {
			t.Errorf("%d columns, %v:\n%s\nwant:\n%s", columns, err, w.String(), want)
		}
	}
}
