package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The shapes of marks. Open ones are outlines with a white inside.
var (
	Circle       draw.GlyphDrawer = draw.CircleGlyph{}
	Square       draw.GlyphDrawer = draw.BoxGlyph{}
	Triangle     draw.GlyphDrawer = draw.PyramidGlyph{}
	Diamond      draw.GlyphDrawer = diamond{}
	OpenCircle   draw.GlyphDrawer = open{Circle}
	OpenSquare   draw.GlyphDrawer = open{Square}
	OpenTriangle draw.GlyphDrawer = open{Triangle}
)

// Mark returns the style of a mark, whose radius is about half its width.
func Mark(ink color.Color, radius vg.Length, shape draw.GlyphDrawer) draw.GlyphStyle {
	return draw.GlyphStyle{Color: ink, Radius: radius, Shape: shape}
}

type diamond struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	r := s.Radius * 1.1
	c.FillPolygon(s.Color, []vg.Point{{X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y + r}, {X: at.X - r, Y: at.Y},
		{X: at.X, Y: at.Y - r}})
}

// open is a shape with a white one of the same kind inside.
type open struct{ shape draw.GlyphDrawer }

// DrawGlyph implements draw.GlyphDrawer.
func (o open) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	o.shape.DrawGlyph(c, s, at)
	c.SetColor(White)
	s.Radius -= 1.1
	o.shape.DrawGlyph(c, s, at)
}

// The signs of a legend.

// Swatch is a coloured rectangle.
func Swatch(fill color.Color) plot.Thumbnailer { return &plotter.Polygon{Color: fill} }

// Rule is a line.
func Rule(s draw.LineStyle) plot.Thumbnailer { return &plotter.Line{LineStyle: s} }

// Sign is a mark.
func Sign(m draw.GlyphStyle) plot.Thumbnailer { return &plotter.Scatter{GlyphStyle: m} }
