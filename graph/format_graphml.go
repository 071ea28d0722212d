package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

type xmlGraphML struct {
	XMLName xml.Name   `xml:"graphml"`
	XMLNS   string     `xml:"xmlns,attr"`
	Graphs  []xmlGraph `xml:"graph"`
}

type xmlGraph struct {
	EdgeDefault string     `xml:"edgedefault,attr"`
	Nodes       []xmlNode  `xml:"node"`
	Edges       []xmlEdge  `xml:"edge"`
	HyperEdges  []struct{} `xml:"hyperedge"`
}

type xmlNode struct {
	ID    string     `xml:"id,attr"`
	Inner []struct{} `xml:"graph"`
}

type xmlEdge struct {
	Source   string `xml:"source,attr"`
	Target   string `xml:"target,attr"`
	Directed string `xml:"directed,attr,omitempty"`
}

func parseGraphML(data string) (File, error) {
	var doc xmlGraphML
	if err := xml.Unmarshal([]byte(data), &doc); err != nil {
		return File{}, err
	}
	if len(doc.Graphs) != 1 {
		return File{}, fmt.Errorf("%d graphs: want one", len(doc.Graphs))
	}
	g := doc.Graphs[0]
	r := newReader()
	switch g.EdgeDefault {
	case "directed":
		r.directed = true
	case "undirected":
	default:
		return File{}, fmt.Errorf("edgedefault %q: want directed or undirected", g.EdgeDefault)
	}
	if len(g.HyperEdges) > 0 {
		return File{}, errors.New("hyperedges are not understood")
	}
	for k, n := range g.Nodes {
		if len(n.Inner) > 0 {
			return File{}, fmt.Errorf("node %q holds a graph: nested graphs are not understood", n.ID)
		}
		if r.node(n.ID) != k {
			return File{}, fmt.Errorf("two nodes %q", n.ID)
		}
	}
	for k, e := range g.Edges {
		u, okU := r.index[e.Source]
		v, okV := r.index[e.Target]
		if !okU || !okV {
			return File{}, fmt.Errorf("edge %d joins %q and %q: unknown node", k+1, e.Source, e.Target)
		}
		if e.Directed != "" && (e.Directed == "true") != r.directed {
			return File{}, fmt.Errorf("edge %d is directed=%q in a graph that is %s: mixed graphs are not understood", k+1, e.Directed, g.EdgeDefault)
		}
		r.edge(u, v, k+1)
	}
	f, err := r.file()
	if err != nil {
		return File{}, errors.New(strings.Replace(err.Error(), "line", "edge", 2)) // here edges are counted, not lines
	}
	return f, nil
}

func writeGraphML(f File) string {
	g := xmlGraph{EdgeDefault: "undirected"}
	if f.Graph.directed {
		g.EdgeDefault = "directed"
	}
	for i := range f.Graph.n {
		g.Nodes = append(g.Nodes, xmlNode{ID: f.Name(i)})
	}
	for _, e := range f.Graph.Edges() {
		g.Edges = append(g.Edges, xmlEdge{Source: f.Name(e[0]), Target: f.Name(e[1])})
	}
	doc := xmlGraphML{XMLNS: "http://graphml.graphdrawing.org/xmlns", Graphs: []xmlGraph{g}}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err) // plain structs of strings always encode
	}
	return xml.Header + string(text) + "\n"
}
