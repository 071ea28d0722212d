package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Placement is a rule for seating adversaries or weak members: it orders the nodes, and the first ones are taken.
type Placement struct {
	Name, Summary string
	Families      []string // where the rule makes sense; empty: everywhere
	order         func(p *placing) []int
}

type placing struct {
	Built
	count int
	rng   *rand.Rand
	stop  func() bool
}

// placements, by name. Those with families are the positional attacks of CP-WBFT's pilot study (CP-5).
var placements = []Placement{
	{"bottom", "the lowest layers first", []string{"layered"}, func(p *placing) []int { return p.by(func(i int) int { return -p.layerOf(i) }) }},
	{"central", "the nodes on most shortest paths first (betweenness)", nil, func(p *placing) []int { return p.byFloat(Betweenness(p.Graph)) }},
	{"centre", "the hub first, then the leaves", []string{"star"}, func(p *placing) []int { return p.by(func(i int) int { return i }) }},
	{"degree-high", "those heard by most first", nil, func(p *placing) []int { return p.by(func(i int) int { return -p.OutDegree(i) }) }},
	{"degree-low", "those heard by fewest first", nil, func(p *placing) []int { return p.by(func(i int) int { return p.OutDegree(i) }) }},
	{"head", "from the start of the chain on", []string{"chain"}, func(p *placing) []int { return p.by(func(i int) int { return i }) }},
	{"internal", "nodes between root and leaves first, then the root, then the leaves", []string{"tree"}, internalFirst},
	{"leaf", "leaves first, from the last; then upwards", []string{"star", "tree"}, leavesFirst},
	{"middle", "from the middle outwards", []string{"chain", "layered"}, middleFirst},
	{"random", "a random choice from the seed", nil, func(p *placing) []int { return p.rng.Perm(p.N()) }},
	{"root", "the root first, then level by level", []string{"tree"}, func(p *placing) []int { return p.by(func(i int) int { return i }) }},
	{"tail", "from the end of the chain back", []string{"chain"}, func(p *placing) []int { return p.by(func(i int) int { return -i }) }},
	{"top", "the highest layers first", []string{"layered"}, func(p *placing) []int { return p.by(p.layerOf) }},
	{"worst", "the set found to do most harm (see WorstPlacement)", nil, func(p *placing) []int { return WorstPlacement(p.Graph, p.count, p.rng.Uint64(), p.stop).Nodes }},
}

// Placements lists the rules by name.
func Placements() []Placement { return slices.Clone(placements) }

// Place chooses count nodes by the named rule, ascending. The graph comes as Build made it, since positions (root, hub,
// layer) belong to families; wrap a graph from elsewhere in Built{Graph: g}.
func Place(b Built, name string, count int, seed uint64, stop func() bool) ([]int, error) {
	if count < 0 || count > b.N() {
		return nil, fmt.Errorf("graph: place %d of %d nodes", count, b.N())
	}
	var names []string
	for _, rule := range placements {
		names = append(names, rule.Name)
		if rule.Name != name {
			continue
		}
		if len(rule.Families) > 0 && !slices.Contains(rule.Families, b.Family) {
			return nil, fmt.Errorf("graph: placement %s is for the family %s", name, strings.Join(rule.Families, " or "))
		}
		if stop == nil {
			stop = func() bool { return false }
		}
		order := rule.order(&placing{b, count, rand.New(rand.NewPCG(seed, 0x706c616365)), stop})
		return slices.Sorted(slices.Values(order[:count])), nil
	}
	return nil, fmt.Errorf("graph: unknown placement %q%s", name, didYouMean(name, names))
}

// by orders the nodes by a key, ties by number.
func (p *placing) by(key func(int) int) []int {
	order := make([]int, p.N())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return key(i) - key(j) })
	return order
}

// byFloat orders the nodes by falling score.
func (p *placing) byFloat(score []float64) []int {
	order := p.by(func(i int) int { return i })
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case score[i] > score[j]:
			return -1
		case score[i] < score[j]:
			return 1
		}
		return 0
	})
	return order
}

func (p *placing) layerOf(i int) int {
	sizes, _ := p.Params["layers"].([]int)
	for k, size := range sizes {
		if i < size {
			return k
		}
		i -= size
	}
	return len(sizes)
}

func internalFirst(p *placing) []int {
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

func leavesFirst(p *placing) []int {
	return p.by(func(i int) int {
		if i > 0 && p.OutDegree(i) == 1 {
			return -i - p.N()
		}
		return -i
	})
}

func middleFirst(p *placing) []int {
	position, last := func(i int) int { return i }, p.N()-1
	if p.Family == "layered" {
		position, last = p.layerOf, p.layerOf(p.N()-1)
	}
	return p.by(func(i int) int { return max(2*position(i)-last, last-2*position(i)) })
}
