package topology

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
)

// Placement is a rule that picks nodes for adversaries or weak members: it orders the nodes, and the first ones are
// picked.
type Placement struct {
	Name, Summary string
	Families      []string // the topologies for which the rule is defined; nil: all
	order         func(p placing) []int
}

// placing is what a rule works on.
type placing struct {
	Built
	count int
	among []int // the nodes to pick from, ascending
	rng   *rand.Rand
	stop  func() bool // nil: the search must not depend on the time
}

// placements lists the rules by name. Those with families are the positional attacks of CP-WBFT's pilot study (CP-5).
var placements = []Placement{
	{"bottom", "the lowest layers first", []string{"layered"},
		func(p placing) []int { return p.by(func(i int) int { return -p.layerOf(i) }) }},
	{"central", "the nodes on most shortest paths first (betweenness)", nil, byBetweenness},
	{"centre", "the hub first, then the leaves", []string{"star"},
		func(p placing) []int { return p.by(func(i int) int { return i }) }},
	{"degree-high", "nodes with most outgoing edges first", nil,
		func(p placing) []int { return p.by(func(i int) int { return -p.OutDegree(i) }) }},
	{"degree-low", "nodes with fewest outgoing edges first", nil,
		func(p placing) []int { return p.by(func(i int) int { return p.OutDegree(i) }) }},
	{"head", "from the start of the chain on", []string{"chain"},
		func(p placing) []int { return p.by(func(i int) int { return i }) }},
	{"internal", "nodes between root and leaves first, then the root, then the leaves", []string{"tree"},
		internalFirst},
	{"leaf", "leaves first, from the last; then upwards", []string{"star", "tree"},
		func(p placing) []int { return p.by(func(i int) int { return -i }) }}, // leaves have the highest numbers
	{"middle", "from the middle outwards", []string{"chain", "layered"}, middleFirst},
	{"random", "a random choice from the seed", nil, func(p placing) []int { return p.rng.Perm(p.N()) }},
	{"root", "the root first, then level by level", []string{"tree"},
		func(p placing) []int { return p.by(func(i int) int { return i }) }},
	{"tail", "from the end of the chain back", []string{"chain"},
		func(p placing) []int { return p.by(func(i int) int { return -i }) }},
	{"top", "the highest layers first", []string{"layered"}, func(p placing) []int { return p.by(p.layerOf) }},
	{"worst", "the set found to do most harm: the least robustness is left without it", nil,
		func(p placing) []int { return p.worst().Nodes }},
}

// Placements lists the rules by name.
func Placements() []Placement { return slices.Clone(placements) }

// Place picks count nodes by the named rule, and returns them in ascending order. stop (nil: never) ends the
// search of the rule worst early. It returns an error for an unknown rule, a rule that is not defined for the
// topology, and a count below 0 or above the number of nodes.
func Place(b Built, name string, count int, seed uint64, stop func() bool) ([]int, error) {
	if stop == nil {
		stop = func() bool { return false }
	}
	return place(b, name, count, allNodes(b.N()), seed, stop)
}

// PlaceAmong is Place for a choice of nodes, ascending, that depends on nothing but its arguments, not even on the
// time. The rule worst measures robustness in graphs of up to 24 nodes; in larger ones, where this may take long, it
// compares sets by the smallest F for which they are F-local, then by edges to other nodes.
func PlaceAmong(b Built, name string, count int, among []int, seed uint64) ([]int, error) {
	return place(b, name, count, among, seed, nil)
}

func allNodes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func place(b Built, name string, count int, among []int, seed uint64, stop func() bool) ([]int, error) {
	if count < 0 || count > len(among) {
		return nil, fmt.Errorf("graph: place %d of %d nodes: want 0 to %d", count, len(among), len(among))
	}
	var names []string
	for _, rule := range placements {
		names = append(names, rule.Name)
		if rule.Name != name {
			continue
		}
		if rule.Families != nil && !slices.Contains(rule.Families, b.Topology) {
			return nil, fmt.Errorf("graph: placement %s is defined for the family %s only", name,
				strings.Join(rule.Families, " or "))
		}
		order := rule.order(placing{b, count, among, rand.New(rand.NewPCG(seed, 0x706c616365)), stop})
		order = slices.DeleteFunc(order, func(i int) bool { _, ok := slices.BinarySearch(among, i); return !ok })
		return slices.Sorted(slices.Values(order[:count])), nil
	}
	return nil, fmt.Errorf("graph: unknown placement %q%s", name, synod.Hint(name, names))
}

// by orders the nodes by a key, ties by number.
func (p placing) by(key func(int) int) []int {
	order := make([]int, p.N())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key(i), key(j)) })
	return order
}

func byBetweenness(p placing) []int {
	score, order := graph.Betweenness(p.Graph), p.by(func(int) int { return 0 })
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
	return order
}

// layerOf returns the layer of a node, counted from 0 at the top.
func (p placing) layerOf(i int) int {
	for k, size := range p.Layers {
		if i < size {
			return k
		}
		i -= size
	}
	return len(p.Layers)
}

func internalFirst(p placing) []int {
	return p.by(func(i int) int {
		switch {
		case i == 0:
			return 1
		case p.OutDegree(i) > 1:
			return 0
		}
		return 2
	})
}

func middleFirst(p placing) []int {
	position, last := func(i int) int { return i }, p.N()-1
	if p.Topology == "layered" {
		position, last = p.layerOf, p.layerOf(p.N()-1)
	}
	return p.by(func(i int) int { return max(2*position(i)-last, last-2*position(i)) })
}

// Harm is the effect of a set of adversaries on a graph. Its fields are compared in their order.
type Harm struct {
	Nodes []int // the adversaries, ascending
	Left  int   // robustness of the graph without them
	Local int   // the smallest F for which they are F-local
	Edges int   // edges from an adversary to another node
}

// exactNodes is the largest graph whose robustness is measured where the time must not matter.
const exactNodes = 24

func (p placing) worst() Harm {
	if p.stop == nil && p.N() > exactNodes {
		return search{p.Graph, p.among, nil}.worst(p.count, p.rng.Uint64())
	}
	stop := p.stop
	if stop == nil {
		stop = func() bool { return false }
	}
	return search{p.Graph, p.among, stop}.worst(p.count, p.rng.Uint64())
}

// search looks for the worst set among some nodes. A nil stop leaves robustness out.
type search struct {
	graph.Graph
	among []int
	stop  func() bool
}

func (s search) over() bool { return s.stop != nil && s.stop() }

func (s search) harm(nodes []int) Harm {
	g := s.Graph
	h := Harm{Nodes: slices.Sorted(slices.Values(nodes))}
	h.Local, _ = graph.Locality(g, nodes)
	for _, i := range nodes {
		for _, j := range g.Out(i) {
			if !slices.Contains(nodes, j) {
				h.Edges++
			}
		}
	}
	if s.stop == nil {
		return h
	}
	if rest, _, err := graph.Without(g, nodes); err == nil {
		h.Left = robustness.Find(rest, s.stop).R
	}
	return h
}

// Measure returns the harm of adversaries at some nodes, in ascending order, as the rule worst of
// PlaceAmong measures it. robustness is false for graphs of more than 24 nodes, of which Left is not
// measured.
func Measure(g graph.Graph, nodes []int) (h Harm, robustness bool) {
	if g.N() > exactNodes {
		return search{g, nil, nil}.harm(nodes), false
	}
	return search{g, nil, func() bool { return false }}.harm(nodes), true
}

// worse reports whether h is more harm: less robustness left, then a larger F, then more edges.
func (h Harm) worse(than Harm) bool {
	return cmp.Or(cmp.Compare(than.Left, h.Left), cmp.Compare(h.Local, than.Local),
		cmp.Compare(h.Edges, than.Edges)) > 0
}

// listLimit is the largest number of sets that Worst lists; if there are more, it searches by exchange.
const listLimit = 5000

// Worst finds count nodes, 0 to g.N(), that do most harm. It tries all sets if there are at most 5,000, and otherwise
// exchanges single nodes from several random starts. If stop (nil: never) returns true, the worst set seen so far is
// returned.
func Worst(g graph.Graph, count int, seed uint64, stop func() bool) Harm {
	if stop == nil {
		stop = func() bool { return false }
	}
	return search{g, allNodes(g.N()), stop}.worst(count, seed)
}

func (s search) worst(count int, seed uint64) Harm {
	pick := allNodes(count) // places in among
	nodes := func(places []int) []int {
		set := make([]int, len(places))
		for k, i := range places {
			set[k] = s.among[i]
		}
		return set
	}
	worst := s.harm(nodes(pick))
	if combinations(len(s.among), count) <= listLimit {
		for nextCombination(pick, len(s.among)) && !s.over() {
			if h := s.harm(nodes(pick)); h.worse(worst) {
				worst = h
			}
		}
		return worst
	}
	rng := rand.New(rand.NewPCG(seed, 0x776f727374))
	for range 4 {
		if h := s.exchange(nodes(rng.Perm(len(s.among))[:count])); h.worse(worst) {
			worst = h
		}
	}
	return worst
}

// exchange replaces a member of the set by another node as long as that does more harm.
func (s search) exchange(set []int) Harm {
	worst := s.harm(set)
	for again := true; again && !s.over(); {
		again = false
		for k := range set {
			for _, j := range s.among {
				if slices.Contains(set, j) || s.over() {
					continue
				}
				swapped := slices.Clone(set)
				swapped[k] = j
				if h := s.harm(swapped); h.worse(worst) {
					worst, set, again = h, swapped, true
				}
			}
		}
	}
	return worst
}

// combinations returns n over k, or 1<<40 if it is more.
func combinations(n, k int) int {
	c := 1
	for i := range k {
		if c = c * (n - i) / (i + 1); c > 1<<40 {
			return 1 << 40
		}
	}
	return c
}

// nextCombination changes an ascending set of numbers below n to the next one. It returns false after the last.
func nextCombination(set []int, n int) bool {
	for k := len(set) - 1; k >= 0; k-- {
		if set[k] < n-len(set)+k {
			set[k]++
			for j := k + 1; j < len(set); j++ {
				set[j] = set[j-1] + 1
			}
			return true
		}
	}
	return false
}
