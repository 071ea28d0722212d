package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// jsonGraph is the JSON form; json:"…" tags are its keys.
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
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for key := range raw {
			if !yield(key) {
				return
			}
		}
	}) {
		if !slices.Contains(jsonKeys, key) {
			at := strings.Index(data, fmt.Sprintf("%q", key))
			return File{}, fmt.Errorf("line %d: unknown key %q%s", 1+strings.Count(data[:max(at, 0)], "\n"), key, didYouMean(key, jsonKeys))
		}
	}
	if raw["n"] == nil {
		return File{}, errors.New(`key "n" (the number of nodes) is missing`)
	}
	for _, item := range jsonItems(raw["edges"]) {
		if len(jsonItems(item)) != 2 { // Unmarshal would pad or cut to two
			return File{}, fmt.Errorf("edges: %s is no pair of nodes", item)
		}
	}
	j := jsonGraph{Version: 1}
	if err := json.Unmarshal([]byte(data), &j); err != nil {
		return File{}, jsonError(data, err)
	}
	return j.file()
}

// jsonItems splits an array; nil for anything else, which Unmarshal then refuses.
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
	g, err := New(j.N, j.Directed, j.Edges)
	if err != nil {
		return File{}, err
	}
	if j.Names == nil {
		return File{Graph: g}, nil
	}
	if len(j.Names) != j.N {
		return File{}, fmt.Errorf("%d names for %d nodes", len(j.Names), j.N)
	}
	if twice := slices.Compact(slices.Sorted(slices.Values(j.Names))); len(twice) < j.N {
		return File{}, errors.New("names: two nodes of one name")
	}
	return File{Graph: g, Names: j.Names}, nil
}

// jsonError adds the line to the decoder's errors that know where they are.
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
	j := jsonGraph{1, f.Graph.n, f.Graph.directed, f.Graph.Edges(), f.Names}
	if err := json.NewEncoder(&b).Encode(j); err != nil {
		panic(err) // numbers and strings always encode
	}
	return b.String()
}
