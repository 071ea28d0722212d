package report

import (
	"fmt"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/stats"
)

// PaperClaim is a statement of a paper's text about figures of a grid: a difference between cells and its direction.
// Margin, Value and Expect are percentage points, or units of a figure that is a count.
type PaperClaim struct {
	Name    string    `json:"name"`
	Text    string    `json:"text"`
	Cite    string    `json:"cite"`
	Figure  string    `json:"figure"`
	Against string    `json:"against"` // the figure of the cells that are subtracted
	Is      Direction `json:"is"`
	Times   float64   `json:"times"` // what the subtracted figure is multiplied with
	Value   float64   `json:"value"` // what is subtracted where a comparison has no cells for it
	Margin  float64   `json:"margin"`
	Expect  *float64  `json:"expect,omitempty"` // the paper's difference, where it prints no figures of the cells
	// Comparisons must all hold.
	Comparisons []Sides `json:"comparisons"`
	Control     Control `json:"control"`
}

// Control has the comparisons of a claim where its effect must vanish.
type Control struct {
	Name        string  `json:"name"`
	Text        string  `json:"text"`
	Comparisons []Sides `json:"comparisons"`
}

// Sides names the cells whose mean figures are compared. Without Than, Value is subtracted.
type Sides struct {
	At   string   `json:"at"` // what distinguishes it from the others of the claim, such as complete
	Of   []string `json:"of"`
	Than []string `json:"than,omitempty"`
}

// Direction is what a claim says about a difference d, m being its margin.
type Direction string

// The directions, with the condition that the whole interval of d must meet.
const (
	More    Direction = "more"     // d > m
	Less    Direction = "less"     // d < −m
	Equal   Direction = "equal"    // −m ≤ d ≤ m
	AtLeast Direction = "at-least" // d ≥ −m
	AtMost  Direction = "at-most"  // d ≤ m
)

// The states of a comparison.
const (
	Holds     = "holds"     // with the whole interval
	Fails     = "fails"     // with the whole interval
	Undecided = "undecided" // the interval has both
	NotRun    = "not run"   // a figure is missing
)

// state returns what the interval of a difference says, by a margin in the units of the difference.
func (d Direction) state(r *metrics.Rate, m float64) string {
	if r == nil {
		return NotRun
	}
	var holds, fails bool
	switch d {
	case More:
		holds, fails = r.Low > m, r.High <= m
	case Less:
		holds, fails = r.High < -m, r.Low >= -m
	case Equal:
		holds, fails = r.Low >= -m && r.High <= m, r.Low > m || r.High < -m
	case AtLeast:
		holds, fails = r.Low >= -m, r.High < -m
	case AtMost:
		holds, fails = r.High <= m, r.Low > m
	}
	switch {
	case holds:
		return Holds
	case fails:
		return Fails
	}
	return Undecided
}

// power returns the chance that a difference with the given effect and standard error holds.
func (d Direction) power(effect, m, standardError float64) float64 {
	above := func(effect, bound float64) float64 { return stats.PowerAbove(effect, bound, standardError) }
	switch d {
	case More:
		return above(effect, m)
	case Less:
		return above(-effect, m)
	case AtLeast:
		return above(effect, -m)
	case AtMost:
		return above(-effect, -m)
	}
	return max(above(effect, -m)+above(-effect, -m)-1, 0)
}

// says writes the condition for people: "strong_after − strong_before > 5".
func (c *PaperClaim) says() string {
	m, d := c.Margin, c.difference()
	switch c.Is {
	case More:
		return fmt.Sprintf("%s > %g", d, m)
	case Less:
		return fmt.Sprintf("%s < %g", d, minus(m))
	case AtLeast:
		return fmt.Sprintf("%s ≥ %g", d, minus(m))
	case AtMost:
		return fmt.Sprintf("%s ≤ %g", d, m)
	}
	return fmt.Sprintf("%s within ±%g", d, m)
}

// difference writes what is subtracted from what. The same figure of other cells is not named again.
func (c *PaperClaim) difference() string {
	switch {
	case c.Times != 1:
		return fmt.Sprintf("%s − %g × %s", c.Figure, c.Times, c.Against)
	case c.Against != c.Figure:
		return c.Figure + " − " + c.Against
	case c.Value != 0:
		return fmt.Sprintf("%s − %g", c.Figure, c.Value)
	}
	return c.Figure
}

// minus returns −m, and 0 for 0, which would be printed as −0.
func minus(m float64) float64 { return 0 - m }
