// Package format reads and writes graphs: Graphviz DOT, edge lists, GraphML and JSON. What a format
// writes it reads back.
//
// Its rank is 1: it uses package graph.
package format

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/graph"
)

// File is a graph with the names that its nodes have in a file.
type File struct {
	Graph graph.Graph
	Names []string // by node; nil: the names are the numbers
}

// Name returns the name of a node.
func (f File) Name(i int) string {
	if f.Names == nil {
		return fmt.Sprint(i)
	}
	return f.Names[i]
}

// Node returns the node with a name, or with a number if nodes have no names. Its error suggests the nearest name.
func (f File) Node(name string) (int, error) {
	for i := range f.Graph.N() {
		if f.Name(i) == name {
			return i, nil
		}
	}
	if f.Names == nil {
		return 0, fmt.Errorf("graph: unknown node %q: nodes are 0 to %d", name, f.Graph.N()-1)
	}
	return 0, fmt.Errorf("graph: unknown node %q%s", name, hint(name, f.Names))
}

// hint ends an error about an unknown name with the nearest known one, or with all of them if none is near.
func hint(name string, known []string) string {
	if hint := synod.Hint(strings.ToLower(name), known); hint != "" {
		return hint
	}
	return " (known: " + strings.Join(known, ", ") + ")"
}

// Format is a file format for graphs.
type Format struct {
	Name, Summary string
	Extensions    []string // of file names, with the dot
	parse         func(data string) (File, error)
	write         func(f File) string
}

var formats = []Format{
	{"dot", "Graphviz: graph or digraph, nodes, edges; attributes are ignored, subgraphs are an error",
		[]string{".dot", ".gv"}, parseDOT, writeDOT},
	{"edges", "one edge a line, two names or numbers; a name alone is a node; # nodes N and # directed at the top",
		[]string{".edges", ".txt", ".edgelist"}, parseEdges, writeEdges},
	{"graphml", "GraphML: one graph, plain nodes and edges; data is ignored", []string{".graphml", ".xml"},
		parseGraphML, writeGraphML},
	{"json", `{"n": 7, "directed": false, "edges": [[0,1],…], "names": […]}`, []string{".json", ".jsonl"}, parseJSON,
		writeJSON},
}

// All lists the formats by name.
func All() []Format { return slices.Clone(formats) }

// Find returns the format with a name. Its error suggests the nearest name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("graph: unknown format %q%s", name, hint(name, names))
}

// Of returns the format of a file by the ending of its name, or an error for an unknown ending.
func Of(file string) (Format, error) {
	ext := strings.ToLower(path.Ext(file))
	for _, f := range formats {
		if slices.Contains(f.Extensions, ext) {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("graph: the ending of %q is not that of a known format", file)
}

// Parse reads a graph. Its errors name the line, or in GraphML the edge.
func (f Format) Parse(data []byte) (File, error) {
	file, err := f.parse(string(data))
	if err != nil {
		return File{}, fmt.Errorf("graph: %s: %w", f.Name, err)
	}
	return file, nil
}

// Write writes a graph. The format edges writes numbers if it cannot express a name.
func (f Format) Write(file File) []byte { return []byte(f.write(file)) }

// reader collects the nodes and edges of a file in their order.
type reader struct {
	index    map[string]int
	names    []string
	edges    [][2]int
	lines    []int // by edge
	directed bool
}

func newReader() *reader { return &reader{index: map[string]int{}} }

// node returns the number of the node with a name. A new name is a new node.
func (r *reader) node(name string) int {
	i, known := r.index[name]
	if !known {
		i = len(r.names)
		r.index[name] = i
		r.names = append(r.names, name)
	}
	return i
}

func (r *reader) edge(u, v, line int) {
	r.edges = append(r.edges, [2]int{u, v})
	r.lines = append(r.lines, line)
}

// file builds the graph. Names that are equal to the numbers of the nodes are left out.
func (r *reader) file() (File, error) {
	if err := r.check(); err != nil {
		return File{}, err
	}
	g, err := graph.New(len(r.names), r.directed, r.edges)
	if err != nil {
		return File{}, err
	}
	f := File{Graph: g, Names: r.names}
	for i, name := range r.names {
		if name != fmt.Sprint(i) {
			return f, nil
		}
	}
	f.Names = nil
	return f, nil
}

// check finds self-loops and duplicates, because here the error can have the line and the names.
func (r *reader) check() error {
	seen := map[[2]int]int{}
	for k, e := range r.edges {
		if e[0] == e[1] {
			return fmt.Errorf("line %d: self-loop at %q", r.lines[k], r.names[e[0]])
		}
		key := e
		if !r.directed {
			key = [2]int{min(e[0], e[1]), max(e[0], e[1])}
		}
		if first, twice := seen[key]; twice {
			return fmt.Errorf("line %d: duplicate of the edge %q %q on line %d", r.lines[k], r.names[e[0]],
				r.names[e[1]], first)
		}
		seen[key] = r.lines[k]
	}
	return nil
}
