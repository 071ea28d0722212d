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
}

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
	on = DrawTitle(on, f.Title)
	if width, _ := f.Legend.Extent(); width > 0 {
		f.Legend.Draw(draw.Crop(on, on.Max.X-on.Min.X-width, 0, 0, 0))
		on.Max.X -= width + legendGap
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

// Legend explains the signs of a figure. The zero value has no entries.
type Legend struct {
	plot.Legend
	names []string
}

// legendSize is the size of the names in a legend.
const legendSize = 10

// Add adds a line: a name and its signs, which are drawn above one another.
func (l *Legend) Add(name string, signs ...plot.Thumbnailer) {
	if l.names == nil {
		l.Legend = plot.NewLegend()
		l.TextStyle = Text(legendSize, Ink)
		l.Top, l.Left, l.Padding = true, true, lineGap
	}
	l.names = append(l.names, name)
	l.Legend.Add(name, signs...)
}

// Extent returns the width and height that the legend needs.
func (l *Legend) Extent() (width, height vg.Length) {
	if len(l.names) == 0 {
		return 0, 0
	}
	size := l.Rectangle(draw.Canvas{}).Size()
	return size.X + 2, size.Y
}

// Draw draws the legend from the upper left corner of a canvas.
func (l *Legend) Draw(on draw.Canvas) {
	if len(l.names) > 0 {
		l.Legend.Draw(on)
	}
}
