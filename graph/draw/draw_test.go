package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
)

// wellFormed reads an XML document to its end and counts elements by name.
func wellFormed(t testing.TB, doc []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

// of returns the drawing of a graph with the layout of its topology.
func of(b topology.Built) Drawing {
	return Drawing{Graph: b.Graph, Layout: b.Layout, Layers: b.Layers}
}

func TestSVG(t *testing.T) {
	b := graphtest.Build(t, "merg", 7, nil)
	d := Drawing{Graph: b.Graph, Title: "γ-MERG <7>", Roles: []string{"weak", "weak", "", "strong", "strong", "strong",
		"adversary"}}
	d.Witness = robustness.Find(b.Graph, nil).Witness
	doc, err := d.SVG()
	if err != nil {
		t.Fatal(err)
	}
	// The background, a line, a disc and its outline are paths.
	count := wellFormed(t, doc)
	if discs := 7 + 3 + 2; count["path"] != 1+18+2*discs || count["text"] != 1+discs {
		t.Errorf("18 edges, 7 nodes, 3 roles, 2 sets, a title: %v", count)
	}
	for _, want := range []string{"γ-MERG &lt;7&gt;", ">adversary<", "#D55E00",
		"set 2: no node has more than 4 neighbours outside it", "textLength="} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("no %q", want)
		}
	}
	arrows, err := of(graphtest.Build(t, "circulant", 7, map[string]any{"directed": true})).SVG()
	if count := wellFormed(t, arrows); err != nil || count["path"] != 1+14*2+7*2 {
		t.Error("one arrowhead for each edge:", count, err)
	}
}

// Heavier edges are wider, darker and above lighter ones, and the two directions between two nodes
// are drawn side by side.
func TestWeight(t *testing.T) {
	g := graph.MustNew(3, true, [][2]int{{0, 1}, {1, 0}, {1, 2}})
	weight := map[[2]int]float64{{0, 1}: 1, {1, 0}: .5, {1, 2}: 0}
	p, err := Drawing{Graph: g, Layout: "circle", Weight: func(u, v int) float64 { return weight[[2]int{u, v}] }}.plan()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.lines) != 3 {
		t.Fatal(len(p.lines), "lines")
	}
	for k := 1; k < 3; k++ {
		if light, heavy := p.lines[k-1], p.lines[k]; heavy.width <= light.width || heavy.colour.R >= light.colour.R {
			t.Errorf("%+v above %+v", heavy, light)
		}
	}
	there, back := p.lines[2], p.lines[1]
	if gap := distance(there.from.Add(there.to), back.from.Add(back.to)) / 2; gap < there.width || there.width != 4.5 {
		t.Errorf("arrows %.1f and %.1f wide are %.1f apart", there.width, back.width, gap)
	}
}

func TestPNG(t *testing.T) {
	d := of(graphtest.Build(t, "star", 7, nil))
	d.Title, d.Roles = "star (7)", []string{"adversary", "", "", "", "", "", "boss"}
	data, err := d.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 1200 || size.Y != 1332 {
		t.Error("size", size)
	}
	want := roleColours["adversary"]
	if r, g, blue, _ := img.At(600, 630).RGBA(); uint8(r>>8) != want.R || uint8(g>>8) != want.G ||
		uint8(blue>>8) != want.B {
		t.Errorf("the hub in the middle is %x %x %x, want %v", r>>8, g>>8, blue>>8, want)
	}
	if r, _, _, _ := img.At(5, 5).RGBA(); r>>8 != 255 {
		t.Error("the corner is not white")
	}
}

// Colours of single nodes take the place of those of roles.
func TestFills(t *testing.T) {
	d := of(graphtest.Build(t, "star", 3, nil))
	d.Fills = []color.RGBA{{1, 2, 3, 255}, {}, {}}
	svg, err := d.SVG()
	if err != nil || strings.Count(string(svg), "#010203") != 1 {
		t.Errorf("%v: %s", err, svg)
	}
	d.Fills = d.Fills[:2]
	if _, err := d.SVG(); err == nil {
		t.Error("two colours for three nodes are accepted")
	}
}

// Every layout of every topology stays inside the image and gives each node a position. With the
// layout that suits it, to 60 nodes, no two nodes touch and the names are readable.
func TestLayouts(t *testing.T) {
	for _, f := range topology.Catalogue.Names() {
		for _, n := range []int{1, 2, 7, 16, 40, 60} {
			b, err := topology.Build(f, n, nil, 1)
			if f == "edges" || f == "er" && n > 16 || err != nil {
				continue
			}
			checkLayout(t, of(b), true, fmt.Sprintf("%s %d", f, n))
			witness := of(b)
			witness.Layout, witness.Witness = "", robustness.Find(b.Graph, func() bool { return true }).Witness
			checkLayout(t, witness, n > 1, fmt.Sprintf("%s %d witness", f, n))
			for _, layout := range Layouts {
				d := of(b)
				if d.Layout = layout; layout != "sets" {
					checkLayout(t, d, false, fmt.Sprintf("%s %d %s", f, n, layout))
				}
			}
		}
	}
	d := of(graphtest.Build(t, "star", 7, nil))
	d.Layout = "circel"
	if _, err := d.SVG(); err == nil || !strings.Contains(err.Error(), `"circle"`) {
		t.Error(err)
	}
}

func checkLayout(t *testing.T, d Drawing, strict bool, what string) {
	t.Helper()
	p, err := d.plan()
	if err != nil || len(p.at) != d.Graph.N() {
		t.Fatal(what, err)
	}
	for i, a := range p.at {
		low, high := p.bottom+p.radius, p.bottom+p.side-p.radius
		if a.X < p.radius || a.X > p.side-p.radius || a.Y < low || a.Y > high || math.IsNaN(float64(a.X+a.Y)) {
			t.Errorf("%s: node %d is at %v, outside the image", what, i, a)
		}
		for j := range i {
			if gap := distance(a, p.at[j]); strict && gap < 2*p.radius {
				t.Errorf("%s: nodes %d and %d are %.0f apart, radius %.0f", what, i, j, gap, p.radius)
			}
		}
	}
	if strict && (!p.inside || p.text < smallestText) {
		t.Errorf("%s: the numbers do not fit into nodes of radius %.1f at a readable size", what, p.radius)
	}
}

// Whatever the graph, names, roles and witness, drawings are well-formed and the same each time.
func TestDrawingsOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(1, 8).Draw(t, "graph")
		d := Drawing{Graph: g, Witness: robustness.Find(g, nil).Witness}
		d.Title = rapid.StringMatching(`[ -~é]{0,8}`).Draw(t, "title")
		d.Roles = rapid.SliceOfN(rapid.SampledFrom([]string{"", "weak", "x", "y<"}), g.N(), g.N()).Draw(t, "roles")
		first, err := d.SVG()
		second, _ := d.SVG()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatal("two drawings differ", err)
		}
		for dec := xml.NewDecoder(bytes.NewReader(first)); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
	if _, err := (Drawing{}).PNG(); err == nil {
		t.Error("a graph without nodes is drawn without an error")
	}
}

// Names have at least the size that is asked for, so that they can be read where a drawing is shown smaller.
func TestSmallestText(t *testing.T) {
	for _, least := range []vg.Length{0, 18} {
		names := strings.Fields("one two three four five six seven eight nine")
		p, err := Drawing{Graph: graphtest.Named("complete", 9), Names: names, Layout: "circle", Text: least}.plan()
		if err != nil || p.text < least || least == 0 && p.text >= 18 {
			t.Errorf("names have %v points, %v wanted at least: %v", p.text, least, err)
		}
	}
}
