package lab

import (
	"encoding/json"
	"fmt"
	"reflect"

	"synod.dev/synod/report"
)

// Computed is a cell without a run: its figures are a function of its parameters,
// worked out once, when the grid's folder is made, and kept in grid.json. A grid
// that is resumed or moved has them already.
type Computed struct {
	Cell
	How     string          `json:"how"` // what was computed, and of what
	Figures *report.Figures `json:"figures"`

	// Of works the figures out. It is a pure function, its chance seeded. Whatever it
	// depends on is said in Params and How, by which Changes tells two grids apart.
	Of func() (*report.Figures, error) `json:"-"`
}

// compute works out the figures of all computed cells.
func (g *Grid) compute() (err error) {
	for i := range g.Computed {
		c := &g.Computed[i]
		if c.Figures, err = c.Of(); err != nil {
			return fmt.Errorf("cell %s: %w", c.Name, err)
		}
	}
	return nil
}

// changedComputed says whether another grid computes other cells.
func (g *Grid) changedComputed(other *Grid) []string {
	if len(g.Computed) != len(other.Computed) {
		return []string{fmt.Sprintf("computed cells: %d there, %d now", len(g.Computed), len(other.Computed))}
	}
	for i, c := range g.Computed {
		if d := other.Computed[i]; c.Name != d.Name || c.How != d.How || !same(c.Params, d.Params) {
			return []string{fmt.Sprintf("computed cells: %s of %s there, %s of %s now", c.Name, c.How, d.Name, d.How)}
		}
	}
	return nil
}

// same compares parameters as they stand on file.
func same(a, b map[string]any) bool {
	return reflect.DeepEqual(onFile(a), onFile(b))
}

func onFile(params map[string]any) (out map[string]any) {
	b, err := json.Marshal(params)
	if err != nil || json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}
