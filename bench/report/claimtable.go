package report

import (
	"fmt"
	"slices"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// claimClasses are the classes of the verdicts on claims in HTML.
var claimClasses = map[string]string{Reproduced: "right", Fails: "wrong", ControlToo: "none", Undecided: "none",
	NoControlYet: "none"}

// claimTable has a row for every claim, with the comparison that is nearest to failing.
func (g *Grid) claimTable() *table.Table {
	t := &table.Table{Head: claimHead, Align: "lllrrl"}
	g.claimRows(t)
	return t
}

var claimHead = []string{"claim", "where", "difference must be", "paper", "ours", "control", "power", "verdict"}

// claimRows adds the rows of the grid's claims.
func (g *Grid) claimRows(t *table.Table) {
	class := t.Class
	first := len(t.Rows)
	for i := range g.Claims {
		r := &g.Claims[i]
		of := nearest(r)
		t.Add(plain(r.Text), plain(r.Cite), plain(r.says), difference(of.Paper, of.Difference), r.measured(of),
			r.Control.line(), power(r.Power), r.verdictText(g.by()))
	}
	t.Class = func(row, column int) string {
		switch {
		case row < first && class != nil:
			return class(row, column)
		case column == len(t.Head)-1 && row >= first && row-first < len(g.Claims):
			return claimClasses[g.Claims[row-first].Verdict]
		}
		return ""
	}
}

// by names the kinds of the members of the grid.
func (g *Grid) by() string {
	return (&Cell{Report: &g.Report}).by()
}

// nearest returns the comparison that decides the state of a claim: of those with the worst state the one whose
// interval is widest.
func nearest(r *ClaimResult) *Contrast {
	var at *Contrast
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.State != r.State {
			continue
		}
		if at == nil || c.Difference != nil && at.Difference != nil && c.slack(r) < at.slack(r) {
			at = c
		}
	}
	if at == nil {
		return &Contrast{}
	}
	return at
}

// slack is how far the interval is from the margin, negative beyond it.
func (c *Contrast) slack(r *ClaimResult) float64 {
	d, m := c.Difference, r.Margin/scale(c.Difference)
	switch r.Is {
	case More:
		return d.Low - m
	case Less:
		return -m - d.High
	case AtLeast:
		return d.Low + m
	case AtMost:
		return m - d.High
	}
	return min(d.Low+m, m-d.High)
}

// measured writes the difference of a comparison, where it is, and how many are like it.
func (r *ClaimResult) measured(of *Contrast) string {
	if of.Difference == nil {
		return "–"
	}
	s := valueWithInterval(of.Difference)
	if len(r.Comparisons) > 1 {
		n := 0
		for _, c := range r.Comparisons {
			if c.State == Holds {
				n++
			}
		}
		s += fmt.Sprintf(" %s; %d of %d hold", plain(of.At), n, len(r.Comparisons))
	}
	return s
}

// line writes the state of a control with its name.
func (r *ControlResult) line() string {
	return plain(r.Name) + ": " + r.State
}

// verdictText is the verdict with the kinds of the members.
func (r *ClaimResult) verdictText(by string) string {
	switch r.Verdict {
	case "":
		return "none"
	case NotRun:
		return NotRun
	}
	return fmt.Sprintf("%s (%s)", r.Verdict, by)
}

// difference writes a difference of the paper's figures in the unit of ours.
func difference(of *float64, ours *metrics.Rate) string {
	if of == nil || ours == nil {
		return "–"
	}
	return fmt.Sprintf("%+.1f", scale(ours)**of)
}

// power writes a power in percent.
func power(p *float64) string {
	if p == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100**p)
}

// claimNotes explain the table, name the controls and the reasons of verdicts that say nothing.
func (g *Grid) claimNotes() []string {
	if len(g.Claims) == 0 {
		return nil
	}
	n := g.ClaimCounts()
	lines := []string{n.Sentence()}
	return append(append(lines, g.claimReasons()...), claimLegend)
}

const claimLegend = "reproduced: the claim holds with the whole 95 % interval of the difference, and in the control, " +
	"where the effect must vanish, it does not. holds, control too: the protocol is not what makes the difference. " +
	"Differences are in points, by question; of several comparisons the nearest to failing is shown. power: the " +
	"chance that the planned questions show the paper's difference."

// claimReasons lists what the controls are, and why verdicts are missing or assumed.
func (g *Grid) claimReasons() (lines []string) {
	add := func(line string) {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for i := range g.Claims {
		c := &g.Claims[i].Control
		add(fmt.Sprintf("control %s: %s", plain(c.Name), plain(c.Text)))
	}
	for i := range g.Claims {
		if why := g.Claims[i].Why; why != "" && g.Claims[i].Verdict == "" {
			add("no verdict: " + plain(why))
		} else if why != "" {
			add("assumed: " + plain(why))
		}
	}
	return lines
}
