package report

import (
	"math"
	"slices"

	"synod.dev/synod/metrics"
)

// Figure is what a paper reports.
type Figure struct {
	Value float64 `json:"value"`
	N     int     `json:"n"`               // independent questions behind it; 0: there is no verdict on it
	Count bool    `json:"count,omitempty"` // it is no share: it is printed as it is, and not in percent
}

// The verdicts on a paper's figure.
const (
	Reproduced   = "reproduced"   // within Margin, and the difference may be none, on no fewer questions than the paper's
	Differs      = "differs"      // the interval of the difference excludes none
	Inconclusive = "inconclusive" // neither: too few questions, there or here
)

// Margin is how far a reproduced figure may be from the paper's.
const Margin = 0.05

// Verdict compares our figure of a metric, which rests on a number of questions (0:
// on none, it was computed), with a paper's; "" where we have none. Neither interval
// takes members that answer one question for independent: the paper's, which is not
// known, is that of a share over its questions, and so is ours where more answers
// than questions are behind it. On fewer questions than the paper's nothing is
// reproduced, however near it is.
func Verdict(metric string, ours *metrics.Rate, questions int, paper Figure) string {
	difference := metric == "bfti"
	if ours != nil && questions > 0 && ours.N > questions && !ours.Count {
		ours = byQuestion(*ours, questions, difference)
	}
	d := metrics.Difference(ours, metrics.Published(paper.Value, paper.N, difference))
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

// byQuestion is a rate with the interval that it has if all answers to a question
// are right or wrong together; a difference keeps the form of its own.
func byQuestion(r metrics.Rate, questions int, difference bool) *metrics.Rate {
	if !difference {
		return metrics.Published(r.Value, questions, false)
	}
	wider := math.Sqrt(float64(r.N) / float64(questions))
	return &metrics.Rate{Value: r.Value, N: questions, Low: r.Value - wider*(r.Value-r.Low), High: r.Value + wider*(r.High-r.Value)}
}

// Cell is a run of a grid, with what is varied in it and what the paper says. All
// that Report has stands beside.
type Cell struct {
	Cell    string                   `json:"cell"`
	Params  map[string]any           `json:"params"`
	Metrics map[string]*metrics.Rate `json:"metrics"` // every rate by name, null where there is none
	Paper   map[string]float64       `json:"paper"`
	Verdict map[string]string        `json:"verdict"`
	Assumed []string                 `json:"assumed"`       // metrics that the members were made to have: their verdict says little
	Why     string                   `json:"why,omitempty"` // there is no run, and so no figure
	How     string                   `json:"how,omitempty"` // there is no run: what the figures were computed of
	Lists   map[string][]float64     `json:"-"`             // among the metrics of the JSON: what is no rate
	*Report

	figures map[string]Figure
}

// NewCell sets a run's report beside the paper's figures.
func NewCell(name string, params map[string]any, r *Report, paper map[string]Figure, assumed []string) Cell {
	c := Cell{
		Cell: name, Params: params, Report: r, Metrics: map[string]*metrics.Rate{}, Paper: map[string]float64{}, Verdict: map[string]string{},
		Assumed: append([]string{}, assumed...), figures: paper,
	}
	for _, row := range append(r.rows(), r.groupRounds()...) {
		c.Metrics[row.name] = row.rate
	}
	for metric, figure := range paper {
		c.Paper[metric] = figure.Value
		if v := Verdict(metric, c.Metrics[metric], r.Finished, figure); v != "" {
			c.Verdict[metric] = v
		}
	}
	return c
}

// NewBlank is a cell that nothing here can fill: every figure of the paper stands
// beside none of ours.
func NewBlank(name string, params map[string]any, paper map[string]Figure, why string) Cell {
	empty := &Report{Version: Version, MembersKind: []string{}, Seats: []Seat{}, Rounds: []metrics.Round{}, Drops: []Drop{}, Failures: []Failure{}}
	c := NewCell(name, params, empty, paper, nil)
	for metric := range paper {
		c.Metrics[metric] = nil
	}
	c.Why = why
	return c
}

// Grid is the report of a preset: its totals, and a report a cell. The totals
// have no rates, since cells measure different things.
type Grid struct {
	Report
	Preset  string `json:"preset"`
	Source  string `json:"source"`
	Members string `json:"members"`
	Note    string `json:"note"`
	Cells   []Cell `json:"cells"`
}

// Add adds a cell and its totals.
func (g *Grid) Add(c Cell) {
	g.Cells = append(g.Cells, c)
	g.Questions += c.Questions
	g.Finished += c.Finished
	g.Failed += c.Failed
	g.Unfinished += c.Unfinished
	g.Calls.Made += c.Calls.Made
	g.Calls.Reused += c.Calls.Reused
	g.Calls.Planned += c.Calls.Planned
	g.Tokens.Prompt += c.Tokens.Prompt
	g.Tokens.Completion += c.Tokens.Completion
	g.Seconds += c.Seconds
	g.Money = g.Money.Plus(c.Money)
	g.Cost = g.Money.Cost()
	g.MembersKind = append(g.MembersKind, c.MembersKind...)
	slices.Sort(g.MembersKind)
	g.MembersKind = slices.Compact(g.MembersKind)
}
