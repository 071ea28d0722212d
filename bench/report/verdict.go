package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"synod.dev/synod/bench/metrics"
)

// Figure is a figure that a paper reports.
type Figure struct {
	Value float64 `json:"value"`
	N     int     `json:"n"`               // independent questions; 0: unknown, so it is not compared
	Count bool    `json:"count,omitempty"` // not a share: print it as it is, not in percent
}

// The verdicts on a paper's figure.
const (
	Reproduced   = "reproduced"   // within Margin, may be equal, and on enough questions
	Differs      = "differs"      // the interval of the difference excludes 0
	Inconclusive = "inconclusive" // neither: too few questions in the paper or here
	Assumed      = "assumed"      // the experiment was built to have this figure, so it could not fail
)

// Assumptions are the figures of a cell, by metric, that its experiment was tuned to,
// selected for or built from, with the reasons. Such a figure shows nothing, whether it
// equals that of the paper or not.
type Assumptions map[string]string

// Assume returns assumptions with one reason.
func Assume(reason string, metrics ...string) Assumptions {
	a := Assumptions{}
	for _, m := range metrics {
		a[m] = reason
	}
	return a
}

// And returns a copy with the assumptions of b added. Reasons of a come first.
func (a Assumptions) And(b Assumptions) Assumptions {
	all := Assumptions{}
	maps.Copy(all, b)
	maps.Copy(all, a)
	return all
}

// UnmarshalJSON reads assumptions. Folders of earlier versions have a list of metrics
// without reasons; all of these were properties of simulated members.
func (a *Assumptions) UnmarshalJSON(b []byte) error {
	var metrics []string
	if json.Unmarshal(b, &metrics) == nil {
		*a = Assume("the members were built to have this figure", metrics...)
		return nil
	}
	return json.Unmarshal(b, (*map[string]string)(a))
}

// Margin is the largest difference from the paper's figure that counts as reproduced.
const Margin = 0.05

// ComparePaper returns the verdict on a paper's figure of a metric, or "" if ours
// or the paper's cannot be compared. questions is the number of questions that ours
// was measured on, without repeats; 0 means that it was computed without any.
//
// Ours has its interval by question. The paper's, which is unknown, is taken to be that of a
// share over its questions. On fewer questions than the paper's, no figure counts as reproduced.
func ComparePaper(metric string, ours *metrics.Rate, questions int, paper Figure) string {
	d := metrics.Difference(ours, metrics.Published(paper.Value, paper.N, metric == "bfti"))
	switch {
	case d == nil:
		return ""
	case d.Low > 0 || d.High < 0:
		return Differs
	case math.Abs(d.Value) <= Margin && (questions == 0 || questions >= paper.N):
		return Reproduced
	}
	return Inconclusive
}

// compare sets the verdicts on the paper's figures.
func (c *Cell) compare(questions int) {
	for metric, figure := range c.figures {
		v := ComparePaper(metric, c.Metrics[metric], questions, figure)
		if c.Metrics[metric] != nil && c.Assumed[metric] != "" {
			v = Assumed
		}
		if v != "" {
			c.Verdict[metric] = v
		}
	}
}

// verdictText returns the verdict on a metric for readers, with the kinds of the members
// that it was reached with; "" if the paper has no figure.
func (c *Cell) verdictText(metric string) string {
	if _, known := c.Paper[metric]; !known {
		return ""
	}
	switch verdict := c.Verdict[metric]; {
	case verdict != "":
		return fmt.Sprintf("%s (%s)", verdict, c.by())
	case c.Metrics[metric] != nil && c.figures[metric].Count:
		return "none: the paper's figure is not a share"
	case c.Metrics[metric] != nil:
		return "none: the paper gives no number of questions"
	case c.Why != "":
		return "none: no run"
	}
	return "no figure yet"
}

// by names the kinds of the members of a cell, or says that it has none.
func (c *Cell) by() string {
	if len(c.MembersKind) == 0 {
		return "computed"
	}
	return strings.Join(c.MembersKind, " and ")
}

// assumptions lists the reasons why figures are assumed, with their numbers.
func (g *Grid) assumptions() (lines []string) {
	reasons := map[string]int{}
	for _, c := range g.Cells {
		for metric := range c.Paper {
			if why := c.Assumed[metric]; why != "" && c.Metrics[metric] != nil {
				reasons[why]++
			}
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		lines = append(lines, fmt.Sprintf("assumed, %d: %s", reasons[reason], plain(reason)))
	}
	return lines
}

// legend explains the table of single figures.
func (g *Grid) legend() []string {
	return append(g.assumptions(), "difference: ours minus the paper's, in points. assumed: the experiment was built "+
		"to have this figure, so it shows nothing. Single figures have no verdict; claims have one.")
}
