package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
)

// Layouts are the names of the layouts, sorted: sets places the two sets of a witness left and right; in spring, edges
// pull nodes together and nodes push each other away.
var Layouts = []string{"circle", "grid", "hub", "layers", "line", "sets", "spring", "tree"}

// point is a position in the unit square, with y downwards.
type point struct{ x, y float64 }

func (p point) plus(q point) point    { return point{p.x + q.x, p.y + q.y} }
func (p point) minus(q point) point   { return point{p.x - q.x, p.y - q.y} }
func (p point) times(f float64) point { return point{p.x * f, p.y * f} }
func (p point) length() float64       { return math.Hypot(p.x, p.y) }

// layout gives each node a position in the unit square.
func (d Drawing) layout() ([]point, error) {
	n := d.Graph.N()
	switch cmp.Or(d.Layout, d.defaultLayout()) {
	case "circle":
		return onEllipse(n, point{.5, .5}, .5, .5), nil
	case "hub":
		if n == 2 {
			return []point{{.5, .5}, {.5, 0}}, nil
		}
		return append([]point{{.5, .5}}, onEllipse(n-1, point{.5, .5}, .5, .5)...), nil
	case "line":
		return d.line(), nil
	case "grid":
		return d.rows(d.rowOf(int(math.Ceil(math.Sqrt(float64(n))))), false), nil
	case "tree":
		if !d.Graph.Directed() && d.Graph.EdgeCount() == n-1 && d.Graph.Connected() {
			return d.tree(), nil
		}
		return d.rows(d.distances(), true), nil
	case "layers":
		if d.Layers == nil {
			return d.rows(d.distances(), true), nil
		}
		return d.rows(d.rowOf(1), true), nil
	case "sets":
		return d.apart(), nil
	case "spring":
		return d.spring(), nil
	}
	return nil, fmt.Errorf("graph: unknown layout %q%s", d.Layout, synod.Hint(d.Layout, Layouts))
}

func (d Drawing) defaultLayout() string {
	if d.hasWitness() {
		return "sets"
	}
	return "spring"
}

// onEllipse spreads n nodes on an ellipse with radii a and b, from its top. A single node is put in the centre.
func onEllipse(n int, centre point, a, b float64) []point {
	if n == 1 {
		return []point{centre}
	}
	at := make([]point, max(n, 0))
	for i := range at {
		angle := 2*math.Pi*float64(i)/float64(n) - math.Pi/2
		at[i] = centre.plus(point{a * math.Cos(angle), b * math.Sin(angle)})
	}
	return at
}

// line places the nodes on a line, which winds if there are more than ten.
func (d Drawing) line() []point {
	const perRow = 10
	at := d.rows(func(i int) int { return i / perRow }, false)
	for i := range at {
		if i/perRow%2 == 1 {
			at[i].x = 1 - at[i].x
		}
	}
	return at
}

// rowOf returns the layer of a node, or its row in a grid with the given number of columns if there are no layers.
func (d Drawing) rowOf(columns int) func(int) int {
	if d.Layers == nil {
		return func(i int) int { return i / columns }
	}
	return func(i int) int {
		k := 0
		for k < len(d.Layers)-1 && i >= d.Layers[k] {
			i -= d.Layers[k]
			k++
		}
		return k
	}
}

// rows places nodes in rows by a number that counts from 0. If spread is set, the nodes of a row are spread over its
// whole width; otherwise all rows have the same columns.
func (d Drawing) rows(row func(int) int, spread bool) []point {
	n := d.Graph.N()
	var sizes []int
	for i := range n {
		for row(i) >= len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[row(i)]++
	}
	widest := slices.Max(sizes)
	at, placed := make([]point, n), make([]int, len(sizes))
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
		if spread && widest > 2 { // rows are bent, so that the edges within a row do not fall on one line
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

// tree places the nodes of a tree in rows by their distance from node 0, and each above the middle of those below it.
func (d Drawing) tree() []point {
	at := make([]point, d.Graph.N())
	leaves, depth := 0.0, 0
	var place func(i, parent, row int) float64
	place = func(i, parent, row int) float64 {
		depth = max(depth, row)
		var below []float64
		for _, j := range d.Graph.Out(i) {
			if j != parent {
				below = append(below, place(j, i, row+1))
			}
		}
		if len(below) == 0 {
			leaves++
			below = []float64{leaves - .5}
		}
		at[i] = point{(below[0] + below[len(below)-1]) / 2, float64(row)}
		return at[i].x
	}
	place(0, -1, 0)
	for i := range at {
		at[i] = point{at[i].x / leaves, at[i].y / float64(max(depth, 1))}
	}
	return at
}

// distances returns each node's distance from node 0, or the largest distance for nodes that it does not reach.
func (d Drawing) distances() func(int) int {
	distance := map[int]int{0: 0}
	largest := 0
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		for _, j := range d.Graph.Out(queue[0]) {
			if _, seen := distance[j]; !seen {
				distance[j] = distance[queue[0]] + 1
				largest = distance[j]
				queue = append(queue, j)
			}
		}
	}
	return func(i int) int {
		if k, reached := distance[i]; reached {
			return k
		}
		return largest
	}
}

// apart places the sets of the witness on two ellipses left and right, as wide as their shares of the nodes, and the
// nodes in neither set between them.
func (d Drawing) apart() []point {
	at := make([]point, d.Graph.N())
	var between []int
	for i := range at {
		if !d.inSet(i, 0) && !d.inSet(i, 1) {
			between = append(between, i)
		}
	}
	const room = .38 // of the width, for both radii together
	var radius [2]float64
	for k, set := range d.Witness {
		radius[k] = room * min(max(float64(len(set))/float64(len(d.Witness[0])+len(d.Witness[1])), .2), .8)
	}
	middle := (2*radius[0] + 1 - 2*radius[1]) / 2
	for k, i := range between {
		at[i] = point{middle + .04*float64(k%2*2-1), (float64(k) + .5) / float64(len(between))}
	}
	for k, set := range d.Witness {
		centre := point{radius[0], .5}
		if k == 1 {
			centre.x = 1 - radius[1]
		}
		for j, p := range onEllipse(len(set), centre, radius[k], min(.48, 1.8*radius[k])) {
			at[set[j]] = p
		}
	}
	return at
}

// spring is the layout of Fruchterman & Reingold 1991. It starts with the nodes on a circle in the
// order of their numbers and makes a fixed number of steps, so that the same graph always gives the
// same layout. The result is stretched to the unit square, and nodes that are too close are moved
// apart.
func (d Drawing) spring() []point {
	n := d.Graph.N()
	at := onEllipse(n, point{.5, .5}, .45, .45)
	ideal := .8 / math.Sqrt(float64(n))
	edges := d.Graph.Edges()
	for heat := .1; heat > .002; heat *= .985 {
		push := make([]point, n)
		for i := range n {
			for j := range i {
				gap := at[i].minus(at[j])
				far := max(gap.length(), 1e-3)
				force := gap.times(ideal * ideal / (far * far))
				push[i], push[j] = push[i].plus(force), push[j].minus(force)
			}
		}
		for _, e := range edges {
			gap := at[e[0]].minus(at[e[1]])
			force := gap.times(gap.length() / ideal)
			push[e[0]], push[e[1]] = push[e[0]].minus(force), push[e[1]].plus(force)
		}
		for i, p := range push {
			p = p.plus(point{.5, .5}.minus(at[i]).times(.3)) // keeps components together
			if far := p.length(); far > 0 {
				at[i] = at[i].plus(p.times(min(far, heat) / far))
			}
		}
	}
	at = stretch(at)
	separate(at, .5/math.Sqrt(float64(n)))
	return stretch(at)
}

// separate moves nodes that are closer than least apart, in a fixed number of steps.
func separate(at []point, least float64) {
	for range 30 {
		for i := range at {
			for j := range i {
				gap := at[i].minus(at[j])
				far := gap.length()
				if far >= least {
					continue
				}
				if far == 0 {
					gap, far = point{1, 0}, 1
				}
				move := gap.times((least - gap.length()) / (2 * far))
				at[i], at[j] = at[i].plus(move), at[j].minus(move)
			}
		}
	}
}

// stretch scales positions to fill the unit square, with the same factor for x and y.
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
