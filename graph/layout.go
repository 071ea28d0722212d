package graph

import (
	"fmt"
	"math"
)

// Layouts are the names of the layouts, sorted: sets puts a witness's sets left and right; spring lets edges pull and
// nodes push.
var Layouts = []string{"circle", "grid", "hub", "layers", "line", "sets", "spring", "tree"}

// layout gives each node a place in the unit square.
func (d Drawing) layout() ([]point, error) {
	name := d.Layout
	if name == "" {
		name = d.pickLayout()
	}
	n := d.N()
	switch name {
	case "circle":
		return onCircle(n, point{.5, .5}, alone(n, .5)), nil
	case "hub":
		return append([]point{{.5, .5}}, onCircle(n-1, point{.5, .5}, .5)...), nil
	case "line":
		return d.line(), nil
	case "grid":
		return d.rows(func(i int) int { return i / d.columns() }, false), nil
	case "tree":
		return d.rows(d.depth(), true), nil
	case "layers":
		p := placing{Built: d.Built}
		return d.rows(p.layerOf, true), nil
	case "sets":
		return d.apart(), nil
	case "spring":
		return d.spring(), nil
	}
	return nil, fmt.Errorf("graph: unknown layout %q%s", name, didYouMean(name, Layouts))
}

func (d Drawing) pickLayout() string {
	if d.hasWitness() {
		return "sets"
	}
	byFamily := map[string]string{"star": "hub", "chain": "line", "grid": "grid", "tree": "tree", "layered": "layers",
		"random": "spring", "er": "spring", "preferential": "spring", "regular": "spring", "edges": "spring", "": "spring"}
	if name, ok := byFamily[d.Family]; ok {
		return name
	}
	return "circle"
}

func onCircle(n int, centre point, radius float64) []point {
	at := make([]point, max(n, 0))
	for i := range at {
		angle := 2*math.Pi*float64(i)/float64(n) - math.Pi/2
		at[i] = point{centre.x + radius*math.Cos(angle), centre.y + radius*math.Sin(angle)}
	}
	return at
}

// alone is a radius, or 0 for a single node, which stands in the middle.
func alone(n int, radius float64) float64 {
	if n == 1 {
		return 0
	}
	return radius
}

// line is a line, or for more than ten nodes one that winds.
func (d Drawing) line() []point {
	const wide = 10
	at := d.rows(func(i int) int { return i / wide }, false)
	for i := range at {
		if i/wide%2 == 1 {
			at[i].x = 1 - at[i].x
		}
	}
	return at
}

func (d Drawing) columns() int {
	if c, ok := d.Params["columns"].(int); ok && c > 0 {
		return c
	}
	return int(math.Ceil(math.Sqrt(float64(d.N()))))
}

// rows puts nodes into rows by a key that counts from 0, spread out evenly; or, not spread, one beside the other in equal
// columns.
func (d Drawing) rows(row func(int) int, spread bool) []point {
	var sizes []int
	for i := range d.N() {
		for row(i) >= len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[row(i)]++
	}
	widest := 1
	for _, size := range sizes {
		widest = max(widest, size)
	}
	at, placed := make([]point, d.N()), make([]int, len(sizes))
	for i := range at {
		k := row(i)
		size := widest
		if spread {
			size = sizes[k]
		}
		at[i] = point{.5, .5}
		if size > 1 {
			at[i].x = float64(placed[k]) / float64(size-1)
			if spread { // half a gap at either end, so that rows of all sizes are centred
				at[i].x = (float64(placed[k]) + .5) / float64(size)
			}
		}
		bend := 0.0
		if spread && widest > 2 { // rows are bent, so that the edges in them do not fall on one line
			bend = .4 / float64(len(sizes))
		}
		if len(sizes) > 1 {
			at[i].y = (1 - bend) * float64(k) / float64(len(sizes)-1)
		}
		at[i].y += bend * math.Sin(math.Pi*at[i].x)
		placed[k]++
	}
	return at
}

// depth is each node's distance from node 0 (the deepest row for those it does not reach).
func (d Drawing) depth() func(int) int {
	distance := map[int]int{0: 0}
	deepest := 0
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		for _, j := range d.Out(queue[0]) {
			if _, seen := distance[j]; !seen {
				distance[j] = distance[queue[0]] + 1
				deepest = distance[j]
				queue = append(queue, j)
			}
		}
	}
	return func(i int) int {
		if k, reached := distance[i]; reached {
			return k
		}
		return deepest
	}
}

// apart draws the sets of the witness as circles left and right and whoever is in neither as a column between.
func (d Drawing) apart() []point {
	at := make([]point, d.N())
	var between []int
	for i := range at {
		if !d.inSet(i, 0) && !d.inSet(i, 1) {
			between = append(between, i)
		}
	}
	for k, i := range between {
		at[i] = point{.5 + .04*float64(k%2*2-1), (float64(k) + .5) / float64(len(between))}
	}
	for k, set := range d.Witness {
		for j, p := range onCircle(len(set), point{.2 + .6*float64(k), .5}, alone(len(set), .2)) {
			at[set[j]] = point{p.x, .5 + (p.y-.5)*1.8}
		}
	}
	return at
}

// spring is the layout of Fruchterman & Reingold 1991 from a circle, cooling down over a fixed number of rounds, then
// stretched over the square. Nodes start by number, so the same graph is always drawn alike.
func (d Drawing) spring() []point {
	n := d.N()
	at := onCircle(n, point{.5, .5}, .45)
	ideal := .8 / math.Sqrt(float64(n))
	edges := d.Edges()
	for heat := .1; heat > .002; heat *= .985 {
		push := make([]point, n)
		for i := range n {
			for j := range i {
				apart := at[i].minus(at[j])
				far := max(apart.length(), 1e-3)
				force := apart.times(ideal * ideal / (far * far))
				push[i], push[j] = push[i].plus(force), push[j].minus(force)
			}
		}
		for _, e := range edges {
			apart := at[e[0]].minus(at[e[1]])
			force := apart.times(apart.length() / ideal)
			push[e[0]], push[e[1]] = push[e[0]].minus(force), push[e[1]].plus(force)
		}
		for i, p := range push {
			pull := point{.5, .5}.minus(at[i]).times(.3) // keeps components together
			p = p.plus(pull)
			if far := p.length(); far > 0 {
				at[i] = at[i].plus(p.times(min(far, heat) / far))
			}
		}
	}
	return stretch(at)
}

// stretch scales places to fill the unit square, keeping proportions.
func stretch(at []point) []point {
	low, high := at[0], at[0]
	for _, p := range at {
		low = point{min(low.x, p.x), min(low.y, p.y)}
		high = point{max(high.x, p.x), max(high.y, p.y)}
	}
	size := max(high.x-low.x, high.y-low.y)
	if size == 0 {
		return at
	}
	middle := low.plus(high).times(.5)
	for i, p := range at {
		at[i] = p.minus(middle).times(1 / size).plus(point{.5, .5})
	}
	return at
}
