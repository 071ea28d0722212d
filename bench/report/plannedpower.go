package report

import (
	"fmt"
	"math"

	"synod.dev/synod/core/table"
)

// PlannedCell is a cell before its run: the paper's figures, as shares, and the number of questions without repeats.
type PlannedCell struct {
	Paper     map[string]Figure
	Questions int
}

// PlannedPower has, for each claim, the chance that its comparison with the least power shows the paper's difference,
// from the paper's figures alone. Each question counts as one observation and cells as independent, so questions that
// cells share make the real power larger. It is unknown where the paper prints no shares.
func PlannedPower(claims []PaperClaim, cells map[string]PlannedCell) *table.Table {
	t := &table.Table{Head: []string{"claim", "difference must be", "paper", "power"}, Align: "llrr"}
	for i := range claims {
		c := &claims[i]
		effect, least := c.planned(cells)
		paper := "–"
		if effect != nil {
			paper = fmt.Sprintf("%+.1f", 100**effect)
		}
		t.Add(plain(c.Text), c.says(), paper, power(least))
	}
	return t
}

// planned returns the paper's difference in the comparison with the least power, and this power; nil: not known.
func (c *PaperClaim) planned(cells map[string]PlannedCell) (effect, least *float64) {
	for _, of := range c.Comparisons {
		mean, variance, ok := c.expected(of, cells)
		if !ok {
			return nil, nil
		}
		p := c.Is.power(mean, c.Margin/100, math.Sqrt(variance))
		if least == nil || p < *least {
			effect, least = &mean, &p
		}
	}
	return effect, least
}

// expected returns the paper's difference as a share, and its variance with the planned questions.
func (c *PaperClaim) expected(of Sides, cells map[string]PlannedCell) (mean, variance float64, ok bool) {
	add := func(names []string, figure string, weight float64) bool {
		for _, name := range names {
			value, spread, known := cells[name].share(figure)
			if !known {
				return false
			}
			w := weight / float64(len(names))
			mean, variance = mean+w*value, variance+w*w*spread
		}
		return true
	}
	if len(of.Of) == 0 || !add(of.Of, c.Figure, 1) || !add(of.Than, c.Against, -c.Times) {
		return 0, 0, false
	}
	if len(of.Than) == 0 {
		mean -= c.Value / 100
	}
	return mean, variance, true
}

// share returns the paper's figure of a cell and the variance of the mean over its questions. A gain is the difference
// of two shares.
func (c PlannedCell) share(figure string) (value, variance float64, ok bool) {
	f, known := c.Paper[figure]
	if !known || f.Count || c.Questions == 0 {
		return 0, 0, false
	}
	binomial := func(p float64) float64 { return p * (1 - p) / float64(c.Questions) }
	if figure != "bfti" {
		return f.Value, binomial(f.Value), f.Value >= 0 && f.Value <= 1
	}
	before, has := c.Paper["iaa"]
	after, too := c.Paper["faa"]
	return f.Value, binomial(before.Value) + binomial(after.Value), has && too
}
