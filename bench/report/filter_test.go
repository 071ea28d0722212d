package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/table"
)

// The filters of a page find undecided, wrong and captured questions.
func TestQuestionClass(t *testing.T) {
	seats := members{{ID: "a"}, {ID: "x", Adversary: "replay"}}
	votes := []Support{{Answer: "7", Seats: []string{"a", "x"}}, {Answer: "8", Seats: []string{"a"}}}
	for want, q := range map[string]*Question{
		"q q-undecided":        {},
		"q":                    {Answer: "7", Verdict: task.Right, Votes: votes},
		"q q-wrong q-captured": {Answer: "7", Verdict: task.Wrong, Votes: votes},
		"q q-wrong":            {Answer: "8", Verdict: task.Wrong, Votes: votes},
	} {
		if got := seats.questionClass(q); got != want {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
}

// Every model has a panel of its own in the plot of confidences, so that none hides another.
func TestCalibrationShowsEveryModel(t *testing.T) {
	half, five := 0.5, 5
	bin := metrics.Bin{Confidence: &half, N: five, Right: metrics.Share(3, five)}
	r := &Report{Calibration: &Calibration{}}
	for _, name := range []string{"a", "b", "c", "d"} {
		m := ModelCalibration{Model: name}
		m.Bins = append(m.Bins, bin)
		r.Calibration.Models = append(r.Calibration.Models, m)
	}
	p := r.calibrationPanels()
	if len(p.Charts) != 4 || p.Charts[3].Title.Text != "d" || p.Charts[3].Err() != nil {
		t.Errorf("%d panels, %v", len(p.Charts), p.Charts[3].Err())
	}
	if svg, err := calibrationPlot(r).SVG(); err != nil || len(svg) == 0 {
		t.Error(err)
	}
}

// A wide table of cells is split, so that every part fits a page: no column is lost or repeated but the first two, and
// “→” stays beside what it continues.
func TestNarrow(t *testing.T) {
	for n := range 30 {
		wide := &table.Table{Head: []string{"cell", "done"}, Align: "lr", Rows: [][]string{{"c", "1/1"}}}
		for k := range n {
			name := fmt.Sprint("m", k)
			if k%3 == 1 {
				name = afterwards
			}
			wide.Head, wide.Rows[0] = append(wide.Head, name), append(wide.Rows[0], fmt.Sprint(k))
		}
		var heads, cells []string
		for _, part := range narrow(wide) {
			if len(part.Head) > 2+pageColumns || part.Head[0] != "cell" || part.Head[1] != "done" ||
				len(part.Head) > 2 && part.Head[2] == afterwards {
				t.Errorf("%d columns: %q", n, part.Head)
			}
			heads, cells = append(heads, part.Head[2:]...), append(cells, part.Rows[0][2:]...)
		}
		if !slices.Equal(heads, wide.Head[2:]) || !slices.Equal(cells, wide.Rows[0][2:]) {
			t.Errorf("%d columns became %q with %q", n, heads, cells)
		}
	}
}

// The table by which a page filters has only what differs between cells.
func TestFilterTable(t *testing.T) {
	g := &Grid{}
	for i, graph := range []string{"ring", "star"} {
		r := &Report{Protocol: []string{"sac", "debate"}[i], Seats: []Member{{Adversary: "replay"}}}
		g.Add(NewCell(graph, map[string]any{"graph": graph, "f": 1, "exact": ""}, r, nil, nil))
	}
	table, selects := g.filterTable()
	if want := []string{"cell", "graph", "protocol", "done", "failed"}; !slices.Equal(table.Head[:5], want) {
		t.Errorf("%q, want %q", table.Head, want)
	}
	if want := []filterColumn{{"graph", 1, false}, {"protocol", 2, false}}; !slices.Equal(selects, want) {
		t.Errorf("%v, want %v", selects, want)
	}
	if !slices.Equal(table.Rows[1][:3], []string{"star", "star", "debate"}) {
		t.Errorf("%q", table.Rows[1])
	}
}

// A page without a source has no empty place for it, and a table of cells no column of times in which nobody waited.
func TestGridWithoutSource(t *testing.T) {
	zero := &metrics.Rate{N: 3, Count: true}
	g := &Grid{Preset: "mine"}
	g.Add(NewCell("a", nil, &Report{Latency: zero}, nil, nil))
	var b strings.Builder
	if err := g.HTML(&b, false, nil); err != nil {
		t.Fatal(err)
	}
	for _, unwanted := range []string{"<dt>source</dt>", "mine</span> ·", "virtual s"} {
		if strings.Contains(b.String(), unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
	g.Cells[0].Metrics[latency] = &metrics.Rate{Value: 2, N: 3, Count: true}
	if head := g.Summary().Head; !slices.Contains(head, "virtual s") {
		t.Errorf("%q lacks the time", head)
	}
}

func TestCallsLine(t *testing.T) {
	for want, calls := range map[string]Calls{
		"12 calls of 30 planned, 4 reused":                       {Made: 12, Planned: 30, Reused: 4},
		"30 calls of 30 planned, 0 reused":                       {Made: 30, Planned: 30},
		"33 calls (30 planned, 3 more after failures), 0 reused": {Made: 33, Planned: 30},
	} {
		if got := calls.line(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
