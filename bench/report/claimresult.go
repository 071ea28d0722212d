package report

import (
	"cmp"
	"fmt"
	"slices"
)

// ClaimResult is a claim with what was measured and its verdict.
type ClaimResult struct {
	Name        string        `json:"name"`
	Text        string        `json:"text"`
	Cite        string        `json:"cite"`
	Figure      string        `json:"figure"`
	Is          Direction     `json:"is"`
	Margin      float64       `json:"margin"`
	Verdict     string        `json:"verdict"` // "" where there can be none; see why
	Why         string        `json:"why,omitempty"`
	State       string        `json:"state"` // of all comparisons together
	Power       *float64      `json:"power"` // the least of the comparisons'; null: one is not known
	Comparisons []Contrast    `json:"comparisons"`
	Control     ControlResult `json:"control"`

	says string
}

// ControlResult is the control of a claim with what was measured.
type ControlResult struct {
	Name        string     `json:"name"`
	Text        string     `json:"text"`
	State       string     `json:"state"`
	Comparisons []Contrast `json:"comparisons"`
}

// The verdicts on a claim are Reproduced, Fails, Undecided, Assumed, NotRun and these.
const (
	ControlToo   = "holds, control too" // what should have made the difference did not
	NoControlYet = "holds, control not run"
)

// Judge sets the results of the claims.
func (g *Grid) Judge(claims []PaperClaim) {
	cells := map[string]*Cell{}
	for _, list := range [][]Cell{g.Cells, g.Controls} {
		for i := range list {
			cells[list[i].Cell] = &list[i]
		}
	}
	g.Claims = nil
	for i := range claims {
		g.Claims = append(g.Claims, claims[i].judge(cells, g.NoVerdict))
	}
}

// judge measures a claim and its control. unjudged is why there can be no verdict; "" if there can.
func (c *PaperClaim) judge(cells map[string]*Cell, unjudged string) ClaimResult {
	r := ClaimResult{Name: c.Name, Text: c.Text, Cite: c.Cite, Figure: c.Figure, Is: c.Is, Margin: c.Margin,
		says: c.says(), Control: ControlResult{Name: c.Control.Name, Text: c.Control.Text}}
	for _, of := range c.Comparisons {
		x := c.contrast(of, cells)
		r.Comparisons, r.Why = append(r.Comparisons, x), cmp.Or(r.Why, x.assumed)
	}
	for _, of := range c.Control.Comparisons {
		r.Control.Comparisons = append(r.Control.Comparisons, c.contrast(of, cells))
	}
	r.State, r.Control.State = together(r.Comparisons), together(r.Control.Comparisons)
	r.Power = leastPower(r.Comparisons)
	if unjudged != "" {
		r.Why = unjudged
		return r
	}
	r.Verdict = r.verdict()
	return r
}

// verdict follows from the states of the claim and of its control.
func (r *ClaimResult) verdict() string {
	switch {
	case r.State == NotRun:
		return NotRun
	case r.Why != "":
		return Assumed
	case r.State != Holds:
		return r.State
	case r.Control.State == Holds:
		return ControlToo
	case r.Control.State == NotRun:
		return NoControlYet
	}
	return Reproduced
}

// together is the state of several comparisons, which must all hold.
func together(all []Contrast) string {
	has := func(state string) bool {
		return slices.ContainsFunc(all, func(c Contrast) bool { return c.State == state })
	}
	switch {
	case len(all) == 0 || has(NotRun):
		return NotRun
	case has(Fails):
		return Fails
	case has(Undecided):
		return Undecided
	}
	return Holds
}

// leastPower returns the least power of the comparisons; nil if one is not known.
func leastPower(all []Contrast) *float64 {
	var least *float64
	for _, c := range all {
		if c.Power == nil {
			return nil
		}
		if least == nil || *c.Power < *least {
			least = c.Power
		}
	}
	return least
}

// ClaimCounts counts claims by their verdicts, and controls.
type ClaimCounts struct {
	Claims      int `json:"claims"`
	Reproduced  int `json:"reproduced"`
	ControlToo  int `json:"control_too"`
	Fails       int `json:"fails"`
	Undecided   int `json:"undecided"` // those whose control was not run among them
	Assumed     int `json:"assumed"`
	NotRun      int `json:"not_run"` // those that can have no verdict among them
	CouldFail   int `json:"could_fail"`
	Controls    int `json:"controls"`     // of the claims that could fail
	ControlsOut int `json:"controls_out"` // those in which the claim does not hold, as it should be
}

// Add counts a claim.
func (n *ClaimCounts) Add(r *ClaimResult) {
	n.Claims++
	switch r.Verdict {
	case Reproduced:
		n.Reproduced++
	case ControlToo:
		n.ControlToo++
	case Fails:
		n.Fails++
	case Undecided, NoControlYet:
		n.Undecided++
	case Assumed:
		n.Assumed++
	default:
		n.NotRun++
	}
	if r.Verdict == Assumed || r.Verdict == NotRun || r.Verdict == "" {
		return
	}
	n.CouldFail++
	if r.Control.State != NotRun {
		n.Controls++
		if r.Control.State != Holds {
			n.ControlsOut++
		}
	}
}

// Sentence says what the counts are.
func (n *ClaimCounts) Sentence() string {
	return fmt.Sprintf("%d claims; %d of them could have failed here: %d reproduced, %d hold and their controls hold "+
		"too, %d fail, %d undecided. %d rest on figures that were built in (assumed), %d were not run. In %d of %d "+
		"controls the claim does not hold, as it should be.", n.Claims, n.CouldFail, n.Reproduced, n.ControlToo,
		n.Fails, n.Undecided, n.Assumed, n.NotRun, n.ControlsOut, n.Controls)
}

// ClaimCounts counts the claims of the grid.
func (g *Grid) ClaimCounts() (n ClaimCounts) {
	for i := range g.Claims {
		n.Add(&g.Claims[i])
	}
	return n
}
