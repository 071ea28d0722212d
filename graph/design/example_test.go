package design_test

import (
	"fmt"

	"synod.dev/synod/graph/design"
)

// The sparsest 4-robust graph on nine nodes.
func ExampleDesign() {
	d, err := design.Design(9, 4, 0, 0, nil)
	fmt.Println(d.Graph, d.Optimal, err)
	// Output:
	// 9 nodes, 23 edges true <nil>
}
