package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
)

// Every preset asks for figures. They show every figure of the paper that has a cell, and each of them has cells.
func TestPresetFigures(t *testing.T) {
	for _, p := range Presets().All() {
		g := wholePreset(t, p.Name)
		if len(g.Plots) == 0 {
			t.Errorf("%s draws nothing", p.Name)
		}
		var cells []bench.Cell
		cells = append(cells, g.Cells...)
		for _, c := range g.Computed {
			cells = append(cells, c.Cell)
		}
		for _, c := range g.Readings {
			cells = append(cells, c.Cell)
		}
		drawn := map[string]int{}
		for _, c := range cells {
			var figures []string
			for _, plot := range g.Plots {
				if plot.Place(func(name string) string {
					if v, ok := c.Params[name]; ok {
						return fmt.Sprint(v)
					}
					return ""
				}) == "" {
					continue
				}
				drawn[plot.Name]++
				for _, y := range strings.Fields(plot.Y) {
					figures = append(figures, y)
					if plot.X == "round" {
						for _, round := range "0123456" {
							figures = append(figures, y+"_round_"+string(round))
						}
					}
				}
			}
			for metric := range c.Paper {
				// The scores of some spreads and the first answers of the pilot are in the tables alone.
				left := strings.HasPrefix(c.Name, "robust-s") ||
					strings.HasPrefix(p.Name, "cpwbft-pilot") && metric == "iaa"
				if !slices.Contains(figures, metric) && !left {
					t.Errorf("%s: no figure shows %s of cell %s, which the paper prints", p.Name, metric, c.Name)
				}
			}
		}
		for _, plot := range g.Plots {
			if drawn[plot.Name] == 0 {
				t.Errorf("%s: figure %s has no cells", p.Name, plot.Name)
			}
		}
	}
}
