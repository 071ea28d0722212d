package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
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

func TestSVG(t *testing.T) {
	b := mustBuild(t, "merg", 7, nil)
	d := Drawing{Built: b, Title: "γ-MERG <7>", Roles: []string{"weak", "weak", "", "strong", "strong", "strong", "adversary"}}
	d.Witness = Robustness(b.Graph, nil).Witness
	doc, err := d.SVG()
	if err != nil {
		t.Fatal(err)
	}
	count := wellFormed(t, doc)
	if count["line"] != 18 || count["circle"] != 7+3+2 || count["polygon"] != 0 || count["text"] != 1+7+3+2 {
		t.Errorf("18 edges, 7 nodes, 3 roles, 2 sets, a title: %v", count)
	}
	for _, want := range []string{"γ-MERG &lt;7&gt;", ">adversary<", cssColour(roleColours["adversary"]), "set 2: nobody hears more than 4 outside it"} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("no %q", want)
		}
	}
	arrows, err := Drawing{Built: mustBuild(t, "circulant", 7, map[string]any{"directed": true})}.SVG()
	if err != nil || wellFormed(t, arrows)["polygon"] != 14 {
		t.Error("one arrow an edge:", err)
	}
}

// Heavier edges are wider, darker and above lighter ones, and two ways between two
// nodes lie side by side.
func TestWeight(t *testing.T) {
	g := mustNew(3, true, [][2]int{{0, 1}, {1, 0}, {1, 2}})
	weight := map[[2]int]float64{{0, 1}: 1, {1, 0}: .5, {1, 2}: 0}
	d := Drawing{Built: Built{Graph: g}, Layout: "circle", Weight: func(u, v int) float64 { return weight[[2]int{u, v}] }}
	s, err := d.picture()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.lines) != 3 {
		t.Fatal(len(s.lines), "lines")
	}
	for k := 1; k < 3; k++ {
		if light, heavy := s.lines[k-1], s.lines[k]; heavy.width <= light.width || heavy.colour.R >= light.colour.R {
			t.Errorf("%+v above %+v", heavy, light)
		}
	}
	there, back := s.lines[2], s.lines[1]
	if gap := there.from.plus(there.to).minus(back.from.plus(back.to)).length() / 2; gap < there.width || there.width != 6 {
		t.Errorf("arrows %.1f and %.1f wide are %.1f apart", there.width, back.width, gap)
	}
}

func TestPNG(t *testing.T) {
	b := mustBuild(t, "star", 7, nil)
	data, err := Drawing{Built: b, Title: "star (7)", Roles: []string{"adversary", "", "", "", "", "", "boss"}}.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 800 || size.Y != 848 {
		t.Error("size", size)
	}
	want := roleColours["adversary"]
	if r, g, blue, _ := img.At(400, 385).RGBA(); uint8(r>>8) != want.R || uint8(g>>8) != want.G || uint8(blue>>8) != want.B {
		t.Errorf("the hub in the middle is %x %x %x, want %v", r>>8, g>>8, blue>>8, want)
	}
	if r, _, _, _ := img.At(5, 5).RGBA(); r>>8 != 255 {
		t.Error("the corner is not white")
	}
}

// Every layout of every family keeps to the square and, to 40 nodes, keeps nodes apart.
func TestLayouts(t *testing.T) {
	for _, f := range FamilyNames() {
		for _, n := range []int{1, 2, 7, 16, 40} {
			b, err := Build(f, n, nil, 1)
			if f == "edges" || f == "er" && n > 16 || err != nil {
				continue
			}
			for _, layout := range append([]string{""}, Layouts...) {
				d := Drawing{Built: b, Layout: layout}
				if layout == "sets" {
					if d.Witness = quickBounds(b.Graph).Witness; !d.hasWitness() {
						continue
					}
				}
				checkLayout(t, d, f+" "+layout)
			}
		}
	}
	if _, err := (Drawing{Built: mustBuild(t, "star", 7, nil), Layout: "circel"}).SVG(); err == nil || !strings.Contains(err.Error(), `"circle"`) {
		t.Error(err)
	}
}

func checkLayout(t *testing.T, d Drawing, what string) {
	t.Helper()
	at, err := d.layout()
	if err != nil || len(at) != d.N() {
		t.Fatal(what, err)
	}
	room := canvas - 2*margin
	for i, p := range at {
		if p.x < -.05 || p.x > 1.05 || p.y < -.05 || p.y > 1.1 || math.IsNaN(p.x+p.y) {
			t.Errorf("%s n=%d: node %d at %v", what, d.N(), i, p)
		}
		for j := range i {
			// "sets", "tree" and "layers" crowd when made for another kind of graph; the automatic choice must not.
			if gap := p.minus(at[j]).length() * room; gap < d.radius()*1.2 && (d.Layout == "" || slices.Contains([]string{"circle", "grid", "line", "hub"}, d.Layout)) {
				t.Errorf("%s n=%d: nodes %d and %d are %.0f apart, radius %.0f", what, d.N(), i, j, gap, d.radius())
			}
		}
	}
}

// Whatever the graph, names, roles and witness, drawings are well-formed and the same each time.
func TestDrawingsOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(1, 8).Draw(t, "graph")
		d := Drawing{Built: Built{Graph: g}, Witness: Robustness(g, nil).Witness}
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
		t.Error("nothing drawn without error")
	}
}
