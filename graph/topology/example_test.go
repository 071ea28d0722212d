package topology_test

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/topology"
)

// wheel is a ring with a hub.
type wheel struct {
	Hub int `yaml:"hub" doc:"the node that is joined to all others"`
}

func (w *wheel) Build(n int, _ uint64) (graph.Graph, error) {
	if n < 4 || w.Hub < 0 || w.Hub >= n {
		return graph.Graph{}, fmt.Errorf("hub %d: want 0 to n-1, and at least 4 nodes", w.Hub)
	}
	var edges [][2]int
	for i := range n - 1 {
		u, v := (w.Hub+1+i)%n, (w.Hub+1+(i+1)%(n-1))%n
		edges = append(edges, [2]int{u, v}, [2]int{w.Hub, u})
	}
	return graph.New(n, false, edges)
}

// AtLeast is optional: a wheel is always connected.
func (w *wheel) AtLeast(int) int { return 1 }

// A program adds its own topology at the start of main. Council files and commands then know it.
func Example_add() {
	topology.Catalogue.Add(topology.Entry{
		Entry: synod.Entry{Name: "wheel", Summary: "a ring and a hub"},
		Known: "3", Layout: "hub",
		New: func() topology.Topology { return &wheel{} },
	})
	b, err := topology.FromSpec(map[string]any{"family": "wheel", "hub": 2}, 6, 0)
	fmt.Println(b.Graph, err, b.Params, b.OutDegree(2))
	_, err = topology.FromSpec(map[string]any{"family": "wheel", "hubb": 2}, 6, 0)
	fmt.Println(err)
	// Output:
	// 6 nodes, 10 edges <nil> map[hub:2] 5
	// graph: wheel: unknown parameter "hubb" (did you mean "hub"?)
}

// The seed and the parameters decide the graph; parameters that were left open are filled in.
func ExampleBuild() {
	b, err := topology.Build("er", 7, map[string]any{"r": 3}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, at least %d-robust, drawn %d times with p = %.3f\n", b.Graph, b.AtLeast, b.Draws, b.Params["p"])
	// Output:
	// 7 nodes, 15 edges, at least 3-robust, drawn 77 times with p = 0.468
}
