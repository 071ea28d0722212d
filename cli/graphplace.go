package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// placeFlag picks nodes by a rule, such as worst:2.
type placeFlag struct{ text string }

func (p *placeFlag) add(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&p.text, "place", "", what+": `RULE:COUNT`, such as worst:2")
}

// nodes are those that the rule picks; none if there is no rule.
func (p *placeFlag) nodes(s subject, seed uint64, stop func() bool) ([]int, error) {
	if p.text == "" {
		return nil, nil
	}
	rule, number, _ := strings.Cut(p.text, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("--place is %q; it must be RULE:COUNT, such as worst:2", p.text))
	}
	nodes, err := graph.Place(s.built, rule, n, seed, stop)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	return nodes, nil
}

func placementLines() string {
	lines := "Rules that pick nodes:\n"
	for _, p := range graph.Placements() {
		lines += fmt.Sprintf("  %-12s %s", p.Name, p.Summary)
		if len(p.Families) > 0 {
			lines += " (" + strings.Join(p.Families, ", ") + ")"
		}
		lines += "\n"
	}
	return strings.TrimSuffix(lines, "\n")
}
