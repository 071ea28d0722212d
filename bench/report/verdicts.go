package report

import (
	"cmp"
	"fmt"
	"io"

	"synod.dev/synod/core/table"
)

// Claims are the claims of several experiments with their verdicts.
type Claims struct {
	Version     int         `json:"version"`
	Experiments []ClaimsOf  `json:"experiments"`
	Total       ClaimCounts `json:"total"`

	grids []*Grid
}

// ClaimsOf has the claims of an experiment.
type ClaimsOf struct {
	Experiment string        `json:"experiment"`
	Source     string        `json:"source"`
	Members    []string      `json:"members_kind"`
	Finished   int           `json:"finished"` // questions
	Questions  int           `json:"questions"`
	Claims     []ClaimResult `json:"claims"`
}

// Add adds the claims of a grid.
func (c *Claims) Add(g *Grid) {
	c.Version = 1
	for i := range g.Claims {
		c.Total.Add(&g.Claims[i])
	}
	c.Experiments = append(c.Experiments, ClaimsOf{g.Preset, g.Source, g.MembersKind, g.Finished, g.Questions,
		g.Claims})
	c.grids = append(c.grids, g)
}

// Write prints one table of all claims in a format of package table, or JSON. Below text and Markdown are
// the counts.
func (c *Claims) Write(w io.Writer, format string) error {
	if format == "json" {
		return writeJSON(w, c)
	}
	if format == "text" {
		return c.text(w)
	}
	t := &table.Table{Head: append([]string{"experiment"}, claimHead...), Align: "llllrrl"}
	for _, g := range c.grids {
		rows := &table.Table{}
		g.claimRows(rows)
		for _, row := range rows.Rows {
			t.Rows = append(t.Rows, append([]string{g.Preset}, row...))
		}
	}
	if err := t.Write(w, format); err != nil {
		return err
	}
	var err error
	if format == "md" {
		_, err = fmt.Fprintf(w, "\n%s\n", c.Total.Sentence())
	}
	return err
}

// claimColumns is how wide a table of claims is where no width is known.
const claimColumns = 100

// text prints the claims of one experiment after the other, and the counts.
func (c *Claims) text(w io.Writer) error {
	b := sized{columns: cmp.Or(table.Columns(w), claimColumns)}
	for _, g := range c.grids {
		b.WriteString(table.Wrap(g.name(), b.columns) + "\n")
		if err := g.claimTable().Write(&b, "text"); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s\n\n%s\n", table.Wrap(c.Total.Sentence(), b.columns), table.Wrap(claimLegend, b.columns))
	_, err := io.WriteString(w, b.String())
	return err
}
