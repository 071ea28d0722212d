package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// wide returns a grid with all kinds of content.
func wide() *report.Grid {
	paper := map[string]report.Figure{"faa": {Value: .01, N: 3000}, "iaa": {Value: .75, N: 4},
		"round_1": {Value: .75, N: 2}, "weak_after": {Value: .8, N: 3}}
	one, other := full(), game()
	g := gridOf(paper, report.Cell{Cell: "one", Report: one, Params: byB(0),
		Assumed: report.Assume("it was built in", "weak_after")},
		report.Cell{Cell: "two", Report: other, Params: byB(1)},
		report.Cell{Cell: "three", Report: one, Params: byB(2)})
	about := func(name, figure string, is report.Direction, value float64, control string) report.PaperClaim {
		return report.PaperClaim{Name: name, Text: "the text of " + name, Cite: "§ 1", Figure: figure, Against: figure,
			Is: is, Times: 1, Value: value, Comparisons: []report.Sides{{Of: []string{"one"}}},
			Control: report.Control{Name: "other", Text: "another cell",
				Comparisons: []report.Sides{{Of: []string{control}}}}}
	}
	g.Judge([]report.PaperClaim{about("a", "iaa", report.AtLeast, 20, "two"),
		about("b", "iaa", report.AtLeast, 20, "three"), about("c", "iaa", report.AtMost, 20, "three"),
		about("d", "iaa", report.More, 70, "three"),
		about("e", "weak_after", report.More, 0, "three")})
	return g
}

func gridPage(t *testing.T, g *report.Grid, versus bool) string {
	t.Helper()
	var b bytes.Buffer
	err := g.HTML(&b, versus, func(i int) report.Detail {
		return report.Detail{Questions: listed(question(fmt.Sprintf("c%dq1", i)), question("q2")), Limit: 1,
			Rest: "the rest: --all"}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A grid's page has the table, every verdict as text and colour, plots and cells. It
// loads nothing from elsewhere, and is the same every time.
func TestGridPage(t *testing.T) {
	page := gridPage(t, wide(), true)
	for _, want := range []string{
		"<b>3</b>cells", "<td>assumed (recorded and simulated)</td>",
		`<td class="none">holds, control not run (recorded and simulated)</td>`,
		`<td class="none">holds, control too (recorded and simulated)</td>`,
		`<td class="wrong">fails (recorded and simulated)</td>`, `<td class="none">undecided (recorded and simulated)</td>`,
		"5 claims; 4 of them could have failed here: 0 reproduced", "In 2 of 3 controls the claim does not hold",
		"<details open><summary>Every figure of the paper", "Members right before and after the rounds",
		"What every player held", "Rounds until a game ended", "How games ended",
		`<b class="u">three</b> · 4/5 · IAA 75.0`, "c0q1", "c2q1", "The first 1 of 5 questions; the rest: --all",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(gridPage(t, wide(), false), "<details open>") {
		t.Error("the comparison is open without being asked for")
	}
	for _, bad := range []string{"http://", "https://", "src=", `href="h`, `href="/`, "url(", "@import", "NaN"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for rest := page; ; {
		before, table, more := strings.Cut(rest, "<table")
		if !more {
			break
		}
		if around := before + table[:min(150, len(table))]; !strings.Contains(around,
			`<span class="kind">recorded and simulated members</span>`) {
			t.Errorf("a table without a label: …%s", around)
		}
		_, rest, _ = strings.Cut(table, "</table>")
	}
	for _, picture := range strings.Split(page, "<svg")[1:] {
		if drawn, _, _ := strings.Cut(picture, "</svg>"); !strings.Contains(drawn,
			"(recorded and simulated members)</text>") {
			t.Error("a picture without a label")
		}
	}
	if gridPage(t, wide(), true) != page {
		t.Error("the page is different the second time")
	}
}

// A figure on fewer questions than the paper's is not called reproduced, and one that
// the members were built to have is counted separately.
func TestComparePaper(t *testing.T) {
	verdicts := func(n int, assumed ...string) (string, string) {
		g := gridOf(map[string]report.Figure{"iaa": {Value: .75, N: n}},
			report.Cell{Cell: "one", Report: full(), Params: byB(0),
				Assumed: report.Assume("it was built in", assumed...)})
		var b bytes.Buffer
		if err := g.Write(&b, "text", true); err != nil {
			t.Fatal(err)
		}
		return g.Cells[0].Verdict["iaa"], b.String()
	}
	if v, _ := verdicts(full().Finished); v != report.Reproduced {
		t.Errorf("the paper's figure on as many questions is %s", v)
	}
	if v, _ := verdicts(full().Finished + 1); v != report.Inconclusive {
		t.Errorf("the paper's figure on one question fewer is %s", v)
	}
	// Seven answers to one question are one observation, and the verdict goes by the interval that is printed.
	var one, hundred metrics.Count
	for i := range 700 {
		hundred.Add(fmt.Sprint(i/7), i%7 == 0)
		if i < 7 {
			one.Add("q", i == 0)
		}
	}
	if v := report.ComparePaper("iaa", one.Rate(), 1, report.Figure{Value: .7, N: 10}); v != report.Inconclusive {
		t.Errorf("one question %s", v)
	}
	if v := report.ComparePaper("iaa", hundred.Rate(), 100, report.Figure{Value: .7, N: 10}); v != report.Differs {
		t.Errorf("a hundred questions: %s", v)
	}
	gain := &metrics.Rate{Value: .7, N: 6, Low: -.4, High: .95}
	if v := report.ComparePaper("bfti", gain, 1, report.Figure{Value: .2, N: 10}); v != report.Inconclusive {
		t.Errorf("the gain on one question %s", v)
	}
	if v, text := verdicts(4, "iaa"); v != report.Assumed || !strings.Contains(text, "assumed, 1: it was built in") ||
		strings.Contains(text, "inconclusive") {
		t.Errorf("an assumed figure is %s, or old verdicts are printed: %s", v, text)
	}
}

// Without the paper's figures there is no comparison, and without a finished run no
// plot.
func TestGridPageWithoutData(t *testing.T) {
	var b bytes.Buffer
	if err := gridOf(nil, report.Cell{Cell: "a", Report: &report.Report{Questions: 4, Unfinished: 4}}).Write(&b, "html",
		true); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"Against the paper", "<svg", "Plots"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	var cells []report.Cell
	for i := range 41 {
		cells = append(cells, report.Cell{Cell: fmt.Sprint("c", i), Report: full(), Params: map[string]any{}})
	}
	b.Reset()
	if err := gridOf(nil, cells...).Write(&b, "html", false); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<svg") || !strings.Contains(b.String(),
		"synod bench report FOLDER/cells/c40 --plots") || !strings.Contains(b.String(), "All 41 cells as a table") {
		t.Error("41 cells are drawn, or the page does not say how to draw their plots")
	}
}

// Hostile names, parameters and metrics add no tags or attributes to a grid's page.
func TestHostileGridPage(t *testing.T) {
	g := gridOf(map[string]report.Figure{hostile: {Value: .5, N: 3}, "faa": {Value: .5, N: 3}},
		report.Cell{Cell: hostile, Report: full(), Params: map[string]any{"b": 1., hostile: hostile}},
		report.Cell{Cell: hostile + "2", Report: game(), Params: map[string]any{"b": 2., hostile: "x"}},
		report.Cell{Cell: hostile + "3", Report: full(), Params: map[string]any{"b": 3., "graph": hostile}},
		report.Cell{Cell: hostile + "4", Report: game(), Params: map[string]any{"b": 2., "graph": hostile,
			hostile: "x"}})
	g.Preset, g.Source, g.Members, g.Note, g.Task = hostile, hostile, hostile, hostile, hostile
	for i := range g.Cells {
		r := g.Cells[i].Report
		r.Endings = append(slices.Clone(r.Endings), metrics.Ending{Name: hostile, Rate: metrics.Share(1, 2)})
		r.Trajectories = append([]report.Trajectory{{Question: hostile, Ending: hostile,
			Values: [][]*float64{nil, nil, nil, nil}}}, r.Trajectories...)
		for j := range r.Seats {
			r.Seats[j].ID += hostile
		}
	}
	checkPage(t, gridPage(t, g, false), 20)
	for _, f := range g.Plots() {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		texts(t, svg)
		if strings.Trim(f.Name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			t.Errorf("unsafe file name: %q", f.Name)
		}
		if b, err := f.CSV(); err != nil || bytes.ContainsAny(b, "\x1b\x07\x00\u202e") {
			t.Errorf("%s: %v, or a control character in the data", f.Name, err)
		}
	}
}

// The page has a row for every cell with what differs between cells, which leads to the cell's
// report, and the outcomes of the questions beyond the limit.
func TestGridFilters(t *testing.T) {
	page := gridPage(t, wide(), true)
	for _, want := range []string{`<select data-column="1"`, `<tr data-of="cell0">`, `href="#cell2"`,
		`<details class="cell" id="cell2">`, "Outcomes of further questions"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Count(page, `<tr data-of="cell`) != strings.Count(page, `<details class="cell"`) {
		t.Error("a cell has no row")
	}
}
