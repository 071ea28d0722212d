package canvas

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// SVG returns an SVG document with a white background, on which fill draws. Its texts are real text. A reader whose
// system has none of the fonts gets them in another one, stretched to the width that they were measured with, so that
// they do not run into their surroundings.
func SVG(width, height float64, fill func(Canvas)) ([]byte, error) {
	s := &svg{height: height}
	fmt.Fprintf(&s.doc, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" `+
		`font-family="Go,'Liberation Sans',Arial,Helvetica,sans-serif">`+"\n", decimal(width), decimal(height))
	c := Canvas{Max: Point{width, height}, target: s}
	c.Rectangle(white, c.Min, c.Max)
	fill(c)
	s.doc.WriteString("</svg>\n")
	return s.doc.Bytes(), s.err
}

var white = color.RGBA{255, 255, 255, 255}

// svg writes elements of an SVG document, in which y grows downwards.
type svg struct {
	doc    bytes.Buffer
	height float64
	err    error // the first one
}

// decimal writes a length with at most two decimals.
func decimal(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	if s = strings.TrimRight(strings.TrimRight(s, "0"), "."); s == "-0" {
		return "0"
	}
	return s
}

func (s *svg) x(p Point) string { return decimal(p.X) }
func (s *svg) y(p Point) string { return decimal(s.height - p.Y) }

func (s *svg) path(points []Point) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(s.x(p) + " " + s.y(p))
	}
	return b.String()
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

func (s *svg) line(l Stroke, points []Point) {
	dashes := ""
	if len(l.Dashes) > 0 {
		var lengths []string
		for _, d := range l.Dashes {
			lengths = append(lengths, decimal(d))
		}
		dashes = ` stroke-dasharray="` + strings.Join(lengths, ",") + `"`
	}
	fmt.Fprintf(&s.doc, `<path d="%s" fill="none" stroke="%s" stroke-width="%s"%s/>`+"\n", s.path(points), hex(l.Ink),
		decimal(l.Width), dashes)
}

func (s *svg) polygon(fill color.RGBA, points []Point) {
	fmt.Fprintf(&s.doc, `<path d="%sZ" fill="%s"/>`+"\n", s.path(points), hex(fill))
}

func (s *svg) circle(at Point, radius float64, fill color.RGBA) {
	fmt.Fprintf(&s.doc, `<circle cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n", s.x(at), s.y(at), decimal(radius), hex(fill))
}

func (s *svg) text(t Text, start Point, width float64, text string) {
	turn := ""
	if t.Turned {
		turn = fmt.Sprintf(` transform="rotate(-90 %s %s)"`, s.x(start), s.y(start))
	}
	if width > 0 {
		fmt.Fprintf(&s.doc, `<text textLength="%s" lengthAdjust="spacingAndGlyphs" x="%s" y="%s"`, decimal(width), s.x(start),
			s.y(start))
	} else {
		fmt.Fprintf(&s.doc, `<text x="%s" y="%s"`, s.x(start), s.y(start))
	}
	fmt.Fprintf(&s.doc, ` font-size="%s" fill="%s"%s>`, decimal(t.Size), hex(t.Ink), turn)
	s.err = cmp.Or(s.err, xml.EscapeText(&s.doc, []byte(text)))
	s.doc.WriteString("</text>\n")
}
