package canvas

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// perPoint is the number of pixels of PNG files per point: 144 dpi.
const perPoint = 2

// PNG returns an image with a white background, 2 pixels per point wide and high, on which fill draws.
func PNG(width, height float64, fill func(Canvas)) ([]byte, error) {
	size := image.Rect(0, 0, int(math.Ceil(width*perPoint)), int(math.Ceil(height*perPoint)))
	p := &raster{image: image.NewRGBA(size), height: height}
	draw.Draw(p.image, size, image.White, image.Point{}, draw.Src)
	fill(Canvas{Max: Point{width, height}, target: p})
	var b bytes.Buffer
	err := png.Encode(&b, p.image)
	return b.Bytes(), err
}

// raster draws shapes as pixels.
type raster struct {
	image  *image.RGBA
	height float64 // in points
	fill   vector.Rasterizer
}

// pixels converts a point of the canvas to pixels, in which y grows downwards.
func (p *raster) pixels(at Point) Point { return Point{at.X * perPoint, (p.height - at.Y) * perPoint} }

// curve is a part of a contour: the line to the last of its points, or a Bézier curve.
type curve []Point

// paint fills closed contours. Each contour is a start, as a curve of one point, and curves.
func (p *raster) paint(ink color.RGBA, contours [][]curve) {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, contour := range contours {
		for _, at := range slices.Concat(contour...) {
			low, high = Point{min(low.X, at.X), min(low.Y, at.Y)}, Point{max(high.X, at.X), max(high.Y, at.Y)}
		}
	}
	if !(low.X <= high.X && low.Y <= high.Y) || math.IsInf(high.X-low.X+high.Y-low.Y, 0) {
		return // nothing, or something that has no place
	}
	box := image.Rect(int(low.X)-1, int(low.Y)-1, int(high.X)+2, int(high.Y)+2)
	if !box.Overlaps(p.image.Rect) || box.Dx() > 4*p.image.Rect.Dx() || box.Dy() > 4*p.image.Rect.Dy() {
		return
	}
	box = box.Intersect(p.image.Rect) // the rasterizer writes outside the image otherwise
	p.fill.Reset(box.Dx(), box.Dy())
	local := func(at Point) (x, y float32) {
		return float32(at.X - float64(box.Min.X)), float32(at.Y - float64(box.Min.Y))
	}
	for _, contour := range contours {
		p.fill.MoveTo(local(contour[0][0]))
		for _, c := range contour[1:] {
			x, y := local(c[len(c)-1])
			switch ax, ay := local(c[0]); len(c) {
			case 1:
				p.fill.LineTo(x, y)
			case 2:
				p.fill.QuadTo(ax, ay, x, y)
			case 3:
				bx, by := local(c[1])
				p.fill.CubeTo(ax, ay, bx, by, x, y)
			}
		}
		p.fill.ClosePath()
	}
	p.fill.Draw(p.image, box, image.NewUniform(ink), image.Point{})
}

// lines returns a contour of straight lines that turns to the right, so that overlapping contours add up.
func lines(points ...Point) []curve {
	area := 0.0
	for i, a := range points {
		b := points[(i+1)%len(points)]
		area += a.X*b.Y - b.X*a.Y
	}
	contour := make([]curve, len(points))
	for i, at := range points {
		if area < 0 {
			i = len(points) - 1 - i
		}
		contour[i] = curve{at}
	}
	return contour
}

func (p *raster) polygon(fill color.RGBA, points []Point) {
	corners := make([]Point, len(points))
	for i, at := range points {
		corners[i] = p.pixels(at)
	}
	p.paint(fill, [][]curve{lines(corners...)})
}

// disc returns a circle as a contour of many lines.
func disc(at Point, radius float64) []curve {
	sides := min(max(12, int(4*radius)), 180)
	points := make([]Point, sides)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(sides))
		points[i] = at.Add(Point{radius * cos, radius * sin})
	}
	return lines(points...)
}

func (p *raster) circle(at Point, radius float64, fill color.RGBA) {
	p.paint(fill, [][]curve{disc(p.pixels(at), radius*perPoint)})
}

// line fills a rectangle for every part of a line, and a disc where two meet.
func (p *raster) line(s Stroke, points []Point) {
	half := s.Width * perPoint / 2
	var contours [][]curve
	for _, part := range dashed(points, s.Dashes) {
		for i := 1; i < len(part); i++ {
			from, to := p.pixels(part[i-1]), p.pixels(part[i])
			far := math.Hypot(to.X-from.X, to.Y-from.Y)
			if far == 0 {
				continue
			}
			aside := Point{(from.Y - to.Y) * half / far, (to.X - from.X) * half / far}
			contours = append(contours, lines(from.Add(aside), to.Add(aside), to.Sub(aside), from.Sub(aside)))
			if i > 1 {
				contours = append(contours, disc(from, half))
			}
		}
	}
	p.paint(s.Ink, contours)
}

func (p *raster) text(t Text, start Point, _ float64, text string) {
	origin, size := p.pixels(start), t.Size*perPoint
	outlines(text, func(outline sfnt.Segments, x, scale float64) {
		at := func(v fixed.Point26_6) Point {
			right, down := (x+float64(v.X)/scale)*size, float64(v.Y)/scale*size
			if t.Turned {
				return origin.Add(Point{down, -right})
			}
			return origin.Add(Point{right, down})
		}
		var contours [][]curve
		for _, segment := range outline {
			c := curve{at(segment.Args[0])}
			switch segment.Op {
			case sfnt.SegmentOpMoveTo:
				contours = append(contours, []curve{c})
				continue
			case sfnt.SegmentOpQuadTo:
				c = append(c, at(segment.Args[1]))
			case sfnt.SegmentOpCubeTo:
				c = append(c, at(segment.Args[1]), at(segment.Args[2]))
			}
			last := len(contours) - 1
			contours[last] = append(contours[last], c)
		}
		if len(contours) > 0 {
			p.paint(t.Ink, contours)
		}
	})
}
