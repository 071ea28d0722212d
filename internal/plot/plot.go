// Package plot draws charts with axes, lines, marks, boxes and intervals on a canvas, and aligns several of them.
//
// It has only what the charts of package report and llm/probe/draw need. gonum/plot, a library for plots, brings twelve
// fonts and writers of formats that nobody uses, a fifth of the size of the command. All lengths are in points.
//
// Its rank is 0: it uses internal/canvas.
package plot

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"synod.dev/synod/internal/canvas"
)

// XY is a point in the units of the axes.
type XY struct{ X, Y float64 }

// Tick is a place on an axis. Without a label it has a mark only.
type Tick struct {
	Value float64
	Label string
}

// Axis is a range of values with ticks.
type Axis struct {
	Min, Max float64
	Label    string
	Ticks    []Tick
	NoMarks  bool    // ticks are labels without marks
	Gap      float64 // between the labels of ticks and the frame
}

// part returns how far along the axis a value is, from 0 to 1.
func (a *Axis) part(v float64) float64 {
	if a.Max == a.Min {
		return .5
	}
	return (v - a.Min) / (a.Max - a.Min)
}

// Extend widens a range to contain a value.
func (a *Axis) Extend(v float64) { a.Min, a.Max = min(a.Min, v), max(a.Max, v) }

// Chart is a frame with a title, two axes and elements, which are drawn in the order in which they were added.
type Chart struct {
	Title                           string // may have several lines
	TitleSize, LabelSize, TicksSize float64
	X, Y                            Axis
	Grid                            color.RGBA // of horizontal lines at the ticks; none if transparent
	Ink                             color.RGBA // of texts and axes

	elements []func(canvas.Canvas, func(XY) canvas.Point)
	err      error
}

// Err returns an error if an element has a coordinate that is not a finite number. A chart without that element would
// mislead.
func (c *Chart) Err() error { return c.err }

// add adds an element with these points.
func (c *Chart) add(draw func(on canvas.Canvas, at func(XY) canvas.Point), points ...XY) {
	for _, p := range points {
		if math.IsNaN(p.X+p.Y) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) {
			c.err = fmt.Errorf("plot: the point (%g, %g) cannot be drawn", p.X, p.Y)
		}
	}
	c.elements = append(c.elements, draw)
}

// The lengths of marks of ticks and the distances between texts and what is beside them.
const (
	tickLength = 4
	textGap    = 3
	titleGap   = 8
)

// Line draws a line, or nothing if there are fewer than two points.
func (c *Chart) Line(points []XY, s canvas.Stroke) {
	c.add(func(on canvas.Canvas, at func(XY) canvas.Point) {
		placed := make([]canvas.Point, len(points))
		for i, p := range points {
			placed[i] = at(p)
		}
		on.Line(s, placed...)
	}, points...)
}

// Mark draws a mark at every point.
func (c *Chart) Mark(points []XY, m Mark) {
	c.add(func(on canvas.Canvas, at func(XY) canvas.Point) {
		for _, p := range points {
			m.draw(on, at(p))
		}
	}, points...)
}

// Text draws a line of text at a point.
func (c *Chart) Text(at XY, t canvas.Text, text string) {
	c.add(func(on canvas.Canvas, place func(XY) canvas.Point) { on.Text(t, place(at), text) }, at)
}

// Box draws a filled rectangle between two corners with an edge.
func (c *Chart) Box(a, b XY, fill color.RGBA, edge canvas.Stroke) {
	c.add(func(on canvas.Canvas, at func(XY) canvas.Point) {
		p, q := at(a), at(b)
		on.Rectangle(fill, p, q)
		on.Line(edge, p, canvas.Point{X: q.X, Y: p.Y}, q, canvas.Point{X: p.X, Y: q.Y}, p)
	}, a, b)
}

// Interval draws a line between two points with caps of a length at its ends, on a wider white line that separates it
// from what is below.
func (c *Chart) Interval(from, to XY, ink color.RGBA, caps float64) {
	c.add(func(on canvas.Canvas, at func(XY) canvas.Point) {
		p, q := at(from), at(to)
		aside := canvas.Point{X: caps / 2}
		if from.X != to.X {
			aside = canvas.Point{Y: caps / 2}
		}
		for _, s := range []canvas.Stroke{{Ink: color.RGBA{255, 255, 255, 255}, Width: 2.4}, {Ink: ink, Width: 1}} {
			on.Line(s, p, q)
			on.Line(s, p.Sub(aside), p.Add(aside))
			on.Line(s, q.Sub(aside), q.Add(aside))
		}
	}, from, to)
}

// margins are the widths of what is around a frame.
type margins struct{ left, right, bottom, top float64 }

// around returns the widths that a chart's texts need.
func (c *Chart) around() (m margins) {
	small := canvas.Text{Size: c.TicksSize}
	for _, t := range c.Y.Ticks {
		m.left = max(m.left, small.Width(t.Label))
	}
	m.left += c.Y.Gap + textGap
	m.bottom = textGap + canvas.Height*c.TicksSize
	if !c.Y.NoMarks {
		m.left += tickLength
	}
	if !c.X.NoMarks {
		m.bottom += tickLength
	}
	if c.Y.Label != "" {
		m.left += textGap + canvas.Height*c.LabelSize
	}
	if c.X.Label != "" {
		m.bottom += textGap + canvas.Height*c.LabelSize
	}
	m.top = canvas.Height * c.TicksSize / 2 // the upper half of the highest label
	if c.Title != "" {
		m.top = titleGap + canvas.Height*c.TitleSize*float64(1+strings.Count(c.Title, "\n"))
	}
	for _, t := range c.X.Ticks { // the part of the last label that is right of the frame
		m.right = max(m.right, small.Width(t.Label)/2)
	}
	return m
}

// Draw draws a chart that fills the canvas.
func (c *Chart) Draw(on canvas.Canvas) { c.draw(on, c.around()) }

func (c *Chart) draw(on canvas.Canvas, m margins) {
	frame := on.Crop(m.left, m.right, m.bottom, m.top)
	at := func(p XY) canvas.Point {
		return canvas.Point{X: frame.Min.X + c.X.part(p.X)*(frame.Max.X-frame.Min.X),
			Y: frame.Min.Y + c.Y.part(p.Y)*(frame.Max.Y-frame.Min.Y)}
	}
	for _, t := range c.Y.Ticks {
		if y := at(XY{c.X.Min, t.Value}).Y; c.Grid.A > 0 {
			left, right := canvas.Point{X: frame.Min.X, Y: y}, canvas.Point{X: frame.Max.X, Y: y}
			on.Line(canvas.Stroke{Ink: c.Grid, Width: .5}, left, right)
		}
	}
	for _, draw := range c.elements {
		draw(on, at)
	}
	c.drawAxes(on, frame, at)
	title := canvas.Text{Size: c.TitleSize, Ink: c.Ink, Y: canvas.Top}
	for k, line := range strings.Split(c.Title, "\n") {
		on.Text(title, canvas.Point{X: frame.Min.X, Y: on.Max.Y - float64(k)*canvas.Height*c.TitleSize}, line)
	}
}

// drawAxes draws the left and the lower edge of the frame with ticks and labels.
func (c *Chart) drawAxes(on, frame canvas.Canvas, at func(XY) canvas.Point) {
	edge := canvas.Stroke{Ink: c.Ink, Width: .5}
	on.Line(edge, canvas.Point{X: frame.Min.X, Y: frame.Max.Y}, frame.Min, canvas.Point{X: frame.Max.X, Y: frame.Min.Y})
	label := canvas.Text{Size: c.TicksSize, Ink: c.Ink, X: canvas.Right, Y: canvas.Middle}
	for _, t := range c.Y.Ticks {
		p := at(XY{c.X.Min, t.Value})
		if !c.Y.NoMarks {
			on.Line(edge, p, p.Sub(canvas.Point{X: tickLength}))
			p.X -= tickLength
		}
		on.Text(label, p.Sub(canvas.Point{X: textGap + c.Y.Gap}), t.Label)
	}
	label.X, label.Y = canvas.Centre, canvas.Top
	for _, t := range c.X.Ticks {
		p := at(XY{t.Value, c.Y.Min})
		if !c.X.NoMarks {
			on.Line(edge, p, p.Sub(canvas.Point{Y: tickLength}))
			p.Y -= tickLength
		}
		on.Text(label, p.Sub(canvas.Point{Y: textGap + c.X.Gap}), t.Label)
	}
	label = canvas.Text{Size: c.LabelSize, Ink: c.Ink, X: canvas.Centre, Y: canvas.Bottom}
	on.Text(label, canvas.Point{X: (frame.Min.X + frame.Max.X) / 2, Y: on.Min.Y}, c.X.Label)
	label.Y, label.Turned = canvas.Top, true
	on.Text(label, canvas.Point{X: on.Min.X, Y: (frame.Min.Y + frame.Max.Y) / 2}, c.Y.Label)
}

// DrawGrid draws charts in rows of a number of columns, from the left and the top, with gaps between them. All frames
// have the same size, and those of a row or a column are aligned.
func DrawGrid(on canvas.Canvas, charts []*Chart, columns int, gap canvas.Point) {
	rows := (len(charts) + columns - 1) / columns
	column, row := make([]margins, columns), make([]margins, rows)
	for k, c := range charts {
		m, i, j := c.around(), k%columns, k/columns
		column[i].left, column[i].right = max(column[i].left, m.left), max(column[i].right, m.right)
		row[j].bottom, row[j].top = max(row[j].bottom, m.bottom), max(row[j].top, m.top)
	}
	width, height := on.Max.X-on.Min.X-gap.X*float64(columns-1), on.Max.Y-on.Min.Y-gap.Y*float64(rows-1)
	for _, m := range column {
		width -= m.left + m.right
	}
	for _, m := range row {
		height -= m.bottom + m.top
	}
	width, height = width/float64(columns), height/float64(rows)
	corner := canvas.Point{X: on.Min.X, Y: on.Max.Y} // the upper left one of the next chart
	for k, c := range charts {
		m := margins{column[k%columns].left, column[k%columns].right, row[k/columns].bottom, row[k/columns].top}
		tile := on
		tile.Min = canvas.Point{X: corner.X, Y: corner.Y - m.top - height - m.bottom}
		tile.Max = canvas.Point{X: corner.X + m.left + width + m.right, Y: corner.Y}
		c.draw(tile, m)
		if corner.X = tile.Max.X + gap.X; k%columns == columns-1 {
			corner = canvas.Point{X: on.Min.X, Y: tile.Min.Y - gap.Y}
		}
	}
}

// Ticks returns ticks at round values from one value to another, at most count.
func Ticks(from, to float64, count int) (ticks []Tick) {
	if !(from < to) || math.IsInf(to-from, 0) || count < 1 {
		return nil
	}
	unit := math.Pow(10, math.Floor(math.Log10((to-from)/float64(count))))
	for _, step := range []float64{1, 2, 5, 10} {
		if step *= unit; (to-from)/step > float64(count) && step < 9.9*unit {
			continue
		}
		digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
		for k := math.Ceil(from/step - 1e-9); k*step <= to+1e-9*step && len(ticks) <= count; k++ {
			ticks = append(ticks, Tick{k*step + 0, fmt.Sprintf("%.*f", digits, k*step+0)}) // + 0 turns −0 into 0
		}
		break
	}
	return ticks
}

// Whole returns ticks at whole numbers from one value to another, at most count.
func Whole(from, to float64, count int) []Tick {
	if to-from >= float64(count) {
		return Ticks(from, to, count)
	}
	var ticks []Tick
	for v := math.Ceil(from) + 0; v <= to; v++ {
		ticks = append(ticks, Tick{v, fmt.Sprintf("%.0f", v)})
	}
	return ticks
}

// Entry is a line of a legend: signs, drawn above one another, and a name.
type Entry struct {
	Name  string
	Signs []Sign
}

// Legend is a list of entries.
type Legend struct {
	Entries []Entry
	Size    float64 // of the names
	Ink     color.RGBA
}

// Add adds an entry.
func (l *Legend) Add(name string, signs ...Sign) { l.Entries = append(l.Entries, Entry{name, signs}) }

const signWidth, signGap = 20, 5

func (l *Legend) line() float64 { return canvas.Height*l.Size + 4 }

// Extent returns the width and height that a legend needs.
func (l *Legend) Extent() (width, height float64) {
	for _, e := range l.Entries {
		width = max(width, signWidth+signGap+canvas.Text{Size: l.Size}.Width(e.Name))
	}
	return width, l.line() * float64(len(l.Entries))
}

// Draw draws a legend from the upper left corner of a canvas.
func (l *Legend) Draw(on canvas.Canvas) {
	for k, e := range l.Entries {
		box := on
		box.Max = canvas.Point{X: on.Min.X + signWidth, Y: on.Max.Y - l.line()*float64(k)}
		box.Min = box.Max.Sub(canvas.Point{X: signWidth, Y: l.line() - 4})
		for _, s := range e.Signs {
			s.sign(box)
		}
		on.Text(canvas.Text{Size: l.Size, Ink: l.Ink, Y: canvas.Middle},
			canvas.Point{X: box.Max.X + signGap, Y: (box.Min.Y + box.Max.Y) / 2}, e.Name)
	}
}
