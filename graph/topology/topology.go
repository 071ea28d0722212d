package topology

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/graph"
)

// Topology builds graphs of one kind on any number of nodes. Its parameters are the exported fields of a
// struct: the tag yaml names the parameter, the tag doc describes it.
type Topology interface {
	// Build builds the graph on n nodes, 1 to graph.MaxNodes. The same parameters, n and seed always give the
	// same graph. It returns an error that names the parameter if there is no such graph. It may set
	// parameters that were left open to the values that it chose.
	Build(n int, seed uint64) (graph.Graph, error)
}

// Guaranteed is implemented by a topology whose construction guarantees robustness.
type Guaranteed interface {
	// AtLeast returns an r for which every graph on n nodes is r-robust. It is called after Build.
	AtLeast(n int) int
}

// Layered is implemented by a topology whose nodes are arranged in layers or rows: first the nodes of the top
// layer, then those of the next, and so on.
type Layered interface {
	// Layers returns the number of nodes in each layer; they add up to n. It is called after Build.
	Layers(n int) []int
}

// Redrawn is implemented by a topology that draws graphs until one is acceptable.
type Redrawn interface {
	// Draws returns the number of graphs that Build has drawn, 1 or more.
	Draws() int
}

// Entry is a topology in the catalogue.
type Entry struct {
	synod.Entry
	Known  string          // known robustness, and the source
	Seeded bool            // whether the seed matters
	Layout string          // the layout of package graph/draw that suits it; "": spring
	New    func() Topology // returns a pointer to the struct, with the default parameters
}

// Param is a parameter of a topology. All topologies also take the parameter seed, a whole number from 0.
type Param struct {
	Key, Doc string
	Default  any
}

// Params lists the parameters of the topology in the order of the struct.
func (e Entry) Params() []Param {
	var all []Param
	v := reflect.Indirect(reflect.ValueOf(e.New()))
	for f, value := range v.Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); f.IsExported() && key != "" && key != "-" {
			all = append(all, Param{key, f.Tag.Get("doc"), value.Interface()})
		}
	}
	return all
}

// Built is a graph and how it was built. A graph from elsewhere is Built{Graph: g}.
type Built struct {
	graph.Graph
	Topology string         // name in the catalogue; "" if no topology built the graph
	Params   map[string]any // all parameters, with the values that were defaults or were computed from n
	Seed     uint64
	Draws    int    // graphs drawn until one was acceptable; 0 if the topology does not redraw
	AtLeast  int    // robustness guaranteed by the construction, without a search; 0: none
	Layers   []int  // number of nodes in each layer; nil if there are no layers
	Layout   string // the layout that suits it; "": spring
}

// Build builds a graph of the named topology on n nodes, 1 to graph.MaxNodes. params are parameters as
// decoded from YAML or JSON; a parameter seed replaces the argument. The same arguments always give the same
// graph. It returns an error for an unknown name, an unknown parameter or value, and if there is no such
// graph.
func Build(name string, n int, params map[string]any, seed uint64) (Built, error) {
	e, err := Catalogue.Find(name)
	if err != nil {
		return Built{}, fmt.Errorf("graph: %w", err)
	}
	t := e.New()
	if seed, err = e.decode(t, params, seed); err != nil {
		return Built{}, fmt.Errorf("graph: %s: %w", name, err)
	}
	if n < 1 || n > graph.MaxNodes {
		return Built{}, fmt.Errorf("graph: %s on %d nodes: want 1 to %d", name, n, graph.MaxNodes)
	}
	g, err := t.Build(n, seed)
	if err != nil {
		return Built{}, fmt.Errorf("graph: %s on %d nodes: %w", name, n, err)
	}
	b := Built{Graph: g, Topology: name, Params: map[string]any{}, Seed: seed, Layout: e.Layout}
	for _, p := range (Entry{New: func() Topology { return t }}).Params() {
		b.Params[p.Key] = p.Default
	}
	if t, ok := t.(Guaranteed); ok {
		b.AtLeast = t.AtLeast(n)
	}
	if t, ok := t.(Layered); ok {
		b.Layers = t.Layers(n)
	}
	if t, ok := t.(Redrawn); ok {
		b.Draws = t.Draws()
	}
	return b, nil
}

// decode sets the parameters of the topology, and returns the seed among them or else the given one.
func (e Entry) decode(t Topology, params map[string]any, seed uint64) (uint64, error) {
	known := []string{"seed"}
	for _, p := range e.Params() {
		known = append(known, p.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(params)) {
		var into any = t
		seeded := struct {
			Seed *uint64 `yaml:"seed"`
		}{&seed}
		switch explicit, ok := t.(*edges); {
		case !slices.Contains(known, key):
			return 0, fmt.Errorf("unknown parameter %q%s", key, synod.Hint(key, known))
		case key == "seed":
			into = &seeded
		case key == "edges" && ok: // decoded here because a list can have 100,000 edges
			pairs, err := asPairs(params[key])
			if err != nil {
				return 0, fmt.Errorf("edges: %w", err)
			}
			explicit.Edges = pairs
			continue
		}
		if err := param.Decode(map[string]any{key: params[key]}, into); err != nil {
			return 0, err
		}
		seed = *seeded.Seed
	}
	return seed, nil
}

// FromSpec builds the graph of a council file's graph section, {family: NAME, …parameters} or {edges: [[0,1],…]}. Its
// errors are those of Build, and one for a section that has neither.
func FromSpec(spec map[string]any, n int, seed uint64) (Built, error) {
	params := maps.Clone(spec)
	delete(params, "family")
	switch name, ok := spec["family"].(string); {
	case ok:
		return Build(name, n, params, seed)
	case spec["family"] != nil:
		return Built{}, fmt.Errorf("graph: family is %v: want a name", spec["family"])
	case spec["edges"] != nil:
		return Build("edges", n, params, seed)
	}
	return Built{}, fmt.Errorf("graph: want family or edges; the families are %s",
		strings.Join(Catalogue.Names(), ", "))
}

// Catalogue lists the topologies by name.
var Catalogue = synod.NewCatalogue("graph family",
	Entry{
		Entry:  synod.Entry{Name: "chain", Summary: "a line: each node is joined to the next"},
		Known:  "1 (a tree)",
		Layout: "line", New: func() Topology { return &chain{} },
	},
	Entry{
		Entry: synod.Entry{Name: "circulant", Summary: "each node is joined to the k nearest on either side " +
			"of a ring; directed: the k before it " +
			"are its in-neighbours"},
		Known: "k for large n, computed here for k ≤ 10 to n = 128; ⌈n/2⌉ when complete. Directed " +
			"k-circulants: Usevitch & Panagou 2017",
		Layout: "circle", New: func() Topology { return &circulant{K: 2} },
	},
	Entry{
		Entry:  synod.Entry{Name: "complete", Summary: "every node is joined to every other"},
		Known:  "⌈n/2⌉, the most any graph can have (LeBlanc 2013, Lemma 4)",
		Layout: "circle", New: func() Topology { return &complete{} },
	},
	Entry{
		Entry:  synod.Entry{Name: "edges", Summary: "an explicit list of edges"},
		Known:  "depends on the edges",
		Layout: "spring", New: func() Topology { return &edges{} },
	},
	Entry{
		Entry: synod.Entry{Name: "er", Summary: "Erdős–Rényi G(n,p), redrawn until it is r-robust"},
		Known: "≥ r, checked; the default p makes it so with high probability only as n → ∞ (Zhang et al. " +
			"2015, Theorem 3): at n = 7, r = 4 one draw in 500 passes",
		Seeded: true,
		Layout: "spring", New: func() Topology { return &erdosRenyi{P: -1, Tries: 100_000} },
	},
	Entry{
		Entry: synod.Entry{Name: "grid", Summary: "rows of a rectangular grid, filled one after another; the last " +
			"may be short"},
		Known:  "1: cut between two rows, each node misses at most one neighbour",
		Layout: "grid", New: func() Topology { return &grid{} },
	},
	Entry{
		Entry:  synod.Entry{Name: "layered", Summary: "cliques in layers, with random edges between layers (CP-WBFT)"},
		Known:  "≥ 1; more depends on the smallest layer and the random edges",
		Seeded: true,
		Layout: "layers", New: func() Topology { return &layered{P: 0.3} },
	},
	Entry{
		Entry:  synod.Entry{Name: "merg", Summary: "γ-MERG, the fewest edges with robustness ⌈n/2⌉ (γ = ⌈n/2⌉)"},
		Known:  "⌈n/2⌉ (Lee & Panagou 2026, Theorem 1)",
		Layout: "circle", New: func() Topology { return &merg{} },
	},
	Entry{
		Entry: synod.Entry{Name: "preferential", Summary: "a clique of 2r-1, then each further node joined to r " +
			"earlier ones"},
		Known:  "r (LeBlanc 2013, Theorem 5)",
		Seeded: true,
		Layout: "spring", New: func() Topology { return &preferential{Attach: "clique"} },
	},
	Entry{
		Entry: synod.Entry{Name: "random", Summary: "each edge with probability p; components are then joined by " +
			"random edges"},
		Known:  "≥ 1 when joined; no more is guaranteed",
		Seeded: true,
		Layout: "spring", New: func() Topology { return &random{P: 0.3, Joined: true} },
	},
	Entry{
		Entry:  synod.Entry{Name: "regular", Summary: "a random graph in which every node has the same degree"},
		Known:  "at most the degree; typically about half of it (computed: 4 → 1–2, 6 → 2–3, 8 → 3–4)",
		Seeded: true,
		Layout: "spring", New: func() Topology { return &regular{Degree: 4} },
	},
	Entry{
		Entry:  synod.Entry{Name: "ring", Summary: "a cycle"},
		Known:  "1 (2 for three nodes)",
		Layout: "circle", New: func() Topology { return &ring{} },
	},
	Entry{
		Entry: synod.Entry{Name: "small-world", Summary: "a circulant with each edge rewired at random with " +
			"probability p (Watts & Strogatz 1998)"},
		Known:  "≥ 1; between that of the circulant and that of a random graph",
		Seeded: true,
		Layout: "circle", New: func() Topology { return &smallWorld{K: 2, P: 0.2} },
	},
	Entry{
		Entry:  synod.Entry{Name: "star", Summary: "node 0 is joined to all others"},
		Known:  "1 (a tree)",
		Layout: "hub", New: func() Topology { return &star{} },
	},
	Entry{
		Entry:  synod.Entry{Name: "tree", Summary: "a heap: node i is below node (i-1)/arity"},
		Known:  "1",
		Layout: "tree", New: func() Topology { return &tree{Arity: 2} },
	},
)
