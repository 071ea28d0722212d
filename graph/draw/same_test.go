package draw

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/internal/golden"
)

// Drawings stay as they are, so that a document that is built again has the same figures. The files can be looked at.
func TestSameDrawings(t *testing.T) {
	merg := graphtest.Build(t, "merg", 7, nil)
	layered := of(graphtest.Build(t, "layered", 12, map[string]any{"layers": []any{3, 6, 1, 2}, "seed": 3}))
	layered.Title = "a layered graph with a title that is longer than the drawing is wide, so that it is set in " +
		"smaller letters than others"
	layered.Roles = strings.Split("strong,,weak,adversary,x,y,,,,,z,", ",")
	witness := Drawing{Graph: merg.Graph, Witness: robustness.Find(merg.Graph, nil).Witness, Roles: layered.Roles[:7]}
	arrows := of(graphtest.Build(t, "circulant", 9, map[string]any{"directed": true, "k": 3}))
	arrows.Weight = func(u, v int) float64 { return float64(u*v%5) / 4 }
	both := graph.MustNew(4, true, [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 2}})
	named := Drawing{Graph: graphtest.Build(t, "grid", 11, nil).Graph, Layout: "grid"}
	for i := range 11 {
		named.Names = append(named.Names, strings.Repeat("name ", i)+fmt.Sprint(i))
	}
	for name, d := range map[string]Drawing{
		"layers": layered, "sets": witness, "arrows": arrows, "names": named,
		"both": {Graph: both, Layout: "line", Title: "a < b",
			Weight: func(u, v int) float64 { return float64(v) / 3 }},
		"spring": {Graph: graphtest.Build(t, "preferential", 9, map[string]any{"r": 2, "seed": 1}).Graph},
	} {
		svg, err := d.SVG()
		if err != nil {
			t.Fatal(name, err)
		}
		golden.Compare(t, "testdata/"+name+".svg", strings.ReplaceAll(string(svg), "><", ">\n<"))
	}
}

// The places of nodes in every layout, in units of the drawing.
func TestSamePlaces(t *testing.T) {
	var s strings.Builder
	for _, layout := range Layouts {
		for _, family := range []string{"tree", "grid", "layered", "ring", "merg"} {
			for _, n := range []int{1, 2, 3, 8, 13, 45} {
				d := of(graphtest.Build(t, "random", n, map[string]any{"seed": 2}))
				if family != "ring" || n > 2 {
					d = of(graphtest.Build(t, family, n, nil))
				}
				if n == 45 && family != "tree" {
					continue
				}
				d.Layout = layout
				if family == "grid" {
					d.Layers = nil
				}
				if n > 2 {
					d.Witness = [2][]int{{0}, {1, n - 1}}
				}
				p, err := d.plan()
				if err != nil {
					t.Fatal(layout, family, n, err)
				}
				fmt.Fprintf(&s, "%s %s %d: side %.0f radius %.1f text %.1f inside %v:", layout, family, n, p.side,
					p.radius, p.text, p.inside)
				for _, at := range p.at {
					fmt.Fprintf(&s, " %.0f,%.0f", at.X, at.Y)
				}
				s.WriteString("\n")
			}
		}
	}
	golden.Compare(t, "testdata/places.golden", s.String())
}

// Lists of another length than the number of nodes are an error in every kind of file.
func TestWrongLengths(t *testing.T) {
	g := graphtest.Named("complete", 4)
	for what, d := range map[string]Drawing{"names": {Graph: g, Names: []string{"a"}}, "roles": {Graph: g,
		Roles: []string{"a"}}, "no nodes": {}} {
		_, svg := d.SVG()
		_, pdf := d.PDF()
		if _, png := d.PNG(); svg == nil || pdf == nil || png == nil {
			t.Errorf("%s: %v, %v, %v", what, svg, pdf, png)
		}
	}
}
