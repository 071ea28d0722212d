package page

import (
	"fmt"
	"math"
	"strings"

	"synod.dev/synod/graph/format"
)

// doctorDrawing is a graph whose nodes are links: the first that is followed chooses a node, the second adds the
// edge to another one or removes it.
type doctorDrawing struct {
	Side  int // width and height
	R     float64
	Nodes []drawnNode
	Edges []drawnEdge
	Arrow bool
	Text  string // the graph in words
	Pick  string
}

type drawnNode struct {
	X, Y, LabelX, LabelY float64
	Name, Say, Href      string
	Set                  int // of the witness, 1 or 2; 0: none
	Picked               bool
	Inside               bool // the name is written inside the node
	Anchor               string
	ID                   string
}

type drawnEdge struct {
	X1, Y1, X2, Y2 float64
	Cross          bool // it leads into a set of the witness from outside
}

// Sizes of the drawing, in its own units.
const (
	drawSide   = 560
	drawRing   = 225.0
	drawLabel  = 32.0 // from a node to its name
	drawLetter = 11.0 // width of a letter in a node
)

func round1(x float64) float64 { return math.Round(10*x) / 10 }

// drawEditable puts the nodes on a circle, so that they stay where they are when an edge is added or removed.
func drawEditable(f *doctorForm, file format.File, sets [2][]int) *doctorDrawing {
	g := file.Graph
	n := g.N()
	d := &doctorDrawing{Side: drawSide, Arrow: g.Directed(), Text: inWords(file),
		R: round1(min(24, max(9, 0.8*math.Pi*drawRing/float64(n))))}
	set := make([]int, n)
	for k, members := range sets {
		for _, i := range members {
			set[i] = k + 1
		}
	}
	picked := -1
	if i, err := file.Node(f.Pick); err == nil && f.Pick != "" {
		picked, d.Pick = i, file.Name(i)
	}
	for i := range n {
		angle := 2*math.Pi*float64(i)/float64(n) - math.Pi/2
		node := drawnNode{X: round1(drawSide/2 + drawRing*math.Cos(angle)), Name: file.Name(i), Set: set[i],
			Y: round1(drawSide/2 + drawRing*math.Sin(angle)), Picked: i == picked, ID: fmt.Sprint("node-", i)}
		node.place(angle, d.R)
		node.link(f, file, i, picked)
		d.Nodes = append(d.Nodes, node)
	}
	for _, e := range g.Edges() {
		d.Edges = append(d.Edges, d.edge(e[0], e[1]))
	}
	return d
}

// place puts the name into the node, or beside it on the outer side.
func (x *drawnNode) place(angle, r float64) {
	x.LabelX, x.LabelY, x.Anchor = x.X, x.Y, "middle"
	if x.Inside = float64(len([]rune(x.Name)))*drawLetter < 1.8*r; x.Inside {
		return
	}
	x.LabelX, x.LabelY = round1(x.X+drawLabel*math.Cos(angle)), round1(x.Y+drawLabel*math.Sin(angle))
	switch c := math.Cos(angle); {
	case c > 0.3:
		x.Anchor = "start"
	case c < -0.3:
		x.Anchor = "end"
	}
}

// link says what a click on the node does.
func (x *drawnNode) link(f *doctorForm, file format.File, i, picked int) {
	toggle := fmt.Sprintf("%d~%d", picked, i)
	switch {
	case picked < 0:
		x.Href = f.address("pick", x.Name)
		x.Say = fmt.Sprintf("Node %s, %s: choose it to add or remove an edge", x.Name,
			plural(file.Graph.InDegree(i), "neighbour"))
	case picked == i:
		x.Href, x.Say = f.address(), fmt.Sprintf("Node %s is chosen: undo", x.Name)
	case file.Graph.HasEdge(picked, i):
		x.Href = f.address("toggle", toggle)
		x.Say = fmt.Sprintf("Remove the edge from %s to %s", file.Name(picked), x.Name)
	default:
		x.Href = f.address("toggle", toggle)
		x.Say = fmt.Sprintf("Add an edge from %s to %s", file.Name(picked), x.Name)
	}
}

func (d *doctorDrawing) edge(u, w int) drawnEdge {
	a, b := d.Nodes[u], d.Nodes[w]
	e := drawnEdge{X1: a.X, Y1: a.Y, X2: b.X, Y2: b.Y, Cross: a.Set != b.Set && (b.Set > 0 || !d.Arrow)}
	if far := math.Hypot(b.X-a.X, b.Y-a.Y); d.Arrow && far > 0 { // the arrow ends at the node
		e.X2, e.Y2 = round1(b.X-(b.X-a.X)*(d.R+2)/far), round1(b.Y-(b.Y-a.Y)*(d.R+2)/far)
	}
	return e
}

// inWords lists, for readers who do not see the drawing, whom each node hears.
func inWords(file format.File) string {
	g := file.Graph
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s.", plural(g.N(), "node"), plural(g.EdgeCount(), "edge"))
	for i := range g.N() {
		hears := nodes(file, g.In(i))
		if hears == "" {
			hears = "nobody"
		}
		fmt.Fprintf(&b, " %s hears %s.", file.Name(i), hears)
	}
	return b.String()
}
