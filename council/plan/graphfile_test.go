package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

func TestGraphFileMistakes(t *testing.T) {
	for _, c := range []struct{ name, graph, says string }{
		{"g.edges", "0 1\n1 2\n", "g.edges has 3 nodes, and the council 4 seats"},
		{"g.edges", "0 1\n1 2\n2 2\n", "line 3: self-loop"},
		{"g.edges", "0 1\n2 3\n", "not connected"},
		{"g.edges", "a1 a2\nb d\na2 b\n", `no seat is called "d"`},
		{"g.json", `{"n": 4, "directed": true, "edges": [[0,1],[1,2],[2,3],[3,0]]}`, "directed"},
		{"g.txtt", "0 1\n", "not that of a known format"},
	} {
		path := inFolder(t, c.name, c.graph)
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), "line 2:") && !strings.Contains(c.says, "line") {
			t.Errorf("%q: %v, want %q", c.graph, err, c.says)
		}
	}
	path := inFolder(t, "g.edges", "0 1\n1 2\n2 3\n")
	set, err := Set("--set", []string{"graph.k=3"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Merge(file, set); err == nil || !strings.Contains(err.Error(), "k stands beside file") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(path), "g.edges")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}
