package plot

import (
	"image/color"
	"math"

	"synod.dev/synod/internal/canvas"
)

// Shape is the form of a mark.
type Shape int

// The shapes of marks. Open ones are outlines.
const (
	Circle Shape = iota
	Square
	Triangle
	Diamond
	OpenCircle
	OpenSquare
	OpenTriangle
)

// Mark is a sign at a point. Its radius is half its width.
type Mark struct {
	Ink    color.RGBA
	Radius float64
	Shape  Shape
}

// corners returns the corners of a mark with straight sides.
func (m Mark) corners(at canvas.Point) []canvas.Point {
	sides, from := 4, math.Pi/4
	switch m.Shape {
	case Triangle, OpenTriangle:
		sides, from = 3, math.Pi/2
	case Diamond:
		from = 0
	}
	all := make([]canvas.Point, sides)
	for i := range all {
		sin, cos := math.Sincos(from + 2*math.Pi*float64(i)/float64(sides))
		all[i] = at.Add(canvas.Point{X: m.Radius * cos, Y: m.Radius * sin}.Scale(m.stretch()))
	}
	return all
}

// stretch gives marks of different shapes a similar area.
func (m Mark) stretch() float64 {
	switch m.Shape {
	case Triangle, OpenTriangle:
		return 1.3
	case Square, OpenSquare:
		return 1.25
	}
	return 1
}

func (m Mark) draw(on canvas.Canvas, at canvas.Point) {
	edge := canvas.Stroke{Ink: m.Ink, Width: 1}
	white := color.RGBA{255, 255, 255, 255}
	switch m.Shape {
	case Circle:
		on.Disc(at, m.Radius, m.Ink, canvas.Stroke{})
	case OpenCircle:
		on.Disc(at, m.Radius, white, edge)
	case OpenSquare, OpenTriangle:
		all := m.corners(at)
		on.Polygon(white, all...)
		on.Line(edge, append(all, all[0], all[1])...)
	default:
		on.Polygon(m.Ink, m.corners(at)...)
	}
}

// Sign is a sign in a legend.
type Sign interface{ sign(box canvas.Canvas) }

func (m Mark) sign(box canvas.Canvas) {
	m.draw(box, canvas.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2})
}

// Swatch is a coloured rectangle in a legend.
type Swatch color.RGBA

func (s Swatch) sign(box canvas.Canvas) { box.Rectangle(color.RGBA(s), box.Min, box.Max) }

// Rule is a line in a legend.
type Rule canvas.Stroke

func (r Rule) sign(box canvas.Canvas) {
	y := (box.Min.Y + box.Max.Y) / 2
	box.Line(canvas.Stroke(r), canvas.Point{X: box.Min.X, Y: y}, canvas.Point{X: box.Max.X, Y: y})
}
