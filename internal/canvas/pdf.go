package canvas

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// PDF returns a PDF document of one page, on which fill draws. Its texts are text in Helvetica, which every reader has,
// stretched to the width that they were measured with. A text with a character outside Helvetica's encoding is drawn
// as shapes.
func PDF(width, height float64, fill func(Canvas)) ([]byte, error) {
	p := new(pdf)
	fill(Canvas{Max: Point{width, height}, target: p})
	var drawing bytes.Buffer
	z := zlib.NewWriter(&drawing)
	_, err := z.Write(p.page.Bytes())
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("canvas: compress the PDF page: %w", err)
	}
	return document(
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %s %s] /Contents 4 0 R "+
			"/Resources << /Font << /F 5 0 R >> >> >>", decimal(width), decimal(height)),
		fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", drawing.Len(), drawing.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"), nil
}

// document joins numbered objects to a file, of which the first is the catalogue.
func document(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n") // the second line marks the file as binary
	var at []int
	for k, object := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", k+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}

// pdf writes the operators of a page, whose y grows upwards as that of a canvas.
type pdf struct{ page bytes.Buffer }

func rgb(c color.RGBA) string {
	part := func(v uint8) string { return fmt.Sprintf("%.3g", float64(v)/255) }
	return part(c.R) + " " + part(c.G) + " " + part(c.B)
}

func (p *pdf) at(points ...Point) {
	for _, at := range points {
		p.page.WriteString(decimal(at.X) + " " + decimal(at.Y) + " ")
	}
}

func (p *pdf) path(points []Point) {
	for i, at := range points {
		p.at(at)
		p.page.WriteString([]string{"m\n", "l\n"}[min(i, 1)])
	}
}

func (p *pdf) line(s Stroke, points []Point) {
	var dashes []string
	for _, d := range s.Dashes {
		dashes = append(dashes, decimal(d))
	}
	fmt.Fprintf(&p.page, "%s RG %s w [%s] 0 d\n", rgb(s.Ink), decimal(s.Width), strings.Join(dashes, " "))
	p.path(points)
	p.page.WriteString("S\n")
}

func (p *pdf) polygon(fill color.RGBA, points []Point) {
	p.page.WriteString(rgb(fill) + " rg\n")
	p.path(points)
	p.page.WriteString("h f\n")
}

// circle draws four Bézier curves. Their handles have the length with which the curves differ least from a circle.
func (p *pdf) circle(at Point, radius float64, fill color.RGBA) {
	const handle = 0.5523
	p.page.WriteString(rgb(fill) + " rg\n")
	p.at(at.Add(Point{radius, 0}))
	p.page.WriteString("m\n")
	for from := (Point{radius, 0}); ; {
		to := Point{-from.Y, from.X} // a quarter further
		p.at(at.Add(from.Add(to.Scale(handle))), at.Add(to.Add(from.Scale(handle))), at.Add(to))
		p.page.WriteString("c\n")
		if from = to; to.X > 0 {
			break
		}
	}
	p.page.WriteString("f\n")
}

func (p *pdf) text(t Text, start Point, width float64, text string) {
	code, ok := winAnsi(text)
	if !ok {
		p.shapes(t, start, text)
		return
	}
	turn := "1 0 0 1 "
	if t.Turned {
		turn = "0 1 -1 0 "
	}
	stretch := 100.
	if w := helvetica(code) * t.Size; w > 0 && width > 0 {
		stretch *= width / w
	}
	fmt.Fprintf(&p.page, "BT %s rg /F %s Tf %s Tz %s%s %s Tm (%s) Tj ET\n", rgb(t.Ink), decimal(t.Size),
		decimal(stretch), turn,
		decimal(start.X), decimal(start.Y), strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(code))
}

// helveticaWidths are the widths of Helvetica's characters from the space to the tilde, for a size of 1000.
var helveticaWidths = [...]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
	556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
	611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
	667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
	222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// helvetica returns the width of an encoded text of size 1. The other characters, which are rare, count as a digit.
func helvetica(code string) (width float64) {
	for _, c := range []byte(code) {
		w := uint16(556)
		if k := int(c) - ' '; k < len(helveticaWidths) {
			w = helveticaWidths[k]
		}
		width += float64(w) / 1000
	}
	return width
}

// upperHalf are the characters of WinAnsiEncoding from 0x80; a space stands for a code without a character.
const upperHalf = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ"

// winAnsi encodes a text for the standard fonts of PDF.
func winAnsi(text string) (code string, ok bool) {
	var b []byte
	for _, r := range text {
		if r < ' ' || r > '~' && r < 0xa0 || r > 0xff {
			i := slices.Index([]rune(upperHalf), r)
			if i < 0 {
				return "", false
			}
			r = rune(0x80 + i)
		}
		b = append(b, byte(r))
	}
	return string(b), true
}

// shapes draws the outlines of letters.
func (p *pdf) shapes(t Text, start Point, text string) {
	p.page.WriteString(rgb(t.Ink) + " rg\n")
	outlines(text, func(outline sfnt.Segments, x, scale float64) {
		at := func(v fixed.Point26_6) Point {
			along := Point{x + float64(v.X)/scale, -float64(v.Y) / scale}.Scale(t.Size)
			if t.Turned {
				along = Point{-along.Y, along.X}
			}
			return start.Add(along)
		}
		var last Point
		for _, segment := range outline {
			a, b, c := at(segment.Args[0]), at(segment.Args[1]), at(segment.Args[2])
			switch segment.Op {
			case sfnt.SegmentOpMoveTo:
				p.at(a)
				p.page.WriteString("m\n")
				last = a
			case sfnt.SegmentOpLineTo:
				p.at(a)
				p.page.WriteString("l\n")
				last = a
			case sfnt.SegmentOpQuadTo: // PDF has cubic curves only
				p.at(last.Add(a.Sub(last).Scale(2./3)), b.Add(a.Sub(b).Scale(2./3)), b)
				p.page.WriteString("c\n")
				last = b
			case sfnt.SegmentOpCubeTo:
				p.at(a, b, c)
				p.page.WriteString("c\n")
				last = c
			}
		}
		p.page.WriteString("f\n")
	})
}
