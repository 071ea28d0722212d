// Package canvas draws lines, shapes and texts as SVG, PDF and PNG files.
//
// Lengths are in points, 72 to an inch. The origin is the lower left corner, and y grows upwards. Texts are in
// Go Regular, whose letters are about as wide as those of Arial and Helvetica.
//
// Its rank is −1: it uses no other package of Synod, and package plot of rank 0 uses it.
package canvas

import (
	"image/color"
	"math"
)

// Point is a place on a canvas.
type Point struct{ X, Y float64 }

// Add returns the sum of two vectors.
func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

// Sub returns the difference of two vectors.
func (p Point) Sub(q Point) Point { return Point{p.X - q.X, p.Y - q.Y} }

// Scale returns f times a vector.
func (p Point) Scale(f float64) Point { return Point{p.X * f, p.Y * f} }

// Stroke says how a line is drawn. Dashes are the lengths of dashes and gaps in turn; nil is an unbroken line.
type Stroke struct {
	Ink    color.RGBA
	Width  float64
	Dashes []float64
}

// The places of a text relative to its point.
const (
	Left, Centre, Right = 0.0, 0.5, 1.0 // Text.X
	Bottom, Middle, Top = 0.0, 0.5, 1.0 // Text.Y; bottom is the lower end of letters like g
)

// Text says how a line of text is drawn: X and Y are the part of its width and height that is left of its point and
// below it. Turned text is read from the bottom to the top; its point is then relative to the turned text.
type Text struct {
	Size   float64
	Ink    color.RGBA
	X, Y   float64
	Turned bool
}

// The extent of letters above and below the base line, as parts of the size.
const ascent, descent = 0.75, 0.22

// Height is the height of a line of text as a part of its size.
const Height = ascent + descent

// start returns where the base line of a text begins.
func (t Text) start(at Point, width float64) Point {
	along, up := -t.X*width, (descent-t.Y*Height)*t.Size
	if t.Turned {
		return at.Add(Point{-up, along})
	}
	return at.Add(Point{along, up})
}

// target is a file format.
type target interface {
	line(s Stroke, points []Point)
	polygon(fill color.RGBA, points []Point)
	circle(at Point, radius float64, fill color.RGBA)
	text(t Text, start Point, width float64, text string)
}

// Canvas is a rectangle on which Line, Polygon, Disc and Text draw. They do not clip.
type Canvas struct {
	Min, Max Point
	target
}

// Crop returns the canvas without margins.
func (c Canvas) Crop(left, right, bottom, top float64) Canvas {
	c.Min, c.Max = c.Min.Add(Point{left, bottom}), c.Max.Sub(Point{right, top})
	return c
}

// Line draws a line through points. It draws nothing without a width or with fewer than two points.
func (c Canvas) Line(s Stroke, points ...Point) {
	if s.Width > 0 && len(points) > 1 {
		c.line(s, points)
	}
}

// Polygon fills a polygon.
func (c Canvas) Polygon(fill color.RGBA, points ...Point) { c.polygon(fill, points) }

// Rectangle fills a rectangle between two corners.
func (c Canvas) Rectangle(fill color.RGBA, a, b Point) {
	c.polygon(fill, []Point{a, {b.X, a.Y}, b, {a.X, b.Y}})
}

// Disc draws a circle of one colour with an outline of another, which has the radius in its middle.
func (c Canvas) Disc(at Point, radius float64, fill color.RGBA, outline Stroke) {
	if outline.Width > 0 {
		c.circle(at, radius+outline.Width/2, outline.Ink)
	}
	if inner := radius - outline.Width/2; inner > 0 {
		c.circle(at, inner, fill)
	}
}

// Text draws a line of text.
func (c Canvas) Text(t Text, at Point, text string) {
	if text != "" {
		width := t.Width(text)
		c.text(t, t.start(at, width), width, text)
	}
}

// Width returns the width of a text.
func (t Text) Width(text string) float64 { return advance(text) * t.Size }

// dashed returns the parts of a line that its dashes cover.
func dashed(points []Point, dashes []float64) (parts [][]Point) {
	if len(dashes) == 0 {
		return [][]Point{points}
	}
	part, k, left := []Point{points[0]}, 0, dashes[0]
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		far := math.Hypot(to.X-from.X, to.Y-from.Y)
		for ; far > left; left = dashes[k%len(dashes)] {
			from = from.Add(to.Sub(from).Scale(left / far))
			far -= left
			if k%2 == 0 {
				parts = append(parts, append(part, from))
			}
			k++
			part = []Point{from}
		}
		left -= far
		part = append(part, to)
	}
	if k%2 == 0 {
		parts = append(parts, part)
	}
	return parts
}
