package format

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
)

func parse(t testing.TB, format, data string) (File, error) {
	t.Helper()
	f, err := Find(format)
	if err != nil {
		t.Fatal(err)
	}
	return f.Parse([]byte(data))
}

func TestFormatsReadBackWhatTheyWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := File{Graph: graphtest.Any(1, 9).Draw(t, "graph")}
		if rapid.Bool().Draw(t, "named") {
			name := rapid.StringMatching(`[a-z "\\<&#;é-]{1,4}[0-9]?`)
			file.Names = rapid.SliceOfNDistinct(name, file.Graph.N(), file.Graph.N(), rapid.ID).Draw(t, "names")
		}
		for _, f := range All() {
			again, err := f.Parse(f.Write(file))
			if err != nil || !again.Graph.Equal(file.Graph) {
				t.Fatalf("%s: %v: %v became %v\n%s", f.Name, err, graphtest.Describe(file.Graph),
					graphtest.Describe(again.Graph), f.Write(file))
			}
			if f.Name != "edges" && !slices.Equal(again.Names, file.Names) && fmt.Sprint(again.Names) != "[]" {
				t.Fatalf("%s: names %q became %q", f.Name, file.Names, again.Names)
			}
		}
	})
}

func TestParseAccepts(t *testing.T) {
	for _, c := range []struct {
		format, data, edges string
		n                   int
	}{
		{"edges", "0 1\n1,2 # yes\n\n# nodes 5\n", "[[0 1] [1 2]]", 5},
		{"edges", "# directed\nb a\nc a\nd\n", "[[0 1] [2 1]]", 4},
		{"dot", "strict graph G { node [shape=circle]; a -- b -- c [w=1]; b -- a; label=x; d }", "[[0 1] [1 2]]", 4},
		{"dot", "digraph { // c\n /* d */ \"x y\" -> b; b -> \"x y\" # e\n}", "[[0 1] [1 0]]", 2},
		{"dot", "graph { /**/ -1.5 -- 2 }", "[[0 1]]", 2},
		{"edges", "3\n", "[]", 4},
		{"edges", "a\n", "[]", 1},
		{"edges", fmt.Sprintf("0 %d\n", graph.MaxNodes-1), fmt.Sprintf("[[0 %d]]", graph.MaxNodes-1), graph.MaxNodes},
		{"edges", fmt.Sprintf("# nodes %d\n0 1\n", graph.MaxNodes), "[[0 1]]", graph.MaxNodes},
		{"graphml", `<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>` +
			`<edge source="b" target="a" directed="false"/></graph></graphml>`, "[[0 1]]", 2},
		{"json", `{"n": 3, "edges": [[2,0]], "directed": true}`, "[[2 0]]", 3},
		{"json", `{"n": 3}`, "[]", 3},
		{"graphml", `<graphml><key id="k"/><graph edgedefault="undirected"><node id="a"><data key="k">1</data></node><node id="b"/><edge source="b" target="a"/></graph></graphml>`, "[[0 1]]", 2},
	} {
		f, err := parse(t, c.format, c.data)
		if err != nil || f.Graph.N() != c.n || fmt.Sprint(f.Graph.Edges()) != c.edges {
			t.Errorf("%s %q: %v %v", c.format, c.data, graphtest.Describe(f.Graph), err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ format, data, says string }{
		{"edges", "0 1\n1 0\n", `line 2: duplicate of the edge "1" "0" on line 1`},
		{"edges", "0 1\nb b\n", `line 2: self-loop at "b"`},
		{"edges", "0 1 2\n", "line 1: 3 words"},
		{"edges", "0 99999\n", "at most"},
		{"edges", "# nodes many\n", "line 1: # nodes many"},
		{"edges", fmt.Sprintf("0 %d\n", graph.MaxNodes), "at most"},
		{"edges", fmt.Sprintf("# nodes %d\n", graph.MaxNodes+1), "want 1 to"},
		{"edges", "# nodes 0\n", "want 1 to"},
		{"dot", "graph {\n\n a -> b }", "line 3: -> in a graph"},
		{"dot", "graph { \"a\\", "string does not end"},
		{"dot", "graph", "the file ends: want {"},
		{"graphml", `<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>` +
			`<edge source="b" target="a" directed="true"/></graph></graphml>`, `edge 1 has directed="true"`},
		{"edges", "# nodes 3\na b\n", "names 2 nodes"},
		{"edges", "", "0 nodes"},
		{"json", `{"n": 3, "edges": [[0,1,2]]}`, "not a pair of nodes"},
		{"json", `{"n": 3, "edges": [[0]]}`, "not a pair of nodes"},
		{"json", "{\"n\": 3,\n\"edge\": []}", `line 2: unknown key "edge" (did you mean "edges"?)`},
		{"json", `{"edges": []}`, `key "n"`},
		{"json", `{"n": 3, "edges": [[0,3]]}`, "unknown node 3"},
		{"json", `{"n": 3, "edges": [[1,1]]}`, "self-loop"},
		{"json", `{"n": 3, "names": ["a","b"]}`, "2 names for 3 nodes"},
		{"json", `{"n": 2, "names": ["a","a"]}`, "same name"},
		{"json", `{"n": 2, "version": 2}`, "version 2"},
		{"json", "{\"n\": 2,\n}", "line 2"},
		{"json", "{\n\"n\": \"two\"}", "line 2"},
		{"graphml", "<graphml>", "EOF"},
		{"graphml", "<graphml/>", "0 graphs"},
		{"graphml", `<graphml><graph edgedefault="both"/></graphml>`, "edgedefault"},
		{"graphml", `<graphml><graph edgedefault="directed"><node id="a"/><node id="a"/></graph></graphml>`,
			"two nodes"},
		{"graphml", `<graphml><graph edgedefault="directed"><node id="a"/><edge source="a" target="b"/></graph></graphml>`,
			`edge 1 joins "a" and "b": unknown node`},
		{"graphml", `<graphml><graph edgedefault="directed"><node id="a"/><edge source="a" target="a"/></graph></graphml>`, "edge 1: self-loop"},
		{"graphml", `<graphml><graph edgedefault="directed"><hyperedge/></graph></graphml>`, "hyperedges"},
		{"dot", "graph { a -> b }", "line 1: -> in a graph"},
		{"dot", "graph { a -- b", "the file ends"},
		{"dot", "graph { subgraph { a } }", "subgraphs"},
		{"dot", "graph { a:n -- b }", "ports"},
		{"dot", "graph { a -- b -- a }", "duplicate"},
		{"dot", "graph { \"a }", "string does not end"},
		{"dot", "graph { a [x }", "has no ]"},
		{"dot", "grph {}", "want graph or digraph"},
		{"dot", "graph {} x", "want the end"},
	} {
		if _, err := parse(t, c.format, c.data); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %q: %v, want %q", c.format, c.data, err, c.says)
		}
	}
	if _, err := Find("grahml"); err == nil || !strings.Contains(err.Error(), `"graphml"`) {
		t.Error(err)
	}
	if f, err := Of("a/B.GraphML"); err != nil || f.Name != "graphml" {
		t.Error(f, err)
	}
	if _, err := Of("graph"); err == nil {
		t.Error("a name without ending has a format")
	}
}

// Edge lists have names where they can be read back, and numbers otherwise.
func TestNamesInEdgeLists(t *testing.T) {
	f, err := parse(t, "edges", "alice bob\n")
	if err != nil {
		t.Fatal(err)
	}
	edges, err := Find("edges")
	if err != nil {
		t.Fatal(err)
	}
	const numbers = "# nodes 2\n0 1\n"
	for _, c := range []struct {
		names []string
		want  string
	}{{[]string{"alice", "bob"}, "# nodes 2\nalice\nbob\nalice bob\n"}, {nil, numbers}, {[]string{"a b", "c"}, numbers},
		{[]string{"", "c"}, numbers}, {[]string{"7", "8"}, numbers}} {
		f.Names = c.names
		if got := string(edges.Write(f)); got != c.want {
			t.Errorf("%q: %q", c.names, got)
		}
	}
}

func TestFileNode(t *testing.T) {
	named, _ := parse(t, "edges", "alice bob\n")
	if i, err := named.Node("bob"); err != nil || i != 1 {
		t.Error(i, err)
	}
	if _, err := named.Node("alise"); err == nil || !strings.Contains(err.Error(), `"alice"`) {
		t.Error(err)
	}
	if f, err := parse(t, "dot", `graph { "a\\" -- "b\"" -- "c\d" }`); err != nil ||
		!slices.Equal(f.Names, []string{`a\`, `b"`, `c\d`}) {
		t.Errorf("%q, %v", f.Names, err)
	}
	numbered, _ := parse(t, "edges", "0 1\n")
	if _, err := numbered.Node("2"); err == nil || !strings.Contains(err.Error(), "nodes are 0 to 1") {
		t.Error(err)
	}
	if i, err := numbered.Node("1"); err != nil || i != 1 {
		t.Error(i, err)
	}
}

// FuzzParse checks that no input makes a parser panic, and that every graph that is read can be
// written and read again in every format.
func FuzzParse(f *testing.F) {
	for _, data := range []string{
		"0 1\n1 2\n", "# directed\na b\n", `{"n": 3, "edges": [[0,1]]}`, "digraph { a -> b -> c [x=1] }",
		"graph { \"a b\" -- c; d }",
		`<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>`,
	} {
		for k := range formats {
			f.Add(k, data)
		}
	}
	f.Fuzz(func(t *testing.T, k int, data string) {
		if k < 0 || k >= len(formats) {
			return
		}
		file, err := formats[k].Parse([]byte(data))
		if err != nil || file.Graph.N() > 200 {
			return
		}
		for _, name := range file.Names {
			if !utf8.ValidString(name) || strings.ContainsFunc(name,
				func(c rune) bool { return c < ' ' || c == utf8.RuneError }) {
				return // XML has no such characters, JSON replaces them
			}
		}
		for _, format := range formats {
			again, err := format.Parse(format.Write(file))
			if err != nil || !again.Graph.Equal(file.Graph) {
				t.Fatalf("%s of %q: %v\n%s", format.Name, data, err, format.Write(file))
			}
		}
	})
}
