package attack

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/table"
)

// RangeExperiment is the name of the preset from which NewGuide reads a JudgeRange.
const RangeExperiment = "judge-range"

// JudgeRange is what protocols decide as simulated members judge worse and better. No ranking of them must hang
// on it.
type JudgeRange struct {
	Note   string       `json:"note"`
	Counts []WithJudges `json:"cells"` // in the order of the preset
}

// WithJudges is what a protocol decided with judges that prefer the right one of two answers with a probability.
type WithJudges struct {
	Judges float64 `json:"judges"` // in [0,1]
	Met
}

// newRange computes the range from the cells of a grid. All cells must be finished.
func newRange(note string, cells []report.Cell) (*Guide, error) {
	g := &Guide{Version: Version, Range: &JudgeRange{Note: note}}
	for i := range cells {
		m, finished := met(&cells[i])
		judges, err := strconv.ParseFloat(fmt.Sprint(cells[i].Params["judges"]), 64)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the cell %s does not say how well its members judge: %w", cells[i].Cell, err)
		case finished:
			g.Range.Counts = append(g.Range.Counts, WithJudges{judges, m})
		}
	}
	return g, g.Range.check()
}

// check returns an error for a range without figures or with counts that cannot be. There may be none.
func (r *JudgeRange) check() error {
	if r == nil {
		return nil
	}
	if len(r.Counts) == 0 {
		return errors.New("the range of judges has no finished cell")
	}
	for _, c := range r.Counts {
		if !(c.Judges >= 0 && c.Judges <= 1) {
			return fmt.Errorf("a judge prefers the right answer with probability %v", c.Judges)
		}
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// rangeHead is the heading above JudgeRange.table.
const rangeHead = "How well judges judge"

// head says what JudgeRange.table shows.
func (r *JudgeRange) head() string {
	return table.Plain(fmt.Sprintf("%s Right / captured, in percent of %d questions, with judges that prefer the "+
		"right one of two answers with the probability above the column; calls for a question over all columns.",
		r.Note, r.Counts[0].Questions))
}

// table has a row for each protocol and number of adversaries, and a column for each kind of judges.
func (r *JudgeRange) table() *table.Table {
	t := &table.Table{Head: []string{"protocol", "colluders"}, Align: "lr"}
	var judges []float64
	var rows []WithJudges // the first of each row
	for _, c := range r.Counts {
		if !slices.Contains(judges, c.Judges) {
			judges = append(judges, c.Judges)
		}
		if !slices.ContainsFunc(rows, c.inRow) {
			rows = append(rows, c)
		}
	}
	slices.Sort(judges)
	for _, j := range judges {
		t.Head, t.Align = append(t.Head, fmt.Sprintf("%.2f", j)), t.Align+"r"
	}
	t.Head, t.Align = append(t.Head, "calls"), t.Align+"r"
	for _, row := range rows {
		line, low, high := []any{row.Protocol, row.Members}, row.Calls, row.Calls
		for _, j := range judges {
			at := slices.IndexFunc(r.Counts, func(c WithJudges) bool { return c.Judges == j && c.inRow(row) })
			if at < 0 {
				line = append(line, "–")
				continue
			}
			c := r.Counts[at]
			low, high = min(low, c.Calls), max(high, c.Calls)
			line = append(line, percent(c.Right, c.Questions)+" / "+percent(c.Captured, c.Questions))
		}
		t.Add(append(line, span(low, high))...)
	}
	return t
}

// inRow reports whether two cells differ in their judges only.
func (c WithJudges) inRow(other WithJudges) bool {
	return c.Protocol == other.Protocol && c.Members == other.Members
}

// percent prints a share without a unit.
func percent(hits, of int) string { return fmt.Sprintf("%.1f", 100*metrics.Share(hits, of).Value) }

// span prints the calls of cells, from the fewest to the most.
func span(low, high float64) string {
	if calls(low) == calls(high) {
		return calls(low)
	}
	return calls(low) + " to " + calls(high)
}
