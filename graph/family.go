package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Family is a named way to build graphs of any size.
type Family struct {
	Name    string
	Summary string
	Known   string // known robustness and who says so
	Seeded  bool   // whether the seed matters
	Params  []Param

	build func(*site) ([][2]int, error)
}

// Param is a key a family understands, beside seed, which all of them take. The default's type is the parameter's type:
// int, float64, bool, string, []int or [][2]int.
type Param struct {
	Key, Doc string
	Default  any
}

// Built is a graph and how it came about.
type Built struct {
	Graph
	Family string
	Params map[string]any // every key of the family, defaults filled in; numbers a family derived from n included
	Seed   uint64
	Draws  int // random graphs drawn until one was acceptable; 0 where nothing is redrawn
	// AtLeast is robustness guaranteed by the construction alone, at any size, without a search; 0 when nothing is.
	AtLeast int
}

// site is what a family builds on: size, parameters, chance. Reading a parameter of a wrong type or value notes the
// first error.
type site struct {
	n     int
	built *Built
	rng   *rand.Rand
}

// Families lists the catalogue by name.
func Families() []Family { return slices.Clone(families) }

// FamilyNames lists the names in the catalogue, sorted.
func FamilyNames() []string {
	names := make([]string, len(families))
	for k, f := range families {
		names[k] = f.Name
	}
	return names
}

// FindFamily looks a family up; the error names the nearest one.
func FindFamily(name string) (Family, error) {
	for _, f := range families {
		if f.Name == name {
			return f, nil
		}
	}
	return Family{}, fmt.Errorf("graph: unknown family %q%s", name, didYouMean(name, FamilyNames()))
}

// Build makes the graph of the family on n nodes. Params are the family's keys, as decoded from YAML or JSON; a key
// seed among them replaces the seed argument. The same arguments always give the same graph.
func Build(name string, n int, params map[string]any, seed uint64) (Built, error) {
	f, err := FindFamily(name)
	if err != nil {
		return Built{}, err
	}
	resolved, seed, err := f.resolve(params, seed)
	if err != nil {
		return Built{}, err
	}
	if n < 1 || n > MaxNodes {
		return Built{}, fmt.Errorf("graph: %s on %d nodes: want 1 to %d", name, n, MaxNodes)
	}
	b := Built{Family: name, Params: resolved, Seed: seed}
	edges, err := f.build(&site{n: n, built: &b, rng: rand.New(rand.NewPCG(seed, 0x746f706f6c6f6779))})
	if err != nil {
		return Built{}, fmt.Errorf("graph: %s on %d nodes: %w", name, n, err)
	}
	directed, _ := resolved["directed"].(bool)
	if b.Graph, err = New(n, directed, edges); err != nil {
		return Built{}, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// FromSpec builds from the graph section of a council file: {family: NAME, …its params} or {edges: [[0,1],…]}.
func FromSpec(spec map[string]any, n int, seed uint64) (Built, error) {
	params := make(map[string]any, len(spec))
	for _, key := range slices.Sorted(keysOf(spec)) {
		if key != "family" {
			params[key] = spec[key]
		}
	}
	switch name, ok := spec["family"].(string); {
	case ok:
		return Build(name, n, params, seed)
	case spec["family"] != nil:
		return Built{}, fmt.Errorf("graph: family: want a name, not %v", spec["family"])
	case spec["edges"] != nil:
		return Build("edges", n, params, seed)
	}
	return Built{}, fmt.Errorf("graph: want a family or edges; families are %v", FamilyNames())
}

// families is the catalogue, sorted by name.
var families = []Family{
	{Name: "chain", Summary: "a line: each node joined to the next",
		Known: "1 (a tree)", build: chain},
	{Name: "circulant", Summary: "each node joined to the k nearest on either side of a ring; directed: it hears the k before it",
		Known: "k for large n, computed here for k ≤ 10 to n = 128; ⌈n/2⌉ when complete. Directed k-circulants: Usevitch & Panagou 2017",
		Params: []Param{
			{"k", "nearest nodes on either side", 2},
			{"directed", "hear only the k nodes before", false}}, build: circulant},
	{Name: "complete", Summary: "everyone hears everyone",
		Known: "⌈n/2⌉, the most any graph can have (LeBlanc 2013, Lemma 4)", build: complete},
	{Name: "edges", Summary: "an explicit list of edges",
		Known: "whatever it is", Params: []Param{
			{"edges", "pairs [u,v] of nodes 0 to n-1", [][2]int(nil)},
			{"directed", "[u,v] means only that v hears u", false}}, build: explicit},
	{Name: "er", Summary: "Erdős–Rényi G(n,p), redrawn until it is r-robust", Seeded: true,
		Known: "≥ r, checked; the default p makes it so with high probability only as n → ∞ (Zhang et al. 2015, Theorem 3): at n = 7, r = 4 one draw in 500 passes",
		Params: []Param{
			{"r", "robustness to reach; 0: 4, or ⌈n/2⌉ where that is less", 0},
			{"p", "probability of each edge; -1: (ln n + (r-1) ln ln n)/n as in SAC's Appendix A", -1.0},
			{"tries", "draws before giving up", 100_000}}, build: erdosRenyi},
	{Name: "grid", Summary: "rows of a rectangular grid, filled one after another; the last may be short",
		Known:  "1: cut between two rows, nobody misses more than one neighbour",
		Params: []Param{{"columns", "nodes in a row; 0: ⌈√n⌉", 0}}, build: grid},
	{Name: "layered", Summary: "cliques in layers, random edges between layers (CP-WBFT)", Seeded: true,
		Known: "≥ 1; the smallest layer and the random edges decide",
		Params: []Param{
			{"layers", "nodes in each layer from the top; empty: three layers as equal as can be, larger first", []int(nil)},
			{"p", "probability of an edge between nodes of two neighbouring layers; at least one edge is made", 0.3},
			{"all", "random edges between all pairs of layers, not only neighbouring ones", false}}, build: layered},
	{Name: "merg", Summary: "γ-MERG, the fewest edges that reach ⌈n/2⌉ (γ = ⌈n/2⌉)",
		Known: "⌈n/2⌉ (Lee & Panagou 2026, Theorem 1)", build: merg},
	{Name: "preferential", Summary: "a clique of 2r-1, then each further node joined to r earlier ones", Seeded: true,
		Known: "r (LeBlanc 2013, Theorem 5)", Params: []Param{
			{"r", "robustness to reach; 0: 4, or ⌈n/2⌉ where that is less", 0},
			{"attach", "where the r edges go: clique (SAC's Appendix A), any (any earlier nodes), degree (earlier nodes by degree)", "clique"}},
		build: preferential},
	{Name: "random", Summary: "each edge with probability p; components then joined by random edges", Seeded: true,
		Known: "≥ 1 when joined; no more is promised", Params: []Param{
			{"p", "probability of each edge", 0.3},
			{"joined", "join the components of the draw, so that the graph is connected", true},
			{"directed", "draw each direction by itself", false}}, build: randomGraph},
	{Name: "regular", Summary: "a random graph in which every node has the same degree", Seeded: true,
		Known: "at most the degree; typically about half of it (computed: 4 → 1–2, 6 → 2–3, 8 → 3–4)", Params: []Param{
			{"degree", "neighbours of each node; n·degree must be even", 4}}, build: regular},
	{Name: "ring", Summary: "a cycle", Known: "1 (2 for three nodes)", build: ring},
	{Name: "small-world", Summary: "a circulant with each edge rewired at random with probability p (Watts & Strogatz 1998)", Seeded: true,
		Known: "≥ 1; between the circulant's and a random graph's", Params: []Param{
			{"k", "nearest nodes on either side", 2},
			{"p", "probability that an edge is rewired", 0.2}}, build: smallWorld},
	{Name: "star", Summary: "node 0 joined to all others", Known: "1 (a tree)", build: star},
	{Name: "tree", Summary: "a heap: node i hangs below node (i-1)/arity", Known: "1", Params: []Param{
		{"arity", "children of each node", 2}}, build: tree},
}
