package robustness_test

import (
	"fmt"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
)

// A ring of six nodes is 1-robust; the two sets prove that it is not 2-robust.
func ExampleFind() {
	g, err := graph.New(6, false, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	res := robustness.Find(g, nil)
	fmt.Println(res.R, res.Exact, res.Witness)
	fmt.Println(graph.VerifyWitness(g, res.R+1, res.Witness))
	// Output:
	// 1 true [[0 1 2] [3 4 5]]
	// <nil>
}
