package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"
)

// labels returns the labels of ticks.
func labels(ticks plot.ConstantTicks) (all []string) {
	for _, t := range ticks {
		all = append(all, t.Label)
	}
	return all
}

// Ticks stand at round values inside the range.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		count    int
		want     string
	}{
		{0, 1, 5, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{.47, .93, 6, "0.5 0.6 0.7 0.8 0.9"},
		{0, 8, 7, "0 2 4 6 8"},
		{-.2, 30, 7, "0 5 10 15 20 25 30"},
		{-7, 7, 7, "-6 -4 -2 0 2 4 6"},
		{0, 4000, 4, "0 1000 2000 3000 4000"},
		{.001, .0032, 5, "0.0010 0.0015 0.0020 0.0025 0.0030"},
		{3, 3, 5, ""}, {0, math.Inf(1), 5, ""}, {math.NaN(), 1, 5, ""}, {0, 1, 0, ""},
	} {
		if got := strings.Join(labels(Ticks(c.from, c.to, c.count)), " "); got != c.want {
			t.Errorf("from %g to %g, at most %d: %s; want %s", c.from, c.to, c.count, got, c.want)
		}
	}
	for want, got := range map[string]plot.ConstantTicks{
		"0 1 2": Whole(0, 2, 7), "3": Whole(2.5, 3.5, 7), "0 2 4 6 8": Whole(0, 8, 7),
	} {
		if s := strings.Join(labels(got), " "); s != want {
			t.Errorf("whole numbers %s, want %s", s, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Float64Range(-1e6, 1e6).Draw(t, "from")
		to := from + rapid.Float64Range(1e-3, 1e6).Draw(t, "range")
		ticks := Ticks(from, to, 6)
		if len(ticks) == 0 || len(ticks) > 7 {
			t.Fatal(ticks)
		}
		for i, tick := range ticks {
			shown, err := strconv.ParseFloat(tick.Label, 64)
			slack := (to - from) * 1e-6
			if err != nil || math.Abs(shown-tick.Value) > slack || tick.Value < from-slack || tick.Value > to+slack ||
				i > 0 && tick.Value <= ticks[i-1].Value {
				t.Fatal(from, to, ticks)
			}
		}
	})
}

// A point that cannot be drawn is an error, whatever the element.
func TestErr(t *testing.T) {
	good, bad := plotter.XY{X: 1, Y: 1}, plotter.XY{X: 1, Y: math.NaN()}
	for i, add := range []func(*Chart){
		func(c *Chart) { c.Line(plotter.XYs{good, bad}, Stroke(Ink, 1)) },
		func(c *Chart) { c.Mark(plotter.XYs{{X: math.Inf(1)}}, Mark(Ink, 3, Circle)) },
		func(c *Chart) { c.Box(good, bad, Ink, Ink) },
		func(c *Chart) { c.Interval(bad, good, Ink, 3) },
		func(c *Chart) { c.Label(bad, "x", 8, Ink) },
	} {
		c := New(10)
		if c.Mark(plotter.XYs{good}, Mark(Ink, 3, Circle)); c.Err() != nil {
			t.Error(c.Err())
		}
		if add(c); c.Err() == nil {
			t.Errorf("element %d: no error", i)
		}
		if b, err := (&Figure{Charts: []*Chart{c}}).File("svg", 100, 100); err == nil {
			t.Errorf("element %d: a figure of %d bytes", i, len(b))
		}
	}
}

// sample has every kind of element, text and sign.
func sample() *Figure {
	f := &Figure{Title: "a title <&> \"of\" 潮汐 – γ", Columns: 2}
	for k := range 3 {
		c := New(8)
		c.Title.Text, c.X.Label.Text, c.Y.Label.Text = fmt.Sprint("panel ", k), "across", "up"
		c.Line(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}, Stroke(Blue, 1, 4, 2))
		c.Box(plotter.XY{X: .2}, plotter.XY{X: .4, Y: .7}, Pale(Red), Red)
		c.Interval(plotter.XY{X: .3, Y: .5}, plotter.XY{X: .3, Y: .9}, Ink, 4)
		c.Interval(plotter.XY{X: .5, Y: .2}, plotter.XY{X: .9, Y: .2}, Ink, 4)
		for _, shape := range []draw.GlyphDrawer{Circle, Square, Triangle, Diamond, OpenCircle, OpenSquare,
			OpenTriangle} {
			c.Mark(plotter.XYs{{X: .6, Y: .6}}, Mark(Green, 3, shape))
		}
		c.Label(plotter.XY{X: .5, Y: .5}, "label", 7, Ink)
		f.Charts = append(f.Charts, c)
	}
	f.Legend.Add("a name", Rule(Stroke(Blue, 1)), Sign(Mark(Blue, 3, Circle)))
	f.Legend.Add("another", Swatch(Red))
	return f
}

// The same figure has the same bytes, in every format.
func TestSameBytes(t *testing.T) {
	for _, format := range Formats {
		first, err := sample().File(format, 500, 300)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := sample().File(format, 500, 300); err != nil || !bytes.Equal(first, again) {
			t.Errorf("two %s files of one figure differ: %v", format, err)
		}
	}
	if _, err := sample().File("bmp", 500, 300); err == nil {
		t.Error("the format bmp was accepted")
	}
}

// An SVG document is well-formed, has no styles, which the policies of pages forbid, and every text stands inside the
// picture with its measured width.
func TestSVG(t *testing.T) {
	doc, err := sample().File("svg", 500, 300)
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local == "text" {
			texts++
		}
		for _, a := range e.Attr {
			if a.Name.Local == "style" {
				t.Errorf("%s has the style %q", e.Name.Local, a.Value)
			}
		}
	}
	widths := regexp.MustCompile(`<text textLength="([0-9.]+)" lengthAdjust="[a-zA-Z]+" x="(-?[0-9.e-]+)"`)
	placed := widths.FindAllSubmatch(doc, -1)
	if !bytes.HasPrefix(doc, []byte("<svg ")) || texts < 20 || len(placed) != texts {
		t.Errorf("%d texts, %d with widths:\n%s", texts, len(placed), doc)
	}
	for _, m := range placed {
		width, _ := strconv.ParseFloat(string(m[1]), 64)
		if x, _ := strconv.ParseFloat(string(m[2]), 64); x+width > 500 {
			t.Errorf("a text reaches over the picture: %s", m[0])
		}
	}
	for _, want := range []string{"a title &lt;&amp;&gt; &#34;of&#34; 潮汐 – γ<", ">panel 2<", ">another<", `fill="#0072B2"`} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("no %q", want)
		}
	}
	odd, err := File("svg", 50, 50, func(c draw.Canvas) { c.FillText(Text(9, Ink), c.Center(), "a\x00\x1bb") })
	if err != nil || xml.Unmarshal(odd, new(struct{})) != nil {
		t.Errorf("%v:\n%s", err, odd)
	}
}

// A figure for print has no title and only texts of 7 and 8 points, all inside the picture; its legend and its note are
// above the charts, in as many lines as their width needs.
func TestPrint(t *testing.T) {
	sizes := regexp.MustCompile(`textLength="([0-9.]+)"[^>]* x="(-?[0-9.e-]+)"[^>]*font-size="([0-9.]+)px"[^>]*>([^<]*)<`)
	for width, lines := range map[float64]float64{400: 1, 90: 3} {
		f := sample()
		f.Print, f.Note = true, "simulated members"
		if got := float64(f.PrintHeight(vg.Length(width))); got != 12*lines+4 {
			t.Errorf("with %g points, the legend is %g high, not %g lines", width, got, lines)
		}
		doc, err := f.File("svg", vg.Length(width), 300)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, m := range sizes.FindAllSubmatch(doc, -1) {
			wide, _ := strconv.ParseFloat(string(m[1]), 64)
			x, _ := strconv.ParseFloat(string(m[2]), 64)
			if size := string(m[3]); size != "7" && size != "8" {
				t.Errorf("%s has %s points", m[4], size)
			}
			if width > 100 && x+wide > width {
				t.Errorf("%s reaches over the picture", m[4])
			}
			seen[string(m[4])] = true
		}
		for _, want := range []string{"simulated members", "a name", "another", "panel 2", "across"} {
			if !seen[want] {
				t.Errorf("no text %q", want)
			}
		}
		if strings.Contains(string(doc), "a title") {
			t.Error("a figure for print has a title")
		}
	}
}

// A PNG image has 2 pixels a point, and the colours that were drawn.
func TestPNG(t *testing.T) {
	doc, err := File("png", 50, 30, func(c draw.Canvas) { c.DrawGlyphNoClip(Mark(Red, 5, Circle), c.Center()) })
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(doc))
	if err != nil || img.Bounds().Dx() != 100 || img.Bounds().Dy() != 60 {
		t.Fatal(err, img.Bounds())
	}
	if r, g, b, _ := img.At(50, 30).RGBA(); uint8(r>>8) != Red.R || uint8(g>>8) != Red.G || uint8(b>>8) != Red.B {
		t.Errorf("the middle is %x %x %x", r>>8, g>>8, b>>8)
	}
	if r, _, _, _ := img.At(1, 1).RGBA(); r != 0xffff {
		t.Error("the corner is not white")
	}
}

// Every colour of a series differs from the others, and a mixture lies between two colours.
func TestPalette(t *testing.T) {
	for i, c := range Series {
		for _, other := range Series[:i] {
			if c == other {
				t.Errorf("%v twice", c)
			}
		}
	}
	if Mix(White, Ink, 0) != White || Mix(White, Ink, 2) != Ink || Pale(Ink) == Ink {
		t.Error(Mix(White, Ink, 0), Mix(White, Ink, 2), Pale(Ink))
	}
}
