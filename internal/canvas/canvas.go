// Package canvas writes what is drawn on a gonum canvas as an SVG or PNG file.
//
// Its rank is 0: it uses no other package of Synod.
package canvas

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi is the resolution of PNG files in pixels per inch.
const dpi = 144

// PNG returns an image with a white background, 2 pixels per point wide and high, on which fill draws.
func PNG(width, height vg.Length, fill func(draw.Canvas)) ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	paint(c, fill)
	var b bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(&b)
	return b.Bytes(), err
}

// SVG returns an SVG document with a white background, on which fill draws. Its texts are real text. A reader whose
// system has none of the fonts gets them in another one, stretched to the width that they were measured with, so that
// they do not run into their surroundings.
func SVG(width, height vg.Length, fill func(draw.Canvas)) ([]byte, error) {
	c := &svg{Canvas: vgsvg.New(width, height)}
	paint(c, fill)
	return c.bytes()
}

func paint(sized vg.CanvasSizer, fill func(draw.Canvas)) {
	c := draw.New(sized)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	fill(c)
}

// svg is an SVG canvas that keeps the widths of its texts.
type svg struct {
	*vgsvg.Canvas
	widths []vg.Length
}

func (c *svg) FillString(f font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

func (c *svg) bytes() ([]byte, error) {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	_, doc, _ := bytes.Cut(b.Bytes(), []byte("<svg "+
		"")) // without the XML header, so that it can be put into an HTML page
	const start = "<text "
	parts := bytes.Split(doc, []byte(start))
	if len(parts) != len(c.widths)+1 {
		return nil, fmt.Errorf("canvas: %d texts were drawn, but %d are in the file", len(c.widths), len(parts)-1)
	}
	doc = append([]byte("<svg "), parts[0]...)
	for i, w := range c.widths {
		doc = append(doc, start...)
		if w > 0 {
			doc = fmt.Appendf(doc, `textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, w.Points())
		}
		doc = append(doc, parts[i+1]...)
	}
	// Arial and Helvetica have the same widths as the font that the texts were measured with.
	return bytes.ReplaceAll(doc, []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), nil
}

// Text is a style for texts in a sans-serif font. The texts are centred on their position.
func Text(size vg.Length, ink color.Color) draw.TextStyle {
	return draw.TextStyle{
		Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: text.XCenter, YAlign: text.YCenter, Handler: plot.DefaultTextHandler,
	}
}
