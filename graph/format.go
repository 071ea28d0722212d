package graph

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// File is a graph as files hold it: with names for its nodes.
type File struct {
	Graph Graph
	Names []string // nil: nodes are called by their numbers
}

// Name is what a node is called.
func (f File) Name(i int) string {
	if f.Names == nil {
		return fmt.Sprint(i)
	}
	return f.Names[i]
}

// Node finds a node by name; with nameless nodes by number.
func (f File) Node(name string) (int, error) {
	for i := range f.Graph.n {
		if f.Name(i) == name {
			return i, nil
		}
	}
	if f.Names == nil {
		return 0, fmt.Errorf("graph: unknown node %q: nodes are 0 to %d", name, f.Graph.n-1)
	}
	return 0, fmt.Errorf("graph: unknown node %q%s", name, didYouMean(name, f.Names))
}

// Format is a way to write a graph down. What a format writes it reads back.
type Format struct {
	Name, Summary string
	Extensions    []string
	parse         func(data string) (File, error)
	write         func(f File) string
}

var formats = []Format{
	{"dot", "Graphviz: graph or digraph, nodes, edges; attributes are ignored, subgraphs refused", []string{".dot", ".gv"}, parseDOT, writeDOT},
	{"edges", "one edge a line, two names or numbers; a name alone is a node; # nodes N and # directed at the top", []string{".edges", ".txt", ".edgelist"}, parseEdges, writeEdges},
	{"graphml", "GraphML: one graph, plain nodes and edges; data is ignored", []string{".graphml", ".xml"}, parseGraphML, writeGraphML},
	{"json", `{"n": 7, "directed": false, "edges": [[0,1],…], "names": […]}`, []string{".json", ".jsonl"}, parseJSON, writeJSON},
}

// Formats lists the file formats by name.
func Formats() []Format { return slices.Clone(formats) }

// FindFormat looks a format up by name; the error names the nearest one.
func FindFormat(name string) (Format, error) {
	var names []string
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("graph: unknown format %q%s", name, didYouMean(name, names))
}

// FormatOf guesses the format of a file from its name.
func FormatOf(file string) (Format, error) {
	ext := strings.ToLower(path.Ext(file))
	for _, f := range formats {
		if slices.Contains(f.Extensions, ext) {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("graph: cannot tell the format of %q from its ending", file)
}

// Parse reads a graph. Errors name the line.
func (f Format) Parse(data []byte) (File, error) {
	file, err := f.parse(string(data))
	if err != nil {
		return File{}, fmt.Errorf("graph: %s: %w", f.Name, err)
	}
	return file, nil
}

// Write writes a graph.
func (f Format) Write(file File) []byte { return []byte(f.write(file)) }

// reader gathers the nodes and edges of a file as they appear.
type reader struct {
	index    map[string]int
	names    []string
	edges    [][2]int
	lines    []int // of each edge
	directed bool
}

func newReader() *reader { return &reader{index: map[string]int{}} }

// node returns the number of a name, new or known.
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

// file builds the graph. Names that are just the nodes' numbers are no names.
func (r *reader) file() (File, error) {
	if err := r.check(); err != nil {
		return File{}, err
	}
	g, err := New(len(r.names), r.directed, r.edges)
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

// check finds self-loops and duplicates where the line and the names can still be told.
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
			return fmt.Errorf("line %d: duplicate of the edge %q %q on line %d", r.lines[k], r.names[e[0]], r.names[e[1]], first)
		}
		seen[key] = r.lines[k]
	}
	return nil
}
