package council

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"synod.dev/synod/graph"
)

// largestGraph is how many bytes a graph's file may have.
const largestGraph = 16 << 20

// loadGraph replaces {file: PATH} by the edges in the file. So the journal of a run
// holds the graph itself, and a replay needs no file.
func (c *Council) loadGraph() error {
	path, ok := c.spec.Graph["file"].(string)
	if !ok {
		if c.spec.Graph["file"] != nil {
			return fmt.Errorf("file is %v; it must be a path", c.spec.Graph["file"])
		}
		return nil
	}
	for _, key := range keys(c.spec.Graph) {
		if key != "file" {
			return fmt.Errorf("%s stands beside file; a graph from a file has no other settings", key)
		}
	}
	file, err := readGraph(path)
	if err != nil {
		return err
	}
	if n := file.Graph.N(); n != len(c.seats) {
		return fmt.Errorf("%s has %d nodes, and the council %d seats", path, n, len(c.seats))
	}
	edges := file.Graph.Edges()
	at, err := c.seating(file.Names)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for k, e := range edges {
		edges[k] = [2]int{at[e[0]], at[e[1]]}
	}
	c.spec.Graph = Params{"edges": edges, "directed": file.Graph.Directed()}
	return nil
}

// readGraph reads a graph in the format that its file's ending says.
func readGraph(path string) (graph.File, error) {
	format, err := graph.FormatOf(path)
	if err != nil {
		return graph.File{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return graph.File{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestGraph+1))
	if err != nil {
		return graph.File{}, err
	}
	if len(data) > largestGraph {
		return graph.File{}, fmt.Errorf("%s has more than %d MiB", path, largestGraph>>20)
	}
	file, err := format.Parse(data)
	if err != nil {
		return graph.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// seating is the seat of each node: the seat of that name where nodes are called
// like seats, otherwise the first node sits in the first seat, and so on.
func (c *Council) seating(names []string) ([]int, error) {
	at, found := make([]int, len(c.seats)), 0
	strange := ""
	for i, name := range names {
		at[i] = slices.IndexFunc(c.seats, func(s seat) bool { return s.id == name })
		if at[i] >= 0 {
			found++
		} else {
			strange = name
		}
	}
	switch {
	case found == 0:
		for i := range at {
			at[i] = i
		}
	case found < len(names):
		return nil, errors.New("some nodes are called like seats, but no seat is called " + fmt.Sprintf("%q", strange))
	}
	return at, nil
}
