package chart

import (
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdf is a PDF document whose texts may have any character. vgpdf writes texts in an encoding of western European
// languages and leaves it to its caller to encode them.
type pdf struct{ *vgpdf.Canvas }

// withoutDate makes the bytes of a document depend on nothing but the drawing. The library has no setting for one
// document.
var withoutDate = sync.OnceFunc(func() {
	fpdf.SetDefaultCatalogSort(true)
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
})

func newPDF(width, height vg.Length) pdf {
	withoutDate()
	return pdf{vgpdf.New(width, height)}
}

// FillString draws a line of text. One with a character that the encoding lacks is drawn as shapes.
func (p pdf) FillString(face font.Face, at vg.Point, text string) {
	if code, err := charmap.Windows1252.NewEncoder().String(text); err == nil {
		p.Canvas.FillString(face, at, code)
		return
	}
	p.Fill(outline(face, at, text))
}

// outline returns the shapes of letters.
func outline(face font.Face, at vg.Point, text string) (shapes vg.Path) {
	var buffer sfnt.Buffer
	scale := fixed.I(int(face.Face.UnitsPerEm()))
	unit := face.Font.Size / vg.Length(scale)
	place := func(v fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + vg.Length(v.X)*unit, Y: at.Y - vg.Length(v.Y)*unit}
	}
	for _, letter := range text {
		glyph, err := face.Face.GlyphIndex(&buffer, letter)
		if err != nil {
			continue // the font has a glyph for every character: 0 for those that it lacks
		}
		if segments, err := face.Face.LoadGlyph(&buffer, glyph, scale, nil); err == nil {
			for _, s := range segments {
				a, b, c := place(s.Args[0]), place(s.Args[1]), place(s.Args[2])
				switch s.Op {
				case sfnt.SegmentOpMoveTo:
					shapes.Move(a)
				case sfnt.SegmentOpLineTo:
					shapes.Line(a)
				case sfnt.SegmentOpQuadTo:
					shapes.QuadTo(a, b)
				case sfnt.SegmentOpCubeTo:
					shapes.CubeTo(a, b, c)
				}
			}
		}
		at.X += face.Width(string(letter))
	}
	return shapes
}
