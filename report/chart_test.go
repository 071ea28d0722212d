package report

import (
	"bytes"
	"regexp"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Every text of a picture has its measured width, even if it looks like a tag.
func TestTextsHaveWidths(t *testing.T) {
	face := font.DefaultCache.Lookup(plot.DefaultFont, font.Points(10))
	c := &fittedSVG{Canvas: vgsvg.New(vg.Points(100), vg.Points(100))}
	for _, text := range []string{"h16-b4-may-exist", `<text x="1">`, "0 %"} {
		c.FillString(face, vg.Point{}, text)
	}
	b, err := c.bytes()
	if err != nil {
		t.Fatal(err)
	}
	texts, widths := bytes.Count(b, []byte("<text ")), regexp.MustCompile(`<text textLength="[1-9][0-9.]*" lengthAdjust="spacingAndGlyphs" x="`).FindAll(b, -1)
	if texts != 3 || len(widths) != 3 {
		t.Errorf("%d texts, %d with their widths:\n%s", texts, len(widths), b)
	}
}
