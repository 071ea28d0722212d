package graph

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
)

// Drawing says what to draw: a graph, where it came from, and what to colour.
type Drawing struct {
	Built
	Names   []string // nil: numbers
	Title   string
	Roles   []string // by node, "" for none: strong, weak, adversary, …; nodes of a role share a colour
	Witness [2][]int // two sets to ring and to set apart, as in Result
	Layout  string   // one of Layouts; "" picks by family
	// Weight, from 0 to 1, makes the edge from u to v thin and faint or wide and dark; nil: all are alike.
	Weight func(u, v int) float64
}

// scene is a drawing as shapes, in units of a canvas of width by height with y downwards: what SVG and PNG share.
type scene struct {
	width, height float64
	lines         []sceneLine
	discs         []sceneDisc
	texts         []sceneText
}

type sceneLine struct {
	from, to point
	width    float64
	colour   color.RGBA
	arrow    bool // at its end
}

type sceneDisc struct {
	at           point
	radius, ring float64 // ring: width of the outline
	fill, edge   color.RGBA
}

type sceneText struct {
	at     point // middle of the text, or its left end
	size   float64
	text   string
	colour color.RGBA
	left   bool
}

type point struct{ x, y float64 }

func (p point) plus(q point) point    { return point{p.x + q.x, p.y + q.y} }
func (p point) minus(q point) point   { return point{p.x - q.x, p.y - q.y} }
func (p point) times(f float64) point { return point{p.x * f, p.y * f} }
func (p point) length() float64       { return math.Hypot(p.x, p.y) }
func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255}
}
func cssColour(c color.RGBA) string   { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
func (d Drawing) node(i int) string   { return File{d.Graph, d.Names}.Name(i) }
func (d Drawing) inSet(i, k int) bool { return slices.Contains(d.Witness[k], i) }
func (d Drawing) hasWitness() bool    { return len(d.Witness[0]) > 0 && len(d.Witness[1]) > 0 }
func (d Drawing) radius() float64     { return max(8, min(24, 420/float64(max(d.N(), 1)))) }

// Colours that differ for the colour-blind too (Okabe & Ito 2008). Known roles keep theirs; others take the rest in
// the order of their names.
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

const canvas, margin, legendLine = 800.0, 60.0, 24.0

// picture lays the drawing out.
func (d Drawing) picture() (scene, error) {
	if d.N() == 0 {
		return scene{}, fmt.Errorf("graph: nothing to draw")
	}
	if d.Names != nil && len(d.Names) != d.N() || d.Roles != nil && len(d.Roles) != d.N() {
		return scene{}, fmt.Errorf("graph: draw: names or roles for another number of nodes than %d", d.N())
	}
	at, err := d.layout()
	if err != nil {
		return scene{}, err
	}
	for i := range at {
		at[i] = point{margin + at[i].x*(canvas-2*margin), margin + at[i].y*(canvas-2*margin)}
	}
	s := scene{width: canvas, height: canvas}
	if d.Title != "" {
		s.texts = append(s.texts, sceneText{point{canvas / 2, 24}, 18, d.Title, ink, false})
	}
	d.edges(&s, at)
	fills := d.fills()
	radius := d.radius()
	for i, p := range at {
		disc := sceneDisc{p, radius, max(1, radius/12), fills[i], ink}
		for k := range d.Witness {
			if d.hasWitness() && d.inSet(i, k) {
				disc.ring, disc.edge = max(3, radius/4), setColours[k]
			}
		}
		s.discs = append(s.discs, disc)
		name := d.node(i)
		size := min(radius, 2.6*radius/float64(max(len([]rune(name)), 1)))
		s.texts = append(s.texts, sceneText{p, max(size, 5), name, ink, false})
	}
	d.legend(&s)
	return s, nil
}

// edges draws the edges; those that a witness set hears from outside stand out, since they are what is too few.
func (d Drawing) edges(s *scene, at []point) {
	for _, e := range d.Edges() {
		u, v := e[0], e[1]
		line := sceneLine{at[u], at[v], 1.2, edgeColour, d.Directed()}
		for k := range d.Witness {
			crosses := d.inSet(v, k) && !d.inSet(u, k) || !d.Directed() && d.inSet(u, k) && !d.inSet(v, k)
			if d.hasWitness() && crosses {
				line.width, line.colour = 2, crossColour
			}
		}
		if d.Weight != nil {
			line.width, line.colour = weigh(d.Weight(u, v))
		}
		if along := at[v].minus(at[u]); along.length() > 0 && d.Directed() {
			along = along.times(1 / along.length())
			line.to = at[v].minus(along.times(d.radius() + 2))
			if d.HasEdge(v, u) && d.Weight != nil { // each way keeps to its right, so that neither hides the other
				aside := point{-along.y, along.x}.times(5)
				line.from, line.to = line.from.plus(aside), line.to.plus(aside)
			}
		}
		s.lines = append(s.lines, line)
	}
	if d.Weight != nil { // the heavy ones above the light ones
		slices.SortStableFunc(s.lines, func(a, b sceneLine) int { return cmp.Compare(a.width, b.width) })
	}
}

// weigh is the width and the colour of an edge of some weight.
func weigh(w float64) (width float64, c color.RGBA) {
	w = min(max(w, 0), 1)
	mix := func(light, dark uint8) uint8 { return uint8(float64(light) + w*(float64(dark)-float64(light)) + .5) }
	return .8 + 5.2*w, color.RGBA{mix(faint.R, ink.R), mix(faint.G, ink.G), mix(faint.B, ink.B), 255}
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

func (d Drawing) fills() []color.RGBA {
	fills := make([]color.RGBA, d.N())
	for i := range fills {
		if fills[i] = plainFill; d.Roles != nil {
			fills[i] = d.colourOf(d.Roles[i])
		}
	}
	return fills
}

// legend adds a line below for each role and for the witness.
func (d Drawing) legend(s *scene) {
	entry := func(disc sceneDisc, text string) {
		disc.at = point{margin, s.height + legendLine/2 - 10}
		s.discs = append(s.discs, disc)
		s.texts = append(s.texts, sceneText{point{margin + 20, disc.at.y}, 14, text, ink, true})
		s.height += legendLine
	}
	for _, role := range d.roles() {
		entry(sceneDisc{radius: 8, ring: 1, fill: d.colourOf(role), edge: ink}, role)
	}
	if d.hasWitness() {
		for k, set := range d.Witness {
			reach, err := Reach(d.Graph, set)
			if err == nil {
				entry(sceneDisc{radius: 8, ring: 3, fill: plainFill, edge: setColours[k]},
					fmt.Sprintf("set %d: nobody hears more than %d outside it", k+1, reach))
			}
		}
	}
}
