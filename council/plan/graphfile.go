package plan

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"synod.dev/synod/graph/format"
	"synod.dev/synod/internal/durable"
)

// maxGraphFile is the largest graph file in bytes.
const maxGraphFile = 16 << 20

// loadGraph replaces {file: PATH} in the spec by the edges in the file. So the
// journal of a run holds the graph itself, and a replay needs no file.
func loadGraph(p *Plan) (err error) {
	if p.spec.Graph, err = loadedGraph(p, p.spec.Graph); err != nil {
		return err
	}
	list, ok := p.spec.Graph["schedule"].([]any)
	if !ok {
		return nil
	}
	list = slices.Clone(list)
	for i, part := range list {
		spec, ok := part.(map[string]any)
		if !ok {
			return fmt.Errorf("schedule: graph %d is %v; it must be a graph section such as {family: ring}", i+1, part)
		}
		if list[i], err = loadedGraph(p, spec); err != nil {
			return fmt.Errorf("schedule, graph %d: %w", i+1, err)
		}
	}
	p.spec.Graph["schedule"] = list
	return nil
}

// loadedGraph returns a graph section with the edges of its file in place of the file.
func loadedGraph(p *Plan, spec map[string]any) (map[string]any, error) {
	path, ok := spec["file"].(string)
	if !ok {
		if spec["file"] != nil {
			return nil, fmt.Errorf("file is %v; it must be a path", spec["file"])
		}
		return spec, nil
	}
	for _, key := range sortedKeys(spec) {
		if key != "file" && key != "failing" && key != "failing_seed" {
			return nil, fmt.Errorf("%s stands beside file; a graph from a file has no other settings than failing and "+
				"failing_seed", key)
		}
	}
	file, err := readGraph(path)
	if err != nil {
		return nil, err
	}
	if n := file.Graph.N(); n != len(p.seats) {
		return nil, fmt.Errorf("%s has %d nodes, and the council %d seats", path, n, len(p.seats))
	}
	seats, err := seatsOfNodes(p, file.Names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	edges := file.Graph.Edges()
	for k, e := range edges {
		edges[k] = [2]int{seats[e[0]], seats[e[1]]}
	}
	found := maps.Clone(spec)
	delete(found, "file")
	found["edges"], found["directed"] = edges, file.Graph.Directed()
	return found, nil
}

// readGraph reads a graph file in the format of its file name extension.
func readGraph(path string) (format.File, error) {
	how, err := format.Of(path)
	if err != nil {
		return format.File{}, err
	}
	f, err := durable.Open(path)
	if err != nil {
		return format.File{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGraphFile+1))
	if err != nil {
		return format.File{}, err
	}
	if len(data) > maxGraphFile {
		return format.File{}, fmt.Errorf("%s has more than %d MiB", path, maxGraphFile>>20)
	}
	file, err := how.Parse(data)
	if err != nil {
		return format.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// seatsOfNodes returns the seat of each node of a graph file: the seat of the same name
// if the nodes are named like seats, otherwise the seat at the same place.
func seatsOfNodes(p *Plan, names []string) ([]int, error) {
	ids, seats, found, unknown := idsOf(p), make([]int, len(p.seats)), 0, ""
	for i, name := range names {
		if seats[i] = slices.Index(ids, name); seats[i] >= 0 {
			found++
		} else {
			unknown = name
		}
	}
	if found > 0 && found < len(names) {
		return nil, errors.New("some nodes are named like seats, but no seat is called " + fmt.Sprintf("%q", unknown))
	}
	for i := range seats {
		if found == 0 {
			seats[i] = i
		}
	}
	return seats, nil
}
