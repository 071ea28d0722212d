package format

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod/graph"
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
		return File{}, fmt.Errorf("edgedefault is %q: want directed or undirected", g.EdgeDefault)
	}
	if len(g.HyperEdges) > 0 {
		return File{}, errors.New("hyperedges are not supported")
	}
	for k, n := range g.Nodes {
		if len(n.Inner) > 0 {
			return File{}, fmt.Errorf("node %q contains a graph: nested graphs are not supported", n.ID)
		}
		if r.node(n.ID) != k {
			return File{}, fmt.Errorf("there are two nodes %q", n.ID)
		}
	}
	for k, e := range g.Edges {
		u, okU := r.index[e.Source]
		v, okV := r.index[e.Target]
		if !okU || !okV {
			return File{}, fmt.Errorf("edge %d joins %q and %q: unknown node", k+1, e.Source, e.Target)
		}
		if e.Directed != "" && (e.Directed == "true") != r.directed {
			return File{}, fmt.Errorf("edge %d has directed=%q in a graph that is %s: mixed graphs are not supported",
				k+1, e.Directed, g.EdgeDefault)
		}
		r.edge(u, v, k+1)
	}
	f, err := r.file()
	if err != nil {
		return File{}, errors.New(strings.Replace(err.Error(), "line", "edge", 2)) // r counts edges here, not lines
	}
	return f, nil
}

func writeGraphML(f File) string {
	g := xmlGraph{EdgeDefault: "undirected"}
	if f.Graph.Directed() {
		g.EdgeDefault = "directed"
	}
	for i := range f.Graph.N() {
		g.Nodes = append(g.Nodes, xmlNode{ID: f.Name(i)})
	}
	for _, e := range f.Graph.Edges() {
		g.Edges = append(g.Edges, xmlEdge{Source: f.Name(e[0]), Target: f.Name(e[1])})
	}
	doc := xmlGraphML{XMLNS: "http://graphml.graphdrawing.org/xmlns", Graphs: []xmlGraph{g}}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err) // structs of strings can always be encoded
	}
	return xml.Header + string(text) + "\n"
}

// jsonGraph is the JSON form of a graph.
type jsonGraph struct {
	Version  int      `json:"version"`
	N        int      `json:"n"`
	Directed bool     `json:"directed"`
	Edges    [][2]int `json:"edges"`
	Names    []string `json:"names,omitempty"`
}

var jsonKeys = []string{"version", "n", "directed", "edges", "names"}

func parseJSON(data string) (File, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(data), &raw); err != nil {
		return File{}, jsonError(data, err)
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if !slices.Contains(jsonKeys, key) {
			at := strings.Index(data, fmt.Sprintf("%q", key))
			return File{}, fmt.Errorf("line %d: unknown key %q%s", 1+strings.Count(data[:max(at, 0)], "\n"), key,
				hint(key, jsonKeys))
		}
	}
	if raw["n"] == nil {
		return File{}, errors.New(`key "n" (the number of nodes) is missing`)
	}
	for _, item := range jsonItems(raw["edges"]) {
		if len(jsonItems(item)) != 2 { // Unmarshal would pad or cut to two
			return File{}, fmt.Errorf("edges: %s is not a pair of nodes", item)
		}
	}
	j := jsonGraph{Version: 1}
	if err := json.Unmarshal([]byte(data), &j); err != nil {
		return File{}, jsonError(data, err)
	}
	return j.file()
}

// jsonItems splits an array. It returns nil for anything else, for which Unmarshal will return an error later.
func jsonItems(raw json.RawMessage) (items []json.RawMessage) {
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	return items
}

func (j jsonGraph) file() (File, error) {
	if j.Version != 1 {
		return File{}, fmt.Errorf("version %d: this program reads version 1", j.Version)
	}
	g, err := graph.New(j.N, j.Directed, j.Edges)
	if err != nil {
		return File{}, err
	}
	if j.Names == nil {
		return File{Graph: g}, nil
	}
	if len(j.Names) != j.N {
		return File{}, fmt.Errorf("%d names for %d nodes", len(j.Names), j.N)
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(j.Names))); len(unique) < j.N {
		return File{}, errors.New("names: two nodes have the same name")
	}
	return File{Graph: g, Names: j.Names}, nil
}

// jsonError adds the line to errors of the decoder that have an offset.
func jsonError(data string, err error) error {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+strings.Count(data[:offset], "\n"), err)
}

func writeJSON(f File) string {
	var b bytes.Buffer
	j := jsonGraph{1, f.Graph.N(), f.Graph.Directed(), f.Graph.Edges(), f.Names}
	if err := json.NewEncoder(&b).Encode(j); err != nil {
		panic(err) // numbers and strings can always be encoded
	}
	return b.String()
}
