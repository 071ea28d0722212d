package council

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// inFolder writes a council file and its graph into a folder of their own.
func inFolder(t *testing.T, name, graph string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{name: graph, "council.yaml": strings.Replace(fourSeats, "GRAPH", name,
		1)} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "council.yaml")
}

func conveneFile(t *testing.T, path string) *Council {
	t.Helper()
	spec, err := plan.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A graph's file is found beside the council file, in every format, and nodes
// called like seats are those seats.
func TestGraphFile(t *testing.T) {
	for name, c := range map[string]struct {
		graph, hub string
	}{
		"g.edges": {"0 1\n0 2\n0 3\n", "a1"},
		"g.json":  {`{"n": 4, "edges": [[1,0],[1,2],[1,3]]}`, "a2"},
		"g.dot":   {"graph { c -- a1; c -- a2; c -- b }", "c"},
		"g.graphml": {`<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected"><node id="n0"/><node id="n1"/><node id="n2"/><node id="n3"/>` +
			`<edge source="n2" target="n0"/><edge source="n2" target="n1"/><edge source="n2" target="n3"/></graph></graphml>`, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			council := conveneFile(t, inFolder(t, name, c.graph))
			if b := council.plan.Bound(); b.Edges != 3 || b.R != 1 {
				t.Error(b)
			}
			for i, s := range council.plan.Seats() {
				if want := map[bool]int{true: 3,
					false: 1}[s.ID == c.hub]; len(council.plan.Peers(synod.NodeID(i))) != want {
					t.Errorf("%s hears %d, want %d", s.ID, len(council.plan.Peers(synod.NodeID(i))), want)
				}
			}
		})
	}
}

// The journal holds the graph, not the path: a replay needs no file.
func TestGraphFileReplay(t *testing.T) {
	path := inFolder(t, "g.edges", "0 1\n1 2\n2 3\n")
	c := conveneFile(t, path)
	at := filepath.Join(t.TempDir(), "journal.jsonl")
	o, err := c.Decide(context.Background(), Ask{Question: synod.Question{Text: "What is 17 + 25?", Form: synod.Number},
		Seed: 7, Journal: at})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	run, err := journal.Load(at)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := Replay(run); err != nil || digest != o.Digest {
		t.Errorf("replayed to %s (%v), want %s", digest, err, o.Digest)
	}
}

const fourSeats = `council: four
graph: {file: GRAPH}
f: 0
models:
  dice: {provider: simulated, ability: 0.8}
seats:
  - {id: a, model: dice, count: 2}
  - {id: b, model: dice}
  - {id: c, model: dice}
`
