package report

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/stats"
)

// Contrast is a comparison with what was measured.
type Contrast struct {
	At string `json:"at"`
	// Difference is the figure of the cells Of minus Times that of Than, with its interval by question; null: a figure
	// is missing.
	Difference *metrics.Rate `json:"difference"`
	Questions  int           `json:"questions"` // without repeats, the fewest of a cell; 0: computed without questions
	Paper      *float64      `json:"paper"`     // the same difference of the paper's figures; null: it prints none
	State      string        `json:"state"`     // holds, fails, undecided or not run
	// Power is the chance that the planned questions show the paper's difference; null: it is not known
	Power *float64 `json:"power"`

	assumed string // why the figures show nothing
}

// operand is the figure of a cell in a contrast.
type operand struct {
	cell   *Cell
	figure string
	weight float64
}

func (o *operand) rate() *metrics.Rate { return o.cell.Metrics[o.figure] }

// operands returns the figures of a comparison with their weights; nil if a cell is missing.
func (c *PaperClaim) operands(of Sides, cells map[string]*Cell) (all []operand) {
	add := func(names []string, figure string, weight float64) bool {
		for _, name := range names {
			cell := cells[name]
			if cell == nil {
				return false
			}
			all = append(all, operand{cell, figure, weight / float64(len(names))})
		}
		return true
	}
	if !add(of.Of, c.Figure, 1) || !add(of.Than, c.Against, -c.Times) {
		return nil
	}
	return all
}

// contrast measures a comparison.
func (c *PaperClaim) contrast(of Sides, cells map[string]*Cell) Contrast {
	out := Contrast{At: of.At, State: NotRun}
	all := c.operands(of, cells)
	if len(all) == 0 {
		return out
	}
	terms := make([]stats.Term, len(all))
	n, unit := math.MaxInt, 1.0
	for i, o := range all {
		r := o.rate()
		if r == nil {
			return out
		}
		if o.figure == c.Figure { // a built-in figure from which a gain is counted lets the claim fail
			out.assumed = cmp.Or(out.assumed, o.cell.Assumed[o.figure])
		}
		terms[i] = stats.Term{Weight: o.weight, Estimate: stats.Estimate{Value: r.Value, Low: r.Low, High: r.High}}
		n, unit = min(n, r.N), scale(r)
	}
	if len(of.Than) == 0 {
		at := c.Value / unit
		terms = append(terms, stats.Term{Weight: -1, Estimate: stats.Estimate{Value: at, Low: at, High: at}})
	}
	e := stats.Combine(terms, func(i, j int) float64 { return alike(all, i, j) })
	if out.Questions = fewest(all); out.Questions > 0 {
		n = out.Questions
	}
	out.Difference = &metrics.Rate{Value: e.Value, N: n, Low: e.Low, High: e.High, Count: all[0].rate().Count}
	out.State = c.Is.state(out.Difference, c.Margin/unit)
	out.Paper = c.published(all, len(of.Than) == 0, unit)
	if out.Paper != nil {
		se := (e.High - e.Low) / (2 * stats.Z) * math.Sqrt(done(all))
		power := c.Is.power(*out.Paper, c.Margin/unit, se)
		out.Power = &power
	}
	return out
}

// published returns the difference of the paper's figures, or the expected one; nil if there is neither.
func (c *PaperClaim) published(all []operand, constant bool, unit float64) *float64 {
	sum := 0.0
	for _, o := range all {
		f, known := o.cell.Paper[o.figure]
		if !known {
			if c.Expect == nil {
				return nil
			}
			expected := *c.Expect / unit
			return &expected
		}
		sum += o.weight * f
	}
	if constant {
		sum -= c.Value / unit
	}
	return &sum
}

// fewest returns the least number of questions behind a figure, without repeats, of the cells that have a run; 0 if
// none has.
func fewest(all []operand) (n int) {
	for _, o := range all {
		if k := o.cell.distinct(); k > 0 && (n == 0 || k < n) {
			n = k
		}
	}
	return n
}

// distinct returns the number of finished questions without repeats. Every game is one.
func (c *Cell) distinct() int {
	if len(c.Endings) > 0 {
		return c.Finished
	}
	return c.Finished / max(c.Repeat, 1)
}

// done returns the share of the planned questions that are finished, in the cells that have any.
func done(all []operand) float64 {
	finished, planned := 0, 0
	for _, o := range all {
		finished, planned = finished+o.cell.Finished, planned+o.cell.Questions
	}
	if planned == 0 {
		return 1
	}
	return float64(finished) / float64(planned)
}

// leastShared is the number of questions below which a correlation is not estimated: each figure then rests on other
// draws, such as games.
const leastShared = 3

// leastVariance is the product of two variances below which one of the two does not vary.
const leastVariance = 1e-18

// alike returns the correlation of the figures of two cells over the questions that both were asked. Where it is not
// known although they share questions, it is the one that makes the interval wider.
func alike(all []operand, i, j int) float64 {
	if max(i, j) >= len(all) { // a constant
		return 0
	}
	a, b := all[i], all[j]
	var x, y []float64
	mine, theirs := a.cell.each[a.figure], b.cell.each[b.figure]
	for _, question := range slices.Sorted(maps.Keys(mine)) { // the order of a sum shows in its last digits
		if w, ok := theirs[question]; ok {
			x, y = append(x, mine[question]), append(y, w)
		}
	}
	if len(x) < leastShared {
		return 0
	}
	if stat.Variance(x, nil)*stat.Variance(y, nil) > leastVariance {
		return stats.Cautious(stat.Correlation(x, y, nil), len(x))
	}
	if a.weight*b.weight > 0 {
		return 1
	}
	return 0
}
