package report

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// fitted is an SVG canvas whose texts are as wide as they were measured, whatever font
// their reader has: a wider one would run into what stands beside them.
type fitted struct {
	*vgsvg.Canvas
	widths []vg.Length // of the texts, as they come
}

// FillString writes a text and keeps its width.
func (c *fitted) FillString(f font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

// bytes is the file. Fonts that are as wide as the one that was measured with come
// first, since squeezed letters are no beauty.
func (c *fitted) bytes() ([]byte, error) {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	const start = "<text "
	parts := bytes.Split(b.Bytes(), []byte(start))
	if len(parts) != len(c.widths)+1 {
		return nil, fmt.Errorf("report: %d texts were drawn, and %d are in the file", len(c.widths), len(parts)-1)
	}
	whole := parts[0]
	for i, w := range c.widths {
		whole = append(whole, start...)
		if w > 0 {
			whole = fmt.Appendf(whole, `textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, w.Points())
		}
		whole = append(whole, parts[i+1]...)
	}
	return bytes.ReplaceAll(whole, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), nil
}
