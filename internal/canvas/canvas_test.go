package canvas

import (
	"bytes"
	"compress/zlib"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var black = color.RGBA{A: 255}

func texts(c Canvas) {
	for k, text := range []string{"h16-b4-may-exist", `<text x="1">`, "0 %"} {
		c.Text(Text{Size: 10, Ink: black, X: Centre, Y: Middle}, Point{X: 50, Y: 20 * float64(k+1)}, text)
	}
}

// Every text has its measured width, even if it looks like a tag, and the document begins with the element svg.
func TestSVG(t *testing.T) {
	b, err := SVG(100, 100, texts)
	if err != nil || xml.Unmarshal(b, new(struct{})) != nil {
		t.Error(err, "or the document is not well-formed")
	}
	all := bytes.Count(b, []byte("<text "))
	widths := regexp.MustCompile(`<text textLength="[1-9][0-9.]*" lengthAdjust="spacingAndGlyphs" x="`).FindAll(b, -1)
	if all != 3 || len(widths) != 3 || !bytes.HasPrefix(b, []byte("<svg ")) {
		t.Errorf("%d texts, %d with their widths:\n%s", all, len(widths), b)
	}
}

// An m and a space are as wide as in Arial, 1706 and 569 of 2048 units; an i is 505 wide, in Arial 455.
func TestWidth(t *testing.T) {
	for text, units := range map[string]float64{"m": 1706, "i": 505, " ": 569, "mi": 1706 + 505, "": 0} {
		if w := (Text{Size: 10}).Width(text); math.Abs(w-units*10/2048) > 1e-9 {
			t.Errorf("%q is %g wide, want %g", text, w, units*10/2048)
		}
	}
}

func decode(t *testing.T, width, height float64, fill func(Canvas)) image.Image {
	t.Helper()
	b, err := PNG(width, height, fill)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// dark returns the part of a rectangle of an image that is black, from 0 to 1.
func dark(img image.Image, box image.Rectangle) (share float64) {
	for x := box.Min.X; x < box.Max.X; x++ {
		for y := box.Min.Y; y < box.Max.Y; y++ {
			r, _, _, _ := img.At(x, y).RGBA()
			share += 1 - float64(r)/0xffff
		}
	}
	return share / float64(box.Dx()*box.Dy())
}

// Shapes have the place, the size and the area that SVG gives them. Joints and crossings of a line are not drawn twice
// or left out, whatever the direction of the line.
func TestPNG(t *testing.T) {
	solid := Stroke{Ink: black, Width: 2}
	for name, c := range map[string]struct {
		fill func(Canvas)
		box  image.Rectangle // in pixels from the upper left
		want float64         // the part of it that is black
	}{
		"rectangle": {func(c Canvas) { c.Rectangle(black, Point{10, 10}, Point{20, 30}) },
			image.Rect(20, 40, 40, 80), 1},
		"line": {func(c Canvas) { c.Line(solid, Point{0, 10}, Point{50, 10}) },
			image.Rect(10, 76, 90, 84), .5},
		"against it": {func(c Canvas) { c.Line(solid, Point{50, 10}, Point{0, 10}) },
			image.Rect(10, 76, 90, 84), .5},
		"there, back": {func(c Canvas) { c.Line(solid, Point{0, 10}, Point{50, 10}, Point{0, 10}) },
			image.Rect(10, 78, 90, 82), 1},
		"corner": {func(c Canvas) { c.Line(solid, Point{0, 10}, Point{20, 10}, Point{20, 40}) },
			image.Rect(30, 78, 41, 81), 1},
		"dashes": {func(c Canvas) {
			c.Line(Stroke{black, 2, []float64{4, 6}}, Point{0, 10}, Point{13, 10}, Point{40, 10})
		}, image.Rect(0, 78, 80, 82), .4},
		"disc": {func(c Canvas) { c.Disc(Point{25, 25}, 10, black, Stroke{}) },
			image.Rect(30, 30, 70, 70), math.Pi / 4},
		"ring": {func(c Canvas) { c.Disc(Point{25, 25}, 9, white, solid) },
			image.Rect(30, 30, 70, 70),
			math.Pi / 4 * (1 - .64)},
		"an l": {func(c Canvas) { c.Text(Text{Size: 40, Ink: black}, Point{10, 10}, "l") },
			image.Rect(27, 22, 32, 60), 1},
		"a turned l": {func(c Canvas) { c.Text(Text{Size: 40, Ink: black, Turned: true}, Point{40, 10}, "l") },
			image.Rect(22, 68, 60, 73), 1},
		"half inside": {func(c Canvas) { c.Disc(Point{25, 50}, 10, black, Stroke{}) },
			image.Rect(30, 0, 70, 20), math.Pi / 4},
		"half beside": {func(c Canvas) { c.Disc(Point{50, 25}, 10, black, Stroke{}) },
			image.Rect(80, 30, 100, 70), math.Pi / 4},
		"not at the other side": {func(c Canvas) { c.Disc(Point{50, 25}, 10, black, Stroke{}) },
			image.Rect(0, 0, 79, 100), 0},
		"outside": {func(c Canvas) { c.Line(solid, Point{-9, -9}, Point{-5, -5}) },
			image.Rect(0, 0, 100, 100), 0},
		"no place": {func(c Canvas) { c.Line(solid, Point{0, 0}, Point{math.NaN(), math.Inf(1)}) },
			image.Rect(0, 0, 100, 100), 0},
		"empty image": {func(Canvas) {},
			image.Rect(0, 0, 100, 100), 0},
	} {
		img := decode(t, 50, 50, c.fill)
		if size := img.Bounds().Size(); size.X != 100 || size.Y != 100 {
			t.Error("size", size)
		}
		if got := dark(img, c.box); math.Abs(got-c.want) > .02 {
			t.Errorf("%s: %.3f of %v is black, want %.3f", name, got, c.box, c.want)
		}
	}
}

// A letter with a hole has a hole, and small letters differ from capitals.
func TestLetters(t *testing.T) {
	img := decode(t, 50, 50, func(c Canvas) { c.Text(Text{Size: 50, Ink: black}, Point{5, 5}, "o") })
	if hole := dark(img, image.Rect(36, 44, 40, 50)); hole > .01 {
		t.Errorf("%.2f of the hole is black", hole)
	}
	small := decode(t, 50, 50, func(c Canvas) { c.Text(Text{Size: 20, Ink: black}, Point{5, 5}, "x") })
	large := decode(t, 50, 50, func(c Canvas) { c.Text(Text{Size: 20, Ink: black}, Point{5, 5}, "X") })
	if all := image.Rect(0, 0, 100, 100); dark(small, all) == 0 || dark(small, all) > .9*dark(large, all) {
		t.Error("x is not smaller than X")
	}
}

// page returns the operators of a PDF document of one page, after checking its table of objects.
func page(t *testing.T, doc []byte) string {
	t.Helper()
	table := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(doc)
	if !bytes.HasPrefix(doc, []byte("%PDF-1.4\n")) || table == nil {
		t.Fatalf("no head or no end: %q", doc)
	}
	at, _ := strconv.Atoi(string(table[1]))
	for k, m := range regexp.MustCompile(`(\d{10}) 00000 n `).FindAllSubmatch(doc[at:], -1) {
		offset, _ := strconv.Atoi(string(m[1]))
		if !bytes.HasPrefix(doc[offset:], fmt.Appendf(nil, "%d 0 obj\n", k+1)) {
			t.Errorf("object %d is not at byte %d", k+1, offset)
		}
	}
	head, rest, _ := bytes.Cut(doc, []byte("stream\n"))
	length := regexp.MustCompile(`/Length (\d+)`).FindSubmatch(head)
	n, _ := strconv.Atoi(string(length[1]))
	z, err := zlib.NewReader(bytes.NewReader(rest[:n]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || !bytes.HasPrefix(rest[n:], []byte("\nendstream")) {
		t.Fatal(err, "or the length is wrong")
	}
	return string(text)
}

// A PDF has the shapes at their places, and texts as texts in the encoding of its font. A text that the font cannot
// show is drawn as shapes.
func TestPDF(t *testing.T) {
	doc, err := PDF(60, 50, func(c Canvas) {
		c.Rectangle(color.RGBA{R: 255, A: 255}, Point{10, 20}, Point{30, 40})
		c.Line(Stroke{black, 2, []float64{4, 6}}, Point{0, 10}, Point{50, 10})
		c.Disc(Point{25, 25}, 10, black, Stroke{})
		c.Text(Text{Size: 10, Ink: black}, Point{5, 7.8}, `a (b\c) – é`)
		c.Text(Text{Size: 10, Ink: black, Turned: true}, Point{5, 5}, "up")
	})
	if err != nil || !bytes.Contains(doc, []byte("/MediaBox [0 0 60 50]")) {
		t.Fatal(err)
	}
	got := page(t, doc)
	for _, want := range []string{"1 0 0 rg\n10 20 m\n30 20 l\n30 40 l\n10 40 l\nh f\n",
		"0 0 0 RG 2 w [4 6] 0 d\n0 10 m\n50 10 l\nS\n", "35 25 m\n35 30.52 30.52 35 25 35 c\n",
		"1 0 0 1 5 10 Tm (a \\(b\\\\c\\) \x96 \xe9) Tj", "0 1 -1 0 2.8 5 Tm (up) Tj"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%q", want, got)
		}
	}
	if n := strings.Count(got, " c\n"); n != 4 {
		t.Errorf("a circle of %d curves", n)
	}
	doc, err = PDF(60, 50, func(c Canvas) { c.Text(Text{Size: 10, Ink: black}, Point{5, 5}, "Erdős") })
	if shapes := page(t, doc); err != nil || strings.Contains(shapes, "Tj") || strings.Count(shapes, " c\n") < 20 {
		t.Errorf("%v; the letters are not drawn:\n%s", err, shapes)
	}
}

// A text in a PDF is as wide as it was measured, though Helvetica has other widths than the font that measures.
func TestPDFWidth(t *testing.T) {
	style := Text{Size: 10, Ink: black}
	doc, err := PDF(60, 50, func(c Canvas) { c.Text(style, Point{5, 5}, "Wi 10 %") })
	m := regexp.MustCompile(`/F 10 Tf ([0-9.]+) Tz `).FindStringSubmatch(page(t, doc))
	if err != nil || m == nil {
		t.Fatal(err, "no stretch")
	}
	stretch, _ := strconv.ParseFloat(m[1], 64)
	natural := 10 * (944 + 222 + 278 + 556 + 556 + 278 + 889) / 1000. // Adobe's metrics of Helvetica
	if got, want := natural*stretch/100, style.Width("Wi 10 %"); math.Abs(got-want) > .01 {
		t.Errorf("%g wide, want %g", got, want)
	}
}

// The upper half of the encoding has its characters at their codes.
func TestWinAnsi(t *testing.T) {
	for text, want := range map[string]string{"€": "\x80", "™": "\x99", "Ÿ": "\x9f", "“”": "\x93\x94",
		"×": "\xd7"} {
		if got, ok := winAnsi(text); !ok || got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	if _, ok := winAnsi("γ"); ok {
		t.Error("a Greek letter has a code")
	}
}
