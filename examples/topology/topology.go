package main

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/topology"
)

// wheel is a ring of n-1 nodes, all of which are joined to a hub.
type wheel struct {
	Hub int `yaml:"hub" doc:"the node that is joined to all others"`
}

// Build returns the wheel of n nodes.
func (w *wheel) Build(n int, _ uint64) (graph.Graph, error) {
	if n < 4 || w.Hub < 0 || w.Hub >= n {
		return graph.Graph{}, fmt.Errorf("a wheel needs 4 nodes and a hub among them; n is %d, hub is %d", n, w.Hub)
	}
	var edges [][2]int
	for i := range n - 1 {
		node, next := w.rim(i), w.rim((i+1)%(n-1))
		edges = append(edges, [2]int{node, next}, [2]int{node, w.Hub})
	}
	return graph.New(n, false, edges)
}

// rim returns the i-th node of the ring, which leaves out the hub.
func (w *wheel) rim(i int) int {
	return i + min(1, max(0, i-w.Hub+1))
}

// Wheel is the entry of the catalogue of topologies.
var Wheel = topology.Entry{
	Entry: synod.Entry{Name: "wheel", Summary: "a ring and a hub that is joined to all"},
	New:   func() topology.Topology { return &wheel{} },
}
