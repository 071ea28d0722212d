package display

import (
	"fmt"
	"strings"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/plan"
)

// maxListed is how many rounds of a graph that changes are listed on a line.
const maxListed = 12

// OverTime describes a graph that changes, in two lines; none if the graph does not change.
func OverTime(b plan.Bound) []string {
	o := b.OverTime
	if o == nil {
		return nil
	}
	var rounds []string
	for t, g := range o.Rounds {
		if t == maxListed {
			rounds = append(rounds, fmt.Sprintf("… %d more", len(o.Rounds)-t))
			break
		}
		rounds = append(rounds, fmt.Sprintf("%d: %s, %s", t+1, app.Count(g.Edges, "edge"), RobustnessOf(g.R, g.Exact)))
	}
	lines := []string{"graph by round: " + strings.Join(rounds, " · ")}
	if o.Repeats {
		lines[0] += " · then from round 1 again"
	}
	var windows []string
	for _, w := range o.Windows {
		if w.Rounds > 1 {
			windows = append(windows, fmt.Sprintf("of %d: %s", w.Rounds, RobustnessOf(w.R, w.Exact)))
		}
	}
	if len(windows) > 0 {
		lines = append(lines, "least r of unions of rounds in a row: "+strings.Join(windows, " · "))
	}
	return lines
}

// RobustnessOf writes r=2, or r≥2 for a lower bound.
func RobustnessOf(r int, exact bool) string {
	if exact {
		return fmt.Sprintf("r=%d", r)
	}
	return fmt.Sprintf("r≥%d", r)
}
