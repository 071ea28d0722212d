package report

import (
	"fmt"
	"io"
	"strings"

	"synod.dev/synod/core/table"
)

// Counts are the figures of a paper by their verdicts.
type Counts struct {
	Reproduced   int `json:"reproduced"`
	Differs      int `json:"differs"`
	Inconclusive int `json:"inconclusive"`
	Assumed      int `json:"assumed"`
	NotCompared  int `json:"not_compared"` // there is a figure, but the paper's is no share or has no number of questions
	NotRun       int `json:"not_run"`      // there is no figure
}

func (c *Counts) add(d Counts) {
	c.Reproduced += d.Reproduced
	c.Differs += d.Differs
	c.Inconclusive += d.Inconclusive
	c.Assumed += d.Assumed
	c.NotCompared += d.NotCompared
	c.NotRun += d.NotRun
}

// Counts counts the figures of the paper.
func (g *Grid) Counts() (n Counts) {
	for i := range g.Cells {
		c := &g.Cells[i]
		for metric := range c.Paper {
			switch {
			case c.Metrics[metric] == nil:
				n.NotRun++
			case c.Verdict[metric] == Reproduced:
				n.Reproduced++
			case c.Verdict[metric] == Differs:
				n.Differs++
			case c.Verdict[metric] == Inconclusive:
				n.Inconclusive++
			case c.Verdict[metric] == Assumed:
				n.Assumed++
			default:
				n.NotCompared++
			}
		}
	}
	return n
}

// Verdicts is a table of experiments with the counts of their verdicts.
type Verdicts struct {
	Version     int           `json:"version"`
	Experiments []VerdictsRow `json:"experiments"`
	Total       Counts        `json:"total"`
}

// VerdictsRow is an experiment.
type VerdictsRow struct {
	Experiment string   `json:"experiment"`
	Source     string   `json:"source"`
	Members    []string `json:"members_kind"`
	Cells      int      `json:"cells"`
	Finished   int      `json:"finished"` // questions
	Questions  int      `json:"questions"`
	Counts
}

// Add adds the experiment of a grid.
func (v *Verdicts) Add(g *Grid) {
	n := g.Counts()
	v.Version = 1
	v.Total.add(n)
	v.Experiments = append(v.Experiments, VerdictsRow{g.Preset, g.Source, g.MembersKind, len(g.Cells), g.Finished,
		g.Questions, n})
}

// Write prints the table in a format of package table, or as JSON.
func (v *Verdicts) Write(w io.Writer, format string) error {
	if format == "json" {
		return writeJSON(w, v)
	}
	t := &table.Table{Head: []string{"experiment", "members", "cells", "questions", "reproduced", "differs",
		"inconclusive", "assumed", "not compared", "not run"}, Align: "llr"}
	for _, r := range v.Experiments {
		members := "computed"
		if len(r.Members) > 0 {
			members = strings.Join(r.Members, " and ")
		}
		t.Add(r.Experiment, members, r.Cells, fmt.Sprintf("%d/%d", r.Finished, r.Questions), r.Reproduced, r.Differs,
			r.Inconclusive, r.Assumed, r.NotCompared, r.NotRun)
	}
	n := v.Total
	t.Add("all", "", "", "", n.Reproduced, n.Differs, n.Inconclusive, n.Assumed, n.NotCompared, n.NotRun)
	return t.Write(w, format)
}
