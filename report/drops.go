package report

import (
	"fmt"
	"strings"

	"synod.dev/synod/graph"
)

// dropsPlot is who dropped whose answers: seats as nodes, an arrow from i to j the
// wider the more often i dropped what j had answered.
func dropsPlot(r *Report) *Plot {
	at := map[string]int{}
	d := graph.Drawing{Title: r.titled("Who dropped whom"), Layout: "circle"}
	for i, s := range r.Seats {
		at[s.ID] = i
		d.Names, d.Roles = append(d.Names, plain(s.ID)), append(d.Roles, s.role())
	}
	share := map[[2]int]float64{}
	var arrows [][2]int
	f := &Plot{
		Name: "dropped", Title: d.Title,
		Caption: "An arrow from one member to another is the wider and darker, the larger the share of rounds in which the first dropped the other’s answer, of those in which it dropped or retained it. No arrow: never. Arrows of an adversary show what it noted, which need not be what it did.",
		Rows:    [][]string{append([]string{"members_kind", "by", "by_role", "of", "of_role", "dropped"}, rateColumns...)},
		Table:   r.pairTable(),
	}
	for _, p := range r.Drops {
		i, known := at[p.By]
		j, also := at[p.Of]
		if !known || !also || i == j {
			continue
		}
		if p.Dropped > 0 {
			share[[2]int{i, j}] = p.Share.Value
			arrows = append(arrows, [2]int{i, j})
		}
		f.Table[i+1][j+1] = fmt.Sprintf("%d of %d", p.Dropped, p.Share.N)
		f.Rows = append(f.Rows, append([]string{r.kindsCell(), plain(p.By), d.Roles[i], plain(p.Of), d.Roles[j], fmt.Sprint(p.Dropped)}, rateCells(p.Share)...))
	}
	g, err := graph.New(len(r.Seats), true, arrows)
	if len(arrows) == 0 || err != nil { // two seats of one name, which no council has
		return nil
	}
	d.Graph = g
	d.Weight = func(u, v int) float64 { return share[[2]int{u, v}] }
	f.SVG, f.PNG = d.SVG, d.PNG
	return f
}

// pairTable has a row for who dropped and a column for whose answers.
func (r *Report) pairTable() [][]string {
	table := [][]string{{"dropped ↓ whose →"}}
	for i, s := range r.Seats {
		table[0] = append(table[0], plain(s.ID))
		table = append(table, append([]string{plain(s.ID)}, make([]string, len(r.Seats))...))
		table[i+1][i+1] = "·"
	}
	return table
}

// kindsCell is the members' kinds in a CSV.
func (r *Report) kindsCell() string { return strings.Join(r.MembersKind, "+") }
