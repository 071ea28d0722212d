package draw_test

import (
	"bytes"
	"fmt"

	"synod.dev/synod/graph/draw"
	"synod.dev/synod/graph/topology"
)

func ExampleDrawing_SVG() {
	b, err := topology.Build("star", 7, nil, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := draw.Drawing{Graph: b.Graph, Layout: b.Layout, Title: "a star"}.SVG()
	fmt.Println(bytes.HasPrefix(doc, []byte("<svg ")), err)
	// Output:
	// true <nil>
}
