package topology_test

import (
	"reflect"
	"slices"
	"testing"

	"synod.dev/synod/core/param"
	"synod.dev/synod/graph/topology"
)

// FuzzFromSpec builds the graph of a section of a council file. It is refused, or it is a simple graph with so many
// nodes, and the same section gives the same graph again.
func FuzzFromSpec(f *testing.F) {
	for _, name := range topology.Catalogue.Names() {
		f.Add([]byte("{family: "+name+"}"), uint8(9), uint64(1))
	}
	f.Add([]byte("{edges: [[0,1],[1,2]]}"), uint8(3), uint64(1))
	f.Add([]byte("{edges: [[0,0],[1,-2]], directed: true}"), uint8(3), uint64(1))
	f.Add([]byte("{family: random, p: 0.3, seed: 7}"), uint8(12), uint64(1))
	f.Add([]byte("{family: er, r: 3, p: .nan}"), uint8(12), uint64(1))
	f.Add([]byte("{family: regular, degree: 99999999999}"), uint8(12), uint64(1))
	f.Fuzz(func(t *testing.T, text []byte, n uint8, seed uint64) {
		var spec map[string]any
		if len(text) > 4<<10 || param.Unmarshal(text, &spec) != nil {
			return
		}
		nodes := int(n % 24)
		if spec["family"] == "er" && nodes > 7 {
			return // it draws up to 100,000 graphs, each with an exact search
		}
		b, err := topology.FromSpec(spec, nodes, seed)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a text")
			}
			return
		}
		if b.N() != nodes {
			t.Errorf("%d nodes; want %d", b.N(), nodes)
		}
		for u := range nodes {
			for _, v := range b.Out(u) {
				if u == v || !slices.Contains(b.In(v), u) || !b.Directed() && !b.HasEdge(v, u) {
					t.Errorf("the edge from %d to %d is a loop or has one end", u, v)
				}
			}
		}
		again, err := topology.FromSpec(spec, nodes, seed)
		if err != nil || !again.Equal(b.Graph) || !reflect.DeepEqual(again.Params, b.Params) {
			t.Errorf("the same section gives another graph: %v, %v", again.Params, err)
		}
	})
}
