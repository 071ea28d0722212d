package chart

import (
	"cmp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lengths in points.
const (
	margin    = 8  // around a figure
	titleSize = 12 // of the figure's title
	titleGap  = 10 // below it
	legendGap = 14 // between charts and their legend
	lineGap   = 5  // between lines of a legend
)

// Figure is charts in rows below one title, with aligned frames of one size, and a legend to their right.
type Figure struct {
	Title   string
	Charts  []*Chart
	Columns int // charts of a row; 0: 1
	Legend  Legend
	// Print draws the figure as papers have it: without the title, which a caption replaces, in small type, and with
	// the legend and Note, which says what the caption must not leave out, in lines above the charts.
	Print bool
	Note  string
}

// Sizes in print, of ticks and of all other texts.
const printTicks, printSize = 7, 8

// File returns the figure as a file of one of the Formats, with a size in points.
func (f *Figure) File(format string, width, height vg.Length) ([]byte, error) {
	for _, c := range f.Charts {
		if c.err != nil {
			return nil, c.err
		}
	}
	return File(format, width, height, f.Draw)
}

// Above is the height that a title needs.
func Above() vg.Length { return margin + Text(titleSize, Ink).Height("X") + titleGap }

// DrawTitle writes a title at the upper left of a canvas and returns the canvas below it, without margins. A title
// that is too long is made smaller.
func DrawTitle(on draw.Canvas, title string) draw.Canvas {
	on = draw.Crop(on, margin, -margin, margin, -margin)
	if title == "" {
		return on
	}
	style := Text(titleSize, Ink)
	style.YAlign = text.YTop
	if width, room := style.Width(title), on.Max.X-on.Min.X; width > room {
		style.Font.Size *= room / width
	}
	on.FillText(style, vg.Point{X: on.Min.X, Y: on.Max.Y}, title)
	on.Max.Y -= Text(titleSize, Ink).Height("X") + titleGap
	return on
}

// Draw draws the figure over the whole canvas.
func (f *Figure) Draw(on draw.Canvas) {
	switch width, _ := f.Legend.Extent(); {
	case f.Print:
		on = f.printed(on)
	case width > 0:
		on = DrawTitle(on, f.Title)
		f.Legend.Draw(draw.Crop(on, on.Max.X-on.Min.X-width, 0, 0, 0))
		on.Max.X -= width + legendGap
	default:
		on = DrawTitle(on, f.Title)
	}
	columns := cmp.Or(f.Columns, 1)
	rows := make([][]*plot.Plot, (len(f.Charts)+columns-1)/columns)
	for k := range rows {
		rows[k] = make([]*plot.Plot, columns)
	}
	for k, c := range f.Charts {
		rows[k/columns][k%columns] = c.Plot
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: columns, PadX: 14, PadY: 8}
	canvases := plot.Align(rows, tiles, on)
	for k, c := range f.Charts {
		c.Draw(canvases[k/columns][k%columns])
	}
}

// printed sets the texts of charts in the sizes of print, draws what is above them, and returns the canvas below.
func (f *Figure) printed(on draw.Canvas) draw.Canvas {
	for _, c := range f.Charts {
		c.Title.TextStyle.Font.Size = printSize
		for _, axis := range []*plot.Axis{&c.X, &c.Y} {
			axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = printSize, printTicks
			axis.Tick.Length = 3
		}
	}
	on = draw.Crop(on, 2, -2, 2, -2)
	on.Max.Y -= f.above(on, true)
	return on
}

// PrintHeight is the height in print of what is above the charts of a figure of some width.
func (f *Figure) PrintHeight(width vg.Length) vg.Length {
	return f.above(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width - 4}}}, false)
}

// above draws or measures the legend and the note in lines, and returns their height.
func (f *Figure) above(on draw.Canvas, drawn bool) vg.Length {
	const sign, gap, line = 20, 12, printSize + 4
	x, y := on.Min.X, on.Max.Y
	place := func(width vg.Length) {
		if x > on.Min.X && x+width > on.Max.X {
			x, y = on.Min.X, y-line
		}
	}
	style := Text(printSize, Ink)
	style.YAlign = text.YCenter
	for _, e := range f.Legend.entries {
		width := sign + 3 + style.Width(e.name)
		place(width)
		if drawn {
			box := on
			box.Min, box.Max = vg.Point{X: x, Y: y - line + 3}, vg.Point{X: x + sign, Y: y - 2}
			for _, s := range e.signs {
				s.Thumbnail(&box)
			}
			on.FillText(style, vg.Point{X: x + sign + 3, Y: y - line/2}, e.name)
		}
		x += width + gap
	}
	if f.Note != "" {
		place(style.Width(f.Note))
		if drawn {
			on.FillText(style, vg.Point{X: x, Y: y - line/2}, f.Note)
		}
		x++
	}
	if x == on.Min.X && y == on.Max.Y {
		return 0
	}
	return on.Max.Y - y + line + 4
}

// Legend explains the signs of a figure. The zero value has no entries.
type Legend struct {
	plot.Legend
	entries []entry
}

type entry struct {
	name  string
	signs []plot.Thumbnailer
}

// legendSize is the size of the names in a legend.
const legendSize = 10

// Add adds a line: a name and its signs, which are drawn above one another.
func (l *Legend) Add(name string, signs ...plot.Thumbnailer) {
	if l.entries == nil {
		l.Legend = plot.NewLegend()
		l.TextStyle = Text(legendSize, Ink)
		l.Top, l.Left, l.Padding = true, true, lineGap
	}
	l.entries = append(l.entries, entry{name, signs})
	l.Legend.Add(name, signs...)
}

// Extent returns the width and height that the legend needs.
func (l *Legend) Extent() (width, height vg.Length) {
	if len(l.entries) == 0 {
		return 0, 0
	}
	size := l.Rectangle(draw.Canvas{}).Size()
	return size.X + 2, size.Y
}

// Draw draws the legend from the upper left corner of a canvas.
func (l *Legend) Draw(on draw.Canvas) {
	if len(l.entries) > 0 {
		l.Legend.Draw(on)
	}
}
