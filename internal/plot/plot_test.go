package plot

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/internal/canvas"
)

var black = color.RGBA{A: 255}

// labels returns the labels of ticks.
func labels(ticks []Tick) (all []string) {
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
	for want, got := range map[string][]Tick{
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

// places returns the points of the paths of one colour in an SVG document.
func places(t *testing.T, doc []byte, ink string) (all [][2]float64) {
	t.Helper()
	for _, path := range regexp.MustCompile(`<path d="([^"]*)"[^>]*"`+ink+`"`).FindAllSubmatch(doc, -1) {
		for _, m := range regexp.MustCompile(`[ML]([-0-9.]+) ([-0-9.]+)`).FindAllSubmatch(path[1], -1) {
			x, _ := strconv.ParseFloat(string(m[1]), 64)
			y, _ := strconv.ParseFloat(string(m[2]), 64)
			all = append(all, [2]float64{x, y})
		}
	}
	return all
}

// A chart puts a line between the corners of its frame, the higher value above, and every text inside the picture.
func TestChart(t *testing.T) {
	red := color.RGBA{255, 0, 0, 255}
	c := &Chart{Title: "two\nlines", TitleSize: 12, LabelSize: 10, TicksSize: 8, Ink: black,
		Grid: color.RGBA{A: 255, B: 255},
		X:    Axis{Min: 0, Max: 2, Label: "across", Ticks: Whole(0, 2, 5)},
		Y:    Axis{Min: 10, Max: 20, Label: "up", Ticks: Whole(10, 20, 5)}}
	c.Line([]XY{{0, 10}, {2, 20}}, canvas.Stroke{Ink: red, Width: 1})
	doc, err := canvas.SVG(300, 200, c.Draw)
	if err != nil || c.Err() != nil {
		t.Fatal(err, c.Err())
	}
	axes, line := places(t, doc, "#000000")[:3], places(t, doc, "#FF0000") // the axes come before the marks of ticks
	if len(line) != 2 || line[0] != axes[1] || line[1] != [2]float64{axes[2][0], axes[0][1]} {
		t.Errorf("the line from corner to corner is at %v, the axes at %v", line, axes)
	}
	if grid := places(t, doc, "#0000FF"); len(grid) != 2*len(c.Y.Ticks) {
		t.Errorf("%d lines for %d ticks", len(grid)/2, len(c.Y.Ticks))
	}
	for _, want := range []string{">two<", ">lines<", ">across<", ">up<", ">10<", ">20<", ">2<", "rotate(-90"} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("no %q", want)
		}
	}
	place := regexp.MustCompile(`textLength="([\d.]+)"[^>]* x="([-\d.]+)" y="([-\d.]+)"`)
	for _, m := range place.FindAllSubmatch(doc, -1) {
		y, _ := strconv.ParseFloat(string(m[3]), 64)
		x, _ := strconv.ParseFloat(string(m[2]), 64)
		if w, _ := strconv.ParseFloat(string(m[1]), 64); x < 0 || x+w > 300 || y < 5 || y > 199 {
			t.Errorf("a text is outside the picture: %s", m[0])
		}
	}
}

// A point that cannot be drawn is an error, whatever the element.
func TestErr(t *testing.T) {
	good, bad := XY{1, 1}, XY{1, math.NaN()}
	for i, draw := range []func(*Chart){
		func(c *Chart) { c.Line([]XY{good, bad}, canvas.Stroke{}) },
		func(c *Chart) { c.Mark([]XY{{math.Inf(1), 0}}, Mark{}) },
		func(c *Chart) { c.Box(good, bad, black, canvas.Stroke{}) },
		func(c *Chart) { c.Interval(bad, good, black, 3) },
	} {
		c := &Chart{}
		if c.Mark([]XY{good}, Mark{}); c.Err() != nil {
			t.Error(c.Err())
		}
		if draw(c); c.Err() == nil {
			t.Errorf("element %d: no error", i)
		}
	}
}

// All frames of a grid have the same size, and those of a row and of a column are aligned, though only the first chart
// has wide labels.
func TestDrawGrid(t *testing.T) {
	var charts []*Chart
	for k := range 5 {
		c := &Chart{TicksSize: 8, Ink: color.RGBA{R: uint8(k + 1), A: 255}, X: Axis{Max: 1}, Y: Axis{Max: 1}}
		if k == 0 {
			c.Y.Ticks, c.Title, c.TitleSize = []Tick{{0, "a long label of a row"}}, "title", 12
		}
		charts = append(charts, c)
	}
	doc, err := canvas.SVG(600, 300, func(on canvas.Canvas) { DrawGrid(on, charts, 3, canvas.Point{X: 10, Y: 10}) })
	if err != nil {
		t.Fatal(err)
	}
	type frame struct{ left, top, right, bottom float64 }
	var frames []frame
	for k := range charts {
		p := places(t, doc, fmt.Sprintf("#%02X0000", k+1))
		frames = append(frames, frame{p[0][0], p[0][1], p[2][0], p[2][1]})
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < .05 } // lengths are written with two decimals
	for k, f := range frames {
		first, above := frames[k-k%3], frames[k%3]
		if !near(f.right-f.left, frames[0].right-frames[0].left) ||
			!near(f.bottom-f.top, frames[0].bottom-frames[0].top) ||
			!near(f.top, first.top) || !near(f.left, above.left) || f.right > 600 || f.bottom > 300 {
			t.Errorf("frame %d: %v in %v", k, f, frames)
		}
	}
	if slices.IsSortedFunc(frames[:2], func(a, b frame) int { return int(b.left - a.right) }) {
		t.Error("the first two frames overlap")
	}
}

// A legend has the size of its texts and a sign for each entry.
func TestLegend(t *testing.T) {
	l := Legend{Size: 10, Ink: black}
	if w, h := l.Extent(); w != 0 || h != 0 {
		t.Error("an empty legend has a size:", w, h)
	}
	for shape := Circle; shape <= OpenTriangle; shape++ {
		l.Add(fmt.Sprint("entry ", int(shape)), Rule{Ink: black, Width: 1}, Mark{Ink: black, Radius: 3, Shape: shape})
	}
	l.Add("a much longer entry", Swatch(black))
	w, h := l.Extent()
	if want := signWidth + signGap + (canvas.Text{Size: 10}).Width("a much longer entry"); w != want || h < 8*10 {
		t.Errorf("%g by %g", w, h)
	}
	doc, err := canvas.SVG(w, h, l.Draw)
	if n := strings.Count(string(doc), "<text "); err != nil || n != 8 {
		t.Error(n, "texts", err)
	}
	rules, discs := strings.Count(string(doc), `fill="none"`), strings.Count(string(doc), "<circle")
	if rules != 7+2 || discs != 3 {
		t.Errorf("%d lines, %d circles:\n%s", rules, discs, doc)
	}
}
