package canvas

import (
	"bytes"
	"image/color"
	"image/png"
	"regexp"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func texts(c draw.Canvas) {
	for k, text := range []string{"h16-b4-may-exist", `<text x="1">`, "0 %"} {
		c.FillText(Text(10, color.Black), vg.Point{X: 50, Y: 20 * vg.Length(k+1)}, text)
	}
}

// Every text has its measured width, even if it looks like a tag, and the document begins with the element svg.
func TestSVG(t *testing.T) {
	b, err := SVG(100, 100, texts)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.Count(b, []byte("<text "))
	widths := regexp.MustCompile(`<text textLength="[1-9][0-9.]*" lengthAdjust="spacingAndGlyphs" x="`).FindAll(b, -1)
	if all != 3 || len(widths) != 3 || !bytes.HasPrefix(b, []byte("<svg ")) {
		t.Errorf("%d texts, %d with their widths:\n%s", all, len(widths), b)
	}
}

func TestPNG(t *testing.T) {
	b, err := PNG(100, 50, texts)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 200 || size.Y != 100 {
		t.Error("size", size)
	}
	if r, _, _, _ := img.At(1, 1).RGBA(); r != 0xffff {
		t.Error("the background is not white")
	}
}
