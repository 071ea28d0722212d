package topology

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
)

// generator returns the random generator of a seed. All random topologies use the same stream.
func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x746f706f6c6f6779)) }

// checkProbability returns an error if p is not a probability.
func checkProbability(key string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("%s is %v; it must be between 0 and 1 (example: %s: 0.5)", key, p, key)
	}
	return nil
}

// checkRobustness sets r, if it is 0, to SAC's 4 or the most that the size allows, and returns an error if no graph of
// this size is r-robust.
func checkRobustness(r *int, n int) error {
	most := (n + 1) / 2
	if *r == 0 {
		*r = min(4, most)
	}
	if *r < 1 || *r > most {
		return fmt.Errorf("r is %d; on %d nodes it must be between 1 and ⌈n/2⌉ = %d, because no graph is more robust",
			*r, n, most)
	}
	return nil
}

type preferential struct {
	R      int    `yaml:"r" doc:"robustness to reach; 0: 4, or ⌈n/2⌉ if that is less"`
	Attach string `yaml:"attach" doc:"targets of the r edges: clique (SAC's Appendix A), any (earlier node), degree (preferred)"`
}

func (p *preferential) AtLeast(int) int { return p.R }

func (p *preferential) Build(n int, seed uint64) (graph.Graph, error) {
	if err := checkRobustness(&p.R, n); err != nil {
		return graph.Graph{}, err
	}
	if known := []string{"any", "clique", "degree"}; !slices.Contains(known, p.Attach) {
		return graph.Graph{}, fmt.Errorf("attach is %q; it must be any, clique or degree%s", p.Attach,
			synod.Hint(p.Attach, known))
	}
	rng, core := generator(seed), 2*p.R-1 // core ≤ n because R ≤ ⌈n/2⌉
	edges := clique(nil, 0, core)
	var ends []int // each node once for every edge that it has: drawing from here draws by degree
	for _, e := range edges {
		ends = append(ends, e[0], e[1])
	}
	for v := core; v < n; v++ {
		var chosen []int
		for len(chosen) < p.R {
			u := rng.IntN(v)
			switch {
			case p.Attach == "clique":
				u = rng.IntN(core)
			case p.Attach == "degree" && len(ends) > 0:
				u = ends[rng.IntN(len(ends))]
			}
			if !slices.Contains(chosen, u) {
				chosen = append(chosen, u)
			}
		}
		for _, u := range chosen {
			edges = append(edges, [2]int{u, v})
			ends = append(ends, u, v)
		}
	}
	return graph.New(n, false, edges)
}

// gnp draws each pair of nodes with probability p; in a directed graph each ordered pair.
func gnp(rng *rand.Rand, n int, p float64, directed bool) (edges [][2]int) {
	for u := range n {
		for v := range n {
			if u != v && (directed || u < v) && rng.Float64() < p {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	return edges
}

type erdosRenyi struct {
	R     int     `yaml:"r" doc:"robustness to reach; 0: 4, or ⌈n/2⌉ if that is less"`
	P     float64 `yaml:"p" doc:"probability of each edge; -1: (ln n + (r-1) ln ln n)/n as in SAC's Appendix A"`
	Tries int     `yaml:"tries" doc:"draws before giving up"`

	draws int
}

func (e *erdosRenyi) AtLeast(int) int { return e.R }
func (e *erdosRenyi) Draws() int      { return e.draws }

// Build redraws until the graph is r-robust, as SAC does.
func (e *erdosRenyi) Build(n int, seed uint64) (graph.Graph, error) {
	if err := checkRobustness(&e.R, n); err != nil {
		return graph.Graph{}, err
	}
	if e.P == -1 {
		e.P = sacDensity(n, e.R)
	}
	if err := checkProbability("p", e.P); err != nil {
		return graph.Graph{}, err
	}
	for rng := generator(seed); e.draws < e.Tries; {
		e.draws++
		g := graph.MustNew(n, false, gnp(rng, n, e.P, false))
		if yes, known := robustness.IsRobust(g, e.R, nil); !known {
			return graph.Graph{}, fmt.Errorf("r: %d-robustness cannot be decided at this size", e.R)
		} else if yes {
			return g, nil
		}
	}
	return graph.Graph{}, fmt.Errorf("none of %d draws with p = %.3f was %d-robust: raise tries or p", e.Tries, e.P,
		e.R)
}

// sacDensity returns the threshold of Zhang et al. 2015, Theorem 3, at most 1. It returns 1 for fewer than three nodes,
// where ln ln n is negative or undefined.
func sacDensity(n, r int) float64 {
	if n < 3 {
		return 1
	}
	ln := math.Log(float64(n))
	return min(1, (ln+float64(r-1)*math.Log(ln))/float64(n))
}

type random struct {
	P        float64 `yaml:"p" doc:"probability of each edge"`
	Joined   bool    `yaml:"joined" doc:"join the components of the draw, so that the graph is connected"`
	Directed bool    `yaml:"directed" doc:"draw each direction by itself"`
}

func (r *random) AtLeast(int) int {
	if r.Joined && !r.Directed {
		return 1
	}
	return 0
}

func (r *random) Build(n int, seed uint64) (graph.Graph, error) {
	if err := checkProbability("p", r.P); err != nil {
		return graph.Graph{}, err
	}
	rng := generator(seed)
	edges := gnp(rng, n, r.P, r.Directed)
	if r.Joined {
		edges = join(rng, n, edges, r.Directed)
	}
	return graph.New(n, r.Directed, edges)
}

// join adds one random edge (both ways if directed) from each component but the first to those joined before.
// A directed result is weakly, but not always strongly, connected.
func join(rng *rand.Rand, n int, edges [][2]int, directed bool) [][2]int {
	parts := graph.MustNew(n, directed, edges).Components()
	joined := parts[0]
	for _, part := range parts[1:] {
		u, v := joined[rng.IntN(len(joined))], part[rng.IntN(len(part))]
		edges = append(edges, [2]int{u, v})
		if directed {
			edges = append(edges, [2]int{v, u})
		}
		joined = append(joined, part...)
	}
	return edges
}

type layered struct {
	connected
	Sizes []int   `yaml:"layers" doc:"nodes in each layer from the top; empty: three about equal layers, larger first"`
	P     float64 `yaml:"p" doc:"probability of an edge between nodes of neighbouring layers; at least one edge"`
	All   bool    `yaml:"all" doc:"random edges between all pairs of layers, not only neighbouring ones"`
}

func (l *layered) Layers(int) []int { return l.Sizes }

// Build follows CP-6: {0,1,2}, {3,4}, {5,6} at n = 7. The paper does not define which pairs of layers get the
// 30 % random edges; here these are the neighbouring ones, unless All is set. A pair of neighbouring layers
// without an edge after the draw gets one random edge.
func (l *layered) Build(n int, seed uint64) (graph.Graph, error) {
	if err := l.sizes(n); err != nil {
		return graph.Graph{}, err
	}
	if err := checkProbability("p", l.P); err != nil {
		return graph.Graph{}, err
	}
	rng := generator(seed)
	var edges [][2]int
	var starts []int
	from := 0
	for k, size := range l.Sizes {
		edges = clique(edges, from, from+size)
		for j := range k {
			if neighbours := j == k-1; neighbours || l.All {
				edges = bridge(rng, edges, [2]int{starts[j], starts[j] + l.Sizes[j]}, [2]int{from, from + size}, l.P,
					neighbours)
			}
		}
		starts = append(starts, from)
		from += size
	}
	return graph.New(n, false, edges)
}

// sizes sets the sizes of the layers if they were left open, and checks them.
func (l *layered) sizes(n int) error {
	if len(l.Sizes) == 0 {
		for k := range min(3, n) {
			l.Sizes = append(l.Sizes, (n+2-k)/3)
		}
	}
	sum := 0
	for _, size := range l.Sizes {
		if size < 1 || size > n {
			return errors.New("layers: every layer needs at least one node")
		}
		sum += size
	}
	if sum != n {
		return fmt.Errorf("layers: %v add up to %d nodes", l.Sizes, sum)
	}
	return nil
}

// bridge draws the edges between two ranges of nodes, from a[0] to a[1]-1 and b[0] to b[1]-1. If atLeastOne is set, it
// adds a random one when none was drawn.
func bridge(rng *rand.Rand, edges [][2]int, a, b [2]int, p float64, atLeastOne bool) [][2]int {
	before := len(edges)
	for u := a[0]; u < a[1]; u++ {
		for v := b[0]; v < b[1]; v++ {
			if rng.Float64() < p {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	if atLeastOne && len(edges) == before {
		edges = append(edges, [2]int{a[0] + rng.IntN(a[1]-a[0]), b[0] + rng.IntN(b[1]-b[0])})
	}
	return edges
}

type regular struct {
	Degree int `yaml:"degree" doc:"neighbours of each node; n·degree must be even"`
}

// Build starts from a circulant of the degree and mixes it by swapping the ends of random pairs of edges,
// which keeps all degrees. 20 swaps for each edge leave nothing of the start that a test could detect. It
// mixes on until the graph is connected.
func (r *regular) Build(n int, seed uint64) (graph.Graph, error) {
	d := r.Degree
	if d < 0 || d >= n {
		return graph.Graph{}, fmt.Errorf("degree is %d; on %d nodes it must be between 0 and %d", d, n, n-1)
	}
	if n*d%2 == 1 {
		return graph.Graph{}, fmt.Errorf("degree is %d; on %d nodes, an odd number, it must be even", d, n)
	}
	edges := circular(n, d/2)
	if d%2 == 1 {
		for u := range n / 2 {
			edges = append(edges, [2]int{u, u + n/2})
		}
	}
	if d == n-1 || len(edges) < 2 {
		return graph.New(n, false, edges)
	}
	rng := generator(seed)
	for range 100 {
		swap(rng, n, edges, 20*len(edges))
		if g := graph.MustNew(n, false, edges); d < 2 || g.Connected() {
			return g, nil
		}
	}
	return graph.Graph{}, errors.New("degree: 100 draws gave no connected graph")
}

// adjacency is the set of edges of an undirected graph while they change.
type adjacency struct {
	edges  map[[2]int]bool
	degree []int
}

func newAdjacency(n int, edges [][2]int) adjacency {
	a := adjacency{map[[2]int]bool{}, make([]int, n)}
	for _, e := range edges {
		a.add(e[0], e[1])
	}
	return a
}

func (a adjacency) has(u, v int) bool { return a.edges[[2]int{min(u, v), max(u, v)}] }

func (a adjacency) add(u, v int) {
	a.edges[[2]int{min(u, v), max(u, v)}] = true
	a.degree[u]++
	a.degree[v]++
}

func (a adjacency) remove(u, v int) {
	delete(a.edges, [2]int{min(u, v), max(u, v)})
	a.degree[u]--
	a.degree[v]--
}

// swap replaces random edges ab, cd by ad, cb, unless the graph would no longer be simple.
func swap(rng *rand.Rand, n int, edges [][2]int, times int) {
	adjacent := newAdjacency(n, edges)
	for range times {
		e, f := &edges[rng.IntN(len(edges))], &edges[rng.IntN(len(edges))]
		if rng.IntN(2) == 1 {
			f[0], f[1] = f[1], f[0]
		}
		a, b, c, d := e[0], e[1], f[0], f[1]
		if e == f || a == d || c == b || adjacent.has(a, d) || adjacent.has(c, b) {
			continue
		}
		adjacent.remove(a, b)
		adjacent.remove(c, d)
		adjacent.add(a, d)
		adjacent.add(c, b)
		e[1], f[1] = d, b
	}
}

type smallWorld struct {
	connected
	K int     `yaml:"k" doc:"nearest nodes on either side"`
	P float64 `yaml:"p" doc:"probability that an edge is rewired"`
}

// Build moves the far end of each edge of a circulant, with probability p, to a random node that the near end is not
// joined to.
func (s *smallWorld) Build(n int, seed uint64) (graph.Graph, error) {
	if s.K < 1 || s.K > (n-1)/2 {
		return graph.Graph{}, fmt.Errorf("k is %d; on %d nodes it must be between 1 and %d", s.K, n, (n-1)/2)
	}
	if err := checkProbability("p", s.P); err != nil {
		return graph.Graph{}, err
	}
	rng, edges := generator(seed), circular(n, s.K)
	adjacent := newAdjacency(n, edges)
	for i, e := range edges {
		if rng.Float64() >= s.P || adjacent.degree[e[0]] == n-1 {
			continue
		}
		v := rng.IntN(n)
		for v == e[0] || adjacent.has(e[0], v) {
			v = rng.IntN(n)
		}
		adjacent.remove(e[0], e[1])
		adjacent.add(e[0], v)
		edges[i][1] = v
	}
	return graph.New(n, false, join(rng, n, edges, false))
}
