// Package draw draws graphs as SVG, PDF and PNG.
//
// Its rank is 1: it uses package graph and internal/chart.
package draw

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/graph"
	"synod.dev/synod/internal/chart"
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
	Text vg.Length
}

// Roles with no colour of their own get one of moreColours, in the order of their names.
var (
	roleColours = map[string]color.RGBA{"strong": chart.Sky, "weak": chart.Yellow, "adversary": chart.Vermilion}
	moreColours = []color.RGBA{chart.Green, chart.Purple, chart.Orange, chart.Blue}
	setColours  = [2]color.RGBA{chart.Blue, chart.Orange}
	plainFill   = chart.Mix(chart.White, chart.Ink, .1)
	edgeColour  = chart.Mix(chart.White, chart.Ink, .46)
	faint       = chart.Mix(chart.White, chart.Ink, .18)
	crossColour = chart.Purple
)

// File returns the drawing as a file of one of chart.Formats, which refers to no other file; a PNG image has at least
// 1200 by 1200 pixels. It returns an error if the graph has no nodes, the format or the layout is unknown, or Names,
// Roles or Fills have another length than the number of nodes.
func (d Drawing) File(format string) ([]byte, error) {
	p, err := d.plan()
	if err != nil {
		return nil, err
	}
	return chart.File(format, p.side, p.height, p.paint)
}

// SVG returns the drawing as an SVG document. Its errors are those of File.
func (d Drawing) SVG() ([]byte, error) { return d.File("svg") }

// PDF returns the drawing as a PDF document of one page. Its errors are those of File.
func (d Drawing) PDF() ([]byte, error) { return d.File("pdf") }

// PNG returns the drawing as a PNG image. Its errors are those of File.
func (d Drawing) PNG() ([]byte, error) { return d.File("png") }

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
	side   vg.Length // width and height of the square for the graph
	bottom vg.Length // height of the legend, below the square
	height vg.Length // of everything, with the title above the square
	at     []vg.Point
	radius vg.Length // of the nodes
	text   vg.Length // size of their names
	inside bool      // whether the names are written inside the nodes
	lines  []line
	legend []legendEntry
}

type line struct {
	from, to vg.Point
	width    vg.Length
	colour   color.RGBA
}

type legendEntry struct {
	text          string
	fill, outline color.RGBA
	width         vg.Length // of the outline
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
	p.side = min(max(smallest, smallest*vg.Length(math.Sqrt(float64(n)/40))), largest)
	p.bottom = legendLine * vg.Length(len(p.legend))
	p.height = p.bottom + p.side
	if d.Title != "" {
		p.height += titleLine
	}
	room := p.side - 2*margin
	for _, u := range unit {
		p.at = append(p.at, vg.Point{X: margin + room*vg.Length(u.x),
			Y: p.bottom + p.side - margin - room*vg.Length(u.y)})
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
	widest := vg.Length(0)
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

func distance(a, b vg.Point) vg.Length {
	return vg.Length(math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y)))
}

// edges adds a line for each edge. Edges into a set of the witness are highlighted, because there are too few of them.
func (p *plan) edges() {
	plain := max(.3, min(.9, 250/vg.Length(max(p.Graph.EdgeCount(), 1)))) // thin if there are many
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
				aside := vg.Point{X: along.Y, Y: -along.X}.Scale(3.8)
				l.from, l.to = l.from.Add(aside), l.to.Add(aside)
			}
		}
		p.lines = append(p.lines, l)
	}
	order.Stable(p.lines, func(a, b line) int { return cmp.Compare(a.width, b.width) }) // wide ones on top
}

// weighted returns the width and colour of an edge of weight w.
func weighted(w float64) (width vg.Length, c color.RGBA) {
	w = min(max(w, 0), 1)
	return vg.Length(.6 + 3.9*w), chart.Mix(faint, chart.Ink, w)
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
		all = append(all, legendEntry{role, d.colourOf(role), chart.Ink, .75})
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

func (p *plan) paint(c draw.Canvas) {
	for _, l := range p.lines {
		p.paintLine(c, l)
	}
	for i := range p.at {
		p.paintNode(c, i)
	}
	for i := range p.at {
		p.paintName(c, i)
	}
	if p.Title != "" {
		title := label(titleSize)
		title.Font.Size = min(titleSize, titleSize*(p.side-20)/max(title.Width(p.Title), 1))
		c.FillText(title, vg.Point{X: p.side / 2, Y: p.height - titleLine + 4}, p.Title)
	}
	style := label(legendSize)
	style.XAlign = text.XLeft
	for k, e := range p.legend {
		at := vg.Point{X: margin, Y: p.bottom - legendLine*(vg.Length(k)-.3)}
		disc(c, at, 6, e.fill, e.outline, e.width)
		c.FillText(style, vg.Point{X: margin + 14, Y: at.Y}, e.text)
	}
}

// disc draws a circle of one colour with an outline of another, which has the radius in its middle.
func disc(c draw.Canvas, at vg.Point, radius vg.Length, fill, outline color.Color, width vg.Length) {
	c.DrawGlyphNoClip(chart.Mark(outline, radius+width/2, chart.Circle), at)
	c.DrawGlyphNoClip(chart.Mark(fill, radius-width/2, chart.Circle), at)
}

func (p *plan) paintNode(c draw.Canvas, i int) {
	fill, outline, width := plainFill, chart.Ink, max(.5, p.radius/14)
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
	disc(c, p.at[i], p.radius, fill, outline, width)
}

// paintName writes the name of a node inside it or, if it does not fit, beside it: away from the middle of the drawing.
func (p *plan) paintName(c draw.Canvas, i int) {
	style, at := label(p.text), p.at[i]
	if p.inside {
		c.FillText(style, at, p.name(i))
		return
	}
	half := style.Width(p.name(i)) / 2
	away := vg.Length(1)
	if at.Y < p.bottom+p.side/2 {
		away = -1
	}
	at.Y += away * (p.radius + .7*p.text)
	at.X = min(max(at.X, half+2), p.side-half-2)
	halo := style
	halo.Color = chart.White
	for _, shift := range []vg.Point{{X: .8}, {X: -.8}, {Y: .8}, {Y: -.8}} { // readable on top of edges
		c.FillText(halo, at.Add(shift), p.name(i))
	}
	c.FillText(style, at, p.name(i))
}

// paintLine draws a line, with an arrowhead if the graph is directed.
func (p *plan) paintLine(c draw.Canvas, l line) {
	end, far := l.to, distance(l.from, l.to)
	if p.Graph.Directed() && far > 0 {
		length := 6.5 + 1.1*l.width
		along := l.to.Sub(l.from).Scale(1 / far)
		across := vg.Point{X: -along.Y, Y: along.X}.Scale(2.4 + .6*l.width)
		base := l.to.Sub(along.Scale(length))
		c.FillPolygon(l.colour, []vg.Point{l.to, base.Add(across), base.Sub(across)})
		if far > length {
			end = base.Add(along) // under the arrowhead, which a wide line would blunt
		}
	}
	c.StrokeLines(chart.Stroke(l.colour, l.width), []vg.Point{l.from, end})
}

func label(size vg.Length) text.Style { return chart.Centred(size, chart.Ink) }
