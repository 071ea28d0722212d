// Package topology builds communication graphs by name, such as merg, ring or er, and places adversaries on them.
//
// A topology is a struct whose fields are its parameters. Catalogue lists all of them; a program can add its own:
//
//	type wheel struct {
//		Hub int `yaml:"hub" doc:"the node that is joined to all others"`
//	}
//
//	func (w *wheel) Build(n int, seed uint64) (graph.Graph, error) { … }
//
//	topology.Catalogue.Add(topology.Entry{
//		Entry: synod.Entry{Name: "wheel", Summary: "a ring and a hub"},
//		New:   func() topology.Topology { return &wheel{} },
//	})
//
// A council file then uses it with graph: {family: wheel, hub: 3}.
//
// Its rank is 2: the topology er redraws its graphs until package graph/robustness finds them robust enough.
package topology
