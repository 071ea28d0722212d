// Package draw draws graphs as SVG and PNG.
//
// Its rank is 1: it uses package graph.
package draw

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"synod.dev/synod/graph"
	"synod.dev/synod/internal/canvas"
	"synod.dev/synod/internal/order"
)

// Drawing is a graph and what to show about it.
type Drawing struct {
	Graph graph.Graph
	Names []string // by node; nil: the numbers
	Title string
	Roles []string // by node, "" for none: strong, weak, adversary, …; the nodes of a role have the same colour
	// Fills has a colour for each node in place of that of its role; a transparent one is that of a node without a
	// role. nil: roles have their colours.
	Fills   []color.RGBA
	Witness [2][]int // two sets to outline, as in robustness.Result; the edges into them from outside are highlighted
	Layout  string   // one of Layouts; "": sets if there is a witness, otherwise spring
	Layers  []int    // number of nodes in each layer or row, for the layouts grid and layers; nil: computed
	// Weight returns a weight from 0 to 1 for the edge from u to v: 0 is thin and faint, 1 wide and
	// dark. If it is nil, all edges are alike.
	Weight func(u, v int) float64
	// Text is the smallest size of names, in points; 0: one that can be read if the drawing is not made smaller.
	Text float64
}

// Colours that colour-blind readers can tell apart (Okabe & Ito 2008). Roles with no colour of their own get one of
// moreColours, in the order of their names.
var (
	roleColours = map[string]color.RGBA{"strong": rgb(0x56b4e9), "weak": rgb(0xf0e442), "adversary": rgb(0xd55e00)}
	moreColours = []color.RGBA{rgb(0x009e73), rgb(0xcc79a7), rgb(0xe69f00), rgb(0x0072b2)}
	setColours  = [2]color.RGBA{rgb(0x0072b2), rgb(0xe69f00)}
	plainFill   = rgb(0xe8e8e8)
	ink         = rgb(0x222222)
	edgeColour  = rgb(0x9a9a9a)
	faint       = rgb(0xd8d8d8)
	crossColour = rgb(0xcc79a7)
)

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255}
}

// SVG returns the drawing as an SVG document that refers to no other file. It returns an error if
// the graph has no nodes, the layout is unknown, or Names, Roles or Fills have another length than the
// number of nodes.
func (d Drawing) SVG() ([]byte, error) {
	p, err := d.plan()
	if err != nil {
		return nil, err
	}
	return canvas.SVG(p.side, p.height, p.paint)
}

// PDF returns the drawing as a PDF document of one page. Its errors are those of SVG.
func (d Drawing) PDF() ([]byte, error) {
	p, err := d.plan()
	if err != nil {
		return nil, err
	}
	return canvas.PDF(p.side, p.height, p.paint)
}

// PNG returns the drawing as a PNG image of at least 1200 by 1200 pixels. Its errors are those of SVG.
func (d Drawing) PNG() ([]byte, error) {
	p, err := d.plan()
	if err != nil {
		return nil, err
	}
	return canvas.PNG(p.side, p.height, p.paint)
}

func (d Drawing) inSet(i, k int) bool { return slices.Contains(d.Witness[k], i) }
func (d Drawing) hasWitness() bool    { return len(d.Witness[0]) > 0 && len(d.Witness[1]) > 0 }

func (d Drawing) name(i int) string {
	if d.Names == nil {
		return fmt.Sprint(i)
	}
	return d.Names[i]
}

// Sizes in points, 72 to an inch.
const (
	smallest, largest = 600.0, 1000.0 // of the square for the graph
	margin            = 46.0
	titleLine         = 26.0
	legendLine        = 20.0
	titleSize         = 14.0
	legendSize        = 11.0
	smallestText      = 6.5 // smaller text is hard to read on paper
	largestRadius     = 18.0
	smallestRadius    = 5.0
)

// plan is a drawing with positions and sizes.
type plan struct {
	Drawing
	side   float64 // width and height of the square for the graph
	bottom float64 // height of the legend, below the square
	height float64 // of everything, with the title above the square
	at     []canvas.Point
	radius float64 // of the nodes
	text   float64 // size of their names
	inside bool    // whether the names are written inside the nodes
	lines  []line
	legend []legendEntry
}

type line struct {
	from, to canvas.Point
	width    float64
	colour   color.RGBA
}

type legendEntry struct {
	text          string
	fill, outline color.RGBA
	width         float64 // of the outline
}

func (d Drawing) plan() (*plan, error) {
	n := d.Graph.N()
	switch {
	case n == 0:
		return nil, errors.New("graph: draw: the graph has no nodes")
	case d.Names != nil && len(d.Names) != n || d.Roles != nil && len(d.Roles) != n ||
		d.Fills != nil && len(d.Fills) != n:
		return nil, fmt.Errorf("graph: draw: names, roles or colours for another number of nodes than %d", n)
	}
	unit, err := d.layout()
	if err != nil {
		return nil, err
	}
	p := &plan{Drawing: d, legend: d.legendEntries()}
	p.side = min(max(smallest, smallest*math.Sqrt(float64(n)/40)), largest)
	p.bottom = legendLine * float64(len(p.legend))
	p.height = p.bottom + p.side
	if d.Title != "" {
		p.height += titleLine
	}
	room := p.side - 2*margin
	for _, u := range unit {
		p.at = append(p.at, canvas.Point{X: margin + room*u.x, Y: p.bottom + p.side - margin - room*u.y})
	}
	p.sizes()
	p.edges()
	return p, nil
}

// sizes chooses the radius of the nodes, so that no two touch, and the size and place of their names.
func (p *plan) sizes() {
	p.radius = largestRadius
	for i, a := range p.at {
		for _, b := range p.at[:i] {
			p.radius = min(p.radius, .42*distance(a, b))
		}
	}
	p.radius = max(p.radius, smallestRadius)
	widest := 0.0
	for i := range p.at {
		widest = max(widest, label(1).Width(p.name(i)))
	}
	p.text = min(p.radius, 1.7*p.radius/max(widest, .1))
	smallest := cmp.Or(p.Text, smallestText)
	p.inside = p.text >= smallest
	if !p.inside {
		p.text = max(smallest, min(9, p.radius))
	}
}

func distance(a, b canvas.Point) float64 {
	return math.Hypot(a.X-b.X, a.Y-b.Y)
}

// edges adds a line for each edge. Edges into a set of the witness are highlighted, because there are too few of them.
func (p *plan) edges() {
	plain := max(.3, min(.9, 250/float64(max(p.Graph.EdgeCount(), 1)))) // thin if there are many
	for _, e := range p.Graph.Edges() {
		u, v := e[0], e[1]
		l := line{p.at[u], p.at[v], plain, edgeColour}
		for k := range p.Witness {
			crosses := p.inSet(v, k) && !p.inSet(u, k) || !p.Graph.Directed() && p.inSet(u, k) && !p.inSet(v, k)
			if p.hasWitness() && crosses {
				l.width, l.colour = 1.7*plain, crossColour
			}
		}
		if p.Weight != nil {
			l.width, l.colour = weighted(p.Weight(u, v))
		}
		if far := distance(l.from, l.to); far > 0 && p.Graph.Directed() {
			along := l.to.Sub(l.from).Scale(1 / far)
			l.to = l.to.Sub(along.Scale(p.radius + 1.5))
			// each of two directions is moved to its right, so that both are visible
			if p.Graph.HasEdge(v, u) && p.Weight != nil {
				aside := canvas.Point{X: along.Y, Y: -along.X}.Scale(3.8)
				l.from, l.to = l.from.Add(aside), l.to.Add(aside)
			}
		}
		p.lines = append(p.lines, l)
	}
	order.Stable(p.lines, func(a, b line) int { return cmp.Compare(a.width, b.width) }) // wide ones on top
}

// weighted returns the width and colour of an edge of weight w.
func weighted(w float64) (width float64, c color.RGBA) {
	w = min(max(w, 0), 1)
	mix := func(light, dark uint8) uint8 { return uint8(float64(light) + w*(float64(dark)-float64(light)) + .5) }
	return .6 + 3.9*w, color.RGBA{mix(faint.R, ink.R), mix(faint.G, ink.G), mix(faint.B, ink.B), 255}
}

// roles lists the roles in use, sorted.
func (d Drawing) roles() []string {
	all := slices.Compact(slices.Sorted(slices.Values(d.Roles)))
	return slices.DeleteFunc(all, func(role string) bool { return role == "" })
}

func (d Drawing) colourOf(role string) color.RGBA {
	if c, known := roleColours[role]; known {
		return c
	}
	k := 0
	for _, other := range d.roles() {
		if _, known := roleColours[other]; !known {
			if other == role {
				return moreColours[k%len(moreColours)]
			}
			k++
		}
	}
	return plainFill
}

// legendEntries has an entry for each role and for each set of the witness.
func (d Drawing) legendEntries() (all []legendEntry) {
	for _, role := range d.roles() {
		all = append(all, legendEntry{role, d.colourOf(role), ink, .75})
	}
	if !d.hasWitness() {
		return all
	}
	for k, set := range d.Witness {
		if reach, err := graph.Reach(d.Graph, set); err == nil {
			noun := "neighbours"
			if reach == 1 {
				noun = "neighbour"
			}
			all = append(all, legendEntry{fmt.Sprintf("set %d: no node has more than %d %s outside it", k+1, reach,
				noun), plainFill, setColours[k], 2.25})
		}
	}
	return all
}

func (p *plan) paint(c canvas.Canvas) {
	for _, l := range p.lines {
		p.paintLine(c, l)
	}
	for i, at := range p.at {
		fill, outline, width := plainFill, ink, max(.5, p.radius/14)
		if p.Roles != nil {
			fill = p.colourOf(p.Roles[i])
		}
		if p.Fills != nil && p.Fills[i].A > 0 {
			fill = p.Fills[i]
		}
		for k := range p.Witness {
			if p.hasWitness() && p.inSet(i, k) {
				outline, width = setColours[k], max(1.5, p.radius/6)
			}
		}
		c.Disc(at, p.radius, fill, canvas.Stroke{Ink: outline, Width: width})
	}
	for i := range p.at {
		p.paintName(c, i)
	}
	if p.Title != "" {
		title := label(titleSize)
		title.Size = min(titleSize, titleSize*(p.side-20)/max(title.Width(p.Title), 1))
		c.Text(title, canvas.Point{X: p.side / 2, Y: p.height - titleLine + 4}, p.Title)
	}
	style := label(legendSize)
	style.X = canvas.Left
	for k, e := range p.legend {
		at := canvas.Point{X: margin, Y: p.bottom - legendLine*(float64(k)-.3)}
		c.Disc(at, 6, e.fill, canvas.Stroke{Ink: e.outline, Width: e.width})
		c.Text(style, canvas.Point{X: margin + 14, Y: at.Y}, e.text)
	}
}

// paintName writes the name of a node inside it or, if it does not fit, beside it: away from the middle of the drawing.
func (p *plan) paintName(c canvas.Canvas, i int) {
	style, at := label(p.text), p.at[i]
	if p.inside {
		c.Text(style, at, p.name(i))
		return
	}
	half := style.Width(p.name(i)) / 2
	away := 1.0
	if at.Y < p.bottom+p.side/2 {
		away = -1
	}
	at.Y += away * (p.radius + .7*p.text)
	at.X = min(max(at.X, half+2), p.side-half-2)
	halo := style
	halo.Ink = color.RGBA{255, 255, 255, 255}
	for _, shift := range []canvas.Point{{X: .8}, {X: -.8}, {Y: .8}, {Y: -.8}} { // readable on top of edges
		c.Text(halo, at.Add(shift), p.name(i))
	}
	c.Text(style, at, p.name(i))
}

// paintLine draws a line, with an arrowhead if the graph is directed.
func (p *plan) paintLine(c canvas.Canvas, l line) {
	end, far := l.to, distance(l.from, l.to)
	if p.Graph.Directed() && far > 0 {
		length := 6.5 + 1.1*l.width
		along := l.to.Sub(l.from).Scale(1 / far)
		across := canvas.Point{X: -along.Y, Y: along.X}.Scale(2.4 + .6*l.width)
		base := l.to.Sub(along.Scale(length))
		c.Polygon(l.colour, l.to, base.Add(across), base.Sub(across))
		if far > length {
			end = base.Add(along) // under the arrowhead, which a wide line would blunt
		}
	}
	c.Line(canvas.Stroke{Ink: l.colour, Width: l.width}, l.from, end)
}

// label returns the style of texts, which are centred on their point.
func label(size float64) canvas.Text {
	return canvas.Text{Size: size, Ink: ink, X: canvas.Centre, Y: canvas.Middle}
}
