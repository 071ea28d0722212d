package graph

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
)

// PNG draws as pixels, 800 wide. Letters are a small built-in font of capitals and digits.
func (d Drawing) PNG() ([]byte, error) {
	s, err := d.picture()
	if err != nil {
		return nil, err
	}
	r := newRaster(s.width, s.height)
	for _, l := range s.lines {
		r.line(l.from, l.shaft(), l.width, l.colour)
		if tip := l.tip(); tip != nil {
			r.triangle(tip, l.colour)
		}
	}
	for _, c := range s.discs {
		r.disc(c.at, c.radius+c.ring/2, c.edge)
		r.disc(c.at, c.radius-c.ring/2, c.fill)
	}
	for _, t := range s.texts {
		r.text(t)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, r.shrunk()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// raster is an image drawn fine times as large and shrunk in the end, which smooths its edges.
type raster struct {
	img *image.RGBA
}

const fine = 3

func newRaster(width, height float64) raster {
	r := raster{image.NewRGBA(image.Rect(0, 0, int(width)*fine, int(height)*fine))}
	for k := range r.img.Pix {
		r.img.Pix[k] = 255
	}
	return r
}

// fill colours the pixels of a box, in scene units, that a test includes.
func (r raster) fill(low, high point, c color.RGBA, includes func(point) bool) {
	box := image.Rect(int(low.x*fine)-1, int(low.y*fine)-1, int(high.x*fine)+2, int(high.y*fine)+2).Intersect(r.img.Rect)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if includes(point{(float64(x) + .5) / fine, (float64(y) + .5) / fine}) {
				r.img.SetRGBA(x, y, c)
			}
		}
	}
}

func (r raster) disc(at point, radius float64, c color.RGBA) {
	out := point{radius, radius}
	r.fill(at.minus(out), at.plus(out), c, func(p point) bool { return p.minus(at).length() <= radius })
}

// line walks along the longer axis, so that a long thin line costs no more than its pixels.
func (r raster) line(from, to point, width float64, c color.RGBA) {
	along := to.minus(from)
	length := along.length()
	if length == 0 {
		return
	}
	steps := int(math.Ceil(length*fine)) + 1
	half := point{width / 2, width / 2}
	for k := range steps {
		p := from.plus(along.times(float64(k) / float64(steps-1+boolInt(steps == 1))))
		r.fill(p.minus(half), p.plus(half), c, func(q point) bool { return q.minus(p).length() <= width/2 })
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r raster) triangle(tip []point, c color.RGBA) {
	low := point{min(tip[0].x, tip[1].x, tip[2].x), min(tip[0].y, tip[1].y, tip[2].y)}
	high := point{max(tip[0].x, tip[1].x, tip[2].x), max(tip[0].y, tip[1].y, tip[2].y)}
	side := func(a, b, p point) bool { return (b.x-a.x)*(p.y-a.y)-(b.y-a.y)*(p.x-a.x) >= 0 }
	r.fill(low, high, c, func(p point) bool {
		first := side(tip[0], tip[1], p)
		return side(tip[1], tip[2], p) == first && side(tip[2], tip[0], p) == first
	})
}

// text sets capitals of 5 by 7 squares, one square of space between.
func (r raster) text(t sceneText) {
	square := t.size / 9
	letters := []rune(t.text)
	at := t.at
	at.y -= 3.5 * square
	if !t.left {
		at.x -= square * (6*float64(len(letters)) - 1) / 2
	}
	for _, letter := range letters {
		for row, bits := range glyph(letter) {
			for column := range 5 {
				if bits>>(4-column)&1 == 1 {
					low := at.plus(point{float64(column) * square, float64(row) * square})
					high := low.plus(point{square, square})
					r.fill(low, high, t.colour, func(p point) bool { return p.x >= low.x && p.x < high.x && p.y >= low.y && p.y < high.y })
				}
			}
		}
		at.x += 6 * square
	}
}

// shrunk averages fine by fine pixels to one.
func (r raster) shrunk() *image.RGBA {
	size := r.img.Rect.Size().Div(fine)
	small := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			var sum [3]int
			for dy := range fine {
				for dx := range fine {
					c := r.img.RGBAAt(x*fine+dx, y*fine+dy)
					sum[0], sum[1], sum[2] = sum[0]+int(c.R), sum[1]+int(c.G), sum[2]+int(c.B)
				}
			}
			mean := func(k int) uint8 { return uint8(sum[k] / (fine * fine)) }
			small.SetRGBA(x, y, color.RGBA{mean(0), mean(1), mean(2), 255})
		}
	}
	return small
}
